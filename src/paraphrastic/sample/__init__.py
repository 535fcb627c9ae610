"""A small artificial English corpus, generated without a network, with which every stage of the pipeline can run.

Sentences express random meanings: events with participants, circumstances and negation. Scores and labels are computed
from the meanings, so that they do not depend on the wording. Training pairs are different wordings of one meaning. Each
similarity set tests one phenomenon:

* `sample.synonyms`: synonyms and related words;
* `sample.roles`: exchanged participants; active and passive voice, dative and converse verbs;
* `sample.typos`: misspelled and inflected words;
* `sample.negation`: negation;
* `sample.compounds`: compounds, possessives and phrases with the same meaning;
* `sample.dev`: all of these, for model selection;
* `sample.words`: single words.

`sample.qa`, `sample.paraphrase`, `sample.entailment`, `sample.topics` and `sample.tags` are sets of the other tasks.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice
from random import Random

import pyarrow as pa

from paraphrastic.base.tables import RAW
from paraphrastic.sample import sets
from paraphrastic.sample.sets import SentenceGenerator, SetOptions

# Rows of each table; questions of `sample.qa`, sentences of `sample.tags`.
_PAIRS = 10_000
_SIMILARITY = 400
_DEV = 100  # per phenomenon
_WORDS = 50  # per degree of similarity
_QUESTIONS = {"train": 160, "dev": 40, "test": 80}
_PARAPHRASE = {"train": 500, "test": 400}
_ENTAILMENT = {"train": 600, "dev": 150, "test": 400}
_TOPICS = {"train": 600, "dev": 150, "test": 400}
_TAGS = {"train": 400, "dev": 100, "test": 150}


@cache  # the stage `tokenize` reads the evaluation sets first, and the pairs afterwards
def tables(seed: int = 0) -> tuple[tuple[str, pa.Table], ...]:
    """Return the tables of the sample with their kinds, one or more tables for each kind of `base.tables.RAW`.

    The same seed gives the same tables on every machine. No sentence of `pairs` occurs in another table.
    """
    return tuple(_generate(seed))


def _generate(seed: int) -> Iterator[tuple[str, pa.Table]]:
    rng, used = Random(seed), set[str]()

    def generator(options: SetOptions) -> SentenceGenerator:
        return SentenceGenerator(rng, used, options)

    yield _table("pairs", islice(sets.training(generator(sets.TRAINING)), _PAIRS))
    for name, options in sets.SIMILARITY.items():
        yield _table("similarity", islice(sets.similarity(generator(options), name), _SIMILARITY))
    parts = (islice(sets.similarity(generator(options), "sample.dev"), _DEV) for options in sets.SIMILARITY.values())
    yield _table("similarity", chain.from_iterable(parts))
    yield _table("similarity", sets.words(rng, _WORDS))
    for split, size in _QUESTIONS.items():
        yield _table("ranking", sets.questions(generator(sets.QUESTIONS), split, size))
    for split, size in _PARAPHRASE.items():
        yield _table("labelled_pairs", islice(sets.paraphrase(generator(sets.PARAPHRASE), split), size))
    for split, size in _ENTAILMENT.items():
        yield _table("labelled_pairs", islice(sets.entailment(generator(sets.ENTAILMENT), split), size))
    for split, size in _TOPICS.items():
        yield _table("labelled_sentences", islice(sets.topics(generator(sets.TOPICS), split), size))
    for split, size in _TAGS.items():
        yield _table("tagged_tokens", sets.tags(generator(sets.TAGS), split, size))


def _table(kind: str, rows: Iterable[sets.Row]) -> tuple[str, pa.Table]:
    """Return rows as a table in the schema of its kind."""
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column).cast(field.type) for column, field in zip(columns, RAW[kind], strict=True)]
    return kind, pa.Table.from_arrays(arrays, schema=RAW[kind])
