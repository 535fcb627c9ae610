"""The generated sample: facts about its words, its meanings, its sentences and its sets."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, islice
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from paraphrastic.sample import tables
from paraphrastic.sample.edits import edited, exchanges
from paraphrastic.sample.grammar import Speaker, Style
from paraphrastic.sample.inflection import inflect, plural
from paraphrastic.sample.lexicon import COMPOUNDS, CONCEPTS, likeness
from paraphrastic.sample.meaning import Event, Link, Thing, answers, relation, score
from paraphrastic.sample.tree import misspellings, text
from paraphrastic.sample.world import Scene, World
from paraphrastic.tables import RAW

SIMILARITY = {
    "sample.synonyms": 400,
    "sample.roles": 400,
    "sample.typos": 400,
    "sample.negation": 400,
    "sample.compounds": 400,
    "sample.dev": 500,
}
DIGEST = """
import hashlib
from paraphrastic.sample import tables
print(hashlib.sha256(repr([(kind, table.to_pydict()) for kind, table in tables()]).encode()).hexdigest())
"""

DOG, CAT, MAN, WOMAN = Thing("dog"), Thing("cat"), Thing("man"), Thing("woman")
CHASE = Event("chase", DOG, CAT)


@pytest.fixture(scope="module")
def sample() -> list[tuple[str, pa.Table]]:
    return list(tables())


@pytest.fixture(scope="module")
def sets(sample) -> dict[tuple[str, str], list[dict]]:
    """Rows of the evaluation sets by set and split."""
    rows = defaultdict(list)
    for kind, table in sample:
        for row in table.to_pylist() if kind != "pairs" else ():
            rows[row["set"], row["split"]].append(row)
    return rows


def pairs(sample) -> list[dict]:
    return [row for kind, table in sample if kind == "pairs" for row in table.to_pylist()]


def normal(sentence: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", sentence.lower()))


def sentences(rows) -> set[str]:
    return {normal(row[name]) for row in rows for name in ("text1", "text2") if name in row}


def wordings(meaning, count=300, **style) -> set[str]:
    speaker = Speaker(Random(0), Style(**style))
    return {text(speaker.say(meaning)) for _ in range(count)}


# WordVocabulary


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("chase", "chases chased chased chasing"),
        ("cry", "cries cried cried crying"),
        ("sip", "sips sipped sipped sipping"),
        ("catch", "catches caught caught catching"),
        ("flee", "flees fled fled fleeing"),
        ("write", "writes wrote written writing"),
    ],
)
def test_verbs_inflect(verb, forms):
    assert " ".join(inflect(verb, tag) for tag in ("VBZ", "VBD", "VBN", "VBG")) == forms


def test_nouns_inflect():
    nouns = "dog box lady boy thief woman"
    assert " ".join(map(plural, nouns.split())) == "dogs boxes ladies boys thieves women"


def test_a_word_has_one_meaning_within_a_domain_and_compounds_are_made_of_nouns():
    words = [(word, concept.domain) for concept in CONCEPTS.values() for word in concept.words]
    assert len(words) == len(set(words))
    for head, compound in COMPOUNDS.items():
        for noun in (head, *compound.kinds):
            assert CONCEPTS[noun].domain in ("person", "animal", "thing", "food", "place", "subject"), noun


def test_likeness_falls_with_distance_in_the_lexicon():
    others = ("dog", "animal", "cat", "lion", "table")
    assert [likeness("dog", other) for other in others] == [1.0, 0.7, 0.4, 0.15, 0.0]
    assert all(likeness(a, b) == likeness(b, a) for a, b in combinations(list(CONCEPTS)[::7], 2))


def test_misspellings_keep_both_ends_of_a_word():
    slips = misspellings("letter")
    assert {"ltter", "leter", "lettter", "letetr"} <= set(slips)
    assert len(slips) == len(set(slips))
    assert all(slip != "letter" and slip[0] == "l" and slip[-1] == "r" for slip in slips)


# Meanings


def test_the_same_meaning_scores_5_and_nothing_else_does():
    world = World(Random(1), Scene(linked=0.3))
    edits = ("near", "far", "broad", "drop", "add", "alter", "number", "swap", "negate", "new")
    for meaning in (world.meaning() for _ in range(200)):
        assert score(meaning, meaning) == 5
        for other in (edited(world, meaning, name) for name in edits):
            assert 0 <= score(meaning, other) <= 5
            assert (score(meaning, other) == 5) == (meaning == other)
            assert score(meaning, other) == score(other, meaning)


def test_scores_follow_from_meaning():
    swapped, negated = Event("chase", CAT, DOG), replace(CHASE, negated=True)
    near, far = Event("chase", DOG, Thing("rabbit")), Event("chase", DOG, Thing("man"))
    elsewhere, unrelated = replace(CHASE, place="park"), Event("read", MAN, Thing("book"))
    ranked = [score(CHASE, other) for other in (elsewhere, near, far, unrelated)]
    assert ranked == sorted(ranked, reverse=True)
    assert len(set(ranked)) == 4
    assert score(CHASE, unrelated) == 0
    assert score(CHASE, swapped) < score(CHASE, near)
    assert score(CHASE, negated) < score(CHASE, near)


def test_the_order_of_linked_events_counts_where_the_link_has_one():
    first, second = CHASE, Event("laugh", MAN)
    for kind, same in {"after": False, "although": False, "and": True, "while": True}.items():
        assert (score(Link(kind, first, second), Link(kind, second, first)) == 5) == same
    assert 0 < score(first, Link("and", first, second)) < 5


def test_exchanges_keep_to_what_the_verb_allows():
    assert exchanges(CHASE) == [Event("chase", CAT, DOG)]
    assert exchanges(Event("read", MAN, Thing("book"))) == []
    assert exchanges(Event("give", MAN, Thing("ball"), WOMAN)) == [Event("give", WOMAN, Thing("ball"), MAN)]


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        (replace(CHASE, place="park"), CHASE, 2),
        (CHASE, replace(CHASE, place="park"), 1),
        (CHASE, Event("chase", Thing("animal"), CAT), 2),
        (CHASE, Event("chase", CAT, DOG), 1),
        (CHASE, replace(CHASE, negated=True), 0),
        (replace(CHASE, place="park"), replace(CHASE, negated=True), 0),
        (CHASE, replace(CHASE, place="park", negated=True), 1),
        (replace(CHASE, negated=True), replace(CHASE, place="park", negated=True), 2),
        (replace(CHASE, negated=True), replace(CHASE, place="park"), 0),
        (replace(CHASE, negated=True, place="park"), replace(CHASE, negated=True), 1),
    ],
)
def test_entailment_follows_from_meaning(premise, hypothesis, label):
    assert relation(premise, hypothesis) == label


def test_a_question_is_answered_by_the_same_event_told_whole():
    park = replace(CHASE, place="park")
    assert answers(park, "place", replace(CHASE, place="forest"))
    assert not answers(park, "place", CHASE)
    assert not answers(park, "place", replace(park, negated=True))
    assert not answers(park, "agent", CHASE)
    assert answers(CHASE, "agent", Event("chase", MAN, CAT, place="park"))
    assert not answers(CHASE, "agent", Event("chase", CAT, DOG))


# Sentences


def test_one_meaning_has_many_wordings():
    said = wordings(replace(CHASE, place="park"))
    assert {
        "The dog chased the cat in the park.",
        "A hound pursued the cat in the park.",
        "In the park, the cat was chased by the dog.",
        "The dog is chasing a cat in the park.",
    } <= said
    assert not any("cat chased" in sentence for sentence in said)


def test_datives_converses_compounds_and_negation_have_their_wordings():
    sold = wordings(Event("sell", MAN, Thing("book"), WOMAN), synonyms=0.2, turned=0.5)
    assert {
        "The man sold the woman the book.",
        "The man sold the book to the woman.",
        "The woman bought the book from the man.",
    } <= sold
    assert {"A teapot broke.", "A tea pot broke.", "A pot for tea broke."} <= {
        re.sub(r"The man (?:broke|breaks) (a .*)\.", r"\1 broke.", said).capitalize()
        for said in wordings(Event("break", MAN, Thing("pot", kind="tea")), synonyms=0, turned=0)
    }
    assert {
        "The man's cat didn't sleep.",
        "The cat of the man never slept.",
        "The man's cat isn't sleeping.",
    } <= wordings(Event("sleep", Thing("cat", owner="man"), negated=True), synonyms=0)


def test_clauses_change_places_but_not_their_order_in_time():
    said = wordings(Link("after", CHASE, Event("laugh", MAN)), synonyms=0, turned=0)
    assert {
        "The dog chased the cat after the man laughed.",
        "After the man laughed, the dog chased the cat.",
        "The man laughed before the dog chased the cat.",
    } <= said
    assert not any(re.search(r"chased .* before|^After .* dog .*,", sentence) for sentence in said)


def test_questions_do_not_tell_what_they_ask():
    event = Event("chase", MAN, CAT, place="park", time="yesterday")
    speaker = Speaker(Random(0), Style(synonyms=0))
    asked = {role: {text(speaker.ask(event, role)) for _ in range(20)} for role in ("agent", "patient", "place")}
    assert "Who chased the cat in the park yesterday?" in asked["agent"]
    assert "What did the man chase in the park yesterday?" in asked["patient"]
    assert "Where did the man chase the cat yesterday?" in asked["place"]
    assert not any("park" in question for question in asked["place"])


# Tables


def test_every_kind_of_table_is_there_in_its_schema(sample):
    assert {kind for kind, _ in sample} == set(RAW)
    assert all(table.schema == RAW[kind] for kind, table in sample)
    assert all(column.null_count == 0 for _, table in sample for column in table.columns)


def test_sets_have_their_sizes(sample, sets):
    assert len(pairs(sample)) == 10_000
    sizes = {name: len(rows) for name, rows in sets.items()}
    assert {name: sizes[name, "test"] for name in SIMILARITY} == SIMILARITY
    assert sizes["sample.words", "test"] == 250
    for name, counts in {
        "sample.paraphrase": {"train": 500, "test": 400},
        "sample.entailment": {"train": 600, "dev": 150, "test": 400},
        "sample.topics": {"train": 600, "dev": 150, "test": 400},
    }.items():
        assert {split: size for (of, split), size in sizes.items() if of == name} == counts
    for split, size in {"train": 160, "dev": 40, "test": 80}.items():
        assert len({row["question"] for row in sets["sample.qa", split]}) == size
    for split, size in {"train": 400, "dev": 100, "test": 150}.items():
        assert {row["sentence"] for row in sets["sample.tags", split]} == set(range(size))


def test_the_same_seed_gives_the_same_tables_whatever_the_hash_seed(sample):
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": other}
    elsewhere = subprocess.run(
        [sys.executable, "-c", DIGEST], env=environment, capture_output=True, check=True, text=True
    )
    here = hashlib.sha256(repr([(kind, table.to_pydict()) for kind, table in sample]).encode()).hexdigest()
    assert elsewhere.stdout.strip() == here


def test_another_seed_gives_other_pairs(sample):
    (_, other), *_ = islice(tables(1), 1)
    assert not other.equals(sample[0][1])


def test_pairs_are_different_wordings_and_a_sentence_belongs_to_one_meaning(sample):
    rows = pairs(sample)
    groups = defaultdict(set)
    for row in rows:
        assert normal(row["text1"]) != normal(row["text2"])
        groups[row["group"]] |= sentences([row])
    assert len({frozenset((row["text1"], row["text2"])) for row in rows}) == len(rows)
    assert sum(map(len, groups.values())) == len(set().union(*groups.values()))
    assert np.mean([len(said) for said in groups.values()]) > 3


def test_pairs_read_like_raw_text(sample):
    said = {row[name] for row in pairs(sample) for name in ("text1", "text2")}
    words = Counter(word for sentence in said for word in re.findall(r"[a-z-]+", sentence.lower()))
    assert 600 <= len(words) <= 1500
    assert words.most_common(1)[0][1] > 100 * np.median(list(words.values()))
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in said)
    assert {len(sentence.split()) for sentence in said} <= set(range(3, 21))
    assert sum("n't" in sentence for sentence in said) > 200
    assert sum("," in sentence for sentence in said) > 200


def test_role_swaps_are_training_pairs_of_different_groups(sample):
    bags = defaultdict(set)
    for row in pairs(sample):
        for name in ("text1", "text2"):
            bags[tuple(sorted(normal(row[name]).split()))].add(row["group"])
    assert sum(len(groups) > 1 for groups in bags.values()) > 50


def test_no_evaluation_sentence_is_a_training_sentence_and_splits_share_none(sample, sets):
    trained = sentences(pairs(sample))
    for name, rows in sets.items():
        assert not trained & sentences(rows), name
    for (left, rows), (right, others) in combinations(sets.items(), 2):
        if left[0] == right[0]:
            assert not sentences(rows) & sentences(others), (left, right)


@pytest.mark.parametrize("name", SIMILARITY)
def test_scores_are_spread_from_0_to_5(sets, name):
    scores = np.array([row["score"] for row in sets[name, "test"]])
    assert scores.min() < 0.5
    assert scores.max() == 5
    assert scores.std() > 1.2
    assert len(np.unique(scores)) >= 15
    assert 0.2 < (scores == 5).mean() < 0.5


def test_questions_have_5_to_12_candidates_and_mostly_an_answer(sets):
    for split in ("train", "dev", "test"):
        labels = defaultdict(list)
        for row in sets["sample.qa", split]:
            labels[row["question"]].append(row["label"])
        assert all(5 <= len(of) <= 12 for of in labels.values())
        answered = np.mean([any(of) and not all(of) for of in labels.values()])
        assert 0.8 < answered < 1


def test_labels_are_balanced(sets):
    for name, classes in {"sample.paraphrase": 2, "sample.entailment": 3, "sample.topics": 2}.items():
        counts = Counter(row["label"] for row in sets[name, "test"])
        assert sorted(counts) == list(range(classes))
        assert min(counts.values()) > 0.7 / classes * sum(counts.values())


def tagged(sets) -> dict[tuple[str, int], list[dict]]:
    """Tokens of each tagged sentence, by split and number."""
    found = defaultdict(list)
    for split in ("train", "dev", "test"):
        for row in sets["sample.tags", split]:
            found[split, row["sentence"]].append(row)
    return found


def test_tagged_sentences_are_trees(sets):
    for sentence, tokens in tagged(sets).items():
        heads = [row["head"] for row in tokens]
        roots = [row["relation"] for row in tokens if row["head"] == 0]
        assert roots == ["root"], sentence
        reached = np.arange(1, len(heads) + 1)
        for _ in heads:
            reached = np.array([0, *heads])[reached]  # raises where a head is out of range
        assert not reached.any(), sentence


def test_tags_agree_with_words_and_relations(sets):
    rows = [row for tokens in tagged(sets).values() for row in tokens]
    tags = {
        "n't": "RB",
        "was": "VBD",
        "being": "VBG",
        "the": "DT",
        ".": ".",
        "'s": "POS",
        "men": "NNS",
        "Monday": "NNP",
    }
    for word, tag in tags.items():
        assert {row["tag"] for row in rows if row["token"] == word} == {tag}, word
    assert {row["tag"] for row in rows if row["relation"] in ("nsubj", "obj", "iobj")} == {"NN", "NNS"}
    for tokens in tagged(sets).values():
        governors = [tokens[row["head"] - 1]["tag"] for row in tokens if row["relation"] == "aux:pass"]
        assert set(governors) <= {"VBN"}


# Signal: what simple scorers can and cannot see


def correlation(rows, **vectorizer) -> float:
    """Pearson's r × 100 of gold scores with cosines of bags."""
    left, right = ([" ".join(re.findall(r"\w+", row[name].lower())) for row in rows] for name in ("text1", "text2"))
    bags = TfidfVectorizer(**vectorizer).fit(left + right)
    cosines = np.asarray(bags.transform(left).multiply(bags.transform(right)).sum(axis=1)).ravel()
    return 100 * np.corrcoef(cosines, [row["score"] for row in rows])[0, 1]


def overlap(rows) -> float:
    return correlation(rows, token_pattern=r"\w+", use_idf=False, binary=True)


def trigrams(rows) -> float:
    return correlation(rows, analyzer="char", ngram_range=(3, 3))


def test_characters_beat_words_where_words_are_misspelt(sets):
    rows = sets["sample.typos", "test"]
    assert overlap(rows) + 10 < trigrams(rows) < 90


def test_bags_of_words_see_some_synonymy_and_hardly_any_role(sets):
    assert 30 < overlap(sets["sample.synonyms", "test"]) < 65
    assert abs(overlap(sets["sample.roles", "test"])) < 20
    assert max(overlap(sets[name, "test"]) for name in SIMILARITY) < 80


def test_word_overlap_does_not_tell_paraphrases(sets):
    rows = sets["sample.paraphrase", "test"]
    labels = np.array([row["label"] for row in rows])
    words = [[set(normal(row[name]).split()) for name in ("text1", "text2")] for row in rows]
    shared = np.array([len(a & b) / len(a | b) for a, b in words])
    assert max(((shared >= cut) == labels).mean() for cut in shared) < labels.mean() + 0.15
