"""Files and folders that appear completely or not at all."""

import ast
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.base.files import (
    SMALL,
    Unpacker,
    atomic_folder,
    atomic_write,
    parse_json,
    read_json,
    regular,
    scratch_folder,
    sha256_of,
    write_text,
)
from tests.helpers.repository import ROOT


def test_file_after_writing(tmp_path):
    path = tmp_path / "new/file"
    with atomic_write(path) as part:
        part.write_text("content")
        assert not path.exists()
    assert path.read_text() == "content"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_file_after_an_error(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(error), atomic_write(path) as part:  # noqa: PT012 - the error occurs while the file is open
        part.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [atomic_write, atomic_folder, scratch_folder])
def test_path_in_an_error_without_a_file_name(tmp_path, write):
    with pytest.raises(OSError, match="No space left") as error, write(tmp_path / "path"):
        raise OSError(28, "No space left on device")
    assert error.value.filename == str(tmp_path / "path")


def test_folder_after_writing(tmp_path):
    path = tmp_path / "new/folder"
    for name in ("first", "second"):
        with atomic_folder(path) as part:
            (part / name).write_text(name)
            assert path.parent in part.parents
        assert [file.name for file in path.iterdir()] == [name]
    assert list(path.parent.iterdir()) == [path]


def test_folder_after_an_error(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()
    with pytest.raises(KeyboardInterrupt), atomic_folder(path) as part:  # noqa: PT012
        (part / "half").touch()
        raise KeyboardInterrupt
    assert [file.name for file in path.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_folder_after_a_killed_process_with_the_same_id(tmp_path):
    leftover = tmp_path / part_name("folder", os.getpid())
    leftover.mkdir()
    (leftover / "half").touch()
    with atomic_folder(tmp_path / "folder") as part:
        (part / "whole").touch()
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["whole"]
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def part_name(name, process):
    """Return the name of an unfinished file or folder that a process of this computer writes."""
    with TemporaryDirectory() as folder, atomic_write(Path(folder) / name) as part:
        part.touch()
        return part.name.replace(f".{os.getpid()}@", f".{process}@")


def test_what_killed_processes_left_is_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for process in (ended.pid, os.getpid(), 10**30):
        (tmp_path / part_name("file", process)).write_text("half")
        (tmp_path / part_name("folder", process)).mkdir()
    others = [part_name("file", os.getppid()), part_name("file.new", 1), part_name("file", "x")]
    others.append(part_name("file", ended.pid).replace("@", "@other-"))  # of a computer that shares the folder
    kept = [tmp_path / name for name in others]
    for path in kept:
        path.write_text("of another process or file")
    write_text(tmp_path / "file", "content")
    with atomic_folder(tmp_path / "folder"):
        pass
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "file", tmp_path / "folder", *kept])


def test_scratch_folder_is_removed(tmp_path):
    abandoned = tmp_path / "data" / part_name("texts", os.getpid())
    abandoned.mkdir(parents=True)
    (abandoned / "old").touch()
    with scratch_folder(tmp_path / "data" / "texts") as scratch:
        (scratch / "file").touch()
        assert list((tmp_path / "data").iterdir()) == [scratch]
        assert [path.name for path in scratch.iterdir()] == ["file"]
    assert list((tmp_path / "data").iterdir()) == []


def test_encoding_and_newlines_of_text(tmp_path):
    write_text(tmp_path / "file", "é\n日\n")
    assert (tmp_path / "file").read_bytes() == "é\n日\n".encode()


def test_sha256_of_a_file(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    assert sha256_of(tmp_path / "file") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


KINDS = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "socket": make_socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("opened", [regular, sha256_of, read_json, Unpacker])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_not_read(tmp_path, monkeypatch, kind, opened):
    monkeypatch.chdir(tmp_path)  # paths of sockets are short
    KINDS[kind](Path("config.json"))
    with pytest.raises(DataError, match=f"^config.json: is a {kind}, where a file is expected; name a file$"):
        opened(Path("config.json"))


@pytest.mark.parametrize("kind", KINDS)
def test_streams_of_lines(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    KINDS[kind](Path("lines"))
    if kind == "pipe":
        assert regular(Path("lines"), streams=True) == Path("lines")
    else:
        with pytest.raises(DataError, match=f"is a {kind}"):
            regular(Path("lines"), streams=True)
    assert regular(Path(os.devnull), streams=True) == Path(os.devnull)


def test_large_file_is_not_read(tmp_path):
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(SMALL + 1)
    with pytest.raises(DataError, match=r"config\.json: has 67,108,865 bytes, more than 67,108,864"):
        read_json(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "nested deeper than 64 levels"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "nested deeper than 64 levels"),
        (b"1" * 5000, "digits"),
        (b"\xff", "utf-8"),
        (b"{", "Expecting"),
    ],
)
def test_damaged_json(tmp_path, content, reason):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ModelError, match=rf"a\.json: damaged; train again \(.*{reason}") as caught:
        read_json(tmp_path / "a.json", ModelError, "train again")
    assert "\n" not in str(caught.value)


def test_json():
    assert parse_json(b'\xef\xbb\xbf{"a": [1, "[[[["]}') == {"a": [1, "[[[["]}
    assert parse_json("[" * 64 + "1" + "]" * 64)
    assert parse_json(str([{}] * 1000)) == [{}] * 1000
    assert parse_json('"' + "[" * 1000 + '"') == "[" * 1000


def test_json_is_read_in_one_place():
    files = [file for folder in ("src", "pipeline") for file in (ROOT / folder).rglob("*.py")]
    found = [
        file.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and re.fullmatch("json.loads?", ast.unparse(node))
    ]
    assert found == ["files.py"]
