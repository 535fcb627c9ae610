"""The table that training starts from."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Generator, Tensor

from paraphrastic.encoding.encoder import Composition, Shape, VectorOptions, WordConfig
from paraphrastic.text.vectors import read_vectors
from paraphrastic.text.words import END, START, Tags, tag_counts


def initial_table(
    encoder: Composition, config: Shape, vocabulary: pa.Table, sentences: int, generator: Generator
) -> tuple[pa.StringArray, Tensor]:
    """The units' texts and the vectors that they start from.

    Rows of `row_dim` numbers are drawn from N(0, 1/row_dim), so that they have length 1 on average; `init: idf`
    multiplies each by `log(sentences / sentences that hold the unit)`. Words found in the file `vectors` start
    there, and words of the file that the corpus lacks are added. Tags around sentences are words like others, of
    length 1.

    Args:
        encoder: says what the units are.
        config: its options.
        vocabulary: table of `text` and `sentences` (document frequency), as the vocabulary stage writes it.
        sentences: number of sentences that were counted.
        generator: source of the random vectors.

    Returns:
        The texts (n,) and a float32 table: (n, row_dim) for n-grams; for words and characters (n + 1, row_dim), row 0
        being the vector of all unknown ones, which starts at zero.
    """
    texts = vocabulary["text"].combine_chunks()
    table = torch.randn(len(texts), config.row_dim, generator=generator).mul_(config.row_dim**-0.5)
    if config.init == "idf":
        table.mul_(_idf(vocabulary, sentences).unsqueeze(1))
    if encoder.units in ("ngrams", "words+ngrams"):
        return texts, table
    if isinstance(config, VectorOptions):
        texts, table = _with_file(config.vectors, texts, table)
    if isinstance(config, WordConfig):
        texts, table = _with_tags(config.tags, texts, table, generator)
    return texts, torch.cat([torch.zeros(1, config.row_dim), table])


def _idf(vocabulary: pa.Table, sentences: int) -> Tensor:
    held = torch.from_numpy(vocabulary["sentences"].to_numpy().astype(np.float32))
    return torch.log((sentences + 1) / held)


def _with_file(path: str | None, texts: pa.StringArray, table: Tensor) -> tuple[pa.StringArray, Tensor]:
    if path is None:
        return texts, table
    words, vectors = read_vectors(Path(path), table.shape[1])
    places = pc.index_in(words, texts)
    known = places.is_valid().to_numpy(zero_copy_only=False)
    table[torch.tensor(places.drop_null().to_numpy())] = torch.from_numpy(vectors[known])
    return pa.concat_arrays([texts, words.filter(~known)]), torch.cat([table, torch.from_numpy(vectors[~known])])


def _with_tags(tags: Tags, texts: pa.StringArray, table: Tensor, generator: Generator) -> tuple[pa.StringArray, Tensor]:
    wanted = pa.array([tag for tag, count in zip((START, END), tag_counts(tags), strict=True) if count], pa.string())
    new = wanted.filter(pc.invert(pc.is_in(wanted, texts)))
    vectors = torch.randn(len(new), table.shape[1], generator=generator).mul_(table.shape[1] ** -0.5)
    return pa.concat_arrays([texts, new]), torch.cat([table, vectors])
