"""The class that users call: from raw text to vectors and similarities."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from safetensors import safe_open

from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.inference.model_folder import load_scorer, read_info
from paraphrastic.scoring.cosine import normalize_rows
from paraphrastic.scoring.scorer import EmbeddingScorer, Scorer, Scores, Vectors, VectorScorer
from paraphrastic.text.deduplicate import deduplicate
from paraphrastic.text.tokenizer import tokenize

Texts: TypeAlias = pa.Array | pa.ChunkedArray  # of strings, in any of Arrow's types for them

_TEXT = pa.string(), pa.large_string()
_TEXT_OR_NULL = *_TEXT, pa.string_view(), pa.null()  # an empty array has the type null
BATCH = 1 << 14  # sentences: enough for all threads of the tokenizer; 20 MB of vectors of size 300


@dataclass(frozen=True)
class Model:
    """A trained model that encodes and compares raw text.

    Attributes:
        folder: where it was loaded from.
        name: its name in params.yaml.
        options: the options that it was trained with.
        scorer: the same model for tokenized text, as the pipeline uses it.
        selection: names of the evaluation sets that selected its epoch; empty if none did.
    """

    folder: Path
    name: str
    options: Mapping[str, Any]
    scorer: Scorer
    selection: Sequence[str] = ()

    @cached_property
    def dim(self) -> int:
        """Size of a sentence vector.

        Raises:
            ModelError: the model compares pairs and has no sentence vectors.
        """
        return int(self._encoder.encode(pa.array([], pa.string())).shape[1])

    @property
    def vocabulary(self) -> pa.StringArray:
        """Entries of the vocabulary in row order; empty if the model has none."""
        return self.scorer.texts

    def encode(
        self,
        sentences: Iterable[str] | Texts,
        batch_size: int = BATCH,
        normalize: bool = False,
        progress: bool | None = None,
    ) -> Vectors:
        """Return the vectors of sentences.

        Args:
            sentences: n raw texts (not tokenized).
            batch_size: sentences that are tokenized and encoded together; bounds the memory used besides the result.
            normalize: scale each vector to length 1; a zero vector stays zero.
            progress: show a progress bar on stderr; by default on a terminal, if there is more than one batch.

        Returns:
            (n, dim) float32; averages return zero for a sentence without words, and the vector of unknown words for a
            sentence of which no word is known.

        Raises:
            ModelError: the model compares pairs and has no sentence vectors.
            ParameterError: `sentences` is a single string, or contains something other than strings.
        """
        texts = text_column(sentences)
        out = np.empty((len(texts), self.dim), np.float32)
        for rows in _batches(len(texts), batch_size, progress):
            out[rows] = self._encoder.encode(tokenize(texts[rows]))
        return normalize_rows(out) if normalize else out

    def similarity(
        self, a: Iterable[str] | Texts, b: Iterable[str] | Texts, batch_size: int = BATCH, progress: bool | None = None
    ) -> Scores:
        """Return the similarity of each sentence of `a` to the one at the same position of `b`.

        Every model can do this, whether or not it has sentence vectors.

        Args:
            a: n raw texts (not tokenized).
            b: n raw texts.
            batch_size: pairs that are compared together.
            progress: as for `encode`.

        Returns:
            (n,) float32; higher is more similar.

        Raises:
            ParameterError: the lengths differ, one is a single string, or contains something other than strings.
        """
        left, right = text_column(a), text_column(b)
        if len(left) != len(right):
            raise ParameterError(f"{len(left)} sentences and {len(right)}: similarity compares lists of equal length")
        out = np.empty(len(left), np.float32)
        for rows in _batches(len(out), batch_size, progress):
            texts, (i, j) = deduplicate([tokenize(left[rows]), tokenize(right[rows])])
            out[rows] = self.scorer.score(texts, i, j)
        return out

    def summary(self) -> dict[str, str | int]:
        """Return name, selection sets and dimension (`-` for none), sizes of vocabulary and weights, bytes on disk."""
        return {
            "model": self.name,
            "selection": ", ".join(self.selection) or "-",
            "dimension": self.dim if isinstance(self.scorer, VectorScorer) else "-",
            "vocabulary": len(self.vocabulary),
            "parameters": _count_weights(self.folder / "weights.safetensors"),
            "bytes": sum(file.stat().st_size for file in self.folder.iterdir() if file.is_file()),
        }

    def embeddings(self) -> Vectors:
        """Return the embedding of each entry of the vocabulary, (entries, dim), without that of unknown words.

        Raises:
            ModelError: the model has no embeddings.
        """
        if not isinstance(self.scorer, EmbeddingScorer):
            raise ModelError(f"{self.folder}: {self.name} has no embeddings of its vocabulary; choose an encoder")
        rows = self.scorer.embedding_array()
        return rows[len(rows) - len(self.vocabulary) :]

    @property
    def _encoder(self) -> VectorScorer:
        if not isinstance(self.scorer, VectorScorer):
            raise ModelError(f"{self.folder}: {self.name} compares pairs and has no sentence vectors; use similarity")
        return self.scorer


def load(folder: Path | str) -> Model:
    """Load the model in `folder`, for example data/model, where the stage `train` writes it.

    Averages, Charagram and untrained baselines need no torch.

    Raises:
        ModelError: the model is missing, damaged, of another format or unknown to this version, or it needs a package
            that is not installed.
    """
    folder = Path(folder)
    if folder.is_file():
        raise ModelError(f"{folder}: is a file; a model is a folder, such as data/model")
    scorer, info = load_scorer(folder), read_info(folder)
    return Model(folder, info.model, info.options, scorer, info.selection)


def _count_weights(weights: Path) -> int:
    """Return the number of elements in a file of weights; 0 if there is none."""
    if not weights.exists():
        return 0
    with safe_open(weights, framework="numpy") as file:
        return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118 - not a mapping


def text_column(sentences: Iterable[str] | Texts) -> pa.StringArray | pa.ChunkedArray:
    """Return texts as a column of type string.

    Raises:
        ParameterError: `sentences` is a single string, or contains something other than valid strings.
    """
    if isinstance(sentences, str | bytes):
        raise ParameterError("one string where a list of sentences is expected: put it in brackets, [sentence]")
    if isinstance(sentences, pa.Array | pa.ChunkedArray):
        return _cast_to_string(sentences)
    texts = list(sentences)
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise ParameterError(f"sentences[{position}] is of type {type(text).__name__}, expected str")
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise ParameterError(f"a sentence is not valid Unicode: {error.reason}; decode it as UTF-8") from error


def _cast_to_string(column: Texts) -> pa.StringArray | pa.ChunkedArray:
    is_dictionary = pa.types.is_dictionary(column.type)
    if (column.type.value_type if is_dictionary else column.type) not in (_TEXT if is_dictionary else _TEXT_OR_NULL):
        raise ParameterError(f"a column of type {column.type} where text is expected; cast it to pa.string()")
    try:
        strings = column.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise ParameterError("an array of more than 2 GB of text; pass a pa.ChunkedArray of smaller ones") from error
    if strings.null_count:
        raise ParameterError(f"sentences[{pc.index(strings.is_null(), True)}] is null; fill nulls or drop them")
    return strings


def _batches(count: int, size: int, progress: bool | None) -> Iterator[slice]:
    """Yield slices of `size` that cover `count` rows, and advance a progress bar after each."""
    if size < 1:
        raise ParameterError(f"batch_size = {size}: should be 1 or more")
    if progress is None:
        progress = count > size and sys.stderr.isatty()
    with _progress_bar(count, progress) as advance:
        for start in range(0, count, size):
            yield slice(start, start + size)
            advance(min(size, count - start))


@contextmanager
def _progress_bar(count: int, visible: bool) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances a progress bar; it does nothing if the bar is not visible."""
    if not visible:
        yield lambda _: None
        return
    from paraphrastic import console  # imports rich, which encoding does not need

    with console.progress(visible=True) as bar:
        task = bar.add_task("sentences", total=count)
        yield lambda rows: bar.advance(task, rows)
