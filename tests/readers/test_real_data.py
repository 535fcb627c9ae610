"""First and last row of every real source; numbers and published statistics of those with training pairs."""

import hashlib
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paraphrastic.readers.paraphrase_groups import normal_forms
from tests.helpers.real_readings import ReadSource, column

pytestmark = pytest.mark.real_data


def row_hash(row: pa.Table) -> str:
    """Return a short hash of a table of one row."""
    (values,) = row.to_pylist()
    return hashlib.sha256("\t".join(map(str, values.values())).encode()).hexdigest()[:8]


FIRST_AND_LAST_ROWS = [
    ("turkcorpus", "b38a309c", "6f6f8063"),
    ("asset", "8cdd7a60", "280281f3"),
    ("twitterurl", "4ab5b315", "137ba72c"),
    ("wikisplit", "2ab98544", "4d91c455"),
    ("parasci", "33bb56e6", "cafec2de"),
    ("onestop", "8b2e8f29", "c04cb17b"),
    ("googlecomp", "ace8c6f2", "b63b82cc"),
    ("shakespeare", "d44eba82", "317af7d5"),
    ("ppdb-lexicon", "b4d47942", "944d6e42"),
    ("multi30k", "2cb3a2e0", "32d394df"),
    ("quora", "ae6a7852", "cdd26ed2"),
    ("twitterurl-large", "690a475b", "1233efbe"),
    ("wmt21", "fd2bde29", "edfc3b4f"),
    ("wmt22", "12de879d", "96c3d983"),
    ("wmt23", "99669f7b", "10feb4b2"),
    ("human-parity", "24775b54", "18adc0b4"),
    ("mlqe-pe", "d2fcffa0", "8707bb1c"),
    ("tatoeba", "de18049f", "4015da8e"),
    ("parabank2-sample", "546461d1", "8a215e72"),
    ("wikianswers-sample", "88f628b0", "c8ca154f"),
    ("nli-paraphrases", "1226a3cb", "4a9e8ac0"),
    ("perspectrum", "05832722", "f25f275a"),
    ("mqr", "cdd7b77b", "7b0d83b1"),
    ("claims", "48083e3a", "be82d24f"),
    ("reuters", "98354fa0", "b82f3a59"),
    ("msrvtt", "773a8452", "c127306d"),
    ("coco", "a2095160", "379734f5"),
    ("sts2012", "7ff03470", "d609d94f"),
    ("sts2012-train", "ed1d9765", "71527434"),
    ("sts2013", "c7fad922", "f3af3c55"),
    ("sts2014", "32c80291", "51ed570f"),
    ("sts2015", "6d9f52d6", "e74ad80e"),
    ("sts2016", "5a6550df", "41705067"),
    ("sick", "c7755d7b", "dacd206b"),
    ("msrp", "fb673f81", "d49c285b"),
    ("trecqa", "7ac5e97e", "ae0a946f"),
    ("wikiqa", "1621979d", "0b09ec49"),
    ("simlex", "00ece3bf", "fdd87690"),
    ("wordsim", "bd38dafe", "2540e13b"),
    ("rarewords", "8ef65763", "bcdfc198"),
    ("ppdb-judgements", "fa3d92c2", "4945193b"),
    ("sst", "fa2f8ae7", "3f2e1b53"),
    ("ewt", "7414df37", "63268f32"),
    ("wsj-sample", "f7843177", "0640c1e7"),
]


@pytest.mark.parametrize(("name", "first", "last"), FIRST_AND_LAST_ROWS)
def test_first_and_last_row(read_source: ReadSource, name: str, first: str, last: str):
    readings = read_source(name)
    end = readings[-1].table
    assert (row_hash(readings[0].table.slice(0, 1)), row_hash(end.slice(len(end) - 1))) == (first, last)
    assert name in ("ppdb-lexicon", "quora") or not any(reading.bad for reading in readings)


PAIRS = [
    ("turkcorpus", 2359 * 8, 2359),
    ("asset", 2359 * 10, 2359),
    ("twitterurl", 11167 + 1820, None),
    ("wikisplit", 3 * 5000, 15000),
    ("parasci", 28883 + 2753 + 2345, 33981),
    ("onestop", 2166 + 2154 + 1674, 3168),
    ("googlecomp", 2 * 1000, 2000),
    ("shakespeare", 28239, 28239),
    ("ppdb-lexicon", 187276, 187276),
    ("multi30k", (29000 + 1014) * 10, 30014),
    ("quora", 242562, 51314),
    ("twitterurl-large", 114000, 5361),
    ("wmt21", 152907, 7939),
    ("wmt22", 204923, 11731),
    ("wmt23", 183650, 9953),
    ("human-parity", 18718, 2000),
    ("mlqe-pe", 20750, 20750),
    ("tatoeba", 55969, 35609),
    ("parabank2-sample", 28000, 1202),
    ("wikianswers-sample", 28000, 3061),
    ("nli-paraphrases", 11140, 1394),
    ("perspectrum", 12184, 3045),
    ("mqr", 4225, 4222),
    ("claims", 9289, 8233),
    ("reuters", 12374, 11701),
    ("msrvtt", 142521, 9787),
    ("coco", 138021, 13799),
]


@pytest.mark.parametrize(("name", "pairs", "groups"), PAIRS)
def test_numbers_of_pairs_and_groups(read_source: ReadSource, name: str, pairs: int, groups: int | None):
    readings = read_source(name)
    assert sum(len(reading.table) for reading in readings) == pairs
    distinct = pc.count_distinct(column(readings, "group")).as_py()
    assert distinct == (groups or pc.count_distinct(column(readings, "text1")).as_py())


def test_lexicon_rows_with_control_characters(read_source: ReadSource):
    (reading,) = read_source("ppdb-lexicon")
    assert [row.line for row in reading.bad] == [19503, 22319, 28645, 91186]
    assert reading.table.slice(0, 2).to_pydict() == {
        "text1": ["fawn", "reallocations"],
        "text2": ["crawl", "re-allocations"],
        "group": [0, 1],
    }


def test_questions_with_half_a_character(read_source: ReadSource):
    (reading,) = read_source("quora")
    assert {Path(row.file).name for row in reading.bad} == {"dev.tsv", "test.tsv"}
    assert len(reading.bad) == 47


def test_duplicate_questions_of_both_forms(read_source: ReadSource):
    (reading,) = read_source("quora")
    first, second = (column([reading], side).combine_chunks() for side in ("text1", "text2"))
    a, b = (normal_forms(side) for side in (first, second))
    low, high = (
        compare(a.cast(pa.string()), b.cast(pa.string())) for compare in (pc.min_element_wise, pc.max_element_wise)
    )
    distinct = set(zip(low.to_pylist(), high.to_pylist(), strict=True))
    assert len({pair for pair in distinct if pair[0] != pair[1]}) == 119992  # at least 117,455 of Quora's 149,263


def test_largest_group_of_tweets(read_source: ReadSource):
    (reading,) = read_source("twitterurl-large")
    assert max(pc.value_counts(reading.table["group"]).field("counts").to_pylist()) == 1763


def test_pairs_of_a_translated_sentence(read_source: ReadSource):
    for year in ("21", "22", "23"):
        counts = pc.value_counts(column(read_source(f"wmt{year}"), "group")).field("counts").to_pylist()
        assert max(counts) == 20


def test_images_of_coco_that_two_files_hold(read_source: ReadSource):
    counts = Counter(pc.value_counts(column(read_source("coco"), "group")).field("counts").to_pylist())
    assert counts[10] > 13_700  # five captions


def test_non_breaking_spaces_of_shakespeare(read_source: ReadSource):
    readings = read_source("shakespeare")
    assert pc.sum(pc.count_substring(column(readings, "text1"), "\xa0")).as_py() == 488
