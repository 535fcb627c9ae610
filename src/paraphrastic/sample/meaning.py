"""Meanings of sentences, and the scores and labels that are computed from them.

A meaning is one event, or two events that a conjunction links. Scores and labels depend on meanings alone: two
sentences with the same meaning get the same score and label, whatever their words.
"""

from dataclasses import dataclass, replace
from typing import Literal

from paraphrastic.sample.lexicon import concept_similarity, is_a

Participant = Literal["agent", "patient", "recipient"]
Circumstance = Literal["place", "time", "manner"]
Role = Literal["verb"] | Participant | Circumstance
Attribute = Literal["quality", "kind", "owner"]
Conjunction = Literal["after", "while", "and", "although"]

PARTICIPANTS: tuple[Participant, ...] = ("agent", "patient", "recipient")
CIRCUMSTANCES: tuple[Circumstance, ...] = ("place", "time", "manner")
ATTRIBUTES: tuple[Attribute, ...] = ("quality", "kind", "owner")

SYMMETRIC: tuple[Conjunction, ...] = ("and", "while")  # exchanging the two events does not change the meaning
TEMPORAL: tuple[Conjunction, ...] = ("after", "while")  # both events must have happened, so neither is negated


@dataclass(frozen=True)
class Entity:
    """A participant of an event: the concept of a noun, and concepts that restrict it.

    Attributes:
        noun: its concept.
        quality: an adjective.
        kind: the first noun of a compound, such as `tea` in `teapot`.
        owner: a noun.
        plural: whether there are several.
    """

    noun: str
    quality: str | None = None
    kind: str | None = None
    owner: str | None = None
    plural: bool = False

    def attribute(self, name: Attribute) -> str | None:
        """Return the concept of one attribute."""
        match name:
            case "quality":
                return self.quality
            case "kind":
                return self.kind
            case "owner":
                return self.owner

    def with_attribute(self, name: Attribute, concept: str | None) -> "Entity":
        """Return a copy with another concept for one attribute."""
        match name:
            case "quality":
                return replace(self, quality=concept)
            case "kind":
                return replace(self, kind=concept)
            case "owner":
                return replace(self, owner=concept)


@dataclass(frozen=True)
class Event:
    """An action with its participants and circumstances, each a concept or an entity.

    Attributes:
        verb: concept of the action.
        agent: the entity that acts.
        patient: the entity that is acted on.
        recipient: the entity that receives the patient.
        place: concept of a place.
        time: concept of a time.
        manner: concept of an adverb of manner.
        negated: whether the event did not happen.
    """

    verb: str
    agent: Entity
    patient: Entity | None = None
    recipient: Entity | None = None
    place: str | None = None
    time: str | None = None
    manner: str | None = None
    negated: bool = False

    def participants(self) -> dict[Participant, Entity]:
        """Return the entities by role, without roles that are not filled."""
        entities = zip(PARTICIPANTS, (self.agent, self.patient, self.recipient), strict=True)
        return {role: entity for role, entity in entities if entity is not None}

    def circumstances(self) -> dict[Circumstance, str]:
        """Return the concepts of place, time and manner, without roles that are not filled."""
        concepts = zip(CIRCUMSTANCES, (self.place, self.time, self.manner), strict=True)
        return {role: concept for role, concept in concepts if concept is not None}

    def fillers(self) -> dict[Role, str | Entity]:
        """Return the concepts and entities by role, without roles that are not filled."""
        fillers: dict[Role, str | Entity] = {"verb": self.verb}
        fillers.update(self.participants().items())
        fillers.update(self.circumstances().items())
        return fillers

    def nouns(self) -> set[str]:
        """Return the concepts of all participants."""
        return {entity.noun for entity in self.participants().values()}

    def with_participant(self, role: Participant, entity: Entity) -> "Event":
        """Return a copy with another entity in one role."""
        match role:
            case "agent":
                return replace(self, agent=entity)
            case "patient":
                return replace(self, patient=entity)
            case "recipient":
                return replace(self, recipient=entity)

    def with_circumstance(self, role: Circumstance, concept: str | None) -> "Event":
        """Return a copy with another place, time or manner."""
        match role:
            case "place":
                return replace(self, place=concept)
            case "time":
                return replace(self, time=concept)
            case "manner":
                return replace(self, manner=concept)


@dataclass(frozen=True)
class LinkedEvents:
    """Two events that a conjunction links.

    Attributes:
        conjunction: the relation of `first` to `second`; `first` happened `after` `second`, for example.
        first: one event.
        second: the other event.
    """

    conjunction: Conjunction
    first: Event
    second: Event


Meaning = Event | LinkedEvents

_ROLE_WEIGHTS: dict[Role, float] = {
    "verb": 3.0,
    "agent": 2.0,
    "patient": 2.0,
    "recipient": 1.5,
    "place": 1.0,
    "time": 0.8,
    "manner": 0.6,
}
_ATTRIBUTE_WEIGHTS: dict[Attribute, float] = {"quality": 0.25, "kind": 0.35, "owner": 0.25}

# Factors of the similarity of two meanings that differ in one respect.
_OTHER_NUMBER = 0.9  # singular and plural
_OTHER_POLARITY = 0.65  # affirmed and negated
_OTHER_ORDER = 0.7  # linked events exchanged
_OTHER_CONJUNCTION = 0.85
_ONE_OF_TWO = 0.6  # a single event and two linked ones


def _entity_similarity(left: Entity, right: Entity) -> float:
    similarity = concept_similarity(left.noun, right.noun) * (1.0 if left.plural == right.plural else _OTHER_NUMBER)
    for name, weight in _ATTRIBUTE_WEIGHTS.items():
        similarity *= 1 - weight * (1 - concept_similarity(left.attribute(name), right.attribute(name)))
    return similarity


def _filler_similarity(left: str | Entity | None, right: str | Entity | None) -> float:
    if isinstance(left, Entity) and isinstance(right, Entity):
        return _entity_similarity(left, right)
    if isinstance(left, str) and isinstance(right, str):
        return concept_similarity(left, right)
    return 0.0  # only one event fills the role


def _event_similarity(left: Event, right: Event) -> float:
    """Return the weighted mean of the similarities of the fillers, over all roles that one of the events fills."""
    total = similarity = 0.0
    left_fillers, right_fillers = left.fillers(), right.fillers()
    for role, weight in _ROLE_WEIGHTS.items():
        if role in left_fillers or role in right_fillers:
            total += weight
            similarity += weight * _filler_similarity(left_fillers.get(role), right_fillers.get(role))
    return similarity / total * (1.0 if left.negated == right.negated else _OTHER_POLARITY)


def _linked_similarity(left: LinkedEvents, right: LinkedEvents) -> float:
    """Return the mean similarity of the events, each compared with its counterpart or with the other event."""
    straight = (_event_similarity(left.first, right.first) + _event_similarity(left.second, right.second)) / 2
    crossed = (_event_similarity(left.first, right.second) + _event_similarity(left.second, right.first)) / 2
    symmetric = left.conjunction in SYMMETRIC and right.conjunction in SYMMETRIC
    similarity = max(straight, crossed * (1.0 if symmetric else _OTHER_ORDER))
    return similarity * (1.0 if left.conjunction == right.conjunction else _OTHER_CONJUNCTION)


def _one_of_two_similarity(single: Event, linked: LinkedEvents) -> float:
    return _ONE_OF_TWO * max(_event_similarity(single, linked.first), _event_similarity(single, linked.second))


def _similarity(left: Meaning, right: Meaning) -> float:
    if isinstance(left, Event):
        return _event_similarity(left, right) if isinstance(right, Event) else _one_of_two_similarity(left, right)
    return _one_of_two_similarity(right, left) if isinstance(right, Event) else _linked_similarity(left, right)


def similarity_score(left: Meaning, right: Meaning) -> float:
    """Return the similarity of two meanings on the STS scale, 0 (unrelated) to 5 (same meaning), in steps of 0.2.

    Squaring lowers the score of meanings that only share participants, such as an event and the same event with
    exchanged roles.
    """
    return int(25 * _similarity(left, right) ** 2) / 5


def _filler_entails(special: str | Entity | None, general: str | Entity) -> bool:
    if isinstance(special, Entity) and isinstance(general, Entity):
        attributes = ((general.attribute(name), special.attribute(name)) for name in ATTRIBUTES)
        narrower = all(wanted is None or wanted == given for wanted, given in attributes)
        return narrower and special.plural == general.plural and is_a(special.noun, general.noun)
    return special == general


def entails(special: Event, general: Event, ignored: Role | None = None) -> bool:
    """Return whether `general` follows from `special`, if negation is disregarded.

    Args:
        special: the premise. It may fill more roles, and its entities may be more specific.
        general: the hypothesis.
        ignored: a role that is not compared.
    """
    given, wanted = special.fillers(), general.fillers()
    return all(_filler_entails(given.get(role), wanted[role]) for role in wanted if role != ignored)


def entailment_label(premise: Event, hypothesis: Event) -> int:
    """Return 0 if the premise contradicts the hypothesis, 2 if it entails it, 1 otherwise.

    Negation reverses entailment: from `the dog did not run` follows `the dog did not run in the park`.
    """
    special, general = (hypothesis, premise) if premise.negated else (premise, hypothesis)
    if not entails(special, general):
        return 1
    return 2 if premise.negated == hypothesis.negated else 0


def answers(statement: Event, question: Event, asked: Participant | Circumstance) -> bool:
    """Return whether a statement answers the question for the filler of the role `asked` in the event `question`."""
    return not statement.negated and asked in statement.fillers() and entails(statement, question, ignored=asked)
