"""Draw random meanings."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from random import Random

from paraphrastic.sample.lexicon import COMPOUNDS, CONCEPTS, DESCRIBED_NOUNS, FRAMES, STATIVE, belongs_to
from paraphrastic.sample.meaning import (
    ATTRIBUTES,
    CIRCUMSTANCES,
    TEMPORAL,
    Attribute,
    Circumstance,
    Conjunction,
    Entity,
    Event,
    LinkedEvents,
    Meaning,
    Participant,
)

Slot = Circumstance | tuple[Participant, Attribute]  # a position of an event that a modifier can fill

_OWNED = ("thing", "animal.pet", "animal.farm")


@dataclass(frozen=True)
class MeaningOptions:
    """The distribution of random meanings.

    Every number is the probability, 0 to 1, that a meaning has this part, provided that the part makes sense there.

    Attributes:
        quality: an adjective, for each participant.
        kind: the modifier of a compound, for each participant.
        owner: an owner, for each participant.
        plural: several entities instead of one, for each participant.
        place: a place.
        time: a time.
        manner: an adverb of manner.
        negated: negation.
        linked: a second event.
        conjunctions: the conjunctions that link two events, equally likely.
    """

    quality: float = 0.25
    kind: float = 0.4
    owner: float = 0.15
    plural: float = 0.12
    place: float = 0.3
    time: float = 0.25
    manner: float = 0.15
    negated: float = 0.1
    linked: float = 0.15
    conjunctions: tuple[Conjunction, ...] = ("after", "while", "and", "although")

    def modifier_probability(self, slot: Slot) -> float:
        """Return the probability that a slot is filled."""
        name = slot[1] if isinstance(slot, tuple) else slot
        probabilities = {
            "quality": self.quality,
            "kind": self.kind,
            "owner": self.owner,
            "place": self.place,
            "time": self.time,
            "manner": self.manner,
        }
        return probabilities[name]


class MeaningSampler:
    """Draws random meanings.

    Args:
        rng: source of random numbers.
        options: distribution of the meanings.
    """

    def __init__(self, rng: Random, options: MeaningOptions) -> None:
        self.rng, self._options = rng, options

    def meaning(self) -> Meaning:
        """Return an event, or two linked events without a common participant."""
        first = self.event()
        if not self._chance(self._options.linked):
            return first
        second = self.event()
        while first.nouns() & second.nouns():
            second = self.event()
        conjunction = self.rng.choice(self._options.conjunctions)
        return LinkedEvents(conjunction, _linkable(first, conjunction), _linkable(second, conjunction))

    def event(self) -> Event:
        """Return an event whose participants are all different."""
        verb = self._concept(tuple(FRAMES))
        frame = FRAMES[CONCEPTS[verb].family]
        agent = self._entity(frame.agents, ())
        patient = self._entity(frame.patients, (agent.noun,)) if frame.patients else None
        present = tuple(entity.noun for entity in (agent, patient) if entity)
        recipient = self._entity(frame.recipients, present) if frame.recipients else None
        event = Event(verb, agent, patient, recipient, negated=self._chance(self._options.negated))
        for slot in slots(event):
            if self._chance(self._options.modifier_probability(slot)):
                event = with_modifier(event, slot, self.modifier(event, slot))
        return event

    def modifier(self, event: Event, slot: Slot) -> str | None:
        """Return a concept for a slot of an event, or None if no concept makes sense there."""
        if isinstance(slot, tuple):
            role, attribute = slot
            return self._attribute(event.participants()[role].noun, attribute, event.nouns())
        if slot == "manner" and belongs_to(event.verb, (STATIVE,)):
            return None
        return self._concept((slot,))

    def _attribute(self, noun: str, attribute: Attribute, excluded: Collection[str]) -> str | None:
        if attribute == "kind":
            return self.rng.choice(COMPOUNDS[noun].kinds) if noun in COMPOUNDS else None
        families = owner_families(noun) if attribute == "owner" else quality_families(noun)
        return self._concept(families, excluded) if families else None

    def _concept(self, families: tuple[str, ...], excluded: Collection[str] = ()) -> str:
        """Return a concept of these families; its probability falls with its rank."""
        names = concepts_of(families)
        name = self.rng.choices(names, cum_weights=_cumulative_weights(len(names)))[0]
        return self._concept(families, excluded) if name in excluded else name

    def _entity(self, families: tuple[str, ...], excluded: Collection[str]) -> Entity:
        noun = self._concept(families, excluded)
        return Entity(noun, plural=not CONCEPTS[noun].mass and self._chance(self._options.plural))

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability


@cache
def concepts_of(families: tuple[str, ...]) -> tuple[str, ...]:
    """Return the concepts of these families or domains, most frequent first and general concepts last."""
    concepts = [concept for concept in CONCEPTS.values() if belongs_to(concept.name, families)]
    return tuple(concept.name for concept in sorted(concepts, key=lambda concept: (concept.general, concept.rank)))


@cache
def _cumulative_weights(count: int) -> list[float]:
    """Return the cumulative sums of 1 / (rank + 2), as in Zipf's law."""
    return list(accumulate(1 / (rank + 2) for rank in range(count)))


def slots(event: Event) -> list[Slot]:
    """Return the slots of an event, filled or not."""
    return [*CIRCUMSTANCES, *((role, attribute) for role in event.participants() for attribute in ATTRIBUTES)]


def modifier(event: Event, slot: Slot) -> str | None:
    """Return the concept in a slot, None if it is not filled."""
    if isinstance(slot, tuple):
        role, attribute = slot
        return event.participants()[role].attribute(attribute)
    return event.circumstances().get(slot)


def with_modifier(event: Event, slot: Slot, concept: str | None) -> Event:
    """Return a copy of an event with another concept, or None, in a slot."""
    if isinstance(slot, tuple):
        role, attribute = slot
        return event.with_participant(role, event.participants()[role].with_attribute(attribute, concept))
    return event.with_circumstance(slot, concept)


def owner_families(noun: str) -> tuple[str, ...]:
    """Return the families of the concepts that can own a noun."""
    return ("person.adult", "person.child", "person.worker") if belongs_to(noun, _OWNED) else ()


@cache
def quality_families(noun: str) -> tuple[str, ...]:
    """Return the families of the adjectives that can describe a noun."""
    return tuple(family for family, nouns in DESCRIBED_NOUNS.items() if belongs_to(noun, nouns))


def _linkable(event: Event, conjunction: Conjunction) -> Event:
    """Return an event without its time, and without its negation if the conjunction is temporal.

    Linked clauses are in the simple past, which a habitual time does not allow. The times of two events could also
    contradict `after` and `while`.
    """
    return replace(event, time=None, negated=event.negated and conjunction not in TEMPORAL)
