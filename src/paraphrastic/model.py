"""A trained model in the hand: from raw text to vectors and similarities."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from safetensors import safe_open

from paraphrastic import models
from paraphrastic.console import progress as display
from paraphrastic.encoding.cosine import unit_rows
from paraphrastic.encoding.scorer import Scorer
from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.tables import VOCABULARY, read_table
from paraphrastic.text.sentences import distinct
from paraphrastic.text.tokenize import tokenize

Vectors = NDArray[np.float32]
Texts = pa.StringArray | pa.ChunkedArray

BATCH = 1 << 14  # sentences: enough for every thread of the tokenizer, 20 MB of vectors of 300 numbers


@runtime_checkable
class Encodes(Protocol):
    """A scorer that has vectors of sentences."""

    def encode(self, sentences: pa.StringArray) -> Vectors:
        """Vectors of tokenized sentences, (n, dim)."""
        ...


@dataclass(frozen=True)
class Model:
    """A model of the pipeline, for raw text.

    Attributes:
        folder: where it was loaded from.
        name: what `model:` of params.yaml called it.
        options: those that it was made with.
        scorer: the model as the pipeline knows it, for tokenized text.
    """

    folder: Path
    name: str
    options: Mapping[str, Any]
    scorer: Scorer

    @cached_property
    def dim(self) -> int:
        """Size of a sentence vector.

        Raises:
            ModelError: the model compares pairs and has no vectors.
        """
        return self._encoder.encode(pa.array([], pa.string())).shape[1]

    @cached_property
    def units(self) -> pa.StringArray:
        """The vocabulary, in row order; empty for a model that has none."""
        path = self.folder / "vocabulary.parquet"
        return read_table(path, VOCABULARY)["text"].combine_chunks() if path.exists() else pa.array([], pa.string())

    def encode(
        self,
        sentences: Iterable[str] | Texts,
        batch_size: int = BATCH,
        normalize: bool = False,
        progress: bool | None = None,
    ) -> Vectors:
        """Vectors of sentences as people write them.

        Args:
            sentences: n texts, not tokenized.
            batch_size: sentences that are tokenized and encoded together; bounds the memory beside the result.
            normalize: scale each vector to length 1; one that is zero stays zero.
            progress: show a bar on stderr; None shows it on a terminal if there is more than one batch.

        Returns:
            (n, dim) float32; zero for a sentence that the model knows nothing of.

        Raises:
            ModelError: the model compares pairs and has no vectors.
            ParameterError: `sentences` is one string, or holds something else than text.
        """
        texts = _column(sentences)
        out = np.empty((len(texts), self.dim), np.float32)
        for rows in _batches(len(texts), batch_size, progress):
            out[rows] = self._encoder.encode(tokenize(texts[rows]))
        return unit_rows(out) if normalize else out

    def similarity(
        self, a: Iterable[str] | Texts, b: Iterable[str] | Texts, batch_size: int = BATCH, progress: bool | None = None
    ) -> Vectors:
        """Similarity of each sentence of `a` with the one at the same place of `b`, by any model.

        Args:
            a: n texts, not tokenized.
            b: as many.
            batch_size: pairs that are compared together.
            progress: as of `encode`.

        Returns:
            (n,) float32, higher is more similar.

        Raises:
            ParameterError: the two differ in length, one is a single string or holds something else than text.
        """
        left, right = _column(a), _column(b)
        if len(left) != len(right):
            raise ParameterError(f"{len(left)} sentences and {len(right)}: similarity compares lists of equal length")
        out = np.empty(len(left), np.float32)
        for rows in _batches(len(out), batch_size, progress):
            texts, (i, j) = distinct([tokenize(left[rows]), tokenize(right[rows])])
            out[rows] = self.scorer.score(texts, i, j)
        return out

    def facts(self) -> dict[str, str | int]:
        """Model, dimension, units of the vocabulary, trained or counted numbers, and bytes on disk; - for none."""
        return {
            "model": self.name,
            "dimension": self.dim if isinstance(self.scorer, Encodes) else "-",
            "vocabulary": len(self.units),
            "parameters": _numbers(self.folder / "weights.safetensors"),
            "bytes": sum(file.stat().st_size for file in self.folder.iterdir() if file.is_file()),
        }

    @property
    def _encoder(self) -> Encodes:
        if not isinstance(self.scorer, Encodes):
            raise ModelError(f"{self.folder}: {self.name} compares pairs and has no vectors; ask for similarity")
        return self.scorer


def load(folder: Path | str) -> Model:
    """The model in `folder`, as the stage `train` writes it to data/model.

    Raises:
        ModelError: it is missing, damaged, of a newer format, or of a model that this version lacks.
    """
    folder = Path(folder)
    if folder.is_file():
        raise ModelError(f"{folder}: is a file; a model is a folder, such as data/model")
    scorer = models.load(folder)
    about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return Model(folder, about["model"], about["config"], scorer)


def _numbers(weights: Path) -> int:
    """How many numbers a file of weights holds; 0 if there is none."""
    if not weights.exists():
        return 0
    with safe_open(weights, framework="numpy") as file:
        return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118 - no mapping


def _column(sentences: Iterable[str] | Texts) -> Texts:
    if isinstance(sentences, str | bytes):
        raise ParameterError("one string where a list of sentences is expected: put it in brackets, [sentence]")
    if isinstance(sentences, pa.Array | pa.ChunkedArray):
        return sentences
    texts = list(sentences)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise ParameterError(f"sentences[{place}] is of type {type(text).__name__}, expected str")
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise ParameterError(f"a sentence is no Unicode text: {error.reason}; decode it as UTF-8") from error


def _batches(count: int, size: int, shown: bool | None) -> Iterator[slice]:
    """Slices of `size` that cover `count` rows, with a bar that counts rows."""
    if size < 1:
        raise ParameterError(f"batch_size = {size}: should be 1 or more")
    with display(shown if count > size else bool(shown)) as bar:
        task = bar.add_task("sentences", total=count)
        for start in range(0, count, size):
            yield slice(start, start + size)
            bar.advance(task, min(size, count - start))
