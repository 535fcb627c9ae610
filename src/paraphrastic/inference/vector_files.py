"""Write the vectors of many sentences as they are computed: .npy, .parquet or JSON lines."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paraphrastic.base.console import STANDARD_STREAM, progress
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.files import atomic_write
from paraphrastic.inference import Precision
from paraphrastic.inference.model import Model
from paraphrastic.inference.quantization import Quantized, quantize

_JSON_ROWS = 1 << 10  # rows that are formatted together, which bounds memory

Write = Callable[[pa.StringArray, Quantized], object]


def write_vectors(
    model: Model, columns: Iterable[pa.StringArray], out: str, normalize: bool, precision: Precision = "float32"
) -> tuple[int, int]:
    """Write the vectors of all sentences to `out`, atomically.

    Args:
        model: a model with sentence vectors.
        columns: raw sentences, in parts.
        out: a path that ends in one of `FORMATS`; `-` writes JSON lines to standard output.
        normalize: scale each vector to length 1.
        precision: data type of the numbers, see `quantization.quantize`.

    Returns:
        How many sentences there are, and how many have the vector zero, because nothing in them is known.

    Raises:
        ModelError: the model compares pairs and has no sentence vectors, or no ranges for `precision`.
        ParameterError: .npy is to be written to a pipe.
        OSError: `out` cannot be written.
    """
    count = unknown = 0
    writer = _jsonl if out == STANDARD_STREAM else FORMATS[Path(out).suffix.lower()]
    on_terminal = out == STANDARD_STREAM and sys.stdout.isatty()  # a bar would appear between the lines
    ranges = model.ranges_for(precision, is_unit=normalize)
    like = quantize(np.empty((0, model.dim), np.float32), precision, ranges)
    with _opened(out) as file, writer(file, like) as write, progress(False if on_terminal else None) as bar:
        task = bar.add_task("sentences", total=None)
        for texts in columns:
            vectors = model.encode(texts, normalize_embeddings=normalize, show_progress_bar=False)
            write(texts, quantize(vectors, precision, ranges))
            bar.advance(task, len(texts))
            count, unknown = count + len(texts), unknown + int((~vectors.any(axis=1)).sum())
    return count, unknown


@contextmanager
def _opened(out: str) -> Iterator[BinaryIO]:
    if out == STANDARD_STREAM:
        yield sys.stdout.buffer
        return
    with atomic_write(Path(out)) as part, part.open("wb") as file:
        yield file


@contextmanager
def _npy(file: BinaryIO, like: Quantized) -> Iterator[Write]:
    """Write one array (n, dim) of the type of `like`; the header is rewritten at the end, when n is known."""
    if not file.seekable():
        raise ParameterError(f"{file.name}: .npy is written to a file, not to a pipe; name one, or a pipe in .jsonl")
    dim, numbers = like.shape[1], like.dtype.newbyteorder("<")

    def write_header(rows: int) -> None:  # always of the same length: NumPy reserves space for a larger first dimension
        np.lib.format.write_array_header_1_0(file, {"descr": numbers.str, "fortran_order": False, "shape": (rows, dim)})

    write_header(0)
    start = file.tell()
    yield lambda texts, vectors: file.write(np.ascontiguousarray(vectors, numbers).data)
    rows = (file.tell() - start) // (numbers.itemsize * dim)
    file.seek(0)
    write_header(rows)


@contextmanager
def _parquet(file: BinaryIO, like: Quantized) -> Iterator[Write]:
    """Write columns `text`, the line, and `vector`, a list of `dim` numbers of the type of `like`."""
    dim = like.shape[1]
    schema = pa.schema([("text", pa.string()), ("vector", pa.list_(pa.from_numpy_dtype(like.dtype), dim))])
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        yield lambda texts, vectors: writer.write_batch(
            pa.record_batch([texts, pa.FixedSizeListArray.from_arrays(vectors.ravel(), dim)], schema=schema)
        )


@contextmanager
def _jsonl(file: BinaryIO, like: Quantized) -> Iterator[Write]:
    """Write an object with `text`, the line, and `vector` per line."""
    yield lambda texts, vectors: file.writelines(_json_lines(texts, vectors))


FORMATS = {".npy": _npy, ".parquet": _parquet, ".jsonl": _jsonl}


def _json_lines(texts: pa.StringArray, vectors: Quantized) -> Iterator[bytes]:
    """Yield a line per sentence, whose numbers Arrow formats, about ten times faster than json.dumps."""
    for start in range(0, len(vectors), _JSON_ROWS):
        rows = vectors[start : start + _JSON_ROWS]
        offsets = pa.array(np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1])
        numbers = pc.binary_join(pa.ListArray.from_arrays(offsets, pa.array(rows.ravel()).cast(pa.string())), ", ")
        for text, row in zip(texts.slice(start, _JSON_ROWS).to_pylist(), numbers.to_pylist(), strict=True):
            yield f'{{"text": {json.dumps(text, ensure_ascii=False)}, "vector": [{row}]}}\n'.encode()
