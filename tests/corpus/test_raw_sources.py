from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.corpus.raw_sources import DistinctPairs, RawPairs, read_evaluation
from paraphrastic.sources.source import File
from tests.helpers.faulty_server import make_source
from tests.helpers.raw_files import write_file

BOTH = [File("a", "", None), File("b", "", None)]
ALIGNED = make_source(BOTH, reader="aligned", options={"pairs": [["a", "b"]]}, pairs=True)
STS_2012 = {"options": {"year": "2012", "split": "test"}, "rows": {"sts.2012.x/test": 2}}
STS = make_source([File("x.test.tsv", "", None)], reader="sts-tsv", **STS_2012)


@pytest.fixture
def aligned_files(tmp_path):
    """Two aligned files of ten lines, of which one line is damaged."""
    write_file(tmp_path / "a", b"a\n" * 9 + b"\xff\n")
    write_file(tmp_path / "b", "".join(f"b{n}\n" for n in range(10)))
    return tmp_path


def test_pairs_beside_a_few_bad_rows(aligned_files):
    messages = []
    pairs = RawPairs(ALIGNED, aligned_files, 0.2, messages.append)
    texts = [text for table in pairs for text in table["text2"].to_pylist()]
    assert texts == [f"b{n}" for n in range(9)]
    assert (pairs.read, len(pairs.bad)) == (9, 1)
    assert messages == [f"{aligned_files}/a, line 10: not UTF-8 (1 bad rows beside 9 pairs): left out"]


def test_pairs_and_bad_rows_of_several_parts(aligned_files):
    twice = ALIGNED.model_copy(update={"options": {"pairs": [["a", "b"], ["a", "b"]]}})
    pairs = RawPairs(twice, aligned_files, 0.2, lambda line: None)
    for _ in range(2):  # each iteration counts anew
        assert [len(table) for table in pairs] == [9, 9]
        assert (pairs.read, len(pairs.bad)) == (18, 2)


def test_pairs_beside_too_many_bad_rows(aligned_files):
    message = r"a, line 10: not UTF-8.*: more than tokenize\.max_bad_rows = 0\.05 allows; remove .* and run `dvc repro`"
    with pytest.raises(DataError, match=message) as error:
        list(RawPairs(ALIGNED, aligned_files, 0.05, lambda line: None))
    assert "\n" not in str(error.value)


def test_pairs_beside_as_many_bad_rows_as_are_allowed(aligned_files):
    assert len(list(RawPairs(ALIGNED, aligned_files, 1 / 9, lambda line: None))) == 1


def test_pairs_without_a_bad_row(tmp_path):
    messages = []
    write_file(tmp_path / "a", "a\n")
    write_file(tmp_path / "b", "b\n")
    pairs = RawPairs(ALIGNED, tmp_path, 0.0, messages.append)
    assert [table.to_pylist() for table in pairs] == [[{"text1": "a", "text2": "b", "group": 0}]]
    assert messages == []


def test_complete_evaluation_set(tmp_path):
    write_file(tmp_path / "x.test.tsv", "3\tIt is.\tYes\n0\tNo.\tYes\n")
    (reading,) = read_evaluation(STS, tmp_path)
    assert reading.kind == "similarity"
    assert reading.table["score"].to_pylist() == [3.0, 0.0]


def test_pairs_are_no_evaluation_set(tmp_path):
    for name in "ab":
        write_file(tmp_path / name, f"{name}\n")
    assert read_evaluation(ALIGNED, tmp_path) == []


def test_evaluation_set_with_a_bad_row(tmp_path):
    write_file(tmp_path / "x.test.tsv", "3\tIt is.\tYes\n0\tNo.\n1\ta\tb\n")
    with pytest.raises(DataError, match=r"x\.test\.tsv, line 2: .*; an evaluation set must be complete: remove"):
        read_evaluation(STS, tmp_path)


def test_own_evaluation_set_with_a_bad_row(tmp_path):
    write_file(tmp_path / "x.test.tsv", "3\tIt is.\tYes\n0\tNo.\n")
    own = STS.model_copy(update={"options": {**STS.options, "own": SimpleNamespace(path="mine.tsv")}})
    with pytest.raises(DataError, match=r"must be complete: `paraphrastic data inspect mine\.tsv` lists them$"):
        read_evaluation(own, tmp_path)


def test_evaluation_set_with_another_number_of_rows(tmp_path):
    write_file(tmp_path / "x.test.tsv", "3\tIt is.\tYes\n" * 3)
    with pytest.raises(DataError, match=r": 3 rows of sts\.2012\.x/test, expected 2; remove the folder and run"):
        read_evaluation(STS, tmp_path)


@pytest.mark.parametrize("expected", [1, 3])
def test_pairs_of_another_number(tmp_path, expected):
    write_file(tmp_path / "a", "a\nc\n")
    write_file(tmp_path / "b", "b\nd\n")
    with pytest.raises(DataError, match=rf": 2 pairs, expected {expected}; remove the folder and run `dvc repro`"):
        list(RawPairs(ALIGNED.model_copy(update={"rows": {"pairs": expected}}), tmp_path, 0.0, print))
    assert len(list(RawPairs(ALIGNED.model_copy(update={"rows": {"pairs": 2}}), tmp_path, 0.0, print))) == 1


def test_number_of_pairs_with_a_bad_row(aligned_files):
    ten = ALIGNED.model_copy(update={"rows": {"pairs": 10}})
    assert len(list(RawPairs(ten, aligned_files, 0.2, lambda line: None))) == 1


def test_distinct_pairs_as_the_papers_count_them(tmp_path):
    write_file(tmp_path / "a", "the car\nan auto\nthe car\nThe car\nx\n")
    write_file(tmp_path / "b", "an auto\nthe car \nthe car .\nan auto\nx\n")
    messages = []
    list(RawPairs(ALIGNED.model_copy(update={"rows": {"distinct": 9}}), tmp_path, 0.0, messages.append))
    assert messages == ["texts: 4 distinct pairs; the papers count 9"]


def count(*tables):
    """Return the number of distinct pairs of tables of pairs of texts."""
    distinct = DistinctPairs()
    for pairs in tables:
        left, right = zip(*pairs, strict=True)
        distinct.add(pa.table({"text1": pa.chunked_array([left]), "text2": pa.chunked_array([right])}))
    return distinct.count()


def test_equal_pairs_in_either_order_and_in_several_tables():
    assert count([("a", "b"), ("b ", " a"), ("a", "c")], [("c", "a"), ("A", "b"), ("b.", "a")]) == 4


def test_no_pairs():
    assert count() == 0


def test_random_pairs():
    rows = np.random.default_rng(0).integers(60, size=(2000, 2))
    pairs = [(f"text {left}", f"text {right}") for left, right in rows]
    assert count(pairs[:700], pairs[700:]) == len({tuple(sorted(pair)) for pair in pairs})
