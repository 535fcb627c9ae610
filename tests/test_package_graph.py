"""Imports between packages point down: no circle, and nobody needs to read a package above to understand one below."""

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
    ["scoring", "losses"],
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
    assert len(FLOOR) <= 20
    assert len(FLOORS) <= 11


def imports_of(package):
    """Return (file, other package that it imports) for the files of a package."""
    folder = ROOT / ("pipeline" if package == "pipeline" else f"src/paraphrastic/{package}")
    modules = ((file, module) for file in folder.rglob("*.py") for module in imported_modules(file))
    found = {(file, package_of(module)) for file, module in modules if module_file(module)}
    return {(file, other) for file, other in found if other not in (package, None)}


@pytest.mark.parametrize("package", FLOOR)
def test_imports_point_down(package):
    up = [f"{file} imports {other}" for file, other in imports_of(package) if FLOOR[other] >= FLOOR[package]]
    assert up == [], "packages on the same floor or above"


def test_drawing_in_the_documentation():
    """It has an arrow for each import between packages that no other way of imports stands for."""
    page = (ROOT / "docs/explanation/architecture.md").read_text()
    drawn = set(re.findall(r"^ +(\w+) --> (\w+)$", page, re.M))
    imports = {package: {other for _, other in imports_of(package)} for package in FLOOR}
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
    imports = {file: {*map(module_file, imported_modules(file))} - {None, file} for file in files}
    registries = {
        ROOT / f"src/paraphrastic/{package}/__init__.py" for package in ("analysis", "export", "losses", "models")
    }
    graph = {file: each - registries for file, each in imports.items() if file not in registries}
    assert list(TopologicalSorter(graph).static_order())  # raises CycleError
