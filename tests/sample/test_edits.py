from dataclasses import replace
from random import Random

import pytest

from paraphrastic.sample.edits import apply_edits, role_swaps
from paraphrastic.sample.lexicon import CONCEPTS, is_a
from paraphrastic.sample.meaning import Entity, Event, LinkedEvents
from paraphrastic.sample.world import MeaningOptions, MeaningSampler, modifier, slots

DOG, CAT, MAN, WOMAN = Entity("dog"), Entity("cat"), Entity("man"), Entity("woman")
CHASE = Event("chase", DOG, CAT)
LAUGH = Event("laugh", MAN)


@pytest.fixture
def edited():
    """Return a function that applies an edit to 300 random events and returns the pairs (event, edited event)."""

    def edited(name):
        sampler = MeaningSampler(Random(3), MeaningOptions())
        return [(event, apply_edits(sampler, event, name)) for event in (sampler.event() for _ in range(300))]

    return edited


def concepts(event):
    """Return the verb and the nouns of an event."""
    return [event.verb, *(entity.noun for entity in event.participants().values())]


def modifiers(event):
    """Return the filled slots of an event with their concepts."""
    return {(slot, modifier(event, slot)) for slot in slots(event) if modifier(event, slot)}


def changes(before, after):
    """Return the verb and nouns that differ between two events."""
    return [(a, b) for a, b in zip(concepts(before), concepts(after), strict=True) if a != b]


def test_edit_without_a_change(edited):
    assert all(before == after for before, after in edited("same"))


@pytest.mark.parametrize(("name", "same_family"), [("near", True), ("far", False)])
def test_substitution_by_a_concept_of_the_same_or_another_family(edited, name, same_family):
    substitutions = [changes(before, after) for before, after in edited(name)]
    assert all(len(substitution) <= 1 for substitution in substitutions)
    pairs = [pair for substitution in substitutions for pair in substitution]
    assert len(pairs) > 200
    assert all((CONCEPTS[a].family == CONCEPTS[b].family) == same_family for a, b in pairs)
    assert not any(CONCEPTS[b].general for _, b in pairs)


def test_generalization_of_a_noun(edited):
    pairs = [pair for before, after in edited("broad") for pair in changes(before, after)]
    assert len(pairs) > 200
    assert all(is_a(a, b) and CONCEPTS[b].general for a, b in pairs)


def test_removal_of_a_modifier(edited):
    for before, after in edited("drop"):
        assert modifiers(after) <= modifiers(before)
        assert len(modifiers(after)) == max(len(modifiers(before)) - 1, 0)


def test_addition_of_a_modifier(edited):
    added = [modifiers(after) - modifiers(before) for before, after in edited("add")]
    assert all(modifiers(before) <= modifiers(after) for before, after in edited("add"))
    assert {len(new) for new in added} == {0, 1}  # some slots have no concept that makes sense
    assert sum(map(len, added)) > 150


def test_replacement_of_a_modifier(edited):
    for before, after in edited("alter"):
        assert len(modifiers(before) - modifiers(after)) <= 1
        assert {slot for slot, _ in modifiers(after)} == {slot for slot, _ in modifiers(before)} or not modifiers(
            before
        )
    assert any(modifiers(before) != modifiers(after) for before, after in edited("alter"))


def test_other_number_of_a_participant(edited):
    for before, after in edited("number"):
        entities = zip(before.participants().values(), after.participants().values(), strict=True)
        changed = [(a, b) for a, b in entities if a != b]
        assert [(replace(a, plural=b.plural), b.plural) for a, b in changed] == [(b, not a.plural) for a, b in changed]
        assert len(changed) == 1


def test_negation_twice(edited):
    assert all(after == replace(before, negated=not before.negated) for before, after in edited("negate"))
    assert all(before == after for before, after in edited("negate+negate"))


def test_new_meaning(edited):
    assert sum(before != after for before, after in edited("new")) > 290


def test_role_swaps_that_the_verb_allows():
    assert role_swaps(CHASE) == [Event("chase", CAT, DOG)]
    assert role_swaps(Event("read", MAN, Entity("book"))) == []
    assert role_swaps(Event("give", MAN, Entity("ball"), WOMAN)) == [Event("give", WOMAN, Entity("ball"), MAN)]


def test_swap_of_an_event_that_allows_none():
    sampler = MeaningSampler(Random(0), MeaningOptions())
    read = Event("read", MAN, Entity("book"))
    assert apply_edits(sampler, CHASE, "swap") == Event("chase", CAT, DOG)
    assert apply_edits(sampler, read, "swap") == read


@pytest.mark.parametrize("conjunction", ["after", "although"])
def test_swap_of_linked_events_with_an_order(conjunction):
    sampler = MeaningSampler(Random(0), MeaningOptions())
    swapped = apply_edits(sampler, LinkedEvents(conjunction, CHASE, LAUGH), "swap")
    assert swapped == LinkedEvents(conjunction, LAUGH, CHASE)


def test_swap_of_linked_events_without_an_order():
    sampler = MeaningSampler(Random(0), MeaningOptions())
    linked = LinkedEvents("and", CHASE, LAUGH)
    swapped = [apply_edits(sampler, linked, "swap") for _ in range(20)]
    assert {linked, LinkedEvents("and", Event("chase", CAT, DOG), LAUGH)} == set(swapped)


def test_negation_of_linked_events():
    sampler = MeaningSampler(Random(0), MeaningOptions())
    temporal, other = LinkedEvents("while", CHASE, LAUGH), LinkedEvents("although", CHASE, LAUGH)
    assert apply_edits(sampler, temporal, "negate") == temporal
    assert {apply_edits(sampler, other, "negate") for _ in range(20)} == {
        LinkedEvents("although", replace(CHASE, negated=True), LAUGH),
        LinkedEvents("although", CHASE, replace(LAUGH, negated=True)),
    }
