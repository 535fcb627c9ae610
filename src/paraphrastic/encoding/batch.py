"""Sentences on the device that computes: a batch of them, and the whole of a corpus that batches are taken from.

A GPU works through its queue while the CPU prepares what comes next. To ask it for a number, such as how long the
longest sentence is, or to copy to it and wait, empties the queue. So a batch has its offsets in main memory too.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.text.bags import Bags


@dataclass(frozen=True)
class Batch:
    """B sentences whose units are rows of a table.

    Attributes:
        ids: (N,) int64, rows of the table that the encoder is given.
        offsets: (B + 1,) int64; sentence i has `ids[offsets[i]:offsets[i + 1]]`.
        counts: (N,) of the table's type: how often each unit occurs in its sentence.
        borders: the offsets in main memory.
    """

    ids: Tensor
    offsets: Tensor
    counts: Tensor
    borders: NDArray[np.int64]

    @classmethod
    def of(cls, bags: Bags, device: torch.device, dtype: torch.dtype = torch.float32) -> "Batch":
        """The sentences of `bags` as tensors."""
        return Resident(bags, device, dtype).take(np.arange(len(bags)))

    def at(self, ids: Tensor) -> "Batch":
        """The same sentences with other rows for their units, (N,) int64."""
        return replace(self, ids=ids)

    @property
    def lengths(self) -> Tensor:
        """Entries per sentence, (B,) int64."""
        return self.offsets.diff()


class Resident:
    """Sentences whose units stay on a device.

    Args:
        bags: n sentences.
        device: where they are kept.
        dtype: of counts, that of the table.
    """

    def __init__(self, bags: Bags, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
        self._offsets, self._dtype = bags.offsets, dtype
        self._ids = carried(bags.ids, device)
        # as int16, since torch does little with uint16
        self._counts = None if bags.counts is None else carried(bags.counts.view(np.int16), device)

    def take(self, rows: NDArray[np.integer]) -> Batch:
        """The sentences `rows`, in that order; only where they stand is copied to the device."""
        starts, lengths = self._offsets[rows], self._offsets[rows + 1] - self._offsets[rows]
        borders = np.concatenate([[0], np.cumsum(lengths)])
        offsets, shifts = carried(np.stack([borders, np.append(starts, 0) - borders]), self._ids.device)
        places = torch.arange(int(borders[-1]), device=offsets.device)
        places += torch.repeat_interleave(shifts[:-1], offsets.diff(), output_size=len(places))
        ids = self._ids.index_select(0, places).long()
        return Batch(ids, offsets, self._weights(places), borders)

    def _weights(self, places: Tensor) -> Tensor:
        if self._counts is None:
            return torch.ones(len(places), dtype=self._dtype, device=places.device)
        return self._counts.index_select(0, places).int().bitwise_and_(0xFFFF).to(self._dtype)


def carried(array: NDArray[Any], device: torch.device) -> Tensor:
    """`array` on `device`, where it arrives in its turn; nothing waits for that while it is small."""
    writable = np.require(array, requirements="W")  # as torch wants them; those of Arrow are not
    return torch.from_numpy(writable).to(device, non_blocking=True)


def distinct(table: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of a small table that `ids` (N,) name, (rows, dim), and which of these each one is, (N,) int64.

    On a GPU these are all rows: how many are named, it would have to be asked.
    """
    if table.device.type != "cpu":
        return table, ids
    rows, places = ids.unique(return_inverse=True)
    return table.index_select(0, rows), places
