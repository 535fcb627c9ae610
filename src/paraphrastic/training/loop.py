"""Training on pairs of sentences (acl2017 §3.2): one pass forward, one back, one step per mini-batch."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.encoding.batch import Batch, Resident, carried
from paraphrastic.encoding.encoder import Composition, TrainingConfig, VectorOptions, WordConfig
from paraphrastic.encoding.trained import TrainedModel
from paraphrastic.text.bags import Bags
from paraphrastic.text.words import tag_counts
from paraphrastic.training.batches import epoch_batches, scrambled
from paraphrastic.training.losses import forbidden, margin_loss
from paraphrastic.training.run import NEGATIVES, ORDER, Pull, Run


@dataclass(frozen=True)
class Step:
    """What the loss of a step is made from.

    Attributes:
        encoder: the model.
        table: vectors of the units of `batch`, (units, dim).
        batch: the first sentences of B pairs, then the second ones.
        rows: (B,) the pairs.
        config: the options of training.
        generator: source of random choices.
    """

    encoder: Composition
    table: Tensor
    batch: Batch
    rows: NDArray[np.int64]
    config: TrainingConfig
    generator: np.random.Generator


class Examples(Protocol):
    """What a model learns from: n pairs of sentences, and what they say of it.

    Attributes:
        bags: the units of all distinct sentences.
        left: (n,) row in `bags` of each pair's first sentence.
        right: (n,) of the second.
        sources: (n,) number of the source that the pair comes from.
    """

    bags: Bags
    left: NDArray[np.integer]
    right: NDArray[np.integer]
    sources: NDArray[np.integer]

    def loss(self, step: Step) -> Tensor:
        """How far the model is from the pairs of a step."""
        ...


@dataclass(frozen=True)
class Pairs:
    """Paraphrases as columns, what sentence encoders learn from; see `Examples`.

    Attributes:
        groups: (n,) what comes from one sentence or image has the same number.
    """

    bags: Bags
    left: NDArray[np.integer]
    right: NDArray[np.integer]
    sources: NDArray[np.integer]
    groups: NDArray[np.integer]

    def loss(self, step: Step) -> Tensor:
        """Eq. 2."""
        vectors, config = step.encoder(step.table, step.batch), step.config
        banned = self.banned(step.rows, vectors.device)
        return margin_loss(vectors, banned, config.margin, config.negatives, step.generator)

    def banned(self, rows: NDArray[np.int64], device: torch.device) -> Tensor:
        """Which of the 2B sentences of the pairs `rows` must not be negatives of which, (2B, 2B) bool."""
        left, right, groups = carried(np.stack([self.left[rows], self.right[rows], self.groups[rows]]), device)
        return forbidden(torch.cat([left, right]), groups)


class Training(Run):
    """A run on pairs.

    Args:
        model: what is learned and its starting table; holds the result when `run` returns.
        pairs: what it learns from.
        config: its options.
        seed: of the order of the pairs, of random negatives and of the noise.
        select: scores the model as it stands; the best weights are kept. None keeps the last.
        per_epoch: how many times in each epoch `select` is asked.
        universal: whether the model was trained before, so that λc pulls back to that.
    """

    def __init__(
        self,
        model: TrainedModel[Any],
        pairs: Examples,
        config: TrainingConfig,
        seed: int,
        select: Callable[[Any], float] | None,
        per_epoch: int = 1,
        universal: bool = False,
    ) -> None:
        self.model, self.pairs, self.config = model, pairs, config
        words = isinstance(config, VectorOptions)
        table = Pull(config.lambda_w if words else config.lambda_c, words)
        own = Pull(config.lambda_c, universal or model.encoder.pulled_to_start)
        score = None if select is None else lambda: select(model)
        super().__init__([(model.encoder, own)], model.table, table, config, seed, score, per_epoch)
        self.negatives = self.random(NEGATIVES)
        self._sentences = Resident(pairs.bags, model.table.device)

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """The pairs of each step."""
        in_order = self.config.curriculum and epoch == 0
        options = self.config.batch_size, self.config.batches, self.random(ORDER, epoch), in_order
        return epoch_batches(self.pairs.sources, *options)

    def loss(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """What the pairs `rows` say of the model."""
        sentences = np.concatenate([self.pairs.left[rows], self.pairs.right[rows]])
        batch = self._noisy(self._sentences.take(sentences), len(rows))
        leaf, places = self.table.gather(batch.ids, self.step)
        step = Step(self.model.encoder, leaf, batch.at(places), rows, self.config, self.negatives)
        return self.pairs.loss(step), leaf

    def _noisy(self, batch: Batch, pairs: int) -> Batch:
        """The sentences of this step's pairs as they are read: scrambled or not."""
        noise = self.noise()
        if not (isinstance(self.config, WordConfig) and self.config.scramble):
            return batch
        chosen = np.tile(noise.random(pairs) < self.config.scramble, 2)  # both sides of a pair
        order = scrambled(batch.borders, chosen, tag_counts(self.config.tags), noise)
        return batch.at(batch.ids.index_select(0, carried(order, batch.ids.device)))

    def state(self) -> dict[str, Any]:
        """All that determines what comes after this step."""
        return super().state() | {"negatives": json.dumps(self.negatives.bit_generator.state)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        super().restore(state)
        self.negatives.bit_generator.state = json.loads(state["negatives"])
