"""Sentences as tensors: a mini-batch, and a whole corpus on the device that mini-batches are taken from.

A GPU executes its queue while the CPU prepares the next operations. Reading a value back from the GPU, such as the
length of the longest sentence, or copying to it synchronously, drains that queue. A batch therefore keeps a copy of
its offsets in main memory.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.text.columns import GrowingArray, Ragged, TextColumns, chunks, offsets_from_lengths

_CHUNK = 1 << 25  # bytes of text that are written at a time


class Share(NamedTuple):
    """Where sentences lie in a mini-batch that several processes divide."""

    first_id: int
    ids: int  # of the whole mini-batch
    first_sentence: int
    sentences: int  # of the whole mini-batch


@dataclass(frozen=True)
class Batch:
    """B sentences as rows of an embedding table.

    Attributes:
        ids: (N,) int64, rows of the embedding table, sentence after sentence.
        offsets: (B + 1,) int64; sentence i has `ids[offsets[i]:offsets[i + 1]]`.
        counts: (N,) in the data type of the table, occurrences of each n-gram in its sentence; ones for words and
            characters, whose ids are repeated.
        host_offsets: the offsets in main memory.
        share: what part of a mini-batch this is.
    """

    ids: Tensor
    offsets: Tensor
    counts: Tensor
    host_offsets: NDArray[np.int64]
    share: Share

    def __len__(self) -> int:
        return len(self.host_offsets) - 1

    @classmethod
    def of(cls, sentences: Ragged, device: torch.device, dtype: torch.dtype = torch.float32) -> "Batch":
        """Copy `sentences` to the device."""
        return DeviceSentences(sentences, device, dtype).take(np.arange(len(sentences)))

    def with_ids(self, ids: Tensor) -> "Batch":
        """Return the same sentences with other row numbers, (N,) int64."""
        return replace(self, ids=ids)

    def part(self, start: int, end: int) -> "Batch":
        """Return the sentences from `start` to `end`, as a share of this mini-batch."""
        first, last = self.host_offsets[[start, end]].tolist()
        share = Share(first, len(self.ids), start, len(self))
        offsets, host_offsets = self.offsets[start : end + 1] - first, self.host_offsets[start : end + 1] - first
        return Batch(self.ids[first:last], offsets, self.counts[first:last], host_offsets, share)

    @property
    def lengths(self) -> Tensor:
        """Ids per sentence, (B,) int64."""
        return self.offsets.diff()


class SentenceFile:
    """n sentences that are read by row; memory holds 8 bytes of each.

    It is for corpora whose text does not fit in memory. The file has no name, so that nothing is left of it when the
    process ends. It is on the disk of `folder`; None is the system's folder of temporary files.
    """

    def __init__(self, sentences: TextColumns, folder: Path | None = None) -> None:
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - open as long as the object
        offsets = GrowingArray(np.int64)
        offsets.extend(np.zeros(1))
        for chunk in chunks(sentences, _CHUNK):
            text = pa.concat_arrays([chunk]).buffers()[2]  # without what a slice leaves out
            start = offsets.last()
            offsets.extend(start + offsets_from_lengths(pc.binary_length(chunk).to_numpy())[1:])
            self._file.write(memoryview(text or b"")[: offsets.last() - start])
        self._offsets = offsets.values()

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def take(self, rows: NDArray[np.integer]) -> pa.StringArray:
        """Return the sentences `rows` in that order."""
        starts, lengths = self._offsets[rows], self._offsets[rows + 1] - self._offsets[rows]
        parts = []
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            self._file.seek(start)
            parts.append(self._file.read(length))
        offsets = offsets_from_lengths(lengths).astype(np.int32)
        return pa.StringArray.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(b"".join(parts)))


class DeviceSentences:
    """Sentences whose ids stay on a device.

    Args:
        sentences: n sentences.
        device: where the ids are stored.
        dtype: data type of the counts, that of the embedding table.
    """

    def __init__(self, sentences: Ragged, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
        self._offsets, self._dtype = sentences.offsets, dtype
        self._ids = to_device(sentences.ids, device)
        # stored as int16, because few torch operations support uint16
        self._counts = None if sentences.counts is None else to_device(sentences.counts.view(np.int16), device)

    def take(self, rows: NDArray[np.integer]) -> Batch:
        """Return the sentences `rows` in that order; only their offsets are copied to the device."""
        starts, lengths = self._offsets[rows], self._offsets[rows + 1] - self._offsets[rows]  # (B,) each
        host_offsets = offsets_from_lengths(lengths)  # (B + 1,)
        # one copy to the device for both, (B + 1,) each; the last shift is padding
        offsets, shifts = to_device(np.stack([host_offsets, np.append(starts, 0) - host_offsets]), self._ids.device)
        positions = torch.arange(int(host_offsets[-1]), device=offsets.device)  # (N,), in the batch
        positions += torch.repeat_interleave(shifts[:-1], offsets.diff(), output_size=len(positions))  # in the corpus
        ids = self._ids.index_select(0, positions).long()
        if self._counts is None:
            counts = torch.ones(len(ids), dtype=self._dtype, device=ids.device)
        else:
            counts = self._counts.index_select(0, positions).int().bitwise_and_(0xFFFF).to(self._dtype)
        return Batch(ids, offsets, counts, host_offsets, Share(0, len(ids), 0, len(rows)))


def to_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """Return `array` on `device`; the copy to a GPU is asynchronous, and on the CPU both share their memory."""
    writable = np.require(array, requirements="W")  # torch warns about read-only arrays, such as Arrow's
    return torch.from_numpy(writable).to(device, non_blocking=True)


def used_rows(embeddings: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Reduce a small embedding table to the rows that `ids` (N,) uses.

    On a GPU all rows are returned: counting the distinct ids would synchronise it.

    Returns:
        The rows, (rows, dim), and the row of each id in them, (N,) int64.
    """
    if embeddings.device.type != "cpu":
        return embeddings, ids
    rows, positions = ids.unique(return_inverse=True)
    return embeddings.index_select(0, rows), positions
