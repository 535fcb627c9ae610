"""The class that users call: from raw text to vectors and similarities."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, get_args, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from paraphrastic.base.errors import ModelError, ParameterError, missing
from paraphrastic.inference import Precision
from paraphrastic.inference.encode_options import ToArray, ToFloats, ToTensor, ToTensors, WithUnknown, refuse_unknown
from paraphrastic.inference.given_vectors import is_tensor, vectors_of
from paraphrastic.inference.other_tools import OtherTools
from paraphrastic.inference.quantization import Quantized, quantize
from paraphrastic.scoring.scorer import EmbeddingScorer, Rows, Scorer, Scores, Vectors, VectorScorer, normalize_rows
from paraphrastic.scoring.weight_files import Ranges, checked_ranges, count_weights
from paraphrastic.text.columns import deduplicate
from paraphrastic.text.tokenizer import Texts, text_column, tokenize

if TYPE_CHECKING:
    from torch import Tensor

Compared: TypeAlias = str | Texts | Vectors  # texts, or vectors of texts
Shares: TypeAlias = NDArray[np.float64]

BATCH = 1 << 14  # sentences: enough for all threads of the tokenizer; 20 MB of vectors of size 300


@dataclass(eq=False)
class ModelInfo:
    """What the folder of a model says of its training.

    Attributes:
        name: its name in models.yaml.
        options: the options that it was trained with.
        selection: names of the evaluation sets that selected its epoch; empty if none did.
        teacher: name of the encoder whose vectors it learned; None if it had no teacher.
        sources: training pairs by source; empty if the model has none.
        members: how many trained models it is merged from; 1 if it is one itself.
        loss: `name` and options of its loss; empty for the margin loss of `options`.
    """

    name: str
    options: Mapping[str, Any]
    selection: Sequence[str] = ()
    teacher: str | None = None
    sources: Mapping[str, int] = field(default_factory=dict)
    members: int = 1
    loss: Mapping[str, Any] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True)  # not frozen: scikit-learn sets attributes of the steps of a pipeline
class Model(OtherTools, ModelInfo):
    """A trained model that encodes and compares raw text; `ModelInfo` has further attributes.

    Attributes:
        folder: where it was loaded from.
        scorer: the same model for tokenized text, as the pipeline uses it.
        ranges: of the numbers of vectors of training sentences, for `int8` and `uint8`; None if the folder has none.
    """

    folder: Path
    scorer: Scorer
    ranges: Ranges | None = None

    @cached_property
    def dim(self) -> int:
        """Size of a sentence vector.

        Raises:
            ModelError: the model compares pairs and has no sentence vectors.
        """
        return int(self._encoder.encode_known(pa.array([], pa.string()))[0].shape[1])

    @property
    def vocabulary(self) -> pa.StringArray:
        """Entries of the vocabulary in row order; empty if the model has none."""
        return self.scorer.texts

    @overload
    def encode(self, sentences: str | Texts, batch_size: int = ..., **options: Unpack[ToFloats]) -> Vectors: ...
    @overload
    def encode(self, sentences: str | Texts, batch_size: int = ..., **options: Unpack[ToArray]) -> Quantized: ...
    @overload
    def encode(self, sentences: str | Texts, batch_size: int = ..., **options: Unpack[ToTensor]) -> "Tensor": ...
    @overload
    def encode(  # type: ignore[overload-overlap]  # a str is an Iterable[str] too
        self, sentences: str, batch_size: int = ..., **options: Unpack[ToTensors]
    ) -> "Tensor": ...
    @overload
    def encode(self, sentences: Texts, batch_size: int = ..., **options: Unpack[ToTensors]) -> "list[Tensor]": ...
    @overload
    def encode(  # type: ignore[overload-overlap]  # a str is an Iterable[str] too
        self, sentences: str, batch_size: int = ..., **options: Unpack[WithUnknown]
    ) -> tuple[Any, float]: ...
    @overload
    def encode(self, sentences: Texts, batch_size: int = ..., **options: Unpack[WithUnknown]) -> tuple[Any, Shares]: ...
    def encode(
        self,
        sentences: str | Texts,
        batch_size: int = BATCH,
        show_progress_bar: bool | None = None,
        *,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        precision: Precision | None = "float32",
        ranges: ArrayLike | None = None,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        return_unknown: bool = False,
        **others: Any,
    ) -> Any:
        """Return the vectors of sentences; the options are those of sentence-transformers.

        Args:
            sentences: n raw texts (not tokenized), or a single one.
            batch_size: sentences that are tokenized and encoded together; bounds the memory used besides the result.
            show_progress_bar: on stderr; by default on a terminal, if there is more than one batch.
            normalize_embeddings: scale each vector to length 1; a zero vector stays zero.
            truncate_dim: keep the first dimensions only, before vectors are scaled.
            precision: data type of the result, see `quantization.quantize`; None is float32.
            ranges: (2, dim), for `int8` and `uint8`; by default those of training sentences, which the folder has.
            convert_to_numpy: an array; otherwise a list of n tensors, or a tensor for a single text.
            convert_to_tensor: a tensor of torch.
            return_unknown: also return the share of unknown words or n-grams, see `unknown`.
            others: what `mteb` says of its task, which changes nothing; others of sentence-transformers must be None.

        Returns:
            (n, dim) float32, or (dim,) for a single text. The vector of a sentence of which nothing is known is zero.
            In training and in the pipeline's evaluation it is that of unknown words, as in the papers.

        Raises:
            ModelError: the model compares pairs and has no sentence vectors, or it has no ranges and none are given.
            ParameterError: `sentences` has something other than strings, or an option is unknown or has a wrong value.
        """
        if others:
            refuse_unknown(self.encode, others)
        chosen = self.ranges_for(precision, ranges, normalize_embeddings, truncate_dim)  # before a long computation
        is_single, texts = isinstance(sentences, str), _column_of(sentences, "task_metadata" in others)

        def finished(vectors: Vectors) -> Quantized:
            part = normalize_rows(vectors[:, :truncate_dim]) if normalize_embeddings else vectors[:, :truncate_dim]
            return part if precision in (None, "float32") else quantize(part, precision, chosen)

        like = finished(np.empty((0, self.dim), np.float32))
        result: Any = np.empty((len(texts), like.shape[1]), like.dtype)
        for rows in _batches(len(texts), batch_size, show_progress_bar):
            result[rows] = finished(self.encode_tokenized(tokenize(texts[rows], "NFKC")))
        result = _converted(result[0] if is_single else result, convert_to_numpy, convert_to_tensor)
        return (result, self.unknown(sentences if is_single else texts)) if return_unknown else result

    def encoder(self, remedy: str = "use similarity") -> VectorScorer:
        """Return the scorer of a model with sentence vectors; raise a ModelError with the remedy for another model."""
        if not isinstance(self.scorer, VectorScorer):
            raise ModelError(f"{self.folder}: {self.name} compares pairs and has no sentence vectors; {remedy}")
        return self.scorer

    encode_query = encode_document = encode  # as sentence-transformers calls them: both have the same vectors
    _encoder = cached_property(encoder)  # the check takes 0.1 ms

    def ranges_for(
        self, precision: Precision | None, given: ArrayLike | None = None, is_unit: bool = False, dim: int | None = None
    ) -> Vectors | None:
        """Return `ranges` of the first `dim` numbers of vectors, (2, dim); None if `precision` needs none.

        Raises:
            ModelError: the model has no such ranges, or no sentence vectors.
            ParameterError: an argument, named as for `encode`, has a wrong value.
        """
        if precision not in (None, *get_args(Precision)):
            raise ParameterError(f"precision = '{precision}': should be one of {', '.join(get_args(Precision))}")
        if dim is not None and not (isinstance(dim, int | np.integer) and dim is not True and 1 <= dim <= self.dim):
            raise ParameterError(f"truncate_dim = {dim}: should be from 1 to {self.dim}, the size of a vector")
        if precision not in ("int8", "uint8"):
            return None
        if given is not None:
            return checked_ranges(given, dim or self.dim)
        if self.ranges is None or (is_unit and dim not in (None, self.dim)):
            how = "give `ranges=ranges_of(vectors)` of typical texts, see paraphrastic.inference.quantization"
            raise ModelError(f"{self.folder}: has no ranges for {precision} of such vectors; {how}")
        return self.ranges[bool(is_unit)][:, :dim]

    def unknown(self, sentences: str | Texts) -> Any:
        """Return the share of each sentence's words or characters that the vocabulary lacks; of n-grams if it has some.

        Returns:
            (n,) float64, from 0 to 1, or a number for a single text; 0 for a sentence without words.

        Raises:
            ParameterError: `sentences` contains something other than strings.
        """
        texts = _column_of(sentences)
        parts = (tokenize(texts[rows], "NFKC") for rows in _batches(len(texts), BATCH, progress=False))
        shares = np.concatenate([np.empty(0), *map(self.scorer.oov_share, parts)])
        return float(shares[0]) if isinstance(sentences, str) else shares

    def similarity(self, a: Compared, b: Compared, batch_size: int = BATCH) -> Any:
        """Return the similarity of each element of `a` to each one of `b`; every model can do this with texts.

        Args:
            a: n raw texts, or a single one; or vectors: an array or a tensor of floating-point numbers, (n, dim), or
                (dim,) for one, or a list of such vectors. Their size may be another than that of the model.
            b: m raw texts, or vectors, also if `a` is the other of both.
            batch_size: sentences, or pairs, that are compared together.

        Returns:
            (n, m) float32, from −1 to 1; higher is more similar. It is 1 for texts with the same tokens, whatever is
            known of them, and 0 for others if nothing is known of one of both. A tensor if `a` or `b` is one.

        Raises:
            ModelError: one is vectors, and the model compares pairs and has no sentence vectors.
            ParameterError: one is neither texts nor finite floating-point vectors of these shapes and of one size.
        """
        if isinstance(self.scorer, VectorScorer):
            first, second, i, j = self._unit_vectors(a, b, batch_size)
            products = np.where(i[:, None] == j, np.float32(1), np.clip(first @ second.T, -1, 1))
            return _converted(products, True, is_tensor(a) or is_tensor(b))
        self._refuse_vectors(a, b)
        left, right = _column_of(a), _column_of(b)
        scores = np.empty((len(left), len(right)), np.float32)
        for pairs in _batches(scores.size, batch_size, progress=False):
            i, j = np.divmod(np.arange(pairs.start, pairs.stop), len(right))
            scores.reshape(-1)[pairs] = self._compare(left.take(i), right.take(j))
        return scores

    def similarity_pairwise(
        self, a: Compared, b: Compared, batch_size: int = BATCH, show_progress_bar: bool | None = None
    ) -> Any:
        """Return the similarity of each element of `a` to the one at the same position of `b`.

        Args:
            a: n raw texts, or vectors, (n, dim) or (dim,), as for `similarity`.
            b: n raw texts, or vectors.
            batch_size: pairs that are compared together.
            show_progress_bar: as for `encode`.

        Returns:
            (n,) float32, or a tensor, as `similarity` returns it.

        Raises:
            ModelError: as for `similarity`.
            ParameterError: the lengths differ, one is a single string, or as for `similarity`.
        """
        self._refuse_vectors(a, b)
        left, right = (text_column(each) if (given := vectors_of(each)) is None else given for each in (a, b))
        if len(left) != len(right):
            sizes = f"{len(left)} sentences and {len(right)}"
            raise ParameterError(f"{sizes}: similarity_pairwise compares lists of equal length; similarity all of both")
        out = np.empty(len(left), np.float32)
        for rows in _batches(len(out), batch_size, show_progress_bar):
            out[rows] = self._compare(left[rows], right[rows])
        return _converted(out, True, is_tensor(a) or is_tensor(b))

    def _compare(self, left: Any, right: Any) -> Scores:
        if isinstance(self.scorer, VectorScorer):
            first, second, i, j = self._unit_vectors(left, right, BATCH)
            return np.where(i == j, np.float32(1), np.clip(np.einsum("nd,nd->n", first, second), -1, 1))
        texts, (i, j) = deduplicate([tokenize(left, "NFKC"), tokenize(right, "NFKC")])
        known = (self.scorer.oov_share(texts) < 1) & pc.not_equal(texts, "").to_numpy(zero_copy_only=False)
        scores = np.where(known[i] & known[j], np.clip(self.scorer.score(texts, i, j), -1, 1), np.float32(0))
        return np.where(i == j, np.float32(1), scores)

    def summary(self) -> dict[str, str | int]:
        """Return name, selection sets, teacher, members, dimension (`-` for none), vocabulary, weights and bytes."""
        return {
            "model": self.name,
            "selection": ", ".join(self.selection) or "-",
            "teacher": self.teacher or "-",
            "members": self.members,
            "dimension": self.dim if isinstance(self.scorer, VectorScorer) else "-",
            "vocabulary": len(self.vocabulary),
            "parameters": count_weights(self.folder / "weights.safetensors"),
            "bytes": sum(file.stat().st_size for file in self.folder.iterdir() if file.is_file()),
        }

    def embeddings(self, remedy: str = "choose an encoder") -> Vectors:
        """Return the embedding of each entry of the vocabulary, (entries, dim), without that of unknown words.

        Raises:
            ModelError: the model has no embeddings; the message ends in `remedy`.
        """
        if not isinstance(self.scorer, EmbeddingScorer):
            raise ModelError(f"{self.folder}: {self.name} has no embeddings of its vocabulary; {remedy}")
        rows = self.scorer.embedding_array()
        return rows[len(rows) - len(self.vocabulary) :]

    def encode_tokenized(self, sentences: pa.StringArray) -> Vectors:
        """Return the vectors of tokenized sentences, (n, dim), with zeros for those of which nothing is known."""
        vectors, known = self._encoder.encode_known(sentences)
        return vectors if known.all() else np.where(known[:, None], vectors, np.float32(0))

    def _unit_vectors(self, a: Any, b: Any, batch_size: int) -> tuple[Vectors, Vectors, Rows, Rows]:
        """Return the vectors of two sides, and numbers that are equal for equal texts."""
        given = [(each, vectors_of(each)) for each in (a, b)]
        if any(vectors is not None for _, vectors in given):
            left, right = (np.atleast_2d(self.encode(each)) if found is None else found for each, found in given)
            if left.shape[1] != right.shape[1]:
                remedy = "a cosine is one of vectors of the same size; encode both with the same model"
                raise ParameterError(f"vectors of size {left.shape[1]} and of size {right.shape[1]}: {remedy}")
            return normalize_rows(left), normalize_rows(right), np.full(len(left), -1), np.full(len(right), -2)
        texts, (i, j) = deduplicate([tokenize(_column_of(each), "NFKC") for each in (a, b)])
        parts = (self.encode_tokenized(texts[rows]) for rows in _batches(len(texts), batch_size, progress=False))
        unit = normalize_rows(np.concatenate([np.empty((0, self.dim), np.float32), *parts]))
        return unit[i], unit[j], i, j

    def _refuse_vectors(self, *given: Any) -> None:
        if not isinstance(self.scorer, VectorScorer) and any(vectors_of(each) is not None for each in given):
            raise ModelError(f"{self.folder}: {self.name} compares pairs of texts and knows no vectors; give texts")


def _batches(count: int, size: int, progress: bool | None) -> Iterator[slice]:
    """Yield slices of `size` that cover `count` rows, and advance a progress bar after each."""
    if not isinstance(size, int | np.integer) or size is True or size < 1:
        raise ParameterError(f"batch_size = {size}: should be 1 or more")
    slices = (slice(start, min(start + size, count)) for start in range(0, count, size))
    if not (count > size and sys.stderr and sys.stderr.isatty() if progress is None else progress):
        yield from slices
        return
    from paraphrastic.base import console  # imports rich, which encoding does not need

    with console.progress(visible=True) as bar:
        task = bar.add_task("sentences", total=count)
        for rows in slices:
            yield rows
            bar.advance(task, rows.stop - rows.start)


def _column_of(given: Any, is_mteb: bool = False) -> pa.StringArray | pa.ChunkedArray:
    """Return texts, a single one, or batches of `mteb` as a column."""
    if is_mteb and not isinstance(given, str):
        given = [text for batch in given for text in (batch["text"] if isinstance(batch, Mapping) else [batch])]
    return text_column([given] if isinstance(given, str) else given)


def _converted(vectors: Any, to_numpy: bool, to_tensor: bool) -> Any:
    """Return vectors as an array, a tensor, or a list of tensors; a single vector, which is (dim,), is no list."""
    if to_numpy and not to_tensor:
        return vectors
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ParameterError(f"tensors need {missing('PyTorch', 'torch')}") from error
    tensor = torch.from_numpy(vectors)
    return tensor if to_tensor or vectors.ndim == 1 else list(tensor)
