"""The sets of the sample: training pairs, and evaluation sets that each test one phenomenon.

Meanings are drawn and compared first and then put into words. No sentence occurs in two sets or splits. Within a set a
sentence occurs in several rows only if it is one of several wordings of a meaning, or a question with its candidates.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, islice
from random import Random
from typing import NamedTuple

from paraphrastic.sample.edits import apply_edits, role_swaps
from paraphrastic.sample.grammar import QuestionRole, Realizer, Style
from paraphrastic.sample.lexicon import CONCEPTS, belongs_to, concept_similarity
from paraphrastic.sample.meaning import Event, LinkedEvents, Meaning, answers, entailment_label, similarity_score
from paraphrastic.sample.tree import Token, detokenize
from paraphrastic.sample.world import MeaningOptions, MeaningSampler, modifier, slots

Row = tuple[object, ...]


@dataclass(frozen=True)
class SetOptions:
    """The distribution of the rows of a set.

    Attributes:
        edits: the edits that can make the second meaning of a row from the first, separated by spaces and equally
            likely; see `apply_edits`.
        meanings: distribution of the first meanings.
        style: wording of both meanings.
        accepts: returns whether the set can use a first meaning.
    """

    edits: str = "same"
    meanings: MeaningOptions = field(default_factory=MeaningOptions)
    style: Style = field(default_factory=Style)
    accepts: Callable[[Meaning], bool] = lambda _: True


class MeaningPair(NamedTuple):
    """Two meanings and the sentences that express them."""

    first: Meaning
    second: Meaning
    text1: str
    text2: str


class Question(NamedTuple):
    """A question for the role `asked` of an event."""

    event: Event
    asked: QuestionRole
    text: str


def _can_swap(meaning: Meaning) -> bool:
    return isinstance(meaning, LinkedEvents) or bool(role_swaps(meaning))


def _has_compound(meaning: Meaning) -> bool:
    if isinstance(meaning, LinkedEvents):
        return _has_compound(meaning.first) or _has_compound(meaning.second)
    attributes = (slot for slot in slots(meaning) if isinstance(slot, tuple))
    return any(modifier(meaning, slot) for slot in attributes if slot[1] in ("kind", "owner"))


TRAINING = SetOptions("negate near alter", style=Style(inversion=0.15, misspelling=0.015, fixed_misspellings=True))
SIMILARITY = {
    "sample.synonyms": SetOptions(
        "same same same near alter near+drop near+far far far+far far+far+far new",
        style=Style(synonyms=0.6),
    ),
    "sample.roles": SetOptions(
        "same same same same alter swap swap swap swap swap swap swap+near",
        style=Style(inversion=0.15),
        accepts=_can_swap,
    ),
    "sample.typos": SetOptions(
        "same same same number near alter near+far far far+far far+far+far new",
        style=Style(synonyms=0.1, misspelling=0.4),
    ),
    "sample.negation": SetOptions(
        "same same negate negate negate near+negate far+negate near far far+far new",
        MeaningOptions(negated=0.4),
    ),
    "sample.compounds": SetOptions(
        "same same same alter alter near drop far far+alter far+far far+far+drop new",
        MeaningOptions(kind=1, owner=0.4),
        Style(synonyms=0.2, phrases=0.5),
        _has_compound,
    ),
}
PARAPHRASE = SetOptions("same same same same swap negate near far", style=Style(inversion=0.4))
ENTAILMENT = SetOptions(
    "same drop broad drop+broad near far add swap alter negate negate negate+drop negate+broad",
    MeaningOptions(linked=0, place=0.5, quality=0.4),
)
QUESTIONS = SetOptions(
    "same add drop near far swap negate alter far+far new", MeaningOptions(linked=0, negated=0, place=0.5)
)
TOPICS = SetOptions(meanings=MeaningOptions(linked=0.6, conjunctions=("although",)))
TAGS = SetOptions()

_CHORES = ("support", "work", "kitchen", "study", "carry")  # domains of verbs
_MAX_TOKENS = 20
_ATTEMPTS = 10  # wordings of a meaning that are tried before it is given up


class SentenceGenerator:
    """Draws meanings and puts them into sentences; no sentence is generated twice.

    Args:
        rng: source of random numbers.
        used: lower-cased sentences that must not be generated. Generated ones are added to it.
        options: distribution of the meanings and sentences.
    """

    def __init__(self, rng: Random, used: set[str], options: SetOptions) -> None:
        self.rng, self._used, self._options = rng, used, options
        self._sampler = MeaningSampler(rng, options.meanings)
        self._realizer = Realizer(rng, options.style)

    def first_meanings(self) -> Iterator[Meaning]:
        """Yield meanings without end."""
        while True:
            meaning = self._sampler.meaning()
            if self._options.accepts(meaning):
                yield meaning

    def second_meaning(self, first: Meaning) -> Meaning:
        """Return the first meaning after one of the edits of the set."""
        return self.edit(first, self.rng.choice(self._options.edits.split()))

    def edit(self, meaning: Meaning, edits: str) -> Meaning:
        """Return a meaning after edits."""
        return apply_edits(self._sampler, meaning, edits)

    def first_sentences(self) -> Iterator[tuple[Meaning, list[Token]]]:
        """Yield first meanings with their sentences, without end."""
        for meaning in self.first_meanings():
            if sentence := self.statement(meaning):
                yield meaning, sentence

    def second_sentences(self, first: Meaning) -> Iterator[tuple[Meaning, str]]:
        """Yield second meanings with their sentences, without end."""
        while True:
            meaning = self.second_meaning(first)
            if sentence := self.statement(meaning):
                yield meaning, detokenize(sentence)

    def pairs(self) -> Iterator[MeaningPair]:
        """Yield first and second meanings with their sentences, without end."""
        for first, sentence in self.first_sentences():
            second, text2 = next(self.second_sentences(first))
            yield MeaningPair(first, second, detokenize(sentence), text2)

    def questions(self) -> Iterator[Question]:
        """Yield questions for one role of a first meaning, without end; linked events are left out."""
        for event in self.first_meanings():
            if isinstance(event, Event):
                role = self.rng.choice(_question_roles(event))
                if sentence := self._unused(partial(self._realizer.question, event, role)):
                    yield Question(event, role, detokenize(sentence))

    def statement(self, meaning: Meaning) -> list[Token] | None:
        """Return a sentence with this meaning that was not used before, or None if `_ATTEMPTS` wordings give none."""
        return self._unused(partial(self._realizer.statement, meaning))

    def _unused(self, realize: Callable[[], list[Token]]) -> list[Token] | None:
        """Return the first wording that is neither used nor too long, and mark it as used."""
        for _ in range(_ATTEMPTS):
            sentence = realize()
            key = detokenize(sentence).lower()
            if key not in self._used and len(sentence) <= _MAX_TOKENS:
                self._used.add(key)
                return sentence
        return None


def _question_roles(event: Event) -> list[QuestionRole]:
    """Return the filled roles that a question can ask for."""
    roles: tuple[QuestionRole, ...] = ("agent", "patient", "place", "time")
    return [role for role in roles if role in event.fillers()]


def training(generator: SentenceGenerator) -> Iterator[Row]:
    """Yield rows of `pairs` without end.

    A row has two wordings of one meaning; the number of the meaning is its group. Each first meaning is followed by
    meanings with similar sentences: an edited one, and both with exchanged roles.
    """
    groups: dict[Meaning, int] = {}
    for first in generator.first_meanings():
        similar = (first, generator.second_meaning(first))
        swapped = [generator.edit(meaning, "swap") for meaning in similar]
        for meaning in (*similar, *swapped):
            if meaning in groups:
                continue
            groups[meaning] = len(groups)
            wordings = [generator.statement(meaning) for _ in range(generator.rng.choice((3, 4, 5, 6)))]
            for left, right in combinations(filter(None, wordings), 2):
                yield detokenize(left), detokenize(right), groups[meaning]


def similarity(generator: SentenceGenerator, name: str) -> Iterator[Row]:
    """Yield rows of `similarity` without end."""
    for pair in generator.pairs():
        yield name, "test", pair.text1, pair.text2, similarity_score(pair.first, pair.second)


def paraphrase(generator: SentenceGenerator, split: str) -> Iterator[Row]:
    """Yield rows of `labelled_pairs` without end; the label is 1 if both sentences have the same meaning."""
    for pair in generator.pairs():
        yield "sample.paraphrase", split, pair.text1, pair.text2, int(pair.first == pair.second)


def entailment(generator: SentenceGenerator, split: str) -> Iterator[Row]:
    """Yield rows of `labelled_pairs` without end, labelled by `entailment_label`; linked events are left out."""
    for first, second, text1, text2 in generator.pairs():
        if isinstance(first, Event) and isinstance(second, Event):
            yield "sample.entailment", split, text1, text2, entailment_label(first, second)


def topics(generator: SentenceGenerator, split: str) -> Iterator[Row]:
    """Yield rows of `labelled_sentences` without end; the label is 1 if the first event is about a chore.

    In a sentence of two events the first event is the main clause beside `although`, or the clause after `but`.
    """
    for meaning, sentence in generator.first_sentences():
        first = meaning.first if isinstance(meaning, LinkedEvents) else meaning
        yield "sample.topics", split, detokenize(sentence), int(belongs_to(first.verb, _CHORES))


def tags(generator: SentenceGenerator, split: str, size: int) -> Iterator[Row]:
    """Yield rows of `tagged_tokens`, one per token of `size` sentences."""
    for number, (_, sentence) in enumerate(islice(generator.first_sentences(), size)):
        for token in sentence:
            yield "sample.tags", split, number, *token


def questions(generator: SentenceGenerator, split: str, size: int) -> Iterator[Row]:
    """Yield rows of `ranking`: `size` questions with 5 to 12 candidates each; the label is 1 for an answer."""
    for number, question in enumerate(islice(generator.questions(), size)):
        candidates = generator.second_sentences(question.event)
        for meaning, text in islice(candidates, generator.rng.randint(5, 12)):
            label = isinstance(meaning, Event) and answers(meaning, question.event, question.asked)
            yield "sample.qa", split, number, question.text, text, int(label)


def words(rng: Random, size: int) -> Iterator[Row]:
    """Yield rows of `similarity`: `size` pairs of words for each degree of similarity.

    Words with several meanings are left out.
    """
    senses = [(word, concept.name) for concept in CONCEPTS.values() for word in concept.words if "_" not in word]
    meanings = Counter(word for word, _ in senses)
    unambiguous = [(word, concept) for word, concept in senses if meanings[word] == 1]
    pairs_by_score: dict[float, list[tuple[str, str]]] = {}
    for (left, a), (right, b) in combinations(unambiguous, 2):
        pairs_by_score.setdefault(5 * concept_similarity(a, b), []).append((left, right))
    for score in sorted(pairs_by_score):
        for left, right in rng.sample(pairs_by_score[score], size):
            yield "sample.words", "test", left, right, score
