"""Readers of large corpora of pairs, on small files in the format of each source."""

import gzip
from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers import large_corpora
from paraphrastic.readers.reading import PairFilter
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source
from tests.helpers.raw_files import bad_rows, read_files, rows, write_archive, write_file

PARANMT = 'so , "what"\tso what ?\t0.91\na\x85b\tc\t-0.05\nd\te\nf\tg\tnan\nlast\tone\t1.0'


def test_paranmt_with_damaged_lines_and_without_a_last_newline(tmp_path: Path):
    write_file(tmp_path / "para-nmt-50m.txt", PARANMT)
    readings = list(read(source("paranmt"), tmp_path))
    assert rows(readings) == [('so , "what"', "so what ?", 0), ("a\x85b", "c", 1), ("last", "one", 4)]
    assert bad_rows(readings) == [("para-nmt-50m.txt", 3), ("para-nmt-50m.txt", 4)]


def test_scores_of_paranmt(tmp_path: Path):
    write_file(tmp_path / "para-nmt-50m.txt", PARANMT)
    readings = list(read(source("paranmt"), tmp_path, PairFilter(min_score=0.0, max_score=0.95)))
    assert [row[0] for row in rows(readings)] == ['so , "what"']


def test_parabank_with_zero_to_several_paraphrases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = "0.03\tone\tuno\tan one\n0.04\talone\n0.05\ttwo\tduo\n"
    write_archive(tmp_path / "parabank-2.0.zip", {"p/parabank2.tsv": text, "p/README": "x\ty\n"}, "zip")
    expected = [("one", "uno", 0), ("one", "an one", 0), ("two", "duo", 2)]
    assert rows(read(source("parabank2"), tmp_path)) == expected
    monkeypatch.setattr(large_corpora, "CHUNK", 7)
    assert rows(read(source("parabank2"), tmp_path)) == expected
    assert rows(read(source("parabank2"), tmp_path, PairFilter(min_score=0.04))) == [("two", "duo", 2)]


def test_pairs_in_the_demo_archive(tmp_path: Path):
    members = {"d/ppdb-xl-phrasal-preprocessed.txt": "can not\tcannot\nthe car\tthe auto\n", "d/x.txt": "1"}
    write_archive(tmp_path / "charagram-demo.zip", members, "zip")
    assert rows(read(source("authors-ppdb-xl"), tmp_path)) == [("can not", "cannot", 0), ("the car", "the auto", 1)]
    with pytest.raises(DataError, match=r"charagram-demo\.zip: 0 members of the archive match ppdb-xl-lexical"):
        list(read(source("authors-ppdb-xl-lexical"), tmp_path))


@pytest.mark.parametrize("limits", [{"relations": ("Equivalence",)}, {"min_score": 1.0}])
def test_filter_of_pairs_without_scores_or_relations(tmp_path: Path, limits: dict):
    write_file(tmp_path / "a.txt", "a\tb\n")
    with pytest.raises(DataError, match=r"a\.txt: has no (entailment relations|scores).* empty tokenize\."):
        read_files("tab-pairs", tmp_path, file="a.txt", filter=PairFilter(**limits))


def test_file_without_pairs(tmp_path: Path):
    write_file(tmp_path / "a.txt", "<html>\n")
    with pytest.raises(DataError, match=r"a\.txt: not one usable pair"):
        read_files("paranmt", tmp_path, file="a.txt")


def test_truncated_archive(tmp_path: Path):
    path = write_archive(tmp_path / "parabank-2.0.zip", {"parabank2.tsv": "0.1\ta\tb\n" * 999}, "zip")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"parabank-2\.0\.zip: damaged or truncated"):
        list(read(source("parabank2"), tmp_path))


FIRST_VERSION = "[NP] ||| the car ||| the automobile ||| Abstract=0 p(e|f)=NA ||| 0-0 1-1\n"
SECOND_VERSION = "[NN] ||| car ||| auto ||| PPDB2.0Score=5.2 MVLSASim=NA ||| 0-0 ||| Equivalence\n"
NONTERMINALS = (
    "[NP/NN] ||| the [NP,1] car ||| [NP,1] 's car ||| x=1 ||| 0-0\n[S] ||| [VP\\NP,2] it ||| it ||| x=1 ||| 0-0\n"
)
BRACKETS = "[SYM] ||| [ 1 ] ||| [sic] , 2 ||| NA ||| 0-0\n"


def test_phrases_of_both_versions_of_ppdb(tmp_path: Path):
    write_file(tmp_path / "p.gz", gzip.compress((FIRST_VERSION + NONTERMINALS + SECOND_VERSION + BRACKETS).encode()))
    readings = read_files("ppdb", tmp_path)
    assert [reading.kind for reading in readings] == ["pairs"]
    assert rows(readings) == [("the car", "the automobile", 0), ("car", "auto", 3), ("[ 1 ]", "[sic] , 2", 4)]
    assert bad_rows(readings) == []


def test_small_chunks_of_ppdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = (FIRST_VERSION + NONTERMINALS + "[NN] ||| cut\n" + SECOND_VERSION).encode()
    text += b"\xff ||| a ||| b ||| c\n" + BRACKETS.encode().rstrip()
    write_file(tmp_path / "p.gz", gzip.compress(text))
    one_chunk = read_files("ppdb", tmp_path)
    monkeypatch.setattr(large_corpora, "CHUNK", 50)
    small_chunks = read_files("ppdb", tmp_path)
    assert len(small_chunks) > len(one_chunk)
    assert rows(small_chunks) == rows(one_chunk)
    assert len(rows(one_chunk)) == 3
    assert bad_rows(small_chunks) == bad_rows(one_chunk) == [("p.gz", 4), ("p.gz", 6)]


def test_truncated_ppdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(large_corpora, "CHUNK", 1000)
    write_file(tmp_path / "p.gz", gzip.compress(FIRST_VERSION.encode() * 1000)[:-20])
    with pytest.raises(DataError, match=r"p\.gz: damaged or truncated"):
        read_files("ppdb", tmp_path)


@pytest.mark.parametrize("text", ["", "one\ttwo\n" * 9, NONTERMINALS])
def test_ppdb_without_pairs(tmp_path: Path, text: str):
    write_file(tmp_path / "p.gz", gzip.compress(text.encode()))
    with pytest.raises(DataError, match=r"p\.gz: not one usable pair; .*remove it"):
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
    assert [row[2] for row in rows(readings)] == [1 + int(name[1]) for name in kept]  # the number of the line, from 0
    assert bad_rows(readings) == [("p.gz", 1)]


def test_filter_by_what_ppdb_lacks(tmp_path: Path):
    write_file(tmp_path / "p.gz", gzip.compress(FIRST_VERSION.encode()))
    with pytest.raises(DataError, match=r"p\.gz: has no feature PPDB2\.0Score; set tokenize\.feature to .*Abstract, p"):
        read_files("ppdb", tmp_path, filter=PairFilter(min_score=3.0))
    with pytest.raises(DataError, match=r"p\.gz: has no entailment relations, only PPDB 2\.0 has"):
        read_files("ppdb", tmp_path, filter=PairFilter(relations=("Equivalence",)))
