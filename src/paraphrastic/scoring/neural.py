"""Trained torch models as scorers: from tokenized sentences to vectors and scores, and to and from a folder."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from paraphrastic.base.errors import ModelError
from paraphrastic.nn.batch import DeviceSentences, to_device
from paraphrastic.nn.layers import Encoder, PairModel, TrainableModel
from paraphrastic.scoring.scorer import Rows, Scores, Vectors, VectorScorer
from paraphrastic.scoring.static import EmbeddingTable, StaticEncoder
from paraphrastic.scoring.weight_files import read_weights, write_weights, wrong_config, wrong_weights
from paraphrastic.text.columns import Ragged
from paraphrastic.vocabulary.kinds import VocabularyKind, build_vocabulary

_MAX_SENTENCES = 512  # per batch: large enough for fast products, small enough for the processor's cache
_MAX_IDS = 1 << 16  # per batch, whose states are all in memory
_FEW_IDS = 1024  # about 100 sentences
_one_thread = SimpleNamespace(lock=Lock(), inside=0, threads=1)  # who computes with one thread, and torch's number else
_MAX_PAIRS, _MAX_PAIR_IDS = 128, 1 << 13  # per batch of a pair model, which stores thousands of numbers per word
_CHECKED_ENTRIES, _ENTRIES_PER_SENTENCE = 100, 5  # vocabulary entries that `_check_static` uses

Module = TypeVar("Module", bound=TrainableModel)


class TrainedModel(Generic[Module]):
    """A torch module with its embedding table and vocabulary.

    Attributes:
        module: the compositional part.
        embeddings: (rows, dim), the embedding table.
        texts: entries of the vocabulary.
        vocabulary: maps sentences to rows of the embedding table.
    """

    def __init__(self, module: Module, embeddings: Tensor, texts: pa.StringArray) -> None:
        self.module, self.embeddings, self.texts = module, embeddings, texts
        self.vocabulary_kind: VocabularyKind = module.vocabulary
        self.vocabulary = build_vocabulary(module.vocabulary, texts, module.boundary_tokens)

    def to(self, device: torch.device) -> Self:
        """Move the model to `device` and return it."""
        self.module.to(device)
        self.embeddings = self.embeddings.to(device)
        return self

    def oov_share(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Return the share of each sentence's words, n-grams or characters that the vocabulary lacks, (n,)."""
        return self.vocabulary.oov_share(sentences)

    def embedding_array(self) -> NDArray[np.float32]:
        """Return the embedding table in main memory, (rows, dim)."""
        return self.embeddings.detach().cpu().numpy()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all weights by name, in main memory."""
        weights = {"embeddings": self.embeddings} | self.module.state_dict()
        return {name: weight.detach().cpu().numpy() for name, weight in weights.items()}


class TrainedEncoder(TrainedModel[Encoder], VectorScorer):
    """A sentence encoder, which scores by the cosine of sentence vectors."""

    def encode_known(self, sentences: pa.StringArray) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the vectors, and which sentences have an entry of the vocabulary, (n,)."""
        ragged = self.vocabulary.lookup(sentences)
        vectors = encode_ids(self.module, self.embeddings, ragged)
        return vectors.cpu().numpy(), self.vocabulary.has_known(ragged)

    def save(self, folder: Path) -> dict[str, Any]:
        """Write vocabulary and weights; the result goes to `config.json`.

        Raises:
            ModelError: the module's static form computes other vectors than the module.
        """
        form = self.module.static_form()
        if form is None:
            return {"scorer": {"kind": "encoder"}, **write_weights(folder, self.texts, self.arrays())}
        static = StaticEncoder(form, self.texts, self.arrays())
        _check_static(self, static)
        return static.save(folder)


class TrainedPairModel(TrainedModel[PairModel]):
    """A pair model, which scores by the probability that two sentences match."""

    def score(self, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
        """Return the probability that each pair matches, (pairs,)."""
        return self.score_ids(self.vocabulary.lookup(sentences), left, right)

    @torch.no_grad()
    def score_ids(self, sentences: Ragged, left: Rows, right: Rows) -> Scores:
        """Return the probability that each pair of sentences, already mapped to ids, matches, (pairs,)."""
        self.module.eval()
        out = self.embeddings.new_empty(len(left), dtype=torch.float32)
        on_device = DeviceSentences(sentences, self.embeddings.device, self.embeddings.dtype)
        longer = np.maximum(sentences.lengths[left], sentences.lengths[right])
        for rows in length_batches(longer, _MAX_PAIRS, _MAX_PAIR_IDS):
            distinct, positions = np.unique(np.stack([left[rows], right[rows]]), return_inverse=True)
            sides = to_device(positions.reshape(2, -1), out.device)  # in the batch of distinct sentences
            log_odds: Tensor = self.module(self.embeddings, on_device.take(distinct), *sides)  # (pairs of these rows,)
            out.index_copy_(0, to_device(rows, out.device), log_odds.sigmoid().to(out.dtype))
        return out.cpu().numpy()

    def save(self, folder: Path) -> dict[str, Any]:
        """Write vocabulary and weights; the result goes to `config.json`."""
        return {"scorer": {"kind": "pair-model"}, **write_weights(folder, self.texts, self.arrays())}


def trained_model(
    module: TrainableModel, embeddings: Tensor, texts: pa.StringArray
) -> TrainedEncoder | TrainedPairModel:
    """Return a module with its embeddings and vocabulary as a scorer."""
    if isinstance(module, Encoder):
        return TrainedEncoder(module, embeddings, texts)
    return TrainedPairModel(module, embeddings, texts)


def load_weights(folder: Path, build: Callable[[], TrainableModel], dim: int) -> TrainedEncoder | TrainedPairModel:
    """Load the weights and the vocabulary in `folder` into what `build` returns, whose embeddings have `dim` numbers.

    Options that ask for more parameters than the weights have bytes are refused before memory is taken.

    Raises:
        ModelError: weights or vocabulary are damaged, or not those of this module.
    """
    try:
        with torch.device("meta"):  # shapes without memory
            numbers = sum(each.numel() for each in build().parameters())
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:  # a size beyond 63 bits
        raise wrong_config(folder, error) from error
    texts, arrays = read_weights(folder)
    if numbers > (folder / "weights.safetensors").stat().st_size:
        raise wrong_weights(folder, f"{numbers:,} numbers are expected")
    module = build()
    rows = len(texts) + (module.vocabulary in ("words", "characters"))  # and the row of unknown ones
    try:
        table = EmbeddingTable.of(arrays)
        if table.values.shape != (rows, dim):
            raise ValueError(f"embeddings of shape {table.values.shape}, not {(rows, dim)}")
        others = {name: torch.from_numpy(array) for name, array in arrays.items() if name not in table.arrays()}
        for name, tensor in module.state_dict().items():
            if name in others and others[name].dtype != tensor.dtype:
                raise ValueError(f"{name} is {others[name].dtype}, not {tensor.dtype}")
        module.load_state_dict(others)
    except (KeyError, ValueError, RuntimeError) as error:
        raise wrong_weights(folder, error) from error
    return trained_model(module, torch.from_numpy(table.array()), texts)


@torch.no_grad()
def encode_ids(module: Any, embeddings: Tensor, sentences: Ragged) -> Tensor:
    """Return the vectors of sentences that are already mapped to ids, (n, `module.out_dim`) float32.

    `module` is an encoder, or maps a table and a batch to vectors as one does. The vectors are on the device of
    `embeddings`, and nothing is read back from it between two batches: that would let its queue run empty.
    """
    module.eval()
    out = embeddings.new_empty(len(sentences), module.out_dim, dtype=torch.float32)
    on_device = DeviceSentences(sentences, embeddings.device, embeddings.dtype)
    with _few_threads(len(sentences.ids)):
        for rows in length_batches(sentences.lengths):
            vectors: Tensor = module(embeddings, on_device.take(rows))  # (sentences of these rows, out_dim)
            out.index_copy_(0, to_device(rows, out.device), vectors.to(out.dtype))
    return out


@contextmanager
def _few_threads(ids: int) -> Iterator[None]:
    """Compute with one thread if there are few ids: on a busy machine, others are waited for at each step.

    A new thread of Python has the number that torch was given last, which may be the 1 of another one that is inside.
    """
    if ids >= _FEW_IDS:
        yield
        return
    with _one_thread.lock:
        if not _one_thread.inside:
            _one_thread.threads = torch.get_num_threads()
        _one_thread.inside += 1
    torch.set_num_threads(1)
    try:
        yield
    finally:
        with _one_thread.lock:
            _one_thread.inside -= 1
            torch.set_num_threads(_one_thread.threads)


def length_batches(
    lengths: NDArray[np.integer], max_items: int = _MAX_SENTENCES, max_ids: int = _MAX_IDS
) -> Iterator[NDArray[np.int64]]:
    """Yield batches of items of similar length, because a batch takes as many steps as its longest item.

    Args:
        lengths: (n,), ids of each item.
        max_items: items per batch.
        max_ids: ids per batch if all its items were as long as the longest one; a single item may have more.
    """
    rows = np.argsort(lengths, kind="stable")
    while len(rows):
        longest = lengths[rows[:max_items][-1]]
        size = max(1, min(max_items, max_ids // max(longest, 1)))
        yield rows[:size]
        rows = rows[size:]


def _check_static(encoder: TrainedEncoder, static: StaticEncoder) -> None:
    """Refuse a static form that differs from `forward`, which happens if somebody changes only one of them."""
    entries = encoder.texts.slice(0, _CHECKED_ENTRIES).to_pylist()
    groups = (entries[start : start + _ENTRIES_PER_SENTENCE] for start in range(0, len(entries), _ENTRIES_PER_SENTENCE))
    sentences = pa.array(["", *map(" ".join, groups)], pa.string())
    expected, vectors = encoder.encode(sentences), static.encode(sentences)
    # the rounding of a number near zero is that of the largest ones
    if not np.allclose(expected, vectors, rtol=1e-3, atol=1e-5 * max(1.0, float(np.abs(expected).max()))):
        name = type(encoder.module).__module__.rpartition(".")[2]
        raise ModelError(f"models/{name}.py: static_form and forward give different vectors; correct one of them")
