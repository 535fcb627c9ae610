"""The reader of PPDB, on small files of both versions."""

import gzip
from pathlib import Path

import pytest

from paraphrastic.errors import DataError
from paraphrastic.readers import ppdb
from tests.helpers.raw_files import bad_rows, read_files, rows, write_file

FIRST_VERSION = "[NP] ||| the car ||| the automobile ||| Abstract=0 p(e|f)=NA ||| 0-0 1-1\n"
SECOND_VERSION = "[NN] ||| car ||| auto ||| PPDB2.0Score=5.2 MVLSASim=NA ||| 0-0 ||| Equivalence\n"
NONTERMINALS = (
    "[NP/NN] ||| the [NP,1] car ||| [NP,1] 's car ||| x=1 ||| 0-0\n[S] ||| [VP\\NP,2] it ||| it ||| x=1 ||| 0-0\n"
)
BRACKETS = "[SYM] ||| [ 1 ] ||| [sic] , 2 ||| NA ||| 0-0\n"


def test_phrases_of_both_versions(tmp_path: Path):
    write_file(tmp_path / "p.gz", gzip.compress((FIRST_VERSION + NONTERMINALS + SECOND_VERSION + BRACKETS).encode()))
    readings = read_files("ppdb", tmp_path)
    assert [reading.kind for reading in readings] == ["pairs"]
    assert rows(readings) == [("the car", "the automobile", 0), ("car", "auto", 1), ("[ 1 ]", "[sic] , 2", 2)]
    assert bad_rows(readings) == []


def test_small_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = (FIRST_VERSION + NONTERMINALS + "[NN] ||| cut\n" + SECOND_VERSION).encode()
    text += b"\xff ||| a ||| b ||| c\n" + BRACKETS.encode().rstrip()
    write_file(tmp_path / "p.gz", gzip.compress(text))
    one_chunk = read_files("ppdb", tmp_path)
    monkeypatch.setattr(ppdb, "CHUNK", 50)
    small_chunks = read_files("ppdb", tmp_path)
    assert len(small_chunks) > len(one_chunk)
    assert rows(small_chunks) == rows(one_chunk)
    assert len(rows(one_chunk)) == 3
    assert bad_rows(small_chunks) == bad_rows(one_chunk) == [("p.gz", 4), ("p.gz", 6)]


def test_truncated_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ppdb, "CHUNK", 1000)
    write_file(tmp_path / "p.gz", gzip.compress(FIRST_VERSION.encode() * 1000)[:-20])
    with pytest.raises(DataError, match=r"p\.gz: damaged or truncated"):
        read_files("ppdb", tmp_path)


@pytest.mark.parametrize("text", ["", "one\ttwo\n" * 9, NONTERMINALS])
def test_file_without_pairs(tmp_path: Path, text: str):
    write_file(tmp_path / "p.gz", gzip.compress(text.encode()))
    with pytest.raises(DataError, match=r"p\.gz: not one pair of phrases; .*remove it"):
        read_files("ppdb", tmp_path)
