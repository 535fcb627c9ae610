"""The reader of PPDB, on small files of both versions."""

import gzip
from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers import ppdb
from paraphrastic.readers.pair_filter import PairFilter
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


RELATIONS = "".join(
    f"[NN] ||| a{n} ||| b{n} ||| PPDB2.0Score={score} PPDB1.0Score=2.5 ||| 0-0 ||| {relation}\n"
    for n, (score, relation) in enumerate(
        [("5.25", "Equivalence"), ("NA", "Equivalence"), ("3.0", "ForwardEntailment"), ("-1e-1", "Equivalence")]
    )
)


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"min_score": 3.0}, ["a0", "a2"]),
        ({"max_score": 3.0}, ["a2", "a3"]),
        ({"relations": ("Equivalence", "Independent")}, ["a0", "a1", "a3"]),
        ({"min_score": 0.0, "relations": ("Equivalence",)}, ["a0"]),
        ({"feature": "PPDB1.0Score", "min_score": 2.5}, ["a0", "a1", "a2", "a3"]),
        ({}, ["a0", "a1", "a2", "a3"]),
    ],
)
def test_filter_by_feature_and_relation(tmp_path: Path, limits: dict, kept: list[str]):
    write_file(tmp_path / "p.gz", gzip.compress(("[NN] ||| cut\n" + RELATIONS).encode()))
    readings = read_files("ppdb", tmp_path, filter=PairFilter(**limits))
    assert [row[0] for row in rows(readings)] == kept
    assert [row[2] for row in rows(readings)] == list(range(len(kept)))
    assert bad_rows(readings) == [("p.gz", 1)]


def test_filter_by_what_the_file_lacks(tmp_path: Path):
    write_file(tmp_path / "p.gz", gzip.compress(FIRST_VERSION.encode()))
    with pytest.raises(DataError, match=r"p\.gz: has no feature PPDB2\.0Score; set tokenize\.feature to .*Abstract, p"):
        read_files("ppdb", tmp_path, filter=PairFilter(min_score=3.0))
    with pytest.raises(DataError, match=r"p\.gz: has no entailment relations, only PPDB 2\.0 has"):
        read_files("ppdb", tmp_path, filter=PairFilter(relations=("Equivalence",)))
