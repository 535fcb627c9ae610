"""Sentences in a file, for corpora whose text does not fit in memory."""

from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.text.columns import GrowingArray, Texts, chunks, offsets_from_lengths

_CHUNK = 1 << 25  # bytes of text that are written at a time


class TextFile:
    """n sentences that are read by row; memory holds 8 bytes of each.

    The file has no name, so that nothing is left of it when the process ends.

    Args:
        sentences: the sentences.
        folder: on the disk that the file is written to; None is the system's folder of temporary files.
    """

    def __init__(self, sentences: Texts, folder: Path | None = None) -> None:
        self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - open as long as the object
        offsets = GrowingArray(np.int64)
        offsets.extend(np.zeros(1))
        for chunk in chunks(sentences, _CHUNK):
            text = pa.concat_arrays([chunk]).buffers()[2]  # without what a slice leaves out
            start = offsets.last()
            offsets.extend(start + offsets_from_lengths(pc.binary_length(chunk).to_numpy())[1:])
            self._write(memoryview(text or b"")[: offsets.last() - start])
        self._offsets = offsets.values()

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def take(self, rows: NDArray[np.integer]) -> pa.StringArray:
        """Return the sentences `rows` in that order."""
        starts, lengths = self._offsets[rows], self._offsets[rows + 1] - self._offsets[rows]
        text = b"".join(map(self._read, starts.tolist(), lengths.tolist()))
        offsets = offsets_from_lengths(lengths).astype(np.int32)
        return pa.StringArray.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(text))

    def _write(self, text: memoryview) -> None:
        while len(text):  # a file without buffer may write a part
            text = text[self._file.write(text) :]

    def _read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)
