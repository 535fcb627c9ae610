"""Where the sentence vectors of a task come from: an encoder that learns with the head, or one that is frozen."""

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from paraphrastic.encoding.dense import Dense
from paraphrastic.encoding.encoder import Batch
from paraphrastic.encoding.trained import Trained
from paraphrastic.text.bags import Bags
from paraphrastic.training.dense import DenseSteps
from paraphrastic.training.tables import trained_table


class Vectors(Protocol):
    """Vectors of the sentences of a task, which gradient steps may move.

    Attributes:
        dim: of a vector.
    """

    dim: int

    def learning(self, sentences: NDArray[np.integer], step: int) -> Tensor:
        """Vectors (n, dim) of some sentences before `step`, numbered from 1, with gradients."""
        ...

    def update(self, step: int, rate: float) -> None:
        """Take the step by the gradients that there are."""
        ...

    def all(self, step: int) -> Tensor:
        """Vectors of all sentences after `step`, without gradients."""
        ...

    def state(self) -> dict[str, Any]:
        """All that `restore` needs to go on with the same bits."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from `state`."""
        ...


class Learned:
    """Of an encoder that is fitted together with its table.

    Args:
        model: where it starts; holds the result.
        bags: units of all sentences.
        rates: the learning rate of every step.
        optimizer: `adam` or `adagrad`.
        lambda_c: pull on the encoder's parameters, toward their start if `universal`, else toward zero.
        lambda_w: pull on the table toward its start.
        universal: whether the start was trained before.
    """

    def __init__(
        self,
        model: Trained,
        bags: Bags,
        rates: NDArray[np.float64],
        optimizer: str,
        lambda_c: float,
        lambda_w: float,
        universal: bool,
    ) -> None:
        self._model, self._bags, self.dim = model, bags, model.encoder.out_dim
        self._table = trained_table(model.table, rates, optimizer, lambda_w, to_start=True)
        own, to_start = list(model.encoder.parameters()), universal or model.encoder.pulled_to_start
        self._steps = DenseSteps(own, optimizer, lambda_c, to_start) if own else None

    def learning(self, sentences: NDArray[np.integer], step: int) -> Tensor:
        """See `Vectors`."""
        self._model.encoder.train()
        batch = Batch.of(self._bags.take(sentences), self._model.table.device)
        leaf, places = self._table.gather(batch.ids, step)
        return self._model.encoder(leaf, Batch(places, batch.offsets, batch.counts))

    def update(self, step: int, rate: float) -> None:
        """See `Vectors`."""
        self._table.update(step)
        if self._steps is not None:
            self._steps.update(step, rate)

    def all(self, step: int) -> Tensor:
        """See `Vectors`."""
        self._table.settle(step)
        return torch.from_numpy(self._model.encode_bags(self._bags)).to(self._model.table.device)

    def state(self) -> dict[str, Any]:
        """See `Vectors`."""
        steps = self._steps.state() if self._steps else {}
        return {"table": self._table.state(), "encoder": self._model.encoder.state_dict(), "steps": steps}

    def restore(self, state: dict[str, Any]) -> None:
        """See `Vectors`."""
        self._table.restore(state["table"])
        self._model.encoder.load_state_dict(state["encoder"])
        if self._steps:
            self._steps.restore(state["steps"])


class Frozen:
    """Of an encoder that stays as it is, through a projection that is learned (iclr2016 §4.4.2).

    Args:
        vectors: (n, d) of all sentences.
        dim: what they are projected to.
        optimizer: `adam` or `adagrad`.
        lambda_c: weight of ½‖P‖².
        generator: source of the first weights.
    """

    def __init__(self, vectors: Tensor, dim: int, optimizer: str, lambda_c: float, generator: Generator) -> None:
        self._vectors, self.dim = vectors, dim
        self._projection = Dense(vectors.shape[1], dim, "linear", generator).to(vectors.device)
        self._steps = DenseSteps(list(self._projection.parameters()), optimizer, lambda_c, to_start=False)

    def learning(self, sentences: NDArray[np.integer], step: int) -> Tensor:
        """See `Vectors`."""
        return self._projection(self._vectors[torch.from_numpy(sentences)])

    def update(self, step: int, rate: float) -> None:
        """See `Vectors`."""
        self._steps.update(step, rate)

    @torch.no_grad()
    def all(self, step: int) -> Tensor:
        """See `Vectors`."""
        return self._projection(self._vectors)

    def state(self) -> dict[str, Any]:
        """See `Vectors`."""
        return {"projection": self._projection.state_dict(), "steps": self._steps.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """See `Vectors`."""
        self._projection.load_state_dict(state["projection"])
        self._steps.restore(state["steps"])
