"""Trainers on pairs of sentences: for sentence encoders, and for pair models with and without labels."""

import json
import math
from abc import ABC
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.reading import parse_json
from paraphrastic.nn.batch import Batch, to_device
from paraphrastic.nn.negatives import mismatched_pairs
from paraphrastic.nn.options import (
    EncoderConfig,
    PairModelConfig,
    TrainingConfig,
    WordEmbeddingsConfig,
    freezes_embeddings,
)
from paraphrastic.scoring.baseline import Baseline
from paraphrastic.scoring.neural import TrainedEncoder, TrainedModel, TrainedPairModel
from paraphrastic.training.batches import LabelledPairs, Paraphrases, Scrambling, SentencePairs, epoch_batches
from paraphrastic.training.optimizers import L2Penalty
from paraphrastic.training.processes import Processes
from paraphrastic.training.trainer import NEGATIVES, ORDER, Trainer

PairLoss = Callable[[Tensor, Tensor, slice, np.random.Generator], Tensor]


class PairTrainer(Trainer, ABC):
    """Mini-batches of pairs: their order, their sentences, and random numbers for negatives.

    Args:
        model: the model and its initial embeddings; holds the result when `run` returns.
        pairs: training examples.
        config: options of the model.
        seed: seed of the order of the pairs, of random negatives and of noise.
        select: scores the current model; the best weights are kept. None keeps the last ones.
        selections_per_epoch: how many times per epoch `select` is called.
        pretrained: the model was trained before, and λc penalises the distance of its module's parameters from that
            state.
        companions: modules that are trained with the model, without penalty, and are not part of it.
        processes: those that divide the mini-batches.

    Raises:
        ParameterError: the word embeddings are frozen, or λc is not 0, and the model has no other parameters.
    """

    def __init__(
        self,
        model: TrainedModel[Any],
        pairs: SentencePairs,
        config: TrainingConfig,
        seed: int,
        select: Callable[[Any], float] | None,
        selections_per_epoch: int = 1,
        *,
        pretrained: bool = False,
        companions: Sequence[nn.Module] = (),
        processes: Processes | None = None,
    ) -> None:
        self.processes = processes or Processes()
        self.model, self._pairs, self._config = model, pairs, config
        check_options(model.module, config)
        # Ww is the table of words; tables of n-grams and characters belong to Wc
        embeddings_penalty = L2Penalty(config.lambda_c)
        if isinstance(config, WordEmbeddingsConfig):
            embeddings_penalty = L2Penalty(math.inf if config.freeze_embeddings else config.lambda_w, to_start=True)
        penalty = L2Penalty(config.lambda_c, pretrained or model.module.regularize_to_start)
        score = None if select is None else lambda: self.processes.agree(lambda: select(model))
        modules = [(model.module, penalty), *((module, L2Penalty()) for module in companions)]
        super().__init__(
            modules, model.embeddings, embeddings_penalty, config, seed, score, selections_per_epoch, config.accumulate
        )
        self.negatives = self.random(NEGATIVES)
        self._take = pairs.on_device(model.embeddings.device)
        self._scrambling = Scrambling.of(config)

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Return the pairs of each mini-batch."""
        in_order = self._config.curriculum and epoch == 0
        order = self.random(ORDER, epoch)
        rows = self._pairs.epoch(order)
        sources, config = self._pairs.sources[rows], self._config
        return [rows[batch] for batch in epoch_batches(sources, config.batch_size, config.batches, order, in_order)]

    def embed(self, rows: NDArray[np.int64]) -> tuple[Tensor, Batch]:
        """Return the leaf with the embeddings that the pairs `rows` use, and their 2B sentences as rows of it."""
        batch = self._take(self._pairs.sides(rows))
        batch = self._scrambling.apply(batch, len(rows), self.noise)
        leaf, positions = self.embedding_optimizer.gather(batch.ids, self.step)
        return leaf, batch.with_ids(positions)

    def state(self) -> dict[str, Any]:
        """Return everything that determines the rest of the run."""
        return super().state() | {"negatives": json.dumps(self.negatives.bit_generator.state)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        super().restore(state)
        self.negatives.bit_generator.state = parse_json(state["negatives"])


def check_model(model_class: Any, config: Any) -> None:
    """Refuse, of a model that is trained, the options that `check_options` does."""
    if not issubclass(model_class, Baseline):
        check_options(model_class(config, torch.Generator()), config)


def check_options(module: nn.Module, config: TrainingConfig) -> None:
    """Refuse options that mean nothing to a model whose only weights are word embeddings.

    Raises:
        ParameterError: it is such a model, and its embeddings are frozen or `lambda_c` is not 0.
    """
    if list(module.parameters()):
        return
    name = type(module).__module__.rpartition(".")[2]  # the file of a model has its name
    if freezes_embeddings(config):
        raise ParameterError(
            f"models.yaml: {name}.freeze_embeddings = true: this model has no other parameters to train; set it to "
            "false, or choose the model 'vectors'"
        )
    if config.lambda_c and isinstance(config, WordEmbeddingsConfig):
        raise ParameterError(
            f"models.yaml: {name}.lambda_c = {config.lambda_c}: this model has no parameters except word embeddings; "
            "set it to 0.0, or use lambda_w"
        )


class EncoderTrainer(PairTrainer):
    """Trains a sentence encoder on paraphrases (acl2017 §3.2).

    Args:
        args: as for `PairTrainer`.
        loss: of the sentence vectors of a mini-batch, with the first four arguments that `paraphrastic.losses` states.
        kwargs: as for `PairTrainer`.
    """

    model: TrainedEncoder
    _pairs: Paraphrases
    _config: EncoderConfig

    def __init__(self, *args: Any, loss: PairLoss, **kwargs: Any) -> None:
        self._loss = loss
        super().__init__(*args, **kwargs)

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return this process's part of the loss of the pairs `rows`, and the leaf of the embedding table."""
        leaf, batch = self.embed(rows)
        vectors = self.processes.encode(lambda share: self.model.module(leaf, share), batch)  # (2B, out_dim)
        return self.loss_of(vectors, rows), leaf

    def loss_of(self, vectors: Tensor, rows: NDArray[np.int64]) -> Tensor:
        """Return this process's part of the loss from the sentence vectors of the pairs `rows`, (2B, out_dim)."""
        own = self.processes.own(len(vectors))
        mask = self._pairs.negative_mask(rows, vectors.device, own)
        return self._loss(vectors, mask, own, self.negatives)

    def _update(self, leaf: Tensor) -> None:
        self.processes.sum_gradients(self.modules.parameters(), self.embedding_optimizer)
        super()._update(leaf)

    def _record(self, loss: Tensor) -> None:
        super()._record(self.processes.sum(loss))


class MatchTrainer(PairTrainer):
    """Trains a pair model to tell paraphrases from mismatched pairs of the same mini-batch.

    The loss is the negative log-likelihood (ldc2016 §3.5). The paper has labelled pairs; here the mismatched pairs are
    chosen from the mini-batch, see `mismatches`.
    """

    model: TrainedPairModel
    _pairs: Paraphrases
    _config: PairModelConfig

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the loss of the pairs `rows` and of mismatched pairs, and the leaf of the embedding table."""
        leaf, batch = self.embed(rows)
        matched = torch.arange(2 * len(rows), device=leaf.device).view(2, len(rows))
        mask = self._pairs.negative_mask(rows, leaf.device)
        mismatched = mismatched_pairs(leaf.detach(), batch, mask, self._config, self.negatives)
        left, right = torch.cat([matched, mismatched], 1)  # (P,) each, B matched pairs first
        labels = (torch.arange(len(left), device=leaf.device) < len(rows)).to(leaf)
        return binary_cross_entropy_with_logits(self.model.module(leaf, batch, left, right), labels), leaf


class LabelTrainer(PairTrainer):
    """Trains a pair model on labelled pairs by maximum likelihood (ldc2016 §3.5)."""

    model: TrainedPairModel
    _pairs: LabelledPairs

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the negative log-likelihood of the labels of `rows`, and the leaf of the embedding table."""
        leaf, batch = self.embed(rows)
        left, right = torch.arange(2 * len(rows), device=leaf.device).chunk(2)
        labels = to_device(self._pairs.labels[rows], leaf.device).to(leaf.dtype)
        return binary_cross_entropy_with_logits(self.model.module(leaf, batch, left, right), labels), leaf
