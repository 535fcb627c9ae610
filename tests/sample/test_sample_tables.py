"""The generated tables: their sizes, sentences, scores and labels, and how simple scorers rank them."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from paraphrastic import sample
from paraphrastic.base.tables import RAW

SIMILARITY = {
    "sample.synonyms": 400,
    "sample.roles": 400,
    "sample.typos": 400,
    "sample.negation": 400,
    "sample.compounds": 400,
    "sample.dev": 500,
}
DIGEST = "b1e033e03396a9c26c7c79f8043740f45e54e5bf96707535425d5b0e292f014d"
PRINT_DIGEST = """
import hashlib
from paraphrastic.sample import tables
print(hashlib.sha256(repr([(kind, table.to_pydict()) for kind, table in tables()]).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def tables() -> tuple[tuple[str, pa.Table], ...]:
    """All tables with their kinds."""
    return sample.tables()


@pytest.fixture(scope="module")
def pairs(tables) -> list[dict]:
    """The training pairs."""
    return [row for kind, table in tables if kind == "pairs" for row in table.to_pylist()]


@pytest.fixture(scope="module")
def sets(tables) -> dict[tuple[str, str], list[dict]]:
    """The rows of the evaluation sets by set and split."""
    rows = defaultdict(list)
    for kind, table in tables:
        for row in table.to_pylist() if kind != "pairs" else ():
            rows[row["set"], row["split"]].append(row)
    return rows


@pytest.fixture(scope="module")
def tagged_sentences(sets) -> dict[tuple[str, int], list[dict]]:
    """The tokens of each tagged sentence by split and number."""
    tokens = defaultdict(list)
    for split in ("train", "dev", "test"):
        for row in sets["sample.tags", split]:
            tokens[split, row["sentence"]].append(row)
    return tokens


def normalized(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def sentences(rows) -> set[str]:
    """Return the normalized sentences of both sides."""
    return {normalized(row[side]) for row in rows for side in ("text1", "text2") if side in row}


def test_schema_of_each_table(tables):
    assert {kind for kind, _ in tables} == set(RAW)
    assert all(table.schema == RAW[kind] for kind, table in tables)
    assert all(column.null_count == 0 for _, table in tables for column in table.columns)


def test_sizes_of_pairs_and_similarity_sets(pairs, sets):
    assert len(pairs) == 10_000
    assert {name: len(sets[name, "test"]) for name in SIMILARITY} == SIMILARITY
    assert len(sets["sample.words", "test"]) == 250


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("sample.paraphrase", {"train": 500, "test": 400}),
        ("sample.entailment", {"train": 600, "dev": 150, "test": 400}),
        ("sample.topics", {"train": 600, "dev": 150, "test": 400}),
    ],
)
def test_sizes_of_a_labelled_set(sets, name, sizes):
    assert {split: len(rows) for (of_set, split), rows in sets.items() if of_set == name} == sizes


def test_sizes_of_questions_and_tagged_sentences(sets):
    for split, size in {"train": 160, "dev": 40, "test": 80}.items():
        assert len({row["question"] for row in sets["sample.qa", split]}) == size
    for split, size in {"train": 400, "dev": 100, "test": 150}.items():
        assert {row["sentence"] for row in sets["sample.tags", split]} == set(range(size))


def test_digest_of_all_tables(tables):
    digest = hashlib.sha256(repr([(kind, table.to_pydict()) for kind, table in tables]).encode()).hexdigest()
    assert digest == DIGEST, "the sample changed: if this is intended, replace DIGEST and run `dvc repro`"


@pytest.mark.slow
def test_tables_under_another_hash_seed():
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PRINT_DIGEST]
        run = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        assert run.stdout.strip() == DIGEST


def test_tables_are_generated_once(tables):
    assert sample.tables() is tables


def test_pairs_of_another_seed(pairs, monkeypatch):
    monkeypatch.setattr(sample, "_PAIRS", 100)
    (_, same), (_, other) = (next(sample._generate(seed)) for seed in (0, 1))
    assert same.to_pylist() == pairs[:100]
    assert not other.equals(same)


def test_pairs_are_distinct_wordings(pairs):
    assert all(normalized(row["text1"]) != normalized(row["text2"]) for row in pairs)
    assert len({frozenset((row["text1"], row["text2"])) for row in pairs}) == len(pairs)


def test_sentence_of_pairs_in_one_group(pairs):
    groups = defaultdict(set)
    for row in pairs:
        groups[row["group"]] |= sentences([row])
    assert sum(map(len, groups.values())) == len(set().union(*groups.values()))
    assert np.mean([len(wordings) for wordings in groups.values()]) > 3


def test_sentences_of_pairs_resemble_raw_text(pairs):
    texts = {row[side] for row in pairs for side in ("text1", "text2")}
    words = Counter(word for text in texts for word in re.findall(r"[a-z-]+", text.lower()))
    assert 600 <= len(words) <= 1500
    assert words.most_common(1)[0][1] > 100 * np.median(list(words.values()))
    assert all(text[0].isupper() and text.endswith(".") for text in texts)
    assert {len(text.split()) for text in texts} <= set(range(3, 21))
    assert sum("n't" in text for text in texts) > 200
    assert sum("," in text for text in texts) > 200


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


@pytest.mark.parametrize("name", SIMILARITY)
def test_distribution_of_scores(sets, name):
    scores = np.array([row["score"] for row in sets[name, "test"]])
    assert scores.min() < 0.5
    assert scores.max() == 5
    assert scores.std() > 1.2
    assert len(np.unique(scores)) >= 15
    assert 0.2 < (scores == 5).mean() < 0.5


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_candidates_and_answers_of_questions(sets, split):
    labels = defaultdict(list)
    for row in sets["sample.qa", split]:
        labels[row["question"]].append(row["label"])
    assert all(5 <= len(candidates) <= 12 for candidates in labels.values())
    assert 0.8 < np.mean([any(candidates) and not all(candidates) for candidates in labels.values()]) < 1


@pytest.mark.parametrize(
    ("name", "classes"), [("sample.paraphrase", 2), ("sample.entailment", 3), ("sample.topics", 2)]
)
def test_balance_of_labels(sets, name, classes):
    counts = Counter(row["label"] for row in sets[name, "test"])
    assert sorted(counts) == list(range(classes))
    assert min(counts.values()) > 0.7 / classes * sum(counts.values())


def test_heads_of_tagged_sentences_form_trees(tagged_sentences):
    for sentence, tokens in tagged_sentences.items():
        assert [row["relation"] for row in tokens if row["head"] == 0] == ["root"], sentence
        heads = np.array([0, *(row["head"] for row in tokens)])
        ancestors = np.arange(1, len(heads))
        for _ in tokens:
            ancestors = heads[ancestors]  # an IndexError if a head is out of range
        assert not ancestors.any(), sentence


def test_tags_of_words_and_relations(tagged_sentences):
    rows = [row for tokens in tagged_sentences.values() for row in tokens]
    expected = {
        "n't": "RB",
        "was": "VBD",
        "being": "VBG",
        "the": "DT",
        ".": ".",
        "'s": "POS",
        "men": "NNS",
        "Monday": "NNP",
    }
    for word, tag in expected.items():
        assert {row["tag"] for row in rows if row["token"] == word} == {tag}, word
    assert {row["tag"] for row in rows if row["relation"] in ("nsubj", "obj", "iobj")} == {"NN", "NNS"}


def test_participle_after_a_passive_auxiliary(tagged_sentences):
    heads = [
        tokens[row["head"] - 1]["tag"]
        for tokens in tagged_sentences.values()
        for row in tokens
        if row["relation"] == "aux:pass"
    ]
    assert set(heads) == {"VBN"}


def correlation(rows, **vectorizer) -> float:
    """Return Pearson's r × 100 of the scores and the cosines of weighted counts of words or n-grams."""
    left, right = ([" ".join(re.findall(r"\w+", row[side].lower())) for row in rows] for side in ("text1", "text2"))
    counts = TfidfVectorizer(**vectorizer).fit(left + right)
    cosines = np.asarray(counts.transform(left).multiply(counts.transform(right)).sum(axis=1)).ravel()
    return 100 * np.corrcoef(cosines, [row["score"] for row in rows])[0, 1]


def word_overlap(rows) -> float:
    return correlation(rows, token_pattern=r"\w+", use_idf=False, binary=True)


def trigrams(rows) -> float:
    return correlation(rows, analyzer="char", ngram_range=(3, 3))


def test_words_and_trigrams_on_misspelled_words(sets):
    rows = sets["sample.typos", "test"]
    assert word_overlap(rows) + 10 < trigrams(rows) < 90


def test_word_overlap_on_each_similarity_set(sets):
    figures = {name: word_overlap(sets[name, "test"]) for name in SIMILARITY}
    assert 30 < figures["sample.synonyms"] < 65
    assert abs(figures["sample.roles"]) < 20
    assert max(figures.values()) < 80


def test_word_overlap_on_paraphrases(sets):
    rows = sets["sample.paraphrase", "test"]
    labels = np.array([row["label"] for row in rows])
    words = [[set(normalized(row[side]).split()) for side in ("text1", "text2")] for row in rows]
    overlap = np.array([len(a & b) / len(a | b) for a, b in words])
    assert max(((overlap >= threshold) == labels).mean() for threshold in overlap) < labels.mean() + 0.15
