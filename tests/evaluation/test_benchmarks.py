"""Evaluation sets as they are loaded from disk."""

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.evaluation import Benchmarks
from tests.helpers.benchmark_tables import LABELLED_PAIRS, SIMILARITY, TEXTS, write_benchmarks


def test_names_kinds_and_sizes_of_sets(tmp_path):
    benchmarks = Benchmarks.load(write_benchmarks(tmp_path))
    assert benchmarks.sentences.to_pylist() == TEXTS
    assert [(each.name, each.kind, len(each)) for each in benchmarks.sets()] == [
        ("paraphrase.msrp", "labelled_pairs", 5),  # with its training pairs
        ("qa.wikiqa", "ranking", 3),
        ("sts.2012.MSRpar", "similarity", 3),
        ("sts.2016.headlines", "similarity", 2),
        ("sts.2016.postediting", "similarity", 2),
        ("words.simlex", "similarity", 3),
    ]


def test_columns_of_set(tmp_path):
    msrp = Benchmarks.load(write_benchmarks(tmp_path)).sets()[0]
    rows = [row for row in LABELLED_PAIRS if row[0] == "paraphrase.msrp"]
    assert msrp.column("right").tolist() == [row[3] for row in rows]
    assert msrp.is_test.tolist() == [row[1] == "test" for row in rows]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", "test", 0, 10, 1.0), r"has row numbers that sentences\.parquet lacks"),
        (("a", "test", -1, 0, 1.0), r"has row numbers that sentences\.parquet lacks"),
        (("a", "test", 0, 1, float("nan")), "has scores that are not finite"),
        (("a", "test", 0, 1, None), "has empty cells"),
        (("a", None, 0, 1, 1.0), "has empty cells"),
    ],
)
def test_damaged_table(tmp_path, row, message):
    write_benchmarks(tmp_path, [*SIMILARITY, row])
    with pytest.raises(DataError, match=rf"similarity\.parquet: {message}; run `dvc repro`") as caught:
        Benchmarks.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["sentences", "similarity", "ranking", "labelled_pairs"])
def test_missing_table(tmp_path, name):
    (write_benchmarks(tmp_path) / f"{name}.parquet").unlink()
    with pytest.raises(DataError, match=rf"{name}\.parquet: no such file; run `dvc repro`"):
        Benchmarks.load(tmp_path)
