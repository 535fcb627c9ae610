import re
from dataclasses import replace
from random import Random

import pytest

from paraphrastic.sample.grammar import Realizer, Style
from paraphrastic.sample.meaning import Entity, Event, LinkedEvents
from paraphrastic.sample.tree import detokenize, misspellings

DOG, CAT, MAN, WOMAN = Entity("dog"), Entity("cat"), Entity("man"), Entity("woman")
CHASE = Event("chase", DOG, CAT)


def wordings(meaning, count=300, **style):
    """Return the distinct sentences among `count` random wordings."""
    realizer = Realizer(Random(0), Style(**style))
    return {detokenize(realizer.statement(meaning)) for _ in range(count)}


def test_wordings_of_one_event():
    sentences = wordings(replace(CHASE, place="park"))
    assert {
        "The dog chased the cat in the park.",
        "A hound pursued the cat in the park.",
        "In the park, the cat was chased by the dog.",
        "The dog is chasing a cat in the park.",
    } <= sentences
    assert not any("cat chased" in sentence for sentence in sentences)


def test_wordings_of_a_dative_and_a_converse():
    assert {
        "The man sold the woman the book.",
        "The man sold the book to the woman.",
        "The woman bought the book from the man.",
    } <= wordings(Event("sell", MAN, Entity("book"), WOMAN), synonyms=0.2, inversion=0.5)


def test_wordings_of_a_compound():
    sentences = wordings(Event("break", MAN, Entity("pot", kind="tea")), synonyms=0, inversion=0)
    objects = {match[1] for match in (re.fullmatch(r"The man broke (a .*)\.", text) for text in sentences) if match}
    assert {"a teapot", "a tea pot", "a pot for tea"} <= objects


def test_wordings_of_negation_and_possession():
    assert {
        "The man's cat didn't sleep.",
        "The cat of the man never slept.",
        "The man's cat isn't sleeping.",
    } <= wordings(Event("sleep", Entity("cat", owner="man"), negated=True), synonyms=0)


def test_wordings_of_linked_events_with_an_order():
    sentences = wordings(LinkedEvents("after", CHASE, Event("laugh", MAN)), synonyms=0, inversion=0)
    assert {
        "The dog chased the cat after the man laughed.",
        "After the man laughed, the dog chased the cat.",
        "The man laughed before the dog chased the cat.",
    } <= sentences
    assert not any(re.search(r"chased .* before|^After .* dog .*,", sentence) for sentence in sentences)


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("agent", "Who chased the cat in the park yesterday?"),
        ("patient", "What did the man chase in the park yesterday?"),
        ("place", "Where did the man chase the cat yesterday?"),
        ("time", "When did the man chase the cat in the park?"),
    ],
)
def test_question_without_its_answer(role, expected):
    event = Event("chase", MAN, CAT, place="park", time="yesterday")
    realizer = Realizer(Random(0), Style(synonyms=0))
    questions = {detokenize(realizer.question(event, role)) for _ in range(20)}
    answer = {"agent": "man", "patient": "cat", "place": "park", "time": "yesterday"}[role]
    assert expected in questions
    assert not any(answer in question for question in questions)


@pytest.mark.parametrize("fixed", [True, False])
def test_misspellings_of_a_word(fixed):
    forms = misspellings("chased")
    sentences = " ".join(wordings(CHASE, synonyms=0, misspelling=0.5, fixed_misspellings=fixed))
    words = set(re.findall(r"\w+", sentences))
    assert "chased" in words
    assert len(words & set(forms)) == (1 if fixed else len(forms))
