"""The modules of this repository that a file imports, at its top or in a function."""

import ast
from pathlib import Path

from tests.helpers.repository import ROOT

PACKAGES = {"pipeline": ROOT, "paraphrastic": ROOT / "src"}


def module_file(module: str) -> Path | None:
    """Return the file of a module, or None if this repository has no such module."""
    folder = PACKAGES.get(module.split(".")[0])
    if folder is None:
        return None
    path = folder.joinpath(*module.split("."))
    candidates = path.with_suffix(".py"), path / "__init__.py"
    return next((file for file in candidates if file.is_file()), None)


def imported_modules(file: Path) -> set[str]:
    """Return the modules that a file imports.

    `import_module(f"package.{name}")` counts as an import of every module in the package.
    """
    return {module for node in ast.walk(ast.parse(file.read_text())) for module in _imported_by(node, file)}


def _imported_by(node: ast.AST, file: Path) -> list[str]:
    match node:
        case ast.Import(names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module, names, level):
            assert level == 0, f"{file}: a relative import"
            members = [f"{module}.{alias.name}" for alias in names]
            # `paraphrastic.load` and `.Model` would be imported by `__getattr__`, whose imports are not counted
            assert module != "paraphrastic" or all(map(module_file, members)), f"{file}: not a module in {members}"
            return [module, *members]
        case ast.Call(ast.Name("import_module") | ast.Attribute(attr="import_module"), [ast.Constant(module)]):
            return [module]
        case ast.Call(
            ast.Name("import_module") | ast.Attribute(attr="import_module"), [ast.JoinedStr([ast.Constant(prefix), *_])]
        ):
            package = module_file(prefix.rstrip("."))
            return [f"{prefix}{module.stem}" for module in package.parent.glob("*.py")]
    return []
