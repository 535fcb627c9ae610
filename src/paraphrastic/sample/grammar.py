"""Put meanings into English sentences with part-of-speech tags and dependency trees.

The meaning does not determine the wording: synonyms, voice, the dative, tense and aspect, determiners, the order of
clauses and adverbials, contractions and misspellings are random.
"""

import re
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, NamedTuple

from paraphrastic.sample.inflection import inflect, plural
from paraphrastic.sample.lexicon import COMPOUNDS, CONCEPTS, CONVERSES, PREPOSITIONS, STATIVE, belongs_to
from paraphrastic.sample.meaning import Conjunction, Entity, Event, LinkedEvents, Meaning
from paraphrastic.sample.tree import (
    Node,
    Token,
    adverbial,
    closed_class_node,
    comma,
    linearize,
    misspellings,
    phrase,
)

QuestionRole = Literal["agent", "patient", "place", "time"]


@dataclass(frozen=True)
class Style:
    """Probabilities of the choices of wording, 0 to 1.

    Attributes:
        synonyms: a word is not the most common one of its concept.
        inversion: passive voice, or the converse of a verb that has one (buy for sell).
        fronting: an adverbial or a subordinate clause stands first.
        contraction: n't instead of not.
        phrases: a phrase instead of a compound or a possessive.
        misspelling: a word of five or more letters is misspelled.
        fixed_misspellings: not a probability: whether a word has only one misspelling, always the same.
    """

    synonyms: float = 0.4
    inversion: float = 0.25
    fronting: float = 0.3
    contraction: float = 0.6
    phrases: float = 0.4
    misspelling: float = 0.0
    fixed_misspellings: bool = False


class _Tense(NamedTuple):
    past: bool
    progressive: bool


class _Argument(NamedTuple):
    """A participant that follows the verb, with its relation and its preposition."""

    entity: Entity | None
    relation: str
    preposition: str | None = None


class _Linking(NamedTuple):
    """A way to link two clauses.

    Attributes:
        word: stands before the linked clause.
        tag: its part of speech.
        relation: relation of the linked clause to the main clause.
        main: the event of the main clause.
    """

    word: str
    tag: str
    relation: str
    main: Literal["first", "second"]


_SIMPLE_PAST = _Tense(past=True, progressive=False)
_TENSES = (  # the first one is three times as likely as each of the others
    *3 * [_SIMPLE_PAST],
    _Tense(past=True, progressive=True),
    _Tense(past=False, progressive=True),
    _Tense(past=False, progressive=False),
)
_AUXILIARIES = {  # singular, plural
    "be": {"VBD": ("was", "were"), "VBZ": ("is", "is"), "VBP": ("are", "are"), "VBG": ("being", "being")},
    "do": {"VBD": ("did", "did"), "VBZ": ("does", "does"), "VBP": ("do", "do")},
}
_LINKINGS: dict[Conjunction, tuple[_Linking, _Linking]] = {
    "after": (_Linking("after", "IN", "advcl", "first"), _Linking("before", "IN", "advcl", "second")),
    "while": (_Linking("while", "IN", "advcl", "first"), _Linking("while", "IN", "advcl", "second")),
    "and": (_Linking("and", "CC", "conj", "first"), _Linking("and", "CC", "conj", "second")),
    "although": (_Linking("although", "IN", "advcl", "first"), _Linking("but", "CC", "conj", "second")),
}
_OPEN_CLASS = re.compile(r"NNS?|JJ|RB|VB.?")
_MIN_MISSPELLED = 5  # letters


class Realizer:
    """Puts meanings into sentences.

    Args:
        rng: source of random numbers.
        style: probabilities of the choices of wording.
    """

    def __init__(self, rng: Random, style: Style) -> None:
        self._rng, self._style = rng, style

    def statement(self, meaning: Meaning) -> list[Token]:
        """Return a sentence with this meaning."""
        if isinstance(meaning, LinkedEvents):
            return self._finish(self._linked_clauses(meaning), ".")
        fronting = self._chance(self._style.fronting)
        return self._finish(self._clause(meaning, self._tense(meaning), fronting), ".")

    def question(self, event: Event, role: QuestionRole) -> list[Token]:
        """Return a question for one role of an event; the role must be filled."""
        pronoun = _question_pronoun(event, role)
        lemma, *particle = self._word(event.verb).split("_")
        if role == "agent":
            verb = Node(inflect(lemma, "VBD"), "VBD", "root", [Node(pronoun, "WP", "nsubj")])
        else:
            event = _without(event, role)
            tag, relation = ("WP", "obj") if role == "patient" else ("WRB", "advmod")
            subject = self._noun_phrase(event.agent, "nsubj")
            verb = Node(lemma, "VB", "root", [Node(pronoun, tag, relation), Node("did", "VBD", "aux"), subject])
        verb.right = self._arguments(self._objects(event), particle)
        self._add_circumstances(verb, event, fronting=False)
        return self._finish(verb, "?")

    def _chance(self, probability: float) -> bool:
        return self._rng.random() < probability

    def _word(self, concept: str) -> str:
        common, *synonyms = CONCEPTS[concept].words
        return self._rng.choice(synonyms) if synonyms and self._chance(self._style.synonyms) else common

    def _tense(self, event: Event) -> _Tense:
        habitual = event.time is not None and belongs_to(event.time, ("time.habit",))
        past = event.time is not None and not habitual
        simple = habitual or belongs_to(event.verb, (STATIVE,))
        possible = [tense for tense in _TENSES if tense.past >= past and not (tense.progressive and simple)]
        return self._rng.choice(possible)

    def _linked_clauses(self, linked: LinkedEvents) -> Node:
        word, tag, relation, main = self._rng.choice(_LINKINGS[linked.conjunction])
        events = (linked.first, linked.second) if main == "first" else (linked.second, linked.first)
        root, clause = (self._clause(event, _SIMPLE_PAST) for event in events)
        clause.relation = relation
        clause.left.insert(0, Node(word, tag, "cc" if relation == "conj" else "mark"))
        if relation == "conj":
            clause.left.insert(0, comma())
        elif self._chance(self._style.fronting):
            root.left[:0] = [clause, comma()]
            return root
        root.right.append(clause)
        return root

    def _clause(self, event: Event, tense: _Tense, fronting: bool = False) -> Node:
        inverted = self._chance(self._style.inversion)
        converse = inverted and event.verb in CONVERSES
        passive = inverted and not converse and event.patient is not None
        subject = (event.recipient if converse else event.patient if passive else None) or event.agent
        lemma, *particle = self._word(CONVERSES[event.verb] if converse else event.verb).split("_")
        verb = self._predicate(lemma, tense, passive, subject.plural, self._negation(event, tense))
        relation = "nsubj:pass" if passive else "nsubj"
        verb.left.insert(0, self._noun_phrase(subject, relation, definite=event.negated))
        verb.right = self._arguments(self._objects(event, passive, converse), particle, definite=event.negated)
        self._add_circumstances(verb, event, fronting)
        return verb

    def _negation(self, event: Event, tense: _Tense) -> str | None:
        if not event.negated:
            return None
        if event.time is None and not tense.progressive and self._chance(0.15):
            return "never"
        return "n't" if self._chance(self._style.contraction) else "not"

    def _predicate(self, lemma: str, tense: _Tense, passive: bool, plural_subject: bool, negation: str | None) -> Node:
        """Return the verb with its auxiliaries; each auxiliary determines the form of the verb that follows it."""
        auxiliaries = [("be", "aux", "VBG")] * tense.progressive + [("be", "aux:pass", "VBN")] * passive
        if not auxiliaries and negation in ("not", "n't"):
            auxiliaries = [("do", "aux", "VB")]
        tag = "VBD" if tense.past else "VBP" if plural_subject else "VBZ"
        nodes = []
        for auxiliary, relation, next_tag in auxiliaries:
            nodes.append(Node(_AUXILIARIES[auxiliary][tag][plural_subject], tag, relation))
            tag = next_tag
        if negation:
            nodes.insert(1, Node(negation, "RB", "advmod"))
        return Node(inflect(lemma, tag), tag, "root", nodes)

    def _objects(self, event: Event, passive: bool = False, converse: bool = False) -> list[_Argument]:
        """Return the participants that are not the subject, in the order of the sentence."""
        if converse:
            return [_Argument(event.patient, "obj"), _Argument(event.agent, "obl", "from")]
        if passive:
            return [_Argument(event.recipient, "obl", "to"), _Argument(event.agent, "obl", "by")]
        if event.recipient and event.patient and self._chance(0.5):
            return [_Argument(event.recipient, "iobj"), _Argument(event.patient, "obj")]
        return [_Argument(event.patient, "obj"), _Argument(event.recipient, "obl", "to")]

    def _arguments(self, arguments: list[_Argument], particle: list[str], *, definite: bool = False) -> list[Node]:
        """Return the noun phrases after the verb, and its particle, which stands before or after an object."""
        nodes = [
            self._noun_phrase(entity, relation, preposition, definite=definite)
            for entity, relation, preposition in arguments
            if entity
        ]
        for form in particle:
            after_object = bool(nodes) and nodes[0].relation == "obj" and self._chance(0.5)
            nodes.insert(int(after_object), Node(form, "RP", "compound:prt"))
        return nodes

    def _add_circumstances(self, verb: Node, event: Event, fronting: bool) -> None:
        """Add manner, place and time; `fronting` puts the last of place and time first."""
        if event.manner:
            side = verb.left if self._chance(0.4) else verb.right
            side.append(Node(self._word(event.manner), "RB", "advmod"))
        nodes = []
        if event.place:
            preposition = PREPOSITIONS[CONCEPTS[event.place].family]
            nodes.append(adverbial((preposition, "the", self._word(event.place))))
        if event.time:
            nodes.append(adverbial(self._word(event.time).split("_")))
        if nodes and fronting:
            verb.left[:0] = [nodes.pop(), comma()]
        verb.right += nodes

    def _noun_phrase(
        self, entity: Entity, relation: str, preposition: str | None = None, *, definite: bool = False
    ) -> Node:
        name = self._word(entity.noun)
        noun = Node(plural(name), "NNS", relation) if entity.plural else Node(name, "NN", relation)
        if entity.kind:
            self._add_kind(noun, entity.noun, entity.kind)
        if entity.quality:
            noun.left.insert(0, Node(self._word(entity.quality), "JJ", "amod"))
        if entity.owner and (entity.kind or not self._chance(self._style.phrases)):
            possessive = phrase(("the", self._word(entity.owner)), "nmod:poss")
            possessive.right.append(Node("'s", "POS", "case"))
            noun.left.insert(0, possessive)
        else:
            self._add_determiner(noun, entity, definite)
        if preposition:
            noun.left.insert(0, closed_class_node(preposition))
        return noun

    def _add_kind(self, noun: Node, head: str, kind: str) -> None:
        """Add the modifier of a compound: `a pot for tea`, `a tea pot`, or `a teapot` if it can be one word."""
        compound = COMPOUNDS[head]
        name = self._word(kind)
        if self._chance(self._style.phrases):
            words = compound.pattern.replace("*s", plural(name)).replace("*", name).split()
            noun.right.append(phrase(words, "nmod"))
            noun.right[-1].tag = "NNS" if "*s" in compound.pattern else "NN"
        elif kind in compound.joined and noun.form in (head, plural(head)) and self._chance(0.6):
            noun.form = kind + noun.form
        else:
            noun.left.append(Node(name, "NN", "compound"))

    def _add_determiner(self, noun: Node, entity: Entity, definite: bool) -> None:
        """Add an article or `some`, and the owner as a phrase with `of`."""
        if entity.owner:
            noun.right.append(phrase(("of", "the", self._word(entity.owner)), "nmod"))
            definite = True
        next_word = noun.left[0].form if noun.left else noun.form
        countable = not (entity.plural or CONCEPTS[entity.noun].mass)
        indefinite = ("an" if next_word[0] in "aeiou" else "a") if countable else "some"
        form = "the" if definite or self._chance(0.6) else indefinite
        noun.left.insert(0, Node(form, "DT", "det"))

    def _finish(self, root: Node, final_mark: str) -> list[Token]:
        """Return the tokens of a sentence with a final mark, misspellings, and a capital letter at the start."""
        root.right.append(Node(final_mark, ".", "punct"))
        first, *rest = [self._misspell(token) for token in linearize(root)]
        return [first._replace(form=first.form[0].upper() + first.form[1:]), *rest]

    def _misspell(self, token: Token) -> Token:
        """Misspell some of the nouns, adjectives, adverbs and verbs."""
        can_be_misspelled = len(token.form) >= _MIN_MISSPELLED and _OPEN_CLASS.fullmatch(token.tag)
        if not can_be_misspelled or not self._chance(self._style.misspelling):
            return token
        rng = Random(token.form) if self._style.fixed_misspellings else self._rng
        return token._replace(form=rng.choice(misspellings(token.form)))


def _question_pronoun(event: Event, role: QuestionRole) -> str:
    match role:
        case "place":
            return "Where"
        case "time":
            return "When"
        case "agent" | "patient":
            return "Who" if belongs_to(event.participants()[role].noun, ("person",)) else "What"


def _without(event: Event, role: Literal["patient", "place", "time"]) -> Event:
    return replace(event, patient=None) if role == "patient" else event.with_circumstance(role, None)
