"""Readers of sentences with a class."""

import pytest

from paraphrastic.base.errors import DataError
from tests.helpers.raw_files import content, read_files


def test_files_of_classes_in_windows_1252(tmp_path):
    files = {"neg": b"caf\xe9\x85 dull\n\n\x81\n", "pos": b"fine\n"}
    found, bad = content(read_files("class-files", tmp_path, files, set="s", labels={"neg": 0, "pos": 1}))
    assert found == [("s", "test", "café… dull", 0), ("s", "test", "", 0), ("s", "test", "fine", 1)]
    assert bad == [("neg", 3)]  # Windows-1252 has no 0x81


def test_trec(tmp_path):
    files = {"a": b"HUM:ind Who wrote Ren\xe9 : a life ?\nLOC:city Where ?\nFOO:x What ?\nWho ?\n"}
    readings = read_files("trec", tmp_path, files, set="t", classes=["HUM", "LOC"], splits={"a": "train"})
    expected = [("t", "train", "Who wrote René : a life ?", 0), ("t", "train", "Where ?", 1)]
    assert content(readings) == (expected, [("a", 3), ("a", 4)])


def test_banking_classes_by_name(tmp_path):
    files = {
        "a": 'text,category\r\n"My card,\nplease",lost\r\nWhy?,fee\r\n',
        "b": "text,category\nHow much?,fee\nWhat?,other\n",
    }
    readings = read_files("banking", tmp_path, files, set="b", splits={"a": "train", "b": "test"})
    expected = [("b", "train", "My card,\nplease", 1), ("b", "train", "Why?", 0), ("b", "test", "How much?", 0)]
    assert content(readings) == (expected, [("b", 2)])


def test_snips_with_an_emoji_in_halves(tmp_path):
    query = b'{"data": [{"text": "play "}, {"text": "X \xed\xa0\xbc\xed\xbd\x95", "entity": "e"}]}'
    files = {"a": b'{"Play": [' + query + b', {"data": [{"text": "\xed"}]}]}'}
    readings = read_files("snips", tmp_path, files, set="s", labels={"a": 3})
    assert content(readings) == ([("s", "train", "play X 🍕", 3)], [("a", 2)])


@pytest.mark.parametrize(
    "text", ["[]", '{"a": [{}]}', '{"a": 1}', '{"a": [], "b": []}', '{"a": [{"data": [{"text": 1}]}]}']
)
def test_snips_of_another_form(tmp_path, text):
    with pytest.raises(DataError, match=r"/a: no list of queries.*remove it and run `dvc repro`$"):
        read_files("snips", tmp_path, {"a": text}, set="s", labels={"a": 3})
