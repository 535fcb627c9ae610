"""Rows of every real evaluation set: numbers and published statistics."""

from collections import Counter

import numpy as np
import pyarrow.compute as pc
import pytest

from paraphrastic.readers.reading import Reading
from tests.helpers.real_readings import ReadSource, column, split

pytestmark = pytest.mark.real_data


def row_counts(readings: list[Reading]) -> dict[str, int]:
    """Return the number of rows per SET/SPLIT."""
    counts: Counter[str] = Counter()
    for reading in readings:
        counts.update(pc.binary_join_element_wise(reading.table["set"], reading.table["split"], "/").to_pylist())
    return dict(counts)


EVALUATION = {
    "sts2012": {
        "sts.2012.MSRpar/test": 750,
        "sts.2012.MSRvid/test": 750,
        "sts.2012.SMTeuroparl/test": 459,
        "sts.2012.OnWN/test": 750,
        "sts.2012.SMTnews/test": 399,
    },
    "sts2012-train": {
        "sts.2012.MSRpar/train": 750,
        "sts.2012.MSRvid/train": 750,
        "sts.2012.SMTeuroparl/train": 734,
    },
    "sts2013": {"sts.2013.headlines/test": 750, "sts.2013.OnWN/test": 561, "sts.2013.FNWN/test": 189},
    "sts2014": {
        "sts.2014.deft-forum/test": 450,
        "sts.2014.deft-news/test": 300,
        "sts.2014.headlines/test": 750,
        "sts.2014.images/test": 750,
        "sts.2014.OnWN/test": 750,
        "sts.2014.tweet-news/test": 750,
    },
    "sts2015": {
        "sts.2015.answers-forums/test": 375,
        "sts.2015.answers-students/test": 750,
        "sts.2015.belief/test": 375,
        "sts.2015.headlines/test": 750,
        "sts.2015.images/test": 750,
    },
    "sts2016": {
        "sts.2016.answer-answer/test": 254,
        "sts.2016.headlines/test": 249,
        "sts.2016.plagiarism/test": 230,
        "sts.2016.postediting/test": 244,
        "sts.2016.question-question/test": 209,
    },
    "sick": {
        f"sick.{kind}/{split}": rows
        for kind in ("relatedness", "entailment")
        for split, rows in {"train": 4500, "dev": 500, "test": 4927}.items()
    },
    "msrp": {"paraphrase.msrp/train": 4076, "paraphrase.msrp/test": 1725},
    "trecqa": {"qa.qasent/train": 4718, "qa.qasent/dev": 1117, "qa.qasent/test": 1442},
    "wikiqa": {"qa.wikiqa/train": 20360, "qa.wikiqa/dev": 2733, "qa.wikiqa/test": 6165},
    "simlex": {"words.simlex/test": 999},
    "wordsim": {
        "words.wordsim/test": 353,
        "words.wordsim-similarity/test": 203,
        "words.wordsim-relatedness/test": 252,
    },
    "rarewords": {"words.rarewords/test": 2034},
    "ppdb-judgements": {"paraphrase.ppdb/test": 26456},
    "sst": {"sst/train": 67349, "sst/dev": 872, "sst/test": 1821},
    "ewt": {"tags.ewt/train": 204577, "tags.ewt/dev": 25147, "tags.ewt/test": 25094},
    "wsj-sample": {"tags.wsj/train": 81793, "tags.wsj/dev": 6327, "tags.wsj/test": 5964},
}


@pytest.mark.parametrize("name", EVALUATION)
def test_rows_per_set_and_split(read_source: ReadSource, name: str):
    assert row_counts(read_source(name)) == EVALUATION[name]


SCORE_RANGES = [
    ("sts2012", 0, 5),
    ("sts2012-train", 0, 5),
    ("sts2013", 0, 5),
    ("sts2014", 0, 5),
    ("sts2015", 0, 5),
    ("sts2016", 0, 5),
    ("sick", 1, 5),
    ("simlex", 0.23, 9.8),
    ("wordsim", 0.23, 10),
    ("rarewords", 0, 10),
    ("ppdb-judgements", 1, 5),
]


@pytest.mark.parametrize(("name", "low", "high"), SCORE_RANGES)
def test_range_of_scores(read_source: ReadSource, name: str, low: float, high: float):
    scores = column([reading for reading in read_source(name) if reading.kind == "similarity"], "score")
    assert pc.min_max(scores).as_py() == {"min": low, "max": high}


def test_sick_entailment_labels(read_source: ReadSource):
    readings = [reading for reading in read_source("sick") if reading.kind == "labelled_pairs"]
    counts = {split(reading): np.bincount(reading.table["label"]).tolist() for reading in readings}
    assert counts == {"train": [665, 2536, 1299], "dev": [74, 282, 144], "test": [720, 2793, 1414]}


@pytest.mark.parametrize(
    ("name", "positive"),
    [("msrp", {"train": 2753, "test": 1147}), ("sst", {"train": 37569, "dev": 444, "test": 909})],
)
def test_positive_labels(read_source: ReadSource, name: str, positive: dict[str, int]):
    counts: Counter[str] = Counter()
    for reading in read_source(name):
        counts[split(reading)] += pc.sum(reading.table["label"]).as_py()
    assert counts == positive


@pytest.mark.parametrize(
    ("name", "questions", "answered"),
    [
        ("trecqa", {"train": 93, "dev": 65, "test": 68}, {"train": 83, "dev": 65, "test": 68}),
        ("wikiqa", {"train": 2118, "dev": 296, "test": 633}, {"train": 873, "dev": 126, "test": 243}),
    ],
)
def test_questions_with_and_without_an_answer(
    read_source: ReadSource, name: str, questions: dict[str, int], answered: dict[str, int]
):
    tables = {split(reading): reading.table for reading in read_source(name)}
    correct = {split: table.filter(pc.equal(table["label"], 1)) for split, table in tables.items()}
    assert {split: pc.count_distinct(table["question"]).as_py() for split, table in tables.items()} == questions
    assert {split: pc.count_distinct(table["question"]).as_py() for split, table in correct.items()} == answered


@pytest.mark.parametrize(
    ("name", "sentences", "tags"),
    [
        ("ewt", {"train": 12544, "dev": 2001, "test": 2077}, 49),
        ("wsj-sample", {"train": 3396, "dev": 273, "test": 245}, 45),
    ],
)
def test_tagged_sentences(read_source: ReadSource, name: str, sentences: dict[str, int], tags: int):
    readings = read_source(name)
    assert {split(reading): pc.max(reading.table["sentence"]).as_py() + 1 for reading in readings} == sentences
    assert pc.count_distinct(column(readings, "tag")).as_py() == tags


def test_roots_of_ewt_sentences(read_source: ReadSource):
    for reading in read_source("ewt"):
        roots = reading.table.filter(pc.equal(reading.table["head"], 0))
        assert roots["sentence"].to_pylist() == list(range(len(roots)))
        assert set(roots["relation"].to_pylist()) == {"root"}


def test_heads_and_escapes_of_the_wsj_sample(read_source: ReadSource):
    readings = read_source("wsj-sample")
    assert all(reading.table["head"].null_count == len(reading.table) for reading in readings)
    token = column(readings, "token")
    assert not pc.any(pc.match_substring_regex(token, r"\\|^-[LR][CR]B-$")).as_py()
    assert pc.sum(pc.equal(token, "1/2")).as_py() == 27


def test_repeated_pair_of_wordsim(read_source: ReadSource):
    first, *_ = read_source("wordsim")
    repeated = pc.and_(pc.equal(first.table["text1"], "money"), pc.equal(first.table["text2"], "cash"))
    assert pc.sum(repeated).as_py() == 2
