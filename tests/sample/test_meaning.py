from dataclasses import replace
from random import Random

import pytest

from paraphrastic.sample.edits import apply_edits
from paraphrastic.sample.meaning import Entity, Event, LinkedEvents, answers, entailment_label, similarity_score
from paraphrastic.sample.world import MeaningOptions, MeaningSampler

DOG, CAT, MAN = Entity("dog"), Entity("cat"), Entity("man")
CHASE = Event("chase", DOG, CAT)
CHASE_IN_PARK = replace(CHASE, place="park")
NO_CHASE = replace(CHASE, negated=True)


def test_fillers_of_an_event():
    event = Event("give", MAN, Entity("ball"), Entity("woman"), time="yesterday", negated=True)
    assert event.fillers() == {
        "verb": "give",
        "agent": MAN,
        "patient": Entity("ball"),
        "recipient": Entity("woman"),
        "time": "yesterday",
    }
    assert event.nouns() == {"man", "ball", "woman"}


def test_score_of_the_same_meaning_is_the_only_5():
    sampler = MeaningSampler(Random(1), MeaningOptions(linked=0.3))
    edits = ("near", "far", "broad", "drop", "add", "alter", "number", "swap", "negate", "new")
    for meaning in (sampler.meaning() for _ in range(200)):
        assert similarity_score(meaning, meaning) == 5
        for other in (apply_edits(sampler, meaning, edit) for edit in edits):
            score = similarity_score(meaning, other)
            assert 0 <= score <= 5
            assert (score == 5) == (meaning == other)
            assert score == similarity_score(other, meaning)


def test_scores_by_kind_of_difference():
    near, far = Event("chase", DOG, Entity("rabbit")), Event("chase", DOG, MAN)
    unrelated = Event("read", MAN, Entity("book"))
    scores = [similarity_score(CHASE, other) for other in (CHASE_IN_PARK, near, far, unrelated)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4
    assert scores[-1] == 0
    assert similarity_score(CHASE, Event("chase", CAT, DOG)) < similarity_score(CHASE, near)
    assert similarity_score(CHASE, NO_CHASE) < similarity_score(CHASE, near)


@pytest.mark.parametrize(
    ("conjunction", "symmetric"), [("after", False), ("although", False), ("and", True), ("while", True)]
)
def test_score_of_linked_events_in_the_other_order(conjunction, symmetric):
    laugh = Event("laugh", MAN)
    score = similarity_score(LinkedEvents(conjunction, CHASE, laugh), LinkedEvents(conjunction, laugh, CHASE))
    assert (score == 5) == symmetric


def test_score_of_one_of_two_linked_events():
    linked = LinkedEvents("and", CHASE, Event("laugh", MAN))
    assert 0 < similarity_score(CHASE, linked) < 5
    assert similarity_score(CHASE, linked) == similarity_score(linked, CHASE)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        (CHASE_IN_PARK, CHASE, 2),
        (CHASE, CHASE_IN_PARK, 1),
        (CHASE, Event("chase", Entity("animal"), CAT), 2),
        (CHASE, Event("chase", CAT, DOG), 1),
        (CHASE, NO_CHASE, 0),
        (CHASE_IN_PARK, NO_CHASE, 0),
        (CHASE, replace(NO_CHASE, place="park"), 1),
        (NO_CHASE, replace(NO_CHASE, place="park"), 2),
        (NO_CHASE, CHASE_IN_PARK, 0),
        (replace(NO_CHASE, place="park"), NO_CHASE, 1),
        (Event("chase", replace(DOG, quality="old"), CAT), CHASE, 2),
        (CHASE, Event("chase", replace(DOG, quality="old"), CAT), 1),
        (Event("chase", replace(DOG, plural=True), CAT), CHASE, 1),
    ],
)
def test_entailment_label(premise, hypothesis, label):
    assert entailment_label(premise, hypothesis) == label


@pytest.mark.parametrize(
    ("statement", "question", "asked", "expected"),
    [
        (replace(CHASE, place="forest"), CHASE_IN_PARK, "place", True),
        (CHASE, CHASE_IN_PARK, "place", False),
        (replace(CHASE_IN_PARK, negated=True), CHASE_IN_PARK, "place", False),
        (CHASE, CHASE_IN_PARK, "agent", False),
        (Event("chase", MAN, CAT, place="park"), CHASE, "agent", True),
        (Event("chase", CAT, DOG), CHASE, "agent", False),
    ],
)
def test_statement_as_an_answer(statement, question, asked, expected):
    assert answers(statement, question, asked) == expected
