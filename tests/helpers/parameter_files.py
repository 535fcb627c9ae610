"""The parameter files of this repository, and those of small repositories of tests."""

import re
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from shutil import copy
from typing import Any

from ruamel.yaml import YAML

from paraphrastic.base.parameters import FILES
from tests.helpers.repository import ROOT

NAMES = ("params.yaml", *FILES.values())


def read_parameters() -> dict[str, Any]:
    """Return the content of all parameter files; that of models.yaml is the entry `models`."""
    contents = {name: YAML(typ="safe", pure=True).load(ROOT / name) for name in NAMES}
    by_name = {name: contents[file] for name, file in FILES.items()}
    return contents["params.yaml"] | by_name | contents[FILES["analyses"]]


def write_parameters(folder: Path, content: Mapping[str, Any]) -> None:
    """Write content as `read_parameters` returns it to the files of a folder."""
    blocks = {file: content[name] for name, file in FILES.items() if name in content}
    blocks |= {FILES["analyses"]: {"analyses": content["analyses"]}} if "analyses" in content else {}
    blocks["params.yaml"] = {name: value for name, value in content.items() if name not in FILES}
    for name, block in blocks.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("w", encoding="utf-8") as file:
            YAML(typ="safe", pure=True).dump(deepcopy(block), file)


def copy_parameters(folder: Path, **changes: object) -> None:
    """Copy the files of this repository to a folder, with other values of keys, in whatever block they are."""
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    change_parameters(folder, **changes)


def change_parameters(folder: Path, *names: str, **changes: object) -> None:
    """Give keys, in whatever block of these or all files they are, another value in one line."""
    found = set()
    for name in names or NAMES:
        text = (folder / name).read_text(encoding="utf-8")
        for key, value in changes.items():
            text, count = re.subn(rf"^( *{key}):[^#\n]*", rf"\1: {value} ", text, flags=re.M)
            found |= {key} if count else set()
        (folder / name).write_text(text, encoding="utf-8")
    assert found == changes.keys()
