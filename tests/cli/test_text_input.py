"""Lines and pairs of lines of a file, in blocks."""

import io
from types import SimpleNamespace

import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.cli import text_input
from paraphrastic.cli.text_input import read_pairs, read_sentences

TEXT = '\ufefffirst\r\n\nthird "quoted"\u2028 line\x85\nlast without newline'
LINES = ["first", "", 'third "quoted"\u2028 line\x85', "last without newline"]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    return str(tmp_path / "text.txt")


@pytest.mark.parametrize(("bytes_", "rows"), [(1 << 20, 1 << 14), (1, 1 << 14), (1 << 20, 1), (20, 2)])
def test_sentences_in_blocks_of_any_size(file, monkeypatch, bytes_, rows):
    monkeypatch.setattr(text_input, "_BYTES", bytes_)
    monkeypatch.setattr(text_input, "_ROWS", rows)
    blocks = list(read_sentences(file))
    assert pa.chunked_array(blocks).to_pylist() == LINES
    assert max(map(len, blocks)) <= rows


def test_sentences_of_standard_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(TEXT.encode()), isatty=lambda: False))
    assert pa.chunked_array(list(read_sentences("-"))).to_pylist() == LINES
    assert capsys.readouterr().err == ""


def test_person_at_a_terminal_learns_that_lines_are_awaited(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a\n"), isatty=lambda: True))
    assert pa.chunked_array(list(read_sentences("-"))).to_pylist() == ["a"]
    assert capsys.readouterr().err == "reading lines from the terminal; Ctrl-D ends them\n"


@pytest.mark.parametrize("bytes_", [1, 1 << 20])
def test_pairs(tmp_path, monkeypatch, bytes_):
    monkeypatch.setattr(text_input, "_BYTES", bytes_)
    (tmp_path / "pairs.tsv").write_text("a\tb\n\t\nc d\t\n")
    pairs = [pair for left, right in read_pairs(str(tmp_path / "pairs.tsv")) for pair in zip(left, right, strict=True)]
    assert [(left.as_py(), right.as_py()) for left, right in pairs] == [("a", "b"), ("", ""), ("c d", "")]


@pytest.mark.parametrize("bytes_", [1, 1 << 20])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\nc\td\n\xff\t\xfe\n", "line 3: not UTF-8"),
        (b"a\tb\n\0\tb\n", "line 2: a NUL byte"),
        (b"a\tb\nc\n", "line 2: not two columns separated by a tab"),
        (b"a\tb\n\n", "line 2: not two columns separated by a tab"),
        (b"a\tb\na\tb\tc\n", "line 2: not two columns separated by a tab"),
    ],
)
def test_bad_line(tmp_path, monkeypatch, bytes_, content, message):
    monkeypatch.setattr(text_input, "_BYTES", bytes_)
    (tmp_path / "bad.tsv").write_bytes(content)
    with pytest.raises(DataError, match=rf"bad\.tsv, {message}.*; correct the line or remove it"):
        list(read_pairs(str(tmp_path / "bad.tsv")))


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.txt"):
        list(read_sentences(str(tmp_path / "absent.txt")))
