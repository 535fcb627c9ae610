"""Readers of sentences with a class."""

from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from tests.helpers.raw_files import bad_rows, read_files, rows, write_file


def test_files_of_classes_in_windows_1252(tmp_path: Path):
    write_file(tmp_path / "neg", b"caf\xe9\x85 dull\n\n\x81\n")
    write_file(tmp_path / "pos", b"fine\n")
    readings = read_files("class-files", tmp_path, set="s", labels={"neg": 0, "pos": 1})
    assert rows(readings) == [("s", "test", "café… dull", 0), ("s", "test", "", 0), ("s", "test", "fine", 1)]
    assert bad_rows(readings) == [("neg", 3)]  # Windows-1252 has no 0x81


def test_trec(tmp_path: Path):
    write_file(tmp_path / "a", b"HUM:ind Who wrote Ren\xe9 : a life ?\nLOC:city Where ?\nFOO:x What ?\nWho ?\n")
    readings = read_files("trec", tmp_path, set="t", classes=["HUM", "LOC"], splits={"a": "train"})
    assert rows(readings) == [("t", "train", "Who wrote René : a life ?", 0), ("t", "train", "Where ?", 1)]
    assert bad_rows(readings) == [("a", 3), ("a", 4)]


def test_banking_classes_by_name(tmp_path: Path):
    write_file(tmp_path / "a", 'text,category\r\n"My card,\nplease",lost\r\nWhy?,fee\r\n')
    write_file(tmp_path / "b", "text,category\nHow much?,fee\nWhat?,other\n")
    readings = read_files("banking", tmp_path, set="b", splits={"a": "train", "b": "test"})
    assert rows(readings) == [
        ("b", "train", "My card,\nplease", 1),
        ("b", "train", "Why?", 0),
        ("b", "test", "How much?", 0),
    ]
    assert bad_rows(readings) == [("b", 2)]


def test_snips_with_an_emoji_in_halves(tmp_path: Path):
    query = b'{"data": [{"text": "play "}, {"text": "X \xed\xa0\xbc\xed\xbd\x95", "entity": "e"}]}'
    write_file(tmp_path / "a", b'{"Play": [' + query + b', {"data": [{"text": "\xed"}]}]}')
    readings = read_files("snips", tmp_path, set="s", labels={"a": 3})
    assert rows(readings) == [("s", "train", "play X 🍕", 3)]
    assert bad_rows(readings) == [("a", 2)]


@pytest.mark.parametrize(
    "content", ["[]", '{"a": [{}]}', '{"a": 1}', '{"a": [], "b": []}', '{"a": [{"data": [{"text": 1}]}]}']
)
def test_snips_of_another_form(tmp_path: Path, content: str):
    write_file(tmp_path / "a", content)
    with pytest.raises(DataError, match=r"/a: no list of queries.*remove it and run `dvc repro`$"):
        read_files("snips", tmp_path, set="s", labels={"a": 3})
