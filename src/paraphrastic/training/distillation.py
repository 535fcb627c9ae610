"""Train a sentence encoder toward the vectors of a teacher (Hinton et al. 2015; Reimers and Gurevych 2020)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, normalize

from paraphrastic.base.parameters import Teacher
from paraphrastic.nn.batch import to_device
from paraphrastic.nn.options import EncoderConfig
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.training.losses import ALL
from paraphrastic.training.pair_trainers import EncoderTrainer
from paraphrastic.training.sentence_pairs import Paraphrases
from paraphrastic.training.teacher import TeacherVectors


@dataclass(frozen=True)
class Distillation:
    """What is to be learned from a teacher.

    Attributes:
        teacher: vectors of the training sentences.
        options: weights of the losses, and how words start.
    """

    teacher: TeacherVectors
    options: Teacher


class DistillationTrainer(EncoderTrainer):
    """Adds to the margin loss what the vectors of a mini-batch lack to be those of the teacher.

    `regression` maps a vector of the model to the size of the teacher's by a matrix that is learned, and not kept.

    Args:
        model: the model and its initial embeddings; holds the result when `run` returns.
        pairs: training examples.
        config: options of the model.
        args: as for `PairTrainer`.
        distillation: the teacher's vectors of the sentences of `pairs`, and the weights of the losses.
        kwargs: as for `PairTrainer`.
    """

    def __init__(
        self,
        model: TrainedEncoder,
        pairs: Paraphrases,
        config: EncoderConfig,
        *args: Any,
        distillation: Distillation,
        **kwargs: Any,
    ) -> None:
        self._teacher, self._options = distillation.teacher, distillation.options
        self._projection = _projection(self._teacher, model.module.out_dim).to(model.embeddings.device)
        super().__init__(model, pairs, config, *args, companions=[self._projection], **kwargs)

    def loss_of(self, vectors: Tensor, rows: NDArray[np.int64]) -> Tensor:
        """Return this process's part of the sum of the losses, from the vectors of the pairs `rows`, (2B, out_dim)."""
        own = self.processes.own(len(vectors))
        targets = to_device(self._teacher.take(self._pairs.sides(rows)), vectors.device)  # (2B, D)
        options, total = self._options, vectors.new_zeros(())
        if options.margin_weight:
            total = total + options.margin_weight * super().loss_of(vectors, rows)
        if options.regression_weight:
            total = total + options.regression_weight * regression_loss(
                self._projection(vectors[own]), targets[own], len(vectors)
            )
        if options.similarity_weight:
            total = total + options.similarity_weight * similarity_loss(vectors, targets, own)
        return total


def regression_loss(vectors: Tensor, targets: Tensor, count: int) -> Tensor:
    """Return the sum over (n, D) vectors of 1 − cos(vector, target), half the squared distance of unit vectors.

    It is divided by `count`, the number of sentences of the mini-batch, of which these are n.
    """
    return (1 - cosine_similarity(vectors, targets)).sum() / count


def similarity_loss(vectors: Tensor, targets: Tensor, own: slice = ALL) -> Tensor:
    """Return the mean squared difference between the cosines of all vectors (n, d) and those of targets (n, D).

    `own` limits the sum to the cosines of some vectors with all; it is divided by n² all the same.
    """
    unit, wanted = normalize(vectors, dim=1), normalize(targets, dim=1)
    differences = unit[own] @ unit.T - wanted[own] @ wanted.T
    return differences.square().sum() / len(unit) ** 2


def _projection(teacher: TeacherVectors, out_dim: int) -> nn.Linear:
    """Return the map from the model's vectors to the teacher's; at first it undoes that of `initial_words`."""
    projection = nn.Linear(out_dim, teacher.dim, bias=False)
    components = torch.from_numpy(teacher.components(out_dim))
    with torch.no_grad():
        projection.weight.zero_()[:, : len(components)] = components.T
    return projection
