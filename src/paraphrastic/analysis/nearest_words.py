"""Nearest neighbours of words, bigrams and character n-grams: iclr2016 Table 8, charagram2016 Tables 8, 9 and 10."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.published import published
from paraphrastic.inference.neighbors import Neighbors, nearest_texts
from paraphrastic.scoring.scorer import EmbeddingScorer, VectorScorer
from paraphrastic.vocabulary.kinds import entry_kinds

# paper and table → how many of the most frequent words are searched; None for all
AMONG_WORDS = {("iclr2016", "T8"): 10_000, ("charagram2016", "T8"): None, ("charagram2016", "T9"): None}
AMONG_NGRAMS = "charagram2016", "T10"


def neighbors(artifacts: Artifacts) -> pd.DataFrame:
    """Return the nearest neighbours of the words, bigrams and character n-grams that the papers' tables show.

    Words and bigrams are compared with the words of the training data, in data/vocabulary/words.parquet, by the cosine
    of their sentence vectors. (The vocabulary of charagram2016, note 6, also has the words of evaluation sets.) A word
    model leaves out queries with unknown words, for example the misspelled ones of Table 9, and other models those of
    which they know nothing. The n-grams of Table 10 are compared with all n-grams of the model by the cosine of their
    embeddings. Table 10 is left out for a model without n-grams, and a query that is no n-gram of the model likewise.

    Returns:
        `table` (for example `charagram2016 T9`), `query`, `rank` (from 1, as many as the longest list of the table
        has), `neighbor` (not the query itself) and `cosine`. `_` stands for a space in n-grams.

    Raises:
        ModelError: the model has no sentence vectors.
    """
    rows = [*_among_words(artifacts), *_among_ngrams(artifacts)]
    return pd.DataFrame(rows, columns=["table", "query", "rank", "neighbor", "cosine"])


def _among_words(artifacts: Artifacts) -> Iterator[tuple[str, str, int, str, float]]:
    encoder = artifacts.encoder
    words = _known(encoder, artifacts.word_counts["text"].tolist())  # most frequent first
    vectors = encoder.encode(words)
    for (paper, table), size in AMONG_WORDS.items():
        queries, count = _queries(paper, table)
        for query in _known(encoder, queries):
            vector = encoder.encode(pa.array([query]))[0]
            found = nearest_texts(words[:size], vectors[:size], vector, count, pc.index(words, query).as_py())
            yield from _rows(f"{paper} {table}", query.as_py(), found)


def _among_ngrams(artifacts: Artifacts) -> Iterator[tuple[str, str, int, str, float]]:
    model = artifacts.model
    if not isinstance(model.scorer, EmbeddingScorer) or "ngrams" not in model.scorer.vocabulary_kind:
        return
    has_words = model.scorer.vocabulary_kind == "words+ngrams"
    rows = np.flatnonzero(entry_kinds(model.vocabulary)[0]) if has_words else np.arange(len(model.vocabulary))
    ngrams, embeddings = model.vocabulary.take(rows), model.embeddings()[rows]
    queries, count = _queries(*AMONG_NGRAMS)
    for query in queries:
        row = pc.index(ngrams, query.replace("_", " ")).as_py()
        if row >= 0:
            found = nearest_texts(ngrams, embeddings, embeddings[row], count, row)
            spaced = [(cosine, ngram.replace(" ", "_")) for cosine, ngram in found]
            yield from _rows(" ".join(AMONG_NGRAMS), query, spaced)


def _queries(paper: str, table: str) -> tuple[list[str], int]:
    """Return the queries of a published table, and the length of its longest list of neighbours."""
    lines = published(paper)
    lines = lines[lines["table"] == table]
    queries = lines["row"].str.split(" ", n=1).str[1]  # after the name of the model
    return queries.unique().tolist(), int(lines["column"].astype(int).max())


def _known(encoder: VectorScorer, texts: list[str]) -> pa.StringArray:
    """Return the texts that the model knows: all words, or something of them if its vocabulary is not one of words."""
    column = pa.array(texts, pa.string())
    unknown = encoder.oov_share(column)
    reads_words = isinstance(encoder, EmbeddingScorer) and encoder.vocabulary_kind == "words"
    return column.filter(unknown == 0 if reads_words else unknown < 1)


def _rows(table: str, query: str, found: Neighbors) -> Iterator[tuple[str, str, int, str, float]]:
    for rank, (cosine, neighbor) in enumerate(found, 1):
        yield table, query, rank, neighbor, round(cosine, 4)
