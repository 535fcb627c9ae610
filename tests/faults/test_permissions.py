"""Commands without the permission to write or to read: one line, and nothing is changed; read-only input is enough."""

import os
import sys
from pathlib import Path
from shutil import rmtree

import numpy as np
import pytest

from tests.helpers.commands_that_write import COMMANDS, copy_inputs, place
from tests.helpers.forked import (
    Limits,
    content_of,
    permit,
    protect,
    refusal,
    skip_if_root_stays_privileged,
    start,
    start_command,
    succeeds,
)

pytestmark = [pytest.mark.faults, pytest.mark.slow]

UNPRIVILEGED = Limits(is_privileged=False)
WRITING = [name for name in COMMANDS if name != "search"]
INPUTS = {
    "lines.txt": [name for name in COMMANDS if "lines.txt" in COMMANDS[name]],
    "pairs.csv": ["train"],
    "avg": ["npy", "search", "word2vec", "card"],
    "avg/config.json": ["npy", "card"],
    "avg/vocabulary.parquet": ["npy", "static-embedding"],
    "charagram/weights.safetensors": ["parquet", "compact"],
}


@pytest.fixture(autouse=True)
def _permissions_hold() -> None:
    skip_if_root_stays_privileged()


@pytest.fixture
def folder(inputs, tmp_path):
    """Return a copy of what the commands read."""
    folder = copy_inputs(inputs, tmp_path)
    yield folder
    permit(folder)


def without_cache(folder: Path) -> dict[str, bytes]:
    """Return the content of a folder except its cache."""
    return {path: content for path, content in content_of(folder).items() if not path.startswith("cache/")}


@pytest.mark.parametrize("name", WRITING)
def test_folder_that_cannot_be_written(folder, name):
    before = content_of(folder)
    protect(folder / "out")
    line = refusal(start_command(folder, *COMMANDS[name], limits=UNPRIVILEGED), folder)
    assert line.startswith(f"error: {place(name)}: ")
    assert "Permission denied" in line
    assert without_cache(folder) == before


def test_cache_that_cannot_be_written(folder):
    (folder / "cache").mkdir()
    before = content_of(folder)
    protect(folder / "cache")
    assert "cache" in refusal(start_command(folder, *COMMANDS["train"], limits=UNPRIVILEGED), folder)
    assert content_of(folder) == before


def test_read_only_input(folder):
    for path in ("avg", "charagram", "lines.txt", "pairs.csv"):
        protect(folder / path)
    for name in COMMANDS:
        succeeds(start_command(folder, *COMMANDS[name], limits=UNPRIVILEGED), folder)
        assert (folder / place(name)).exists() == (name in WRITING)
        rmtree(folder / "out/out", ignore_errors=True)  # several commands write it


@pytest.mark.parametrize("path", INPUTS)
def test_input_that_cannot_be_read(folder, path):
    before = content_of(folder)
    (folder / path).chmod(0)
    for name in INPUTS[path]:
        process = start_command(folder, *COMMANDS[name], limits=UNPRIVILEGED)
        line = refusal(process, folder, 1, 2)  # 2: an argument is a path that cannot be read
        assert path in line
        assert "ermission denied" in line or "not readable" in line
    (folder / path).chmod(0o700)
    assert without_cache(folder) == before


MODULE = """
from paraphrastic.base.parallel import njit

@njit()
def double(number):
    return 2 * number
"""


def _compile(folder: Path) -> None:
    os.environ["HOME"] = str(folder)
    os.environ.pop("XDG_CACHE_HOME", None)
    sys.path.insert(0, str(folder / "read-only"))
    from module_of_a_test import double

    np.save(folder / "out/out.npy", double(4))


def test_package_and_home_that_cannot_be_written(folder):
    (folder / "read-only").mkdir()
    (folder / "read-only/module_of_a_test.py").write_text(MODULE)
    protect(folder / "read-only")
    folder.chmod(0o500)
    succeeds(start(folder, UNPRIVILEGED, _compile, folder), folder)
    assert np.load(folder / "out/out.npy") == 8
    assert not [*(folder / "read-only").glob("__pycache__")]
