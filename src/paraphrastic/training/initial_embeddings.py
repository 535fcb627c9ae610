"""A model at its start, and its initial embedding table."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Generator, Tensor

from paraphrastic.base.tables import NGRAM_COUNTS, WORD_COUNTS, TrainingSentences, read_table
from paraphrastic.models import model_class
from paraphrastic.nn.layers import TrainableModel
from paraphrastic.nn.options import ArchitectureConfig, TrainingConfig, WordEmbeddingsConfig
from paraphrastic.scoring.neural import TrainedEncoder, TrainedPairModel, trained_model
from paraphrastic.training.distillation import Distillation, TeacherVectors
from paraphrastic.vocabulary.counting import count_bigrams, merge_counts
from paraphrastic.vocabulary.kinds import END, START, BoundaryTokens, VocabularyKind, boundary_widths, entry_kinds
from paraphrastic.vocabulary.pretrained import read_vectors


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
        teacher: replaces the random directions of words by its vectors.

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
        frequency = torch.from_numpy(vocabulary["sentences"].to_numpy().astype(np.float32))
        embeddings.mul_(torch.log((len(sentences) + 1) / frequency).unsqueeze(1))
    if module.bigram_min_count is not None:  # as noise they are worse than none (docs/explanation/ablations.md)
        embeddings[torch.from_numpy(np.flatnonzero(entry_kinds(texts)[2]))] = 0
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
    from paraphrastic.training.cooccurrence import cooccurrence_vectors  # scikit-learn takes time to import

    seed = int(torch.randint(2**31, (), generator=generator))
    vectors = torch.from_numpy(cooccurrence_vectors(sentences, texts, embeddings.shape[1], seed))
    return torch.where(vectors.any(dim=1, keepdim=True), vectors, embeddings)


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


def initial_model(
    name: str,
    config: TrainingConfig,
    vocabulary: Path,
    sentences: TrainingSentences,
    seed: int,
    device: torch.device,
    distillation: Distillation | None = None,
) -> TrainedEncoder | TrainedPairModel:
    """Return the untrained model `name` on a device, with its initial embeddings.

    `vocabulary` is the folder with the tables that the stage `vocabulary` wrote for these tokenized sentences. The
    teacher of `distillation` may give words their initial embeddings.
    """
    generator = torch.Generator().manual_seed(seed)
    cls: Any = model_class(name)
    module: TrainableModel = cls(config, generator)
    counts = _counts(vocabulary, module, sentences)
    teacher = distillation.teacher if distillation and distillation.options.initial_words else None
    texts, embeddings = initial_embeddings(module, config, counts, sentences, generator, teacher)
    return trained_model(module, embeddings, texts).to(device)


def _counts(folder: Path, module: TrainableModel, sentences: TrainingSentences) -> pa.Table:
    """Return the entries of the module's vocabulary; pairs of words are counted now, the others are in `folder`."""
    if module.vocabulary != "words+ngrams":
        return _read_counts(folder, module.vocabulary)
    words, least = _read_counts(folder, "words"), module.bigram_min_count
    bigrams = count_bigrams(sentences, words["text"], least) if least else None
    return merge_counts(_read_counts(folder, "ngrams"), words, bigrams)


def _read_counts(folder: Path, kind: VocabularyKind) -> pa.Table:
    return read_table(folder / f"{kind}.parquet", WORD_COUNTS if kind == "words" else NGRAM_COUNTS)
