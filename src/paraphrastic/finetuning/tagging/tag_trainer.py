"""Train a tagger with cross-entropy, averaged over the tokens of a mini-batch."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from paraphrastic.base import devices
from paraphrastic.finetuning.head_trainer import OnStep
from paraphrastic.finetuning.tagging.network import Network
from paraphrastic.finetuning.tagging.tagged_sentences import as_read, refuse_empty
from paraphrastic.finetuning.tagging.tagger import Tagger
from paraphrastic.finetuning.tagging.tagger_config import CharagramTagger, TaggerConfig
from paraphrastic.nn.batch import to_device
from paraphrastic.training.batches import shuffled_batches
from paraphrastic.training.checkpoint import Checkpoint, Curves
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.optimizers import L2Penalty
from paraphrastic.training.trainer import ORDER, Trainer
from paraphrastic.vocabulary.counting import count_entries


def train_tagger(
    config: TaggerConfig,
    train: pa.Table,
    dev: pa.Table,
    seed: int,
    checkpoint: Checkpoint,
    seconds: float,
    on_step: OnStep,
    device: str = devices.CPU,
) -> tuple[Tagger, Curves]:
    """Train a tagger and keep the epoch with the highest accuracy on the development set, the first of equal ones.

    Args:
        config: options.
        train: table `tagged_tokens`, one row per token; a sentence ends where its number changes.
        dev: likewise, for selection.
        seed: seed of all random numbers.
        checkpoint: where the state is saved; the caller removes it after the run.
        seconds: time between two saves.
        on_step: called after each step.
        device: where the tagger is trained, see `devices.find`.

    Returns:
        The tagger, and the curves: `selection` is the accuracy on `dev` in percent after each epoch, `best` the epoch
        that was kept.

    Raises:
        DataError: a table is empty.
        ModelError: the loss is not finite.
    """
    for table, split in ((train, "training split"), (dev, "development split")):
        refuse_empty(table, f"tagging, {split}")
    tagger = untrained_tagger(config, train, Generator().manual_seed(seed)).to(devices.find(device))
    trainer = TagTrainer(tagger, train, dev, seed)
    curves = trainer.run(checkpoint, seconds, lambda step: on_step(step, trainer.steps))
    return tagger, curves


def untrained_tagger(config: TaggerConfig, train: pa.Table, generator: Generator) -> Tagger:
    """Return a tagger with random weights for the words and tags of `train`."""
    words = as_read(train["token"].combine_chunks(), config.lowercase)
    tags = pc.unique(train["tag"].combine_chunks()).sort()
    network = Network(config, len(tags), generator)
    limits = (config.orders, config.min_count, config.ngrams_per_order) if isinstance(config, CharagramTagger) else ()
    counts = count_entries(network.encoder.vocabulary, words, *limits)
    texts, embeddings = initial_embeddings(network.encoder, config, counts, words, generator)
    return Tagger(config, network, embeddings, texts, tags)


class TagTrainer(Trainer):
    """Trains on tagged sentences.

    Args:
        tagger: the tagger at its start; holds the result when `run` returns.
        train: table `tagged_tokens` to train on.
        dev: table that selects the epoch.
        seed: seed of the order of the sentences and of dropout.
    """

    def __init__(self, tagger: Tagger, train: pa.Table, dev: pa.Table, seed: int) -> None:
        self._tagger, self._config = tagger, tagger.config
        self._sentences = tagger.sentences(train)
        self._tags = pc.index_in(train["tag"].combine_chunks(), tagger.tags).to_numpy().astype(np.int64)
        modules = [(tagger.network, L2Penalty())]
        super().__init__(modules, tagger.embeddings, L2Penalty(), tagger.config, seed, lambda: tagger.accuracy(dev))

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the sentences of each step."""
        return shuffled_batches(len(self._sentences), self._config.batch_size, self.random(ORDER, epoch))

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the mean cross-entropy of the tokens of the sentences `rows`, and the leaf of the embedding table."""
        words, capital, tokens = self._tagger.inputs(self._sentences.take(rows))
        leaf, positions = self.embedding_optimizer.gather(words.ids, self.step)
        logits = self._tagger.network(leaf, words.with_ids(positions), capital, tokens)  # (N, tags)
        tags = self._tags[self._sentences.tokens.positions(rows)]
        return cross_entropy(logits, to_device(tags, logits.device)), leaf
