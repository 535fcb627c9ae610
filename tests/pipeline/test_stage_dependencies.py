"""The `deps` and `params` of each stage in dvc.yaml are the code and the parameters that the stage uses.

DVC runs a stage again when one of them changes. A missing entry would leave stale results; a superfluous entry would
repeat work. An entry may be a package, of which the stage imports at least one file.
"""

import ast
from collections.abc import Iterable
from pathlib import Path
from re import fullmatch, sub

import pytest
from ruamel.yaml import YAML

from paraphrastic.base.parameters import FILES
from tests.helpers.imports import imported_modules, module_file
from tests.helpers.repository import ROOT, copy_repository, run_git

PIPELINES = [ROOT / name for name in ("dvc.yaml", "finetune/dvc.yaml", "analyze/dvc.yaml")]  # `wdir` is the root of all
STAGES = {name: stage for file in PIPELINES for name, stage in YAML(typ="safe").load(file)["stages"].items()}
WATCHED = [name for name, stage in STAGES.items() if not stage.get("always_changed")]  # others run every time
NO_RESULT = {ROOT / "pipeline/__init__.py", ROOT / "pipeline/stage.py", ROOT / "src/paraphrastic/__init__.py"}  # starts
BLOCK_OF_MODEL = {"models.yaml": ["${model}"]}


@pytest.mark.parametrize("name", ["tokenize", "vocabulary", "teach", "train", "evaluate", "finetune"])
def test_dvc_takes_a_stage_from_its_run_cache(name):
    """DVC keeps no run of a stage with an output outside its cache, unless it is a metric or a plot."""
    assert all(isinstance(out, str) for out in STAGES[name].get("outs", []))


def data_files(node: ast.AST, file: Path) -> list[Path]:
    """Return the file beside `file` that a string constant names, such as the catalogue."""
    match node:
        case ast.Constant(str(name)) if fullmatch(r"[\w-]+\.\w+", name) and (file.parent / name).is_file():
            return [file.parent / name]
    return []


def folder_of_data(file: Path) -> list[Path]:
    """Return the files in the folder that has the name of the module `file`: its data, such as published numbers."""
    files = file.with_suffix("").rglob("*")
    return [each for each in files if each.suffix != ".py" and "__pycache__" not in each.parts]


def direct_imports(file: Path) -> set[Path]:
    """Return the files of this repository that `file` imports or names, and the `__init__.py` of their packages."""
    parents = (module.split(".")[:n] for module in imported_modules(file) for n in range(1, module.count(".") + 2))
    files = {module_file(".".join(parent)) for parent in parents} - {None}
    nodes = ast.walk(ast.parse(file.read_text()))
    return files.union(folder_of_data(file), *(data_files(node, file) for node in nodes))


def reachable_code(file: Path) -> set[Path]:
    """Return `file` and all files of this repository that it imports or names, directly or not."""
    reached, pending = set(), [file]
    while pending:
        file = pending.pop()
        if file not in reached:
            reached.add(file)
            pending += direct_imports(file) if file.suffix == ".py" else []
    return {file for file in reached if not is_empty_package(file)}


def is_empty_package(file: Path) -> bool:
    """Return whether `file` is an `__init__.py` that has nothing but a docstring."""
    return file.name == "__init__.py" and all(isinstance(node, ast.Expr) for node in ast.parse(file.read_text()).body)


def files_of(dep: str) -> set[Path]:
    """Return the files of an entry of `deps`; `${model}` and `${train.loss}` stand for every one."""
    files = set()
    for path in ROOT.glob(sub(r"\$\{[\w.]+\}", "[!_]*", dep)):
        files |= {path} if path.is_file() else {file for file in path.rglob("*") if file.is_file()}
    assert files, f"{dep}: no such file"
    return {file for file in files if "__pycache__" not in file.parts}


def relative(files: Iterable[Path]) -> list[str]:
    return sorted(str(file.relative_to(ROOT)) for file in files)


@pytest.mark.parametrize("stage", WATCHED)
def test_deps_and_imported_code(stage):
    deps = [dep for dep in STAGES[stage]["deps"] if not dep.startswith("data/") and dep not in FILES.values()]
    used = reachable_code(ROOT / "pipeline" / f"{stage}.py") - NO_RESULT
    assert relative(used - set().union(*map(files_of, deps))) == [], "imported, but missing in deps"
    assert [dep for dep in deps if used.isdisjoint(files_of(dep))] == [], "in deps, but nothing of it is imported"


@pytest.mark.parametrize("stage", WATCHED)
def test_params_and_parameters_read(stage):
    script = ROOT / "pipeline" / f"{stage}.py"
    files = [script, *(file for file in direct_imports(script) if file.suffix == ".py" and file.parent.name != "base")]
    params = STAGES[stage].get("params", [])
    listed = {key for key in params if isinstance(key, str)}
    read = {key for file in files for key in parameters_read(ast.parse(file.read_text()))}
    assert (BLOCK_OF_MODEL in params) == ("models" in read)
    sections = {key: key.partition(".")[0] for key in read - {"models"}}
    assert listed == {section if section in listed else key for key, section in sections.items()}


def parameters_read(tree: ast.Module) -> set[str]:
    """Return the keys that code reads from an object `params`, such as `seed` and `train.device`."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    keys = {id(node): node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "params"}
    inner = {id(node.value): f"{keys[id(node.value)]}.{node.attr}" for node in nodes if id(node.value) in keys}
    return set((keys | inner).values())


@pytest.mark.parametrize("stage", ["train", "evaluate", "finetune"])
def test_stages_that_read_the_files_of_a_model(stage):
    # the folder of an external encoder has the path of its files, and is the same after they have changed
    assert "data/inputs/model.csv" in STAGES[stage]["deps"]


def test_script_and_command_of_each_stage():
    for name, stage in STAGES.items():
        assert stage["cmd"].startswith(f"python -m pipeline.{name}")
        assert name not in WATCHED or f"pipeline/{name}.py" in stage["deps"]
    assert {FILES["finetune"], FILES["taggers"]} <= {*STAGES["finetune"]["deps"]}


def test_bytes_that_are_hashed_do_not_depend_on_the_line_ends_of_git(tmp_path):
    for folder in ("clone", "checkout"):
        (tmp_path / folder).mkdir()
    copy_repository(tmp_path / "clone")
    windows = "-c", "core.autocrlf=true", "-c", "core.eol=crlf"
    run_git(tmp_path / "clone", *windows, "checkout-index", "--all", f"--prefix={tmp_path}/checkout/")
    files = [file for file in (tmp_path / "checkout").rglob("*") if file.is_file()]
    assert {tmp_path / "checkout" / name for name in ("params.yaml", "pipeline/train.py", "dvc.lock")} <= {*files}
    names = [file.relative_to(tmp_path / "checkout") for file in files]
    assert not [name for name in names if (tmp_path / "checkout" / name).read_bytes() != (ROOT / name).read_bytes()]
