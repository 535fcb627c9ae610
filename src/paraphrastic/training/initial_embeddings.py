"""The initial embedding table of a model.

With `init: cooccurrence` words start from vectors of the words that stand near each other in the training sentences.
They are the truncated singular value decomposition of positive pointwise mutual information, with the settings that
Levy, Goldberg and Dagan (2015), Improving Distributional Similarity with Lessons Learned from Word Embeddings, §3,
recommend: PPMI ≈ U S Vᵀ, and a word has its row of U √S. For words w and v,

    PPMI(w, v) = max(0, log(n(w, v) Σ_u n(u)^0.75 / (n(w) n(v)^0.75)))

where n(w, v) adds 1 / distance for each time that they stand at most five tokens apart in a sentence, and
n(w) = Σ_v n(w, v).
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd
from torch import Generator, Tensor

from paraphrastic.base.tables import TrainingSentences
from paraphrastic.nn.encoder import TrainableModel
from paraphrastic.nn.options import ArchitectureConfig, WordEmbeddingsConfig
from paraphrastic.text.columns import Ragged, Texts, chunks
from paraphrastic.training.distillation import TeacherVectors
from paraphrastic.vocabulary.kinds import END, START, BoundaryTokens, WordVocabulary, boundary_widths, is_bigram
from paraphrastic.vocabulary.pretrained import read_vectors

WINDOW = 5  # tokens on each side
SMOOTHING = 0.75  # exponent of the frequencies of neighbours
_CHUNK = 1 << 25  # bytes of text that are counted together; adding up the counts takes time for each chunk
_OVERSAMPLES, _POWER_ITERATIONS = 20, 3  # more change the vectors little


def cooccurrence_vectors(sentences: Texts, words: pa.StringArray, dim: int, seed: int) -> NDArray[np.float32]:
    """Return a vector of length 1 for each word, or of length 0 for a word that is never near another one.

    Memory holds each pair of words that stand near each other once, 12 bytes each.

    Args:
        sentences: tokenized.
        words: (w,), each once.
        dim: size of a vector. Of fewer words than that, the last numbers are 0.
        seed: of the randomized decomposition.

    Returns:
        (w, dim) float32.
    """
    vectors = np.zeros((len(words), dim), np.float32)
    ppmi = positive_pmi(near_counts(sentences, words))
    if ppmi.nnz:
        size = min(dim, len(words))
        left, values, _ = randomized_svd(
            ppmi, size, n_oversamples=_OVERSAMPLES, n_iter=_POWER_ITERATIONS, random_state=seed
        )
        vectors[:, :size] = left * np.sqrt(values)
        vectors[np.diff(ppmi.indptr) == 0] = 0.0  # rounding leaves tiny numbers there
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors


def near_counts(sentences: Texts, words: pa.StringArray) -> sp.csr_array:
    """Return n(w, v), (w, w) float32, symmetric; words that are not in `words` keep their places."""
    vocabulary = WordVocabulary(words)
    total: Any = sp.csr_array((len(words), len(words)), dtype=np.float32)
    for chunk in chunks(sentences, _CHUNK):
        total += _following_counts(vocabulary.lookup(chunk), len(words))
    return sp.csr_array(total + total.T)


def _following_counts(sentences: Ragged, size: int) -> sp.csr_array:
    """Return the part of n(w, v) in which v stands after w, (size, size); id 0 is no word."""
    ids, sentence = sentences.ids, np.repeat(np.arange(len(sentences)), sentences.lengths)
    parts = []
    for distance in range(1, WINDOW + 1):
        known = (ids[:-distance] > 0) & (ids[distance:] > 0)
        left = np.flatnonzero(known & (sentence[:-distance] == sentence[distance:]))
        values = np.full(len(left), 1.0 / distance, np.float32)
        parts.append((values, ids[left] - 1, ids[left + distance] - 1))
    values, rows, columns = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sp.coo_array((values, (rows, columns)), shape=(size, size)).tocsr()


def positive_pmi(counts: sp.csr_array) -> sp.csr_array:
    """Return PPMI of symmetric counts, (w, w), without its zeros."""
    entries = counts.tocoo()
    frequency = counts.sum(axis=1)
    smoothed = frequency**SMOOTHING
    expected = frequency[entries.row] * smoothed[entries.col] / smoothed.sum()
    values = np.log(entries.data / expected).astype(np.float32)
    kept = values > 0
    return sp.csr_array((values[kept], (entries.row[kept], entries.col[kept])), shape=counts.shape)


def initial_embeddings(
    module: TrainableModel,
    config: ArchitectureConfig,
    vocabulary: pa.Table,
    sentences: TrainingSentences,
    generator: Generator,
    teacher: TeacherVectors | None = None,
) -> tuple[pa.StringArray, Tensor]:
    """Return the entries of the vocabulary and their initial embeddings.

    Embeddings of size d are drawn from N(0, 1/d), so that their expected length is 1. With `init: idf` each is
    multiplied by `log((sentences + 1) / sentences that contain the entry)`; with `init: cooccurrence` it also has the
    direction that `cooccurrence.cooccurrence_vectors` gives it, if any. Words that the file `vectors` has start with
    the vector of the file, and words that only the file has are added. Words that the file lacks keep their initial
    vectors; in the papers they are unknown. Boundary tokens get random vectors of expected length 1, without idf. Pairs
    of adjacent words start at zero.

    Args:
        module: says what kind of vocabulary it reads.
        config: its options.
        vocabulary: table of `text` and `sentences` (document frequency).
        sentences: tokenized sentences that were counted.
        generator: source of random numbers.
        teacher: replaces the random directions of words by its vectors; None for no teacher.

    Returns:
        The entries (n,) and a float32 table: (n, d) for n-grams; (n + 1, d) for words and characters, with row 0 for
        all unknown ones. Row 0 starts at zero, or with the vector of `UUUNKKK` in the file `vectors`.
    """
    texts, dim = vocabulary["text"].combine_chunks(), config.embedding_dim
    embeddings = _random_directions(len(texts), dim, generator)
    if config.init == "cooccurrence":
        embeddings = _with_cooccurrence(embeddings, sentences, texts, generator)
    if teacher is not None:
        embeddings = teacher.initial_words(module.vocabulary, texts, embeddings)
    if config.init != "random":
        embeddings.mul_(_idf(vocabulary, len(sentences)).unsqueeze(1))
    if module.bigram_min_count is not None:  # as noise they are worse than none (docs/explanation/ablations.md)
        embeddings[torch.from_numpy(np.flatnonzero(is_bigram(texts)))] = 0
    if module.vocabulary in ("ngrams", "words+ngrams"):
        return texts, embeddings
    embeddings = torch.cat([torch.zeros(1, dim), embeddings])
    if isinstance(config, WordEmbeddingsConfig) and config.vectors is not None:
        texts, embeddings = _with_vectors(Path(config.vectors), texts, embeddings)
    return _with_boundary_tokens(module.boundary_tokens, texts, embeddings, generator)


def _random_directions(rows: int, dim: int, generator: Generator) -> Tensor:
    return torch.randn(rows, dim, generator=generator).mul_(dim**-0.5)


def _with_cooccurrence(
    embeddings: Tensor, sentences: TrainingSentences, texts: pa.StringArray, generator: Generator
) -> Tensor:
    from paraphrastic.training.initial_embeddings import cooccurrence_vectors  # scikit-learn takes time to import

    seed = int(torch.randint(2**31, (), generator=generator))
    vectors = torch.from_numpy(cooccurrence_vectors(sentences, texts, embeddings.shape[1], seed))
    return torch.where(vectors.any(dim=1, keepdim=True), vectors, embeddings)


def _idf(vocabulary: pa.Table, sentences: int) -> Tensor:
    frequency = torch.from_numpy(vocabulary["sentences"].to_numpy().astype(np.float32))
    return torch.log((sentences + 1) / frequency)


def _with_vectors(path: Path, texts: pa.StringArray, embeddings: Tensor) -> tuple[pa.StringArray, Tensor]:
    words, table = read_vectors(path, embeddings.shape[1])
    rows = pc.index_in(words, texts)
    known = rows.is_valid().to_numpy(zero_copy_only=False)
    embeddings[0] = torch.from_numpy(table[0])
    embeddings[torch.tensor(rows.drop_null().to_numpy() + 1)] = torch.from_numpy(table[1:][known])
    return pa.concat_arrays([texts, words.filter(~known)]), torch.cat([embeddings, torch.from_numpy(table[1:][~known])])


def _with_boundary_tokens(
    boundary_tokens: BoundaryTokens, texts: pa.StringArray, embeddings: Tensor, generator: Generator
) -> tuple[pa.StringArray, Tensor]:
    widths = zip((START, END), boundary_widths(boundary_tokens), strict=True)
    wanted = pa.array([token for token, width in widths if width], pa.string())
    new = wanted.filter(pc.invert(pc.is_in(wanted, texts)))
    directions = _random_directions(len(new), embeddings.shape[1], generator)
    return pa.concat_arrays([texts, new]), torch.cat([embeddings, directions])
