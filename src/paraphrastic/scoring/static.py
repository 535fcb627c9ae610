"""Static encoders: weighted sums of embeddings, computed without torch.

Averages of word vectors and Charagram have this form (`nn.static_form`), and so do the untrained averages and SIF. The
sums run in the same kernel as in training.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.errors import ModelError, ParameterError, ParaphrasticError, unknown_name
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.scoring.cosine import cosine_of_vectors
from paraphrastic.scoring.embedding_table import EmbeddingTable
from paraphrastic.scoring.scorer import Rows, Scorer, Scores, Vectors
from paraphrastic.scoring.table_format import FORMATS, TableFormat
from paraphrastic.scoring.weight_files import read_weights, write_weights, wrong_config, wrong_weights
from paraphrastic.text.columns import Ragged, chunks
from paraphrastic.vocabulary.kinds import VocabularyKind, build_vocabulary

_PART = 1 << 18  # bytes of text that one thread encodes at a time


class StaticEncoder:
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
        self.vocabulary = build_vocabulary(form.vocabulary, texts, form.boundary_tokens)

    @property
    def vocabulary_kind(self) -> VocabularyKind:
        """The kind of the entries that the rows of the embedding table belong to."""
        return self.form.vocabulary

    def embedding_array(self) -> NDArray[np.float32]:
        """Return the embedding table, (rows, dim)."""
        return self.table.array()

    def encode(self, sentences: pa.StringArray) -> Vectors:
        """Return the vectors of tokenized sentences, (n, dim)."""
        return self.encode_known(sentences)[0]

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

    def score(self, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
        """Return the cosine of each pair, (pairs,); 0 if a vector is zero."""
        return cosine_of_vectors(self.encode(sentences), left, right)

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
            encoder = cls(StaticForm(**form), texts, arrays)
        except ParaphrasticError:
            raise
        except (TypeError, ValueError) as error:
            raise wrong_config(folder) from error
        except KeyError as error:
            raise wrong_weights(folder) from error
        if len(encoder.table) != len(texts) + (encoder.form.vocabulary == "words"):
            raise wrong_weights(folder)
        return encoder

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


def with_table_format(scorer: Scorer, name: str, folder: Path, wanted: TableFormat) -> StaticEncoder:
    """Return an encoder with its embeddings in another format.

    Raises:
        ModelError: the model is no sum of embeddings.
        ParameterError: there is no such format.
    """
    if wanted not in FORMATS:
        raise ParameterError(unknown_name("format of a table", wanted, FORMATS))
    if not isinstance(scorer, StaticEncoder):
        raise ModelError(f"{folder}: {name} is no sum of embeddings that could be {wanted}; choose avg or charagram")
    return scorer.with_table(scorer.texts, scorer.table.in_format(wanted))
