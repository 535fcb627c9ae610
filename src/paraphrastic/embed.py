"""Vectors of lines, written as they are made: .npy, .parquet or JSON lines."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paraphrastic.console import progress
from paraphrastic.model import Model, Vectors
from paraphrastic.tables import replacing
from paraphrastic.texts import STANDARD

_ROWS = 1 << 10  # whose numbers are text at a time

Write = Callable[[pa.StringArray, Vectors], object]


def embed(model: Model, columns: Iterable[pa.StringArray], out: str, normalize: bool) -> None:
    """Write the vectors of all sentences to `out`; a file appears whole or not at all.

    Args:
        model: that has vectors.
        columns: raw sentences, some at a time.
        out: a path that ends in one of `FORMATS`; `-` writes JSON lines to standard output.
        normalize: scale each vector to length 1.

    Raises:
        ModelError: the model compares pairs and has no vectors.
        OSError: `out` cannot be written.
    """
    garbles = out == STANDARD and sys.stdout.isatty()  # a bar between the lines
    with _writer(out, model.dim) as write, progress(False if garbles else None) as bar:
        task = bar.add_task("sentences", total=None)
        for texts in columns:
            write(texts, model.encode(texts, normalize=normalize, progress=False))
            bar.advance(task, len(texts))


def _writer(out: str, dim: int) -> AbstractContextManager[Write]:
    return _standard() if out == STANDARD else FORMATS[Path(out).suffix](Path(out), dim)


@contextmanager
def _npy(path: Path, dim: int) -> Iterator[Write]:
    """One array (n, dim) of float32."""
    with replacing(path) as part, part.open("wb") as file:
        _header(file, (0, dim))
        start = file.tell()
        yield lambda texts, vectors: file.write(np.ascontiguousarray(vectors, "<f4"))
        rows = (file.tell() - start) // (4 * dim)
        file.seek(0)
        _header(file, (rows, dim))  # as long as the first: NumPy leaves room for the number of rows to grow


def _header(file: BinaryIO, shape: tuple[int, int]) -> None:
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})


@contextmanager
def _parquet(path: Path, dim: int) -> Iterator[Write]:
    """Columns `text`, the line, and `vector`, a list of `dim` float32."""
    schema = pa.schema([("text", pa.string()), ("vector", pa.list_(pa.float32(), dim))])
    with replacing(path) as part, pq.ParquetWriter(part, schema, compression="zstd") as writer:
        yield lambda texts, vectors: writer.write_batch(
            pa.record_batch([texts, pa.FixedSizeListArray.from_arrays(vectors.ravel(), dim)], schema=schema)
        )


@contextmanager
def _jsonl(path: Path, dim: int) -> Iterator[Write]:
    """An object with `text`, the line, and `vector` on each line."""
    with replacing(path) as part, part.open("wb") as file:
        yield lambda texts, vectors: file.writelines(_json(texts, vectors))


@contextmanager
def _standard() -> Iterator[Write]:
    yield lambda texts, vectors: sys.stdout.buffer.writelines(_json(texts, vectors))


FORMATS = {".npy": _npy, ".parquet": _parquet, ".jsonl": _jsonl}


def _json(texts: pa.StringArray, vectors: Vectors) -> Iterator[bytes]:
    """A line for each sentence; a number has as many digits as tell it from every other float32."""
    for start in range(0, len(vectors), _ROWS):
        rows = vectors[start : start + _ROWS]
        offsets = pa.array(np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1])
        numbers = pc.binary_join(pa.ListArray.from_arrays(offsets, pa.array(rows.ravel()).cast(pa.string())), ", ")
        for text, row in zip(texts.slice(start, _ROWS).to_pylist(), numbers.to_pylist(), strict=True):
            yield f'{{"text": {json.dumps(text, ensure_ascii=False)}, "vector": [{row}]}}\n'.encode()
