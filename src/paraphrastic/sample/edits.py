"""Edit meanings: make from one meaning another that differs from it in a known way.

The edits by name:

* `same`: no change; `new`: a new random meaning.
* `near`, `far`: another verb or noun, from the same family or from another one.
* `broad`: a more general noun.
* `drop`, `add`, `alter`: remove, add or redraw a modifier.
* `number`: exchange singular and plural of a participant.
* `swap`: exchange two participants, or two linked events.
* `negate`: exchange affirmation and negation.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Literal

from paraphrastic.sample.lexicon import CONCEPTS, FRAMES, belongs_to, is_a
from paraphrastic.sample.meaning import (
    PARTICIPANTS,
    SYMMETRIC,
    TEMPORAL,
    Entity,
    Event,
    LinkedEvents,
    Meaning,
    Participant,
)
from paraphrastic.sample.world import (
    MeaningSampler,
    Slot,
    concepts_of,
    modifier,
    owner_families,
    quality_families,
    slots,
    with_modifier,
)

Edit = Callable[[MeaningSampler, Event], Event]

_NOUN_DOMAINS = ("person", "animal", "thing", "food")


def apply_edits(sampler: MeaningSampler, meaning: Meaning, names: str) -> Meaning:
    """Return a meaning after one or more edits.

    Args:
        sampler: draws the concepts that the edits add.
        meaning: the meaning before the edits.
        names: names of edits, joined by `+` and applied in this order. An edit that is not applicable changes nothing.
    """
    for name in names.split("+"):
        if name == "new":
            meaning = sampler.meaning()
        elif isinstance(meaning, Event):
            meaning = _EDITS[name](sampler, meaning)
        else:
            meaning = _edit_linked(sampler, meaning, name)
    return meaning


def _edit_linked(sampler: MeaningSampler, linked: LinkedEvents, name: str) -> LinkedEvents:
    """Edit one of the two events, or exchange them if the edit is `swap` and their order matters."""
    if name == "negate" and linked.conjunction in TEMPORAL:
        return linked
    if name == "swap" and linked.conjunction not in SYMMETRIC:
        return LinkedEvents(linked.conjunction, linked.second, linked.first)
    if sampler.rng.choice(("first", "second")) == "first":
        return replace(linked, first=_EDITS[name](sampler, linked.first))
    return replace(linked, second=_EDITS[name](sampler, linked.second))


def role_swaps(event: Event) -> list[Event]:
    """Return the event with two participants exchanged, once for each exchange that makes sense."""
    swaps = (
        event.with_participant(role, other_entity).with_participant(other_role, entity)
        for (role, entity), (other_role, other_entity) in combinations(event.participants().items(), 2)
    )
    return [swap for swap in swaps if _makes_sense(swap)]


def _makes_sense(event: Event) -> bool:
    """Return whether the verb allows these participants and lacks no other."""
    participants = event.participants()
    frame = zip(PARTICIPANTS, FRAMES[CONCEPTS[event.verb].family], strict=True)
    return all(
        belongs_to(participants[role].noun, families) if role in participants else not families
        for role, families in frame
    )


def _choose(rng: Random, events: Sequence[Event], default: Event) -> Event:
    return rng.choice(events) if events else default


def _with_concept(event: Event, role: Literal["verb"] | Participant, concept: str) -> Event:
    """Replace the verb or the noun of a participant."""
    if role == "verb":
        return replace(event, verb=concept)
    return event.with_participant(role, _with_noun(event.participants()[role], concept))


def _with_noun(entity: Entity, noun: str) -> Entity:
    """Replace the noun of an entity; remove attributes that the new noun cannot have."""
    return Entity(
        noun,
        quality=entity.quality if entity.quality and belongs_to(entity.quality, quality_families(noun)) else None,
        owner=entity.owner if owner_families(noun) else None,
        plural=entity.plural and not CONCEPTS[noun].mass,
    )


def _substitute(sampler: MeaningSampler, event: Event, *, same_family: bool) -> Event:
    """Replace the verb or a noun by another concept, of the same family or of another one."""
    participants = event.participants()
    roles: list[Literal["verb"] | Participant] = ["verb", *participants]
    role = sampler.rng.choice(roles)
    family = CONCEPTS[event.verb if role == "verb" else participants[role].noun].family
    all_groups = tuple(FRAMES) if role == "verb" else _NOUN_DOMAINS  # families of verbs, or domains of nouns
    concepts = [CONCEPTS[name] for name in concepts_of((family,) if same_family else all_groups)]
    names = [c.name for c in concepts if (c.family == family) == same_family and not c.general]
    excluded = {event.verb, *event.nouns()}
    shuffled = sampler.rng.sample(names, len(names))
    events = (_with_concept(event, role, name) for name in shuffled if name not in excluded)
    return next(filter(_makes_sense, events), event)


def _substitute_near(sampler: MeaningSampler, event: Event) -> Event:
    return _substitute(sampler, event, same_family=True)


def _substitute_far(sampler: MeaningSampler, event: Event) -> Event:
    return _substitute(sampler, event, same_family=False)


def _generalize(sampler: MeaningSampler, event: Event) -> Event:
    """Replace the noun of a participant by a more general one."""
    events = [
        _with_concept(event, role, name)
        for role, entity in event.participants().items()
        for name in concepts_of(_NOUN_DOMAINS)
        if name != entity.noun and is_a(entity.noun, name)
    ]
    return _choose(sampler.rng, events, event)


def _drop_modifier(sampler: MeaningSampler, event: Event) -> Event:
    filled = [slot for slot in slots(event) if modifier(event, slot)]
    return _choose(sampler.rng, [with_modifier(event, slot, None) for slot in filled], event)


def _add_modifier(sampler: MeaningSampler, event: Event) -> Event:
    """Fill an empty slot; change nothing if no concept makes sense in the slot that is drawn."""
    slot = sampler.rng.choice([slot for slot in slots(event) if not modifier(event, slot)])
    return with_modifier(event, slot, sampler.modifier(event, slot))


def _replace_modifier(sampler: MeaningSampler, event: Event) -> Event:
    """Draw a modifier again, which can give the same one; add a time if there is no modifier."""
    filled = [slot for slot in slots(event) if modifier(event, slot)]
    default: list[Slot] = ["time"]
    slot = sampler.rng.choice(filled or default)
    return with_modifier(event, slot, sampler.modifier(event, slot))


def _change_number(sampler: MeaningSampler, event: Event) -> Event:
    """Exchange singular and plural of a participant."""
    countable = [(role, entity) for role, entity in event.participants().items() if not CONCEPTS[entity.noun].mass]
    role, entity = sampler.rng.choice(countable)
    return event.with_participant(role, replace(entity, plural=not entity.plural))


def _swap_roles(sampler: MeaningSampler, event: Event) -> Event:
    return _choose(sampler.rng, role_swaps(event), event)


def _negate(_: MeaningSampler, event: Event) -> Event:
    return replace(event, negated=not event.negated)


def _keep(_: MeaningSampler, event: Event) -> Event:
    return event


_EDITS: dict[str, Edit] = {
    "same": _keep,
    "near": _substitute_near,
    "far": _substitute_far,
    "broad": _generalize,
    "drop": _drop_modifier,
    "add": _add_modifier,
    "alter": _replace_modifier,
    "number": _change_number,
    "swap": _swap_roles,
    "negate": _negate,
}
