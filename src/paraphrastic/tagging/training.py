"""Training a tagger: cross-entropy, averaged over the tokens of a mini-batch."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from paraphrastic.tagging.network import Network
from paraphrastic.tagging.options import CharagramTagger, TaggerConfig
from paraphrastic.tagging.sentences import Sentences, lower, refuse_empty
from paraphrastic.tagging.tagger import Tagger
from paraphrastic.text.mixed import with_words
from paraphrastic.text.vocabulary import count_ngrams, count_words
from paraphrastic.training.batches import epoch_batches
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.initial import initial_table
from paraphrastic.training.run import ORDER, Curves, Pull, Run


def fit(
    config: TaggerConfig,
    train: pa.Table,
    dev: pa.Table,
    seed: int,
    checkpoint: Checkpoint,
    every: float,
    on_step: Callable[[int, int], None],
) -> tuple[Tagger, Curves]:
    """Train a tagger and keep the epoch with the highest development accuracy, the first of equal ones.

    Args:
        config: what `options.options` gives for the name of a word model.
        train: `tagged_tokens`, one row per token; a sentence ends where its number changes.
        dev: likewise.
        seed: of everything random.
        checkpoint: where an interrupted run goes on, with the same bits; the caller removes it.
        every: seconds between two checkpoints.
        on_step: called with the number of each finished step and that of all steps.

    Returns:
        The tagger, and its curves: `selection` has the development accuracy, in percent, after each epoch, `best` is
        the epoch that was kept.

    Raises:
        DataError: a table is empty.
        ModelError: the loss is no longer a number.
    """
    for table, split in ((train, "training split"), (dev, "development split")):
        refuse_empty(table, f"tagging, {split}")
    tagger = untrained(config, train, Generator().manual_seed(seed))
    run = TagTraining(tagger, train, dev, seed)
    curves = run.run(checkpoint, every, lambda step: on_step(step, run.steps))
    return tagger, curves


def untrained(config: TaggerConfig, train: pa.Table, generator: Generator) -> Tagger:
    """A tagger for the words and tags of `train`, at its start."""
    words = lower(train["token"].combine_chunks())
    tags = pc.unique(train["tag"].combine_chunks()).sort()
    network = Network(config, len(tags), generator)
    vocabulary = _vocabulary(config, words, network.encoder.units)
    texts, table = initial_table(network.encoder, config, vocabulary, len(words), generator)
    return Tagger(config, network, table, texts, tags)


def _vocabulary(config: TaggerConfig, words: pa.StringArray, units: str) -> pa.Table:
    """What the words are made of, each token counted."""
    if not isinstance(config, CharagramTagger):
        return count_ngrams(words, [1])
    ngrams = count_ngrams(words, config.orders, config.min_count, config.per_order)
    return ngrams if units == "ngrams" else with_words(ngrams, count_words(words, config.min_count))


class TagTraining(Run):
    """A run on tagged sentences.

    Args:
        tagger: at its start; holds the result when `run` returns.
        train: `tagged_tokens` to learn from.
        dev: those that choose the epoch.
        seed: of the order of the sentences and of what is dropped.
    """

    def __init__(self, tagger: Tagger, train: pa.Table, dev: pa.Table, seed: int) -> None:
        self._tagger, self._config = tagger, tagger.config
        self._sentences = Sentences.of(train, tagger.units)
        self._tags = pc.index_in(train["tag"].combine_chunks(), tagger.tags).to_numpy().astype(np.int64)
        parts = [(tagger.network, Pull())]
        super().__init__(parts, tagger.table, Pull(), tagger.config, seed, lambda: tagger.accuracy(dev))

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """The sentences of each step."""
        one_source = np.zeros(len(self._sentences), np.int8)
        return epoch_batches(one_source, self._config.batch_size, "mixed", self.random(ORDER, epoch))

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The mean cross-entropy of the tokens of the sentences `rows`."""
        self.noise()
        words, capital, tokens = self._tagger.inputs(self._sentences.take(rows))
        leaf, places = self.table.gather(words.ids, self.step)
        scores = self._tagger.network(leaf, words.at(places), capital, tokens)
        tags = self._tags[self._sentences.tokens.places(rows)]
        return cross_entropy(scores, torch.from_numpy(tags).to(scores.device)), leaf
