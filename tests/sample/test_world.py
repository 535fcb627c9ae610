from collections import Counter
from random import Random

import pytest

from paraphrastic.sample.lexicon import CONCEPTS, FRAMES, belongs_to
from paraphrastic.sample.meaning import PARTICIPANTS, Event, LinkedEvents
from paraphrastic.sample.world import MeaningOptions, MeaningSampler, concepts_of, modifier, slots, with_modifier

ALWAYS = MeaningOptions(quality=1, kind=1, owner=1, plural=1, place=1, time=1, manner=1, negated=1, linked=1)
NEVER = MeaningOptions(quality=0, kind=0, owner=0, plural=0, place=0, time=0, manner=0, negated=0, linked=0)


def sample(options, count=300):
    sampler = MeaningSampler(Random(5), options)
    return [sampler.meaning() for _ in range(count)]


def test_participants_that_the_verb_allows():
    for event in sample(NEVER):
        frame = FRAMES[CONCEPTS[event.verb].family]
        for role, families in zip(PARTICIPANTS, frame, strict=True):
            entity = event.participants().get(role)
            assert belongs_to(entity.noun, families) if entity else not families
        assert len(event.nouns()) == len(event.participants())


def test_event_without_modifiers():
    for event in sample(NEVER):
        assert isinstance(event, Event)
        assert event == Event(event.verb, event.agent, event.patient, event.recipient)
        assert not any(entity.plural for entity in event.participants().values())


def test_linked_events_with_all_modifiers():
    meanings = sample(ALWAYS)
    assert Counter(meaning.conjunction for meaning in meanings).keys() == {"after", "while", "and", "although"}
    for linked in meanings:
        assert isinstance(linked, LinkedEvents)
        assert not linked.first.nouns() & linked.second.nouns()
        for event in (linked.first, linked.second):
            assert event.place
            assert event.time is None
            assert event.negated == (linked.conjunction in ("and", "although"))
            assert bool(event.manner) == (not belongs_to(event.verb, ("mind",)))


def test_frequent_concepts_are_drawn_more_often():
    verbs = Counter(event.verb for event in sample(NEVER, 3000))
    names = concepts_of(tuple(FRAMES))
    assert verbs[names[0]] > 2 * verbs[names[-1]]
    assert set(verbs) == set(names)


@pytest.mark.parametrize("slot", ["place", ("agent", "owner")])
def test_modifier_that_is_set_and_removed(slot):
    event = MeaningSampler(Random(0), NEVER).event()
    assert slot in slots(event)
    changed = with_modifier(event, slot, "man")
    assert (modifier(event, slot), modifier(changed, slot)) == (None, "man")
    assert with_modifier(changed, slot, None) == event
