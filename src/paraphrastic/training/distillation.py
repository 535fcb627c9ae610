"""Train a sentence encoder toward the vectors of a teacher (Hinton et al. 2015; Reimers and Gurevych 2020).

The stage `teach` wrote these vectors.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from paraphrastic.base.errors import DataError
from paraphrastic.base.parameters import Teacher
from paraphrastic.base.reading import read_json
from paraphrastic.base.tables import TEACHER_INFO, read_table, teacher_schema
from paraphrastic.nn.batch import to_device
from paraphrastic.nn.layers import unit
from paraphrastic.nn.negatives import ALL
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.scoring.scorer import principal_directions
from paraphrastic.training.pair_trainers import EncoderTrainer
from paraphrastic.vocabulary.kinds import VocabularyKind, entry_kinds


class TeacherVectors:
    """Vectors of length 1 for all training sentences, in a file without a name, and for words, from tables in `folder`.

    Attributes:
        dim: size of a vector.
        words: (w,), the words.
        word_vectors: (w, dim) float32, less their mean.

    Raises:
        DataError: a table is missing or damaged, or the vectors are not those of the training sentences.
    """

    def __init__(self, folder: Path, sentences: int) -> None:
        _, self.dim = read_teacher(folder)
        words = pa.concat_tables(_shards(folder / "words", self.dim))
        self.words, vectors = words["text"].combine_chunks(), _matrix(words, self.dim).astype(np.float32)
        self.word_vectors = vectors - vectors.mean(0)
        file = TemporaryFile(dir=folder)  # noqa: SIM115 - the memory map keeps it open
        for shard in _shards(folder / "sentences", self.dim):
            file.write(_matrix(shard, self.dim).data)
        file.flush()
        if file.tell() != 2 * sentences * self.dim:
            raise DataError(f"{folder}: lacks vectors of the {sentences} training sentences; run `dvc repro teach`")
        self._vectors = np.memmap(file, np.float16, "r", shape=(sentences, self.dim))

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the vectors of the sentences `rows`, (n, dim)."""
        vectors: NDArray[np.float32] = self._vectors[rows].astype(np.float32)
        return vectors

    def components(self, count: int) -> NDArray[np.float32]:
        """Return the first principal components of the word vectors, (min(count, dim), dim), orthonormal."""
        return principal_directions((self.word_vectors.T @ self.word_vectors).astype(np.float64), count).astype(
            np.float32
        )

    def initial_words(self, kind: VocabularyKind, texts: pa.StringArray, embeddings: Tensor) -> Tensor:
        """Return initial embeddings (n, d) in which words have the teacher's vectors.

        A word's first numbers are those of its vector, less the mean of all words, on the principal components; what
        is beyond the size of the teacher's vectors stays random. N-grams start at zero beside words. Vocabularies
        without words stay as they are.

        Args:
            kind: of the vocabulary.
            texts: (n,), its entries.
            embeddings: (n, d), random.
        """
        if "words" not in kind:
            return embeddings
        words = texts if kind == "words" else pc.utf8_trim(texts, " ")
        rows = pc.index_in(words, self.words)
        if kind == "words+ngrams":
            is_ngram = ~entry_kinds(texts)[1].to_numpy(zero_copy_only=False)
            embeddings = embeddings.masked_fill(torch.from_numpy(is_ngram)[:, None], 0.0)
            rows = pc.if_else(is_ngram, None, rows)
        components = self.components(embeddings.shape[1])
        known = rows.is_valid().to_numpy(zero_copy_only=False)
        embeddings[known.nonzero()[0], : len(components)] = torch.from_numpy(
            self.word_vectors[rows.drop_null().to_numpy()] @ components.T
        )
        return embeddings


def read_teacher(folder: Path) -> tuple[str, int]:
    """Return the name of the teacher whose vectors are in `folder`, and their size.

    Raises:
        DataError: there are none, or the file that says it is damaged.
    """
    path = folder / TEACHER_INFO
    try:
        info = read_json(path, remedy="remove it and run `dvc repro teach`")
        return str(info["name"]), int(info["dim"])
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; run `dvc repro teach`") from error
    except DataError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: damaged; remove it and run `dvc repro teach`") from error


def _shards(folder: Path, dim: int) -> Iterator[pa.Table]:
    schema = teacher_schema(folder.name, dim)
    for path in sorted(folder.glob("*.parquet")):
        yield read_table(path, schema)


def _matrix(table: pa.Table, dim: int) -> NDArray[np.float16]:
    matrix: NDArray[np.float16] = table["vector"].combine_chunks().flatten().to_numpy().reshape(-1, dim)
    return matrix


class Distillation(NamedTuple):
    """What is to be learned from a teacher: its vectors, and how much of each loss."""

    teacher: TeacherVectors
    options: Teacher


class DistillationTrainer(EncoderTrainer):
    """Adds to the loss of the pairs what the vectors of a mini-batch lack to be those of the teacher.

    `regression` maps a vector of the model to the size of the teacher's by a matrix that is learned, and not kept.

    Args:
        model: the model and its initial embeddings; holds the result when `run` returns.
        args: as for `PairTrainer`.
        distillation: the teacher's vectors of the sentences of the pairs, and the weights of the losses.
        kwargs: as for `PairTrainer`.
    """

    def __init__(self, model: TrainedEncoder, *args: Any, distillation: Distillation, **kwargs: Any) -> None:
        self._teacher, self._options = distillation.teacher, distillation.options
        self._projection = _projection(self._teacher, model.module.out_dim).to(model.embeddings.device)
        super().__init__(model, *args, companions=[self._projection], **kwargs)

    def loss_of(self, vectors: Tensor, rows: NDArray[np.int64]) -> Tensor:
        """Return this process's part of the sum of the losses, from the vectors of the pairs `rows`, (2B, out_dim)."""
        own = self.processes.own(len(vectors))
        targets = to_device(self._teacher.take(self._pairs.sides(rows)), vectors.device)  # (2B, D)
        options, total = self._options, vectors.new_zeros(())
        if options.margin_weight:
            total = total + options.margin_weight * super().loss_of(vectors, rows)
        if options.regression_weight:
            total = total + options.regression_weight * regression_loss(
                self._projection(vectors[own]), targets[own], len(vectors)
            )
        if options.similarity_weight:
            total = total + options.similarity_weight * similarity_loss(vectors, targets, own)
        return total


def regression_loss(vectors: Tensor, targets: Tensor, count: int) -> Tensor:
    """Return the sum over (n, D) vectors of 1 − cos(vector, target), half the squared distance of unit vectors.

    It is divided by `count`, the number of sentences of the mini-batch, of which these are n.
    """
    return (1 - (unit(vectors) * unit(targets)).sum(1)).sum() / count


def similarity_loss(vectors: Tensor, targets: Tensor, own: slice = ALL) -> Tensor:
    """Return the mean squared difference between the cosines of all vectors (n, d) and those of targets (n, D).

    `own` limits the sum to the cosines of some vectors with all; it is divided by n² all the same.
    """
    units, wanted = unit(vectors), unit(targets)
    differences = units[own] @ units.T - wanted[own] @ wanted.T
    return differences.square().sum() / len(units) ** 2


def _projection(teacher: TeacherVectors, out_dim: int) -> nn.Linear:
    """Return the map from the model's vectors to the teacher's; at first it undoes that of `initial_words`."""
    projection = nn.Linear(out_dim, teacher.dim, bias=False)
    components = torch.from_numpy(teacher.components(out_dim))
    with torch.no_grad():
        projection.weight.zero_()[:, : len(components)] = components.T
    return projection
