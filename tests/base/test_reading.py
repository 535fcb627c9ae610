"""Files that a stranger may have made: what is no file, large files, and JSON."""

import ast
import os
import re
import socket
from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.base.files import sha256_of
from paraphrastic.base.reading import SMALL, Unpacker, parse_json, read_json, regular
from tests.helpers.repository import ROOT


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
    files = [file for folder in ("src", "pipeline") for file in (ROOT / folder).rglob("*.py")]
    found = [
        file.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and re.fullmatch("json.loads?", ast.unparse(node))
    ]
    assert found == ["reading.py"]
