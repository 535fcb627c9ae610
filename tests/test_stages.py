"""What dvc.yaml says of the stages is what their code does: DVC runs a stage again when that changes, only then."""

import ast
from pathlib import Path
from re import fullmatch

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
FILES = ROOT / "dvc.yaml", ROOT / "finetune/dvc.yaml"  # the second names its paths from the root too: `wdir`
STAGES = {name: stage for file in FILES for name, stage in YAML(typ="safe").load(file)["stages"].items()}
PACKAGES = {"pipeline": ROOT, "paraphrastic": ROOT / "src"}
stages = pytest.mark.parametrize("stage", STAGES)


def file_of(module):
    """The file of a module of this repository, or None."""
    top = PACKAGES.get(module.split(".")[0])
    if top is None:
        return None
    path = top.joinpath(*module.split("."))
    candidates = path.with_suffix(".py"), path / "__init__.py"
    return next((file for file in candidates if file.is_file()), None)


def named_by(node, file):
    """Modules that one node of a syntax tree imports, also those that `import_module` may be handed."""
    match node:
        case ast.Import(names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module, names, level):
            assert level == 0, f"{file}: a relative import"
            return [module, *(f"{module}.{alias.name}" for alias in names)]
        case ast.Call(ast.Name("import_module") | ast.Attribute(attr="import_module"), [ast.Constant(module)]):
            return [module]
        case ast.Call(ast.Name("import_module"), [ast.JoinedStr([ast.Constant(prefix), *_])]):
            package = file_of(prefix.rstrip("."))
            return [f"{prefix}{module.stem}" for module in package.parent.glob("*.py")]
    return []


def data_of(node, file):
    """The files beside a module that it names, such as the catalogue."""
    match node:
        case ast.Constant(str(name)) if fullmatch(r"[\w-]+\.\w+", name) and (file.parent / name).is_file():
            return [file.parent / name]
    return []


def only_describes(file):
    """A package's file with nothing but a docstring."""
    return file.name == "__init__.py" and all(isinstance(node, ast.Expr) for node in ast.parse(file.read_text()).body)


def code_behind(file):
    """Every file of this repository that running `file` may read as code."""
    found, new = set(), [file]
    while new:
        file = new.pop()
        if file in found:
            continue
        found.add(file)
        if file.suffix == ".py":
            new += reached_from(file)
    return {file for file in found if not only_describes(file)}


def reached_from(file):
    nodes = list(ast.walk(ast.parse(file.read_text())))
    modules = {module for node in nodes for module in named_by(node, file)}
    parents = {".".join(module.split(".")[:n]) for module in modules for n in range(1, module.count(".") + 2)}
    files = {file_of(module) for module in parents} - {None}
    return files.union(*(data_of(node, file) for node in nodes))


def files_under(dep):
    """The files of a dep, `${model}` in it being any model."""
    found = set()
    for path in ROOT.glob(dep.replace("${model}", "[!_]*")):
        found |= {path} if path.is_file() else {file for file in path.rglob("*") if file.is_file()}
    assert found, f"{dep}: no such file"
    return {file for file in found if "__pycache__" not in file.parts}


@stages
def test_deps_are_the_code_that_the_stage_imports(stage):
    deps = [dep for dep in STAGES[stage]["deps"] if not dep.startswith("data/")]
    listed = set().union(*map(files_under, deps))
    used = code_behind(ROOT / "pipeline" / f"{stage}.py") | {ROOT / "pipeline/__init__.py"}
    assert relative(used - listed) == [], "imported, but not among the deps"
    assert relative(file for file in listed - used if not only_describes(file)) == [], "among the deps, not imported"


def relative(files):
    return sorted(str(file.relative_to(ROOT)) for file in files)


@stages
def test_params_are_those_that_the_stage_reads(stage):
    tree = ast.parse((ROOT / "pipeline" / f"{stage}.py").read_text())
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "params"
    }
    for blocks, chosen in (("models", "model"), ("taggers", "finetune.tagger")):
        if blocks in read:
            read = read - {blocks} | {f"{blocks}.${{{chosen}}}"}
    assert sorted(STAGES[stage].get("params", [])) == sorted(read)
