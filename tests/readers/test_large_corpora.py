"""Readers of large corpora of pairs, on small files in the format of each source."""

from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers import large_corpora
from paraphrastic.readers.pair_filter import PairFilter
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
