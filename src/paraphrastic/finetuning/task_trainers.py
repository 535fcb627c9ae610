"""Train a head with the encoder below it, a pair model (ldc2016 §3.5, §4.1), or a tagger on a task."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy, nll_loss

from paraphrastic.base import devices
from paraphrastic.base.errors import DataError
from paraphrastic.base.parameters import FILES
from paraphrastic.finetuning.heads import expected_score, finite, kl_divergence, target_distribution
from paraphrastic.finetuning.initial_state import InitialState
from paraphrastic.finetuning.options import CharagramTagger, HeadConfig, TaggerConfig
from paraphrastic.finetuning.tagger import Network, Tagger, refuse_empty
from paraphrastic.finetuning.tasks import Task
from paraphrastic.nn.batch import DeviceSentences, to_device
from paraphrastic.nn.options import TrainingConfig
from paraphrastic.scoring.neural import TrainedPairModel, encode_ids
from paraphrastic.training.batches import LabelledPairs, shuffled_batches
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.optimizers import L2Penalty
from paraphrastic.training.pair_trainers import LabelTrainer
from paraphrastic.training.trainer import ORDER, Callback, Checkpoint, Curves, Trainer
from paraphrastic.vocabulary.counting import count_entries


@dataclass(frozen=True)
class TaskRun:
    """How a training run is seeded, saved and watched, and where it is computed."""

    seed: int  # seed of all random numbers, which are drawn on the CPU
    checkpoint: Checkpoint  # where the state is saved; the caller removes it after the run
    seconds: float  # time between two saves
    callback: Callback  # follows the training
    device: str = devices.CPU  # where the model is trained and evaluated, see `devices.find`

    def train(self, trainer: Trainer) -> Curves:
        """Run a trainer to the end."""
        return trainer.run(self.checkpoint, self.seconds, self.callback)


@dataclass(frozen=True)
class Outcome:
    """The result on a task."""

    curves: Curves  # the course of the training; `selection` is the main metric × 100 on the development set
    dev: dict[str, float]  # metrics × 100 on the development set after the best epoch
    test: dict[str, float]  # metrics × 100 on the test set after it
    predictions: pa.Table  # for the rows of both sets, with the columns of `PREDICTIONS`

    @property
    def epoch(self) -> int:
        """The first epoch with the best score on the development set, from 1."""
        return int(self.curves.best or 0)


def _outcome(curves: Curves, task: Task, predict: Callable[[str], NDArray[np.floating]]) -> Outcome:
    predicted = {split: predict(split) for split in ("dev", "test")}
    dev, test = (task.metrics(split, each) for split, each in predicted.items())
    predictions = pa.concat_tables(task.predictions(split, each) for split, each in predicted.items())
    return Outcome(curves, dev, test, predictions)


class HeadTrainer(Trainer):
    """Trains on the training rows of a task.

    Args:
        state: the encoder at its start.
        head: `PairHead` or `SentenceHead`.
        task: the labelled rows.
        config: options of the training.
        seed: seed of the order of the rows and of noise.
    """

    def __init__(self, state: InitialState, head: nn.Module, task: Task, config: HeadConfig, seed: int) -> None:
        self._state, self._head, self._task, self._config = state, head, task, config
        self._sentences = DeviceSentences(state.sentences, state.embeddings.device)
        modules = [(state.encoder, state.penalty), (head, L2Penalty(config.lambda_s))]
        penalty, select = state.embeddings_penalty, lambda: task.score(self.predict("dev"))
        super().__init__(modules, state.embeddings, penalty, config, seed, select)

    def train_and_evaluate(self, run: TaskRun) -> Outcome:
        """Run to the end and evaluate the best weights."""
        return _outcome(run.train(self), self._task, self.predict)

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the training rows of each step."""
        rows = len(self._task.splits["train"])
        return shuffled_batches(rows, self._config.batch_size, self.random(ORDER, epoch))

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the loss on the training rows `rows`, and the leaf of the embedding table."""
        chosen = self._task.splits["train"].take(rows)
        batch = self._sentences.take(np.concatenate([chosen.left, chosen.right]))
        batch = self._state.scrambling.apply(batch, len(rows), self.noise)
        leaf, ids = self.embedding_optimizer.gather(batch.ids, self.step)
        vectors = self._state.encoder(leaf, batch.with_ids(ids))  # (B, dim) or, of pairs, (2B, dim)
        log_p: Tensor = self._head(*vectors.split(len(rows)))  # (B, classes)
        gold = to_device(chosen.gold, log_p.device)
        if self._task.kind == "similarity":
            target = target_distribution(gold.to(log_p.dtype), self._task.classes)  # (B, classes)
            return kl_divergence(log_p, target), leaf
        return nll_loss(log_p, gold), leaf

    @torch.no_grad()
    def predict(self, split: str) -> NDArray[np.floating]:
        """Return what the current model predicts for the n rows of a split.

        Returns:
            Scores (n,) if the task has scores, otherwise probabilities (n, classes).
        """
        state, rows = self._state, self._task.splits[split]
        sentences, positions = np.unique(np.concatenate([rows.left, rows.right]), return_inverse=True)
        vectors = encode_ids(state.encoder, state.embeddings, state.sentences.take(sentences))
        sides = vectors[to_device(positions, vectors.device)].split(len(rows))  # (n, dim) for each sentence of a row
        log_p = self._head(*sides)  # (n, classes)
        predicted = expected_score(log_p) if self._task.kind == "similarity" else log_p.exp()
        return finite(predicted).cpu().numpy()


def finetune_pair_model(
    model: TrainedPairModel, config: TrainingConfig, task: Task, pretrained: bool, run: TaskRun
) -> Outcome:
    """Train `model` on the pairs of a task, and keep the epoch with the best score on the development set.

    Args:
        model: the model at its start; holds the result.
        config: its options.
        task: of kind `ranking` or `labelled_pairs`.
        pretrained: the model was trained before, and λc penalises the distance of its module's parameters from that
            state.
        run: the run, on the device of `model`.

    Raises:
        ModelError: the loss or a prediction is not finite.
    """
    sentences, train = model.vocabulary.lookup(task.sentences), task.splits["train"]

    def predict(split: str) -> NDArray[np.floating]:
        rows = task.splits[split]
        match = finite(torch.from_numpy(model.score_ids(sentences, rows.left, rows.right))).numpy()  # (n,)
        return np.stack([1 - match, match], 1)

    one_source = np.zeros(len(train), np.int64)
    pairs = LabelledPairs(sentences, train.left, train.right, one_source, train.gold.astype(np.float32))
    trainer = LabelTrainer(model, pairs, config, run.seed, lambda _: task.score(predict("dev")), pretrained=pretrained)
    return _outcome(run.train(trainer), task, predict)


def train_tagger(config: TaggerConfig, train: pa.Table, dev: pa.Table, run: TaskRun) -> tuple[Tagger, Curves]:
    """Train a tagger and keep the epoch with the highest accuracy on the development set, the first of equal ones.

    Args:
        config: options.
        train: table `tagged_tokens`, one row per token; a sentence ends where its number changes.
        dev: likewise, for selection.
        run: the run.

    Returns:
        The tagger, and the curves: `selection` is the accuracy on `dev` in percent after each epoch, `best` the epoch
        that was kept.

    Raises:
        DataError: a table is empty.
        ModelError: the loss is not finite.
    """
    for table, split in ((train, "training split"), (dev, "development split")):
        refuse_empty(table, f"tagging, {split}")
    tagger = untrained_tagger(config, train, Generator().manual_seed(run.seed)).to(devices.find(run.device))
    return tagger, run.train(TagTrainer(tagger, train, dev, run.seed))


def untrained_tagger(config: TaggerConfig, train: pa.Table, generator: Generator) -> Tagger:
    """Return a tagger with random weights for the words and tags of `train`.

    Raises:
        DataError: no n-gram occurs often enough.
    """
    words = train["token"].combine_chunks()
    words = pc.utf8_lower(words) if config.lowercase else words
    tags = pc.unique(train["tag"].combine_chunks()).sort()
    network = Network(config, len(tags), generator)
    limits = (config.orders, config.min_count, config.ngrams_per_order) if isinstance(config, CharagramTagger) else ()
    if not len(counts := count_entries(network.encoder.vocabulary, words, *limits)):
        found = f"no n-gram of {len(words)} training tokens occurs so often"
        raise DataError(f"{FILES['taggers']}: {config.encoder}.min_count: {found}; lower it")
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
