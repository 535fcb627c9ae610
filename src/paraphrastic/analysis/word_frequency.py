"""Rare words, and norms of word vectors beside the frequency of the words: iclr2016 §5.1 and §6."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.comparison.significance import Correlation, resample
from paraphrastic.analysis.published import parsed, printed
from paraphrastic.analysis.resamples import REPLICATES
from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.evaluation.headline import headline_sets
from paraphrastic.evaluation.metrics import correlation, defined_percent, pearson, percent, spearman
from paraphrastic.scoring.baseline import pretrained_mean
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.text.columns import split_words
from paraphrastic.vocabulary.pretrained import read_vectors

COMMON = 100  # occurrences in the training data that a word needs
OCCURRENCES = {"all": 0, "≥ 100": 100}  # that a word needs for a row of `norms`


def rare_words(artifacts: Artifacts) -> pd.DataFrame:
    """Return how many words of each set are rare, and Pearson's r × 100, for the papers' 22 sets as far as they exist.

    A word is rare if it occurs fewer than 100 times in the training data, counted as `vocabulary.count` says, or fewer
    than `vocabulary.min_count` times. The paper does not say whether a word that a set has twice counts twice; both
    shares are given. The sample's sets are used if there are none of the papers'.

    Returns:
        `set`, `n` (pairs), `rare_words` (share of the distinct words × 100), `rare_tokens` (share of all words × 100),
        `pearson`, `percentile_75` (of the participants of the task, iclr2016 Table 2; null for other sets), and
        `deviation` (`pearson` minus `percentile_75`).
    """
    pairs, counts = artifacts.scores_of(headline_sets), artifacts.word_counts
    common = pa.array(counts["text"][counts["count"] >= COMMON], pa.string())
    cells, rows = printed("iclr2016", "T2"), []
    for name, part in pairs.groupby("set"):
        words, _ = split_words(artifacts.sentences.take(np.concatenate([part["left"], part["right"]])))
        shares = {"rare_words": _rare(pc.unique(words), common), "rare_tokens": _rare(words, common)}
        r = defined_percent(pearson, part["gold"], part["score"])
        participants = parsed(cells.get(("75%", str(name)), ""))
        deviation = None if r is None or participants is None else round(r - participants, 2)
        of_participants = {"percentile_75": participants, "deviation": deviation}
        rows.append({"set": name, "n": len(part)} | shares | {"pearson": r} | of_participants)
    return pd.DataFrame(rows)


def _rare(words: pa.StringArray, common: pa.StringArray) -> float:
    """Return the share of `words` that `common` lacks × 100; 0 if there are no words."""
    is_rare = ~pc.is_in(words, value_set=common).to_numpy(zero_copy_only=False)
    return percent(np.count_nonzero(is_rare) / max(len(words), 1))


def rare_words_correlation(artifacts: Artifacts) -> pd.DataFrame:
    """Return Spearman's ρ × 100, over the papers' sets, of the columns of `rare_words` with `deviation`.

    A negative ρ says that the model falls behind the participants where more words are rare.

    Returns:
        `share` (`rare_words` or `rare_tokens`), `sets` and `spearman`.

    Raises:
        DataError: there are fewer than two of the papers' sets.
    """
    table = rare_words(artifacts).dropna()
    if len(table) < 2:
        raise DataError(f"{artifacts.folder}/scores.parquet: not two sets of iclr2016; choose `benchmarks: open`")
    shares = ("rare_words", "rare_tokens")
    rows = [(share, len(table), defined_percent(spearman, table[share], table["deviation"])) for share in shares]
    return pd.DataFrame(rows, columns=["share", "sets", "spearman"])


def norms(artifacts: Artifacts) -> pd.DataFrame:
    """Return Spearman's ρ × 100, over words, of the norm of a word's embedding with its idf in the training data.

    The norm is the paper's, `Σ_i |x_i|`. Embeddings of rare words stay near their initial values, and with `init: idf`
    these have the length idf, so that ρ is given for frequent words too.

    Returns:
        `occurrences` (that a word needs in the training data), `n` (words) and `spearman`.

    Raises:
        ModelError: the model has no embeddings of words.
    """
    words, embeddings = artifacts.word_embeddings
    counts = artifacts.word_counts
    rows = pc.index_in(pa.array(counts["text"], pa.string()), words)
    counts = counts[rows.is_valid().to_numpy(zero_copy_only=False)]
    lengths = np.abs(embeddings[rows.drop_null().to_numpy() + 1]).sum(axis=1)
    bins = ((name, (counts["count"] >= least).to_numpy()) for name, least in OCCURRENCES.items())
    # idf = log(sentences / sentences with the word) has the order of −sentences with the word
    idf = -counts["sentences"].to_numpy()
    table = [(name, np.count_nonzero(kept), defined_percent(spearman, idf[kept], lengths[kept])) for name, kept in bins]
    return pd.DataFrame(table, columns=["occurrences", "n", "spearman"])


def norm_weights(artifacts: Artifacts) -> pd.DataFrame:
    """Return the mean Pearson's r × 100, over the papers' sets, of averages of differently weighted word vectors.

    * `initial`: the vectors of the file `vectors` that the model started from (PARAGRAM-SL999 in the paper).
    * `initial × norm`: each multiplied by `Σ_i |x_i|` of the same word's trained vector x.
    * `initial / frequency`: each divided by the share of the word in the training data. A word that occurs there
      fewer than `vocabulary.min_count` times, or never, counts as occurring once.
    * `trained`: the trained vectors.

    Words without a vector share that of unknown words. The means are over the papers' 22 sets as far as they exist, or
    over the sample's sets.

    Returns:
        `vectors`, `sets`, `pearson`, and `improvement`: of `pearson` over `initial`, in percent of that of `trained`;
        null if both are equal. `pearson_error` and `improvement_error` are their standard errors over pairs, from 1,000
        resamples, see `resamples`; that of the ratio is to first order, so that no resample divides by a gain near 0.

    Raises:
        ModelError: the model has no embeddings of words, or did not start from a file of vectors.
        DataError: the file is missing or damaged, or is another one than in training.
    """
    pairs, weighted = artifacts.scores_of(headline_sets), _weighted(artifacts)
    rows = pairs["left"].to_numpy(), pairs["right"].to_numpy()
    scores = (pretrained_mean(*each).score(artifacts.sentences, *rows) for each in weighted.values())
    means = np.stack([_mean_over_sets(pairs.assign(score=of_vectors)) for of_vectors in scores])
    gains, gain = means - means[0], means[-1] - means[0]  # of each, and of `trained`
    shares = gains[:, 0] / (gain[0] or np.nan)
    columns = {
        "pearson": means[:, 0],
        "pearson_error": means[:, 1:].std(axis=1),
        "improvement": shares,
        "improvement_error": (gains - shares[:, None] * gain)[:, 1:].std(axis=1) / abs(gain[0] or np.nan),
    }
    table = {name: [*map(percent, values)] for name, values in columns.items()}
    return pd.DataFrame({"vectors": [*weighted], "sets": pairs["set"].nunique()} | table)


def _mean_over_sets(pairs: pd.DataFrame) -> NDArray[np.float64]:
    """Return the mean of Pearson's r over sets, then its bootstrap replicates, (1 + REPLICATES,)."""
    of_sets = []
    for name, part in pairs.groupby("set"):
        gold, score = part["gold"].to_numpy(), part["score"].to_numpy()
        replicates = resample([Correlation(gold, score)], str(name), REPLICATES)[0]
        of_sets.append([correlation(gold, score), *replicates])
    means: NDArray[np.float64] = np.mean(of_sets, axis=0)
    return means


def _weighted(artifacts: Artifacts) -> dict[str, tuple[pa.StringArray, Vectors]]:
    """Return words (n,) and weighted vectors (n + 1, dim), with row 0 for unknown words."""
    texts, trained = artifacts.word_embeddings
    model, file = artifacts.model, artifacts.model.options.get("vectors")
    if not file:
        raise ModelError(f"{model.folder}: {model.name} did not start from word vectors; name a file in `vectors`")
    words, initial = read_vectors(Path(file), model.options["dim"])
    rows = pc.index_in(words, texts)
    if rows.null_count:
        raise DataError(f"{file}: has words that the model lacks; train the model again")
    norms = np.abs(trained[np.concatenate([[0], rows.to_numpy() + 1])]).sum(axis=1)  # (n + 1,)
    found = artifacts.word_counts.set_index("text")["count"].reindex(words.to_pylist()).fillna(1)
    counts = np.concatenate([[1], found]).astype(np.float32)  # (n + 1,)
    return {
        "initial": (words, initial),
        "initial × norm": (words, initial * norms[:, None]),
        "initial / frequency": (words, initial / counts[:, None]),  # a constant factor does not change the cosine
        "trained": (texts, trained),
    }
