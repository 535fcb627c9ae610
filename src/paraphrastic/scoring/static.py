"""Static encoders: weighted sums of embeddings, computed without torch, from a table in one of `TABLE_FORMATS`.

Averages of word vectors and Charagram have this form (`nn.static_form`), and so do the untrained averages and SIF.
"""

import reprlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, get_args, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.errors import ModelError, ParameterError, ParaphrasticError, unknown_name
from paraphrastic.base.parallel import FASTMATH, Array, njit
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.scoring import TABLE_FORMATS, TableFormat
from paraphrastic.scoring.few_bits import from_halves, from_planes, in_halves, in_planes, odd_integers
from paraphrastic.scoring.scorer import Scorer, Vectors, VectorScorer
from paraphrastic.scoring.weight_files import read_weights, write_weights, wrong_config, wrong_weights
from paraphrastic.text.columns import Ragged, chunks
from paraphrastic.vocabulary.kinds import VocabularyKind, build_vocabulary

_PART = 1 << 18  # bytes of text that one thread encodes at a time
_LARGEST = {"int8": 127, "int4": 7}  # so that the range is symmetric
_ODD = {"int3": 3, "int2": 2}  # formats of odd integers, and their bits


@dataclass(frozen=True)
class EmbeddingTable:
    """A table (rows, dim). A row of integers is multiplied by its scale; other formats have no scales."""

    values: NDArray[Any]  # (rows, dim) float32, float16 or int8
    scales: NDArray[np.float32] | None = None  # (rows,), of int8 only
    bits: int = 8  # of an integer in the file of weights; in memory it has 8

    def __post_init__(self) -> None:
        """Raise a ValueError if the arrays are no table."""
        shape, dtype, sizes = self.values.shape, self.values.dtype, None if self.scales is None else self.scales.shape
        wanted = shape[:1] if dtype == np.int8 else None
        if len(shape) != 2 or 0 in shape or dtype.name not in TABLE_FORMATS or sizes != wanted:
            raise ValueError(f"{dtype} of shape {shape} with scales {sizes}: no embedding table")

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the table in the arrays of a model.

        Raises:
            KeyError: there is none.
            ValueError: the arrays are no table.
        """
        values, scales = arrays["embeddings"], arrays.get("embeddings.scales")
        if values.dtype != np.uint8:
            return cls(values, scales)
        if values.ndim == 2:
            return cls(from_halves(values), scales, 4)
        dim = int(arrays["embeddings.dim"].item())
        if len(values) not in _ODD.values() or values.shape[2:] != (-(-dim // 8),):
            raise ValueError(f"bytes of shape {values.shape} for {dim} dimensions: no embedding table")
        return cls(from_planes(values, dim), scales, len(values))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def format(self) -> TableFormat:
        """How the numbers are stored."""
        name = self.values.dtype.name if self.bits == 8 else f"int{self.bits}"
        return next(each for each in TABLE_FORMATS if each == name)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by their names in the file of weights."""
        scales = {} if self.scales is None else {"embeddings.scales": self.scales}
        if self.bits == 8:
            return {"embeddings": self.values, **scales}
        if self.bits == 4:
            return {"embeddings": in_halves(self.values), **scales}
        dim = np.array(self.values.shape[1:], np.int32)
        return {"embeddings": in_planes(self.values, self.bits), **scales, "embeddings.dim": dim}

    def sums(self, ids: NDArray[np.integer], offsets: NDArray[np.int64], weights: NDArray[Any]) -> NDArray[np.float32]:
        """Return `out[i] = Σ_n weights[n] · row(ids[n])` over n in `offsets[i]:offsets[i + 1]`, (B, dim)."""
        if self.scales is not None:
            weights = weights * self.scales[ids]
        if self.values.dtype == np.float16:
            return _sum_half_rows(self.values.view(np.uint16), ids, offsets, weights)
        return _sum_rows(self.values, ids, offsets, weights)

    def take(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return rows, (n, dim)."""
        rows: NDArray[np.float32] = self.values[ids].astype(np.float32)
        return rows if self.scales is None else rows * self.scales[ids][:, None]

    def array(self) -> NDArray[np.float32]:
        """Return the table in float32, (rows, dim); a table of float32 itself."""
        return self.values if self.format == "float32" else self.take(np.arange(len(self)))

    def in_format(self, wanted: TableFormat) -> "EmbeddingTable":
        """Return the table in another format.

        In int8, the largest magnitude of a row becomes 127, in int4 it becomes 7, and other numbers are rounded to the
        nearest integer. In int3 and int2 they are odd integers, see `odd_integers`.

        Raises:
            OverflowError: a number is too large for the format, as for float16 one above 65,504.
        """
        if wanted == self.format:
            return self
        table = self.array()
        if wanted in _ODD:
            return EmbeddingTable(*odd_integers(table, _ODD[wanted]), _ODD[wanted])
        if wanted not in _LARGEST:
            with np.errstate(over="ignore"):
                values = table.astype(wanted)
            if not np.isfinite(values).all():
                largest = np.abs(table).max()
                raise OverflowError(f"{wanted} cannot hold numbers up to {largest:.3g}; choose another table")
            return EmbeddingTable(values)
        scales = np.abs(table).max(1, initial=0) / np.float32(_LARGEST[wanted])
        values = np.rint(table / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
        return EmbeddingTable(values, scales, 4 if wanted == "int4" else 8)


class StaticEncoder(VectorScorer):
    """Encodes sentences as `StaticForm` says, and scores them by cosine similarity.

    Args:
        form: how sums become vectors.
        texts: entries of the vocabulary.
        arrays: those of an `EmbeddingTable`, for words with row 0 for unknown words; optionally `bias` (dim,),
            `dense.W` (dim, dim) and `dense.b` (dim,), and `directions` (k, dim), orthonormal directions that are
            removed from every vector.

    Attributes:
        table: the embeddings.
    """

    def __init__(self, form: StaticForm, texts: pa.StringArray, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.form, self.texts, self.arrays = form, texts, dict(arrays)
        self.table = EmbeddingTable.of(self.arrays)
        self._bias, self._directions = self.arrays.get("bias"), self.arrays.get("directions")
        self._dense = (self.arrays["dense.W"], self.arrays["dense.b"]) if "dense.W" in self.arrays else None
        self.vocabulary_kind: VocabularyKind = form.vocabulary
        self.vocabulary = build_vocabulary(form.vocabulary, texts, form.boundary_tokens)

    def embedding_array(self) -> NDArray[np.float32]:
        """Return the embedding table, (rows, dim)."""
        return self.table.array()

    def encode_known(self, sentences: pa.StringArray) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the vectors, and which sentences have an entry of the vocabulary, (n,)."""
        parts = list(chunks(sentences, _PART))
        if len(parts) == 1:
            return self._encode_part(parts[0])
        with ThreadPoolExecutor(pa.cpu_count()) as pool:
            vectors, known = zip(*pool.map(self._encode_part, parts), strict=True)
        return np.concatenate(vectors), np.concatenate(known)

    def _encode_part(self, sentences: pa.StringArray) -> tuple[Vectors, NDArray[np.bool_]]:
        ragged = self.vocabulary.lookup(sentences)
        vectors = self.table.sums(ragged.ids, ragged.offsets, self.id_weights(ragged))  # (n, dim)
        if self.form.pooling == "mean":
            vectors /= np.maximum(ragged.lengths, 1).astype(vectors.dtype)[:, None]
        return self._compose(vectors), self.vocabulary.has_known(ragged)

    def oov_share(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return the share of each sentence's words or n-grams that the vocabulary lacks, (n,)."""
        return self.vocabulary.oov_share(sentences)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write vocabulary and weights; the result goes to `config.json`."""
        return {"scorer": {"kind": "static", **asdict(self.form)}, **write_weights(folder, self.texts, self.arrays)}

    @classmethod
    def load(cls, folder: Path, form: Mapping[str, Any]) -> Self:
        """Load the encoder that `save` wrote.

        Raises:
            ModelError: weights or vocabulary are damaged, or not those of this model.
        """
        texts, arrays = read_weights(folder)
        try:
            checked = _checked_form(form)
        except (TypeError, ValueError) as error:
            raise wrong_config(folder, error) from error
        try:
            _check_arrays(arrays, len(texts) + (checked.vocabulary == "words"))
            return cls(checked, texts, arrays)
        except ParaphrasticError:
            raise
        except (KeyError, ValueError) as error:
            raise wrong_weights(folder, error) from error

    def with_table(self, texts: pa.StringArray, table: EmbeddingTable) -> "StaticEncoder":
        """Return the encoder with another vocabulary and table."""
        others = {name: array for name, array in self.arrays.items() if name not in self.table.arrays()}
        return StaticEncoder(self.form, texts, others | table.arrays())

    def id_weights(self, ragged: Ragged) -> NDArray[Any]:
        """Return the weight of each id, (N,)."""
        counts = ragged.count_values(np.float32)
        return np.sqrt(counts) if self.form.counts == "sqrt" else counts

    def _compose(self, sums: Vectors) -> Vectors:
        vectors = self.activate(sums if self._bias is None else sums + self._bias)
        if self._dense is not None:
            W, b = self._dense
            vectors = self.activate(vectors @ W + b)
        if self._directions is None:
            return vectors
        projections: Vectors = vectors @ self._directions.T @ self._directions
        return vectors - projections

    def activate(self, vectors: Vectors) -> Vectors:
        """Return the activation function of each element."""
        if self.form.activation == "tanh":
            return np.tanh(vectors)
        return np.maximum(vectors, 0) if self.form.activation == "relu" else vectors


def _check_arrays(arrays: Mapping[str, NDArray[Any]], rows: int) -> None:
    """Raise a KeyError or a ValueError if arrays are not those of a `StaticEncoder` with `rows` embeddings."""
    dim, (*bits, _, width) = EmbeddingTable.of(arrays).values.shape[1], arrays["embeddings"].shape
    out = arrays["dense.W"].shape[-1] if "dense.W" in arrays else dim
    sizes = {"embeddings": (*bits, rows, width), "embeddings.scales": (rows,), "embeddings.dim": (1,), "bias": (dim,)}
    sizes |= {"dense.W": (dim, out), "dense.b": (out,)} if "dense.W" in arrays else {}
    sizes |= {"directions": (*arrays["directions"].shape[:1], out)} if "directions" in arrays else {}
    for name, array in arrays.items():
        wanted = {"embeddings": array.dtype, "embeddings.dim": np.int32}.get(name, np.float32)
        if array.shape != sizes.get(name) or array.dtype != wanted:
            raise ValueError(f"{reprlib.repr(name)}: {array.dtype} of shape {array.shape}, not {sizes.get(name)}")


def _checked_form(options: Mapping[str, Any]) -> StaticForm:
    """Return the form that `config.json` describes; raise a TypeError or a ValueError if it is none."""
    form = StaticForm(**options)
    for name, allowed in get_type_hints(StaticForm).items():
        if getattr(form, name) not in get_args(allowed):
            raise ValueError(f"{name} = {getattr(form, name)!r}, expected one of {get_args(allowed)}")
    return form


def with_table_format(scorer: Scorer, name: str, folder: Path, wanted: TableFormat) -> StaticEncoder:
    """Return an encoder with its embeddings in another format.

    Raises:
        ModelError: the model is no sum of embeddings.
        ParameterError: there is no such format.
        OverflowError: it cannot hold the embeddings.
    """
    if wanted not in TABLE_FORMATS:
        raise ParameterError(unknown_name("format of a table", wanted, TABLE_FORMATS))
    if not isinstance(scorer, StaticEncoder):
        raise ModelError(f"{folder}: {name} is no sum of embeddings that could be {wanted}; choose avg or charagram")
    return scorer.with_table(scorer.texts, scorer.table.in_format(wanted))


@njit(fastmath=FASTMATH, nogil=True, error_model="numpy")
def _sum_rows(table: Array, ids: Array, offsets: Array, weights: Array) -> Array:
    """Compute `EmbeddingTable.sums` without scales.

    This is the product of a sparse matrix in CSR format with a dense table. The inner loop runs over rows of the table
    and one row of the result, all contiguous, so that the compiler vectorises it. Reading the rows of the table is what
    bounds the speed: one of int8 is a fourth as large, and four are read at a time, which takes three quarters of the
    time of one after the other.
    """
    out = np.zeros((len(offsets) - 1, table.shape[1]), weights.dtype)
    number = weights.dtype.type
    for i in range(len(out)):
        start, end = offsets[i], offsets[i + 1]
        last = end - (end - start) % 4
        for n in range(start, last, 4):
            a, b, c, d = table[ids[n]], table[ids[n + 1]], table[ids[n + 2]], table[ids[n + 3]]
            u, v, w, x = weights[n], weights[n + 1], weights[n + 2], weights[n + 3]
            for j in range(table.shape[1]):
                out[i, j] += u * number(a[j]) + v * number(b[j]) + w * number(c[j]) + x * number(d[j])
        for n in range(last, end):
            row, weight = ids[n], weights[n]
            for j in range(table.shape[1]):
                out[i, j] += weight * number(table[row, j])
    return out


@njit(fastmath=FASTMATH, nogil=True, error_model="numpy")
def _sum_half_rows(table: Array, ids: Array, offsets: Array, weights: Array) -> Array:
    """Return `_sum_rows` in float32 of a table of float16, given as uint16 because numba has no half precision.

    Sign, exponent and mantissa of a half are moved to their places in a float32. Its exponent is then too small by
    127 − 15 = 112, for finite numbers and subnormal ones, so that the weight is multiplied by 2^112.
    """
    out = np.zeros((len(offsets) - 1, table.shape[1]), np.float32)
    bits = np.empty(table.shape[1], np.int32)
    shifted = bits.view(np.float32)
    for i in range(len(out)):
        for n in range(offsets[i], offsets[i + 1]):
            row, weight = ids[n], weights[n] * np.float32(2.0**112)
            for j in range(table.shape[1]):
                half = np.int32(table[row, j])
                bits[j] = (half & 0x8000) << 16 | (half & 0x7FFF) << 13
            for j in range(table.shape[1]):
                out[i, j] += weight * shifted[j]
    return out
