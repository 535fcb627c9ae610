"""Imports between packages point down: no circle, and nobody needs to read a package above to understand one below."""

import ast
import re
from graphlib import TopologicalSorter

import pytest

from tests.helpers.imports import imported_modules, module_file
from tests.helpers.repository import ROOT

FLOORS = [  # from bottom to top; a package imports only packages of floors below its own
    ["base"],
    ["text", "sources"],
    ["vocabulary", "readers"],
    ["nn", "corpus"],
    ["scoring"],
    ["models"],
    ["inference", "evaluation"],
    ["export", "training"],
    ["finetuning", "analysis"],
    ["papers", "pipeline"],
    ["cli"],
]
FLOOR = {package: number for number, packages in enumerate(FLOORS) for package in packages}


def package_of(module):
    """Return the package below `paraphrastic` that a module is in, or `pipeline`; None for other modules."""
    first, *rest = module.split(".")
    if first == "pipeline":
        return first
    return rest[0] if first == "paraphrastic" and rest else None


def test_each_package_has_a_floor():
    folders = {file.parent.name for file in ROOT.glob("src/paraphrastic/*/__init__.py")}
    assert folders | {"pipeline"} == set(FLOOR)
    modules = {file.name for file in ROOT.glob("src/paraphrastic/*.py")}
    assert modules == {"__init__.py", "__main__.py"}, "a module beside the packages is one more place to look"


def test_few_packages_on_few_floors():
    assert len(FLOOR) <= 20
    assert len(FLOORS) <= 11


@pytest.mark.parametrize("package", FLOOR)
def test_imports_point_down(package):
    folder = ROOT / ("pipeline" if package == "pipeline" else f"src/paraphrastic/{package}")
    up = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in folder.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for module in filter(module_file, imported_modules(node, file))
        if package_of(module) not in (package, None) and FLOOR[package_of(module)] >= FLOOR[package]
    ]
    assert up == [], "packages on the same floor or above"


def imported_packages(package):
    """Return the other packages that a package imports."""
    folder = ROOT / ("pipeline" if package == "pipeline" else f"src/paraphrastic/{package}")
    nodes = ((file, node) for file in folder.rglob("*.py") for node in ast.walk(ast.parse(file.read_text())))
    modules = {module for file, node in nodes for module in filter(module_file, imported_modules(node, file))}
    return {package_of(module) for module in modules} - {package, None}


def test_drawing_in_the_documentation():
    """It has an arrow for each import between packages that no other way of imports stands for."""
    page = (ROOT / "docs/explanation/architecture.md").read_text()
    drawn = set(re.findall(r"^ +(\w+) --> (\w+)$", page, re.M))
    imports = {package: imported_packages(package) for package in FLOOR}
    below = {}  # package → all packages that it reaches
    for package in sorted(FLOOR, key=FLOOR.__getitem__):
        below[package] = imports[package].union(*(below[each] for each in imports[package]))
    needed = {
        (package, each)
        for package, direct in imports.items()
        for each in direct
        if not any(each in below[other] for other in direct)
    }
    assert drawn == needed


def test_no_two_files_import_each_other():
    files = [*ROOT.glob("src/paraphrastic/**/*.py"), *ROOT.glob("pipeline/*.py")]
    nodes = {file: list(ast.walk(ast.parse(file.read_text()))) for file in files}
    imports = {
        file: {module_file(module) for node in each for module in imported_modules(node, file)} - {None, file}
        for file, each in nodes.items()
    }
    registries = {ROOT / f"src/paraphrastic/{package}/__init__.py" for package in ("analysis", "export", "models")}
    graph = {file: each - registries for file, each in imports.items() if file not in registries}
    assert list(TopologicalSorter(graph).static_order())  # raises CycleError
