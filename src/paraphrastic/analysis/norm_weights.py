"""Initial word vectors weighted by the norms of the trained ones: iclr2016 §6."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.evaluation.metrics import pearson, percent
from paraphrastic.scoring.pretrained_mean import pretrained_mean
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.vocabulary.pretrained import read_vectors

Table = tuple[pa.StringArray, Vectors]  # words (n,) and embeddings (n + 1, dim), with row 0 for unknown words


def analyze(artifacts: Artifacts) -> pd.DataFrame:
    """Return the mean Pearson's r × 100, over the papers' sets, of averages of differently weighted word vectors.

    * `initial`: the vectors of the file `vectors` that the model started from (PARAGRAM-SL999 in the paper).
    * `initial × norm`: each multiplied by `Σ_i |x_i|` of the same word's trained vector x.
    * `initial / frequency`: each divided by the share of the word in the training data. A word that the training data
      lacks counts as occurring once.
    * `trained`: the trained vectors.

    Words without a vector share that of unknown words. The means are over the papers' 22 sets as far as they exist, or
    over the sample's sets.

    Returns:
        `vectors`, `sets`, `pearson`, and `improvement`: of `pearson` over `initial`, in percent of that of `trained`;
        null if both are equal.

    Raises:
        ModelError: the model has no embeddings of words, or did not start from a file of vectors.
        DataError: the file is missing or damaged, or is another one than in training.
    """
    pairs, sentences = artifacts.headline_scores, artifacts.sentences
    r = {name: _mean_pearson(sentences, pairs, table) for name, table in _weighted_vectors(artifacts).items()}
    gain = r["trained"] - r["initial"]
    shares = [percent((value - r["initial"]) / gain) if gain else None for value in r.values()]
    rows = zip(r, [pairs["set"].nunique()] * len(r), map(percent, r.values()), shares, strict=True)
    return pd.DataFrame(rows, columns=["vectors", "sets", "pearson", "improvement"])


def _weighted_vectors(artifacts: Artifacts) -> dict[str, Table]:
    trained = artifacts.word_embeddings
    words, initial = _initial_vectors(artifacts)
    norms, counts = np.abs(_rows(*trained, words)).sum(axis=1), _occurrences(artifacts, words)  # (words + 1,) each
    return {
        "initial": (words, initial),
        "initial × norm": (words, initial * norms[:, None]),
        "initial / frequency": (words, initial / counts[:, None]),  # a constant factor does not change the cosine
        "trained": trained,
    }


def _initial_vectors(artifacts: Artifacts) -> Table:
    model = artifacts.model
    file = model.options.get("vectors")
    if not file:
        raise ModelError(f"{model.folder}: {model.name} did not start from word vectors; name a file in `vectors`")
    words, vectors = read_vectors(Path(file), model.options["dim"])
    if not pc.all(pc.is_in(words, value_set=model.vocabulary)).as_py():
        raise DataError(f"{file}: has words that the model lacks; train the model again")
    return words, vectors


def _rows(texts: pa.StringArray, embeddings: Vectors, words: pa.StringArray) -> Vectors:
    """Return the embeddings of unknown words and of `words`, (words + 1, dim)."""
    rows: Vectors = embeddings[np.concatenate([[0], pc.index_in(words, texts).to_numpy() + 1])]
    return rows


def _occurrences(artifacts: Artifacts, words: pa.StringArray) -> NDArray[np.float32]:
    """Return how often unknown words and `words` occur in the training data, (words + 1,); 1 for those that do not."""
    counts = artifacts.counts("words")
    found = pd.Series(counts["count"].to_numpy(), counts["text"]).reindex(words.to_pylist()).fillna(1)
    return np.concatenate([[1], found]).astype(np.float32)


def _mean_pearson(sentences: pa.StringArray, pairs: pd.DataFrame, table: Table) -> float:
    scores = pretrained_mean(*table).score(sentences, pairs["left"].to_numpy(), pairs["right"].to_numpy())
    parts = pairs.assign(score=scores).groupby("set")
    return float(np.mean([pearson(part["gold"], part["score"]) for _, part in parts]))
