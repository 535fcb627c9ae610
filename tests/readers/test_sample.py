"""The data set `sample`: its rows, no sentence in two places, and what each similarity set tests."""

import hashlib
import re
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from paraphrastic.base.tables import RAW
from paraphrastic.readers import sample
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source

FIRST_AND_LAST = {
    "pairs": (
        ("A neighbor hated the teacher.", "A teacher was hated by a neighbor.", 0),
        ("The guy caught the baby.", "The guy was catching the baby.", 1204),
    ),
    "similarity": (
        ("sample.synonyms", "test", "The opera vocalist carelessly frightened some actors."),
        ("sample.words", "test", "greet", "welcome", 5.0),
    ),
    "ranking": (
        ("sample.qa", "train", 0, "What did the actor drop?", "An actor dropped a computer.", 1),
        ("sample.qa", "test", 79, "Who quickly lost the ball?", "The burglar was chasing a pupil.", 0),
    ),
    "labelled_pairs": (
        ("sample.paraphrase", "train", "By the street, the lion never nervously chased the parrot."),
        ("sample.entailment", "test", "The parrots were fed by the cheerful artist silently at sunrise."),
    ),
    "labelled_sentences": (
        ("sample.topics", "train", "An angry gentleman pursued a dog carelessly, but the teacher was loved"),
        ("sample.topics", "test", "The happy burglar damaged the woman's kitchen door abruptly although"),
    ),
    "tagged_tokens": (
        ("sample.tags", "train", 0, "The", "DT", 3, "det"),
        ("sample.tags", "test", 149, ".", ".", 6, "punct"),
    ),
}
SIZES = {
    "sample.synonyms": {"test": 400},
    "sample.roles": {"test": 400},
    "sample.typos": {"test": 400},
    "sample.negation": {"test": 400},
    "sample.compounds": {"test": 400},
    "sample.dev": {"test": 500},
    "sample.words": {"test": 250},
    "sample.qa": {"train": 1351, "dev": 333, "test": 687},
    "sample.paraphrase": {"train": 500, "test": 400},
    "sample.entailment": {"train": 600, "dev": 150, "test": 400},
    "sample.topics": {"train": 600, "dev": 150, "test": 400},
    "sample.tags": {"train": 4141, "dev": 938, "test": 1503},
}
DIGEST = "90888ba14e7258b0148f3496edbc4c41e3d5c39fd93f7558394b030bdf913312"


@pytest.fixture(scope="module")
def pairs() -> list[dict]:
    """The training pairs."""
    return sample.table("pairs").to_pylist()


@pytest.fixture(scope="module")
def sets() -> dict[tuple[str, str], list[dict]]:
    """The rows of the evaluation sets by set and split."""
    rows = defaultdict(list)
    for kind in RAW.keys() - {"pairs"}:
        for row in sample.table(kind).to_pylist():
            rows[row["set"], row["split"]].append(row)
    return rows


def normalized(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def sentences(rows) -> set[str]:
    """Return the normalized sentences of both sides."""
    return {normalized(row[side]) for row in rows for side in ("text1", "text2") if side in row}


def test_readings(tmp_path):
    readings = list(read(source("sample"), tmp_path / "missing"))
    assert {reading.kind: reading.table for reading in readings} == {kind: sample.table(kind) for kind in RAW}
    assert all(reading.table.schema == RAW[reading.kind] and not reading.bad for reading in readings)
    assert all(column.null_count == 0 for reading in readings for column in reading.table.columns)


def test_rows_have_not_changed():
    rows = [(kind, sample.table(kind).to_pydict()) for kind in RAW]
    assert hashlib.sha256(repr(rows).encode()).hexdigest() == DIGEST


@pytest.mark.parametrize("kind", RAW)
def test_first_and_last_row(kind):
    rows = [tuple(row.values()) for row in sample.table(kind).to_pylist()]
    for row, expected in zip((rows[0], rows[-1]), FIRST_AND_LAST[kind], strict=True):
        *before, last = expected
        assert row[: len(before)] == tuple(before)
        assert str(row[len(before)]).startswith(str(last))


def test_sizes(pairs, sets):
    assert len(pairs) == 10_000
    sizes = defaultdict(dict)
    for (name, split), rows in sets.items():
        sizes[name][split] = len(rows)
    assert sizes == SIZES


def test_sentence_of_pairs_in_one_group(pairs):
    groups = defaultdict(set)
    for row in pairs:
        groups[row["group"]] |= sentences([row])
    assert sum(map(len, groups.values())) == len(set().union(*groups.values()))


def test_pairs_with_the_same_words_in_different_groups(pairs):
    groups = defaultdict(set)
    for row in pairs:
        for side in ("text1", "text2"):
            groups[tuple(sorted(normalized(row[side]).split()))].add(row["group"])
    assert sum(len(numbers) > 1 for numbers in groups.values()) > 50


def test_no_evaluation_sentence_in_pairs(pairs, sets):
    training = sentences(pairs)
    for name, rows in sets.items():
        assert not training & sentences(rows), name


def test_no_sentence_in_two_splits_of_a_set(sets):
    for (left, rows), (right, other_rows) in combinations(sets.items(), 2):
        if left[0] == right[0]:
            assert not sentences(rows) & sentences(other_rows), (left, right)


def test_questions_with_right_and_wrong_answers(sets):
    for split, size in {"train": 160, "dev": 40, "test": 80}.items():
        labels = defaultdict(list)
        for row in sets["sample.qa", split]:
            labels[row["question"]].append(row["label"])
        assert len(labels) == size
        assert all(5 <= len(candidates) <= 12 for candidates in labels.values())
        assert 0.8 < np.mean([any(candidates) and not all(candidates) for candidates in labels.values()]) < 1


@pytest.mark.parametrize(
    ("name", "classes"), [("sample.paraphrase", 2), ("sample.entailment", 3), ("sample.topics", 2)]
)
def test_balance_of_labels(sets, name, classes):
    counts = Counter(row["label"] for row in sets[name, "test"])
    assert sorted(counts) == list(range(classes))
    assert min(counts.values()) > 0.7 / classes * sum(counts.values())


def test_heads_of_tagged_sentences_form_trees(sets):
    sentences = defaultdict(list)
    for row in (row for split in ("train", "dev", "test") for row in sets["sample.tags", split]):
        sentences[row["split"], row["sentence"]].append(row)
    assert Counter(split for split, _ in sentences) == {"train": 400, "dev": 100, "test": 150}
    for name, tokens in sentences.items():
        assert [row["relation"] for row in tokens if row["head"] == 0] == ["root"], name
        heads = np.array([0, *(row["head"] for row in tokens)])
        ancestors = np.arange(1, len(heads))
        for _ in tokens:
            ancestors = heads[ancestors]  # an IndexError if a head is out of range
        assert not ancestors.any(), name


def correlation(rows, **vectorizer) -> float:
    """Return Pearson's r × 100 of the scores and the cosines of weighted counts of words or n-grams."""
    left, right = ([" ".join(re.findall(r"\w+", row[side].lower())) for row in rows] for side in ("text1", "text2"))
    counts = TfidfVectorizer(**vectorizer).fit(left + right)
    cosines = np.asarray(counts.transform(left).multiply(counts.transform(right)).sum(axis=1)).ravel()
    return 100 * np.corrcoef(cosines, [row["score"] for row in rows])[0, 1]


def word_overlap(rows) -> float:
    return correlation(rows, token_pattern=r"\w+", use_idf=False, binary=True)


def test_words_and_trigrams_on_each_similarity_set(sets):
    figures = {
        name: word_overlap(rows) for (name, _), rows in sets.items() if "score" in rows[0] and name != "sample.words"
    }
    assert 30 < figures["sample.synonyms"] < 65
    assert abs(figures["sample.roles"]) < 20
    assert max(figures.values()) < 80
    assert figures["sample.typos"] + 10 < correlation(sets["sample.typos", "test"], analyzer="char", ngram_range=(3, 3))
