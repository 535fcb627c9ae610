"""Sentence vectors as SentEval and MTEB evaluate them: features of logistic regression, clusters, cosines.

* A set of one split is divided into ten folds; one with training rows is learned from these and tested on the others.
  The penalty is chosen on ten folds of the training rows, or on development rows. Penalties, folds and seeds are those
  of SentEval (Conneau and Kiela, LREC 2018), which sorts the rows before by their length. The features of a pair (u, v)
  are |u - v| and u * v.
* `FEW_SHOT` is learned from eight rows of each class, in ten experiments, as MTEB does (Muennighoff et al., EACL 2023).
  Its test rows are clustered as MTEB clusters.
"""

import random
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import f1_score, v_measure_score
from sklearn.metrics.pairwise import paired_cosine_distances
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from paraphrastic.base.errors import ModelError
from paraphrastic.base.parallel import in_order
from paraphrastic.base.tables import SIDES
from paraphrastic.scoring.scorer import Rows, Scores, Vectors, VectorScorer

FEW_SHOT = "features.Banking77"
_SENTEVAL_SEED, _MTEB_SEED = 1111, 42
_FOLDS = StratifiedKFold(10, shuffle=True, random_state=_SENTEVAL_SEED)
_PENALTIES = 2.0 ** np.arange(-2, 4)  # values of C
_PENALTIES_OF_TRAINING = 2.0 ** np.arange(-1, 6)  # with training rows, but no development rows
_EXPERIMENTS, _SHOTS = 10, 8
_CLUSTERED = 16_384  # rows that are drawn, with repetition

Labels = NDArray[np.int64]


def mteb_cosines(scorer: VectorScorer, sentences: pa.StringArray, left: Rows, right: Rows) -> Scores:
    """Return the cosine of each pair, (pairs,), as MTEB computes it: 1 - |u - v|² / 2 of unit vectors, in float32.

    Vectors that differ by rounding alone all have the cosine 1 and share a rank.

    Raises:
        ModelError: a vector is not finite.
    """
    vectors = _finite_vectors(scorer, sentences)
    cosines: Scores = 1 - paired_cosine_distances(vectors[left], vectors[right])
    return cosines


def feature_metrics(
    scorer: VectorScorer, sentences: pa.StringArray, sets: Mapping[str, pa.Table]
) -> list[dict[str, float]]:
    """Return metrics in [0, 1] for each set: accuracy, for pairs also F1, and for `FEW_SHOT` the v-measure of clusters.

    Args:
        scorer: each distinct sentence of the sets is encoded once.
        sentences: those that the sets number.
        sets: the indexed tables of sets of `headline.FEATURES` by name.

    Raises:
        ModelError: a vector is not finite.
    """
    numbers = {
        name: [table[side].to_numpy() for side in SIDES.values() if side in table.column_names]
        for name, table in sets.items()
    }
    rows = np.unique(np.concatenate([side for sides in numbers.values() for side in sides]))
    vectors = _finite_vectors(scorer, sentences.take(pa.array(rows)))

    def metrics(name: str) -> dict[str, float]:
        left, *right = (vectors[np.searchsorted(rows, side)] for side in numbers[name])
        x = np.hstack([np.abs(left - right[0]), left * right[0]]) if right else left
        with threadpool_limits(1, "openmp"):  # holds for one thread
            return _metrics(name, sets[name], x)

    with threadpool_limits(1, "blas"), warnings.catch_warnings():  # sums do not depend on the number of cores
        warnings.simplefilter("ignore")  # the protocols stop after 100 iterations
        return list(in_order(metrics, sets))


def _finite_vectors(scorer: VectorScorer, sentences: pa.StringArray) -> Vectors:
    vectors = scorer.encode(sentences)
    if bad := np.count_nonzero(~np.isfinite(vectors).all(1)):
        raise ModelError(f"{bad} of {len(vectors)} sentence vectors are not finite; train the model again")
    return vectors


def _metrics(name: str, table: pa.Table, x: Vectors) -> dict[str, float]:
    y, split = table["label"].to_numpy().astype(np.int64), table["split"].to_numpy()
    train, dev, test = (split == part for part in ("train", "dev", "test"))
    if name == FEW_SHOT:
        found = [_few_shot(x[train][rows], y[train][rows]).score(x[test], y[test]) for rows in _shots(y[train])]
        return {"accuracy": float(np.mean(found)), "v_measure": _v_measure(x[test], y[test])}
    if test.all():
        folds = _FOLDS.split(x, y)
        found = [_choose(x[rest], y[rest], _PENALTIES, _FOLDS).score(x[fold], y[fold]) for rest, fold in folds]
        return {"accuracy": float(np.mean(found))}
    if dev.any():
        validation = [(np.flatnonzero(train[~test]), np.flatnonzero(dev[~test]))]
        classifier = _choose(x[~test], y[~test], _PENALTIES, validation, refit=False)
    else:
        classifier = _choose(x[train], y[train], _PENALTIES_OF_TRAINING, _FOLDS)
    f1 = {"f1": float(f1_score(y[test], classifier.predict(x[test])))} if "right" in table.column_names else {}
    return {"accuracy": float(classifier.score(x[test], y[test]))} | f1


def _choose(x: Vectors, y: Labels, penalties: NDArray[np.floating], folds: Any, refit: bool = True) -> Any:
    """Return a classifier with the penalty of the best accuracy on the folds.

    Args:
        x: (rows, dim).
        y: (rows,).
        penalties: values of C.
        folds: what divides the rows.
        refit: learn from all rows at the end; otherwise from the rows that the only fold learns from.
    """
    return LogisticRegressionCV(Cs=penalties, cv=folds, scoring="accuracy", refit=refit).fit(x, y)


def _few_shot(x: Vectors, y: Labels) -> Any:
    return LogisticRegression(max_iter=100, random_state=_MTEB_SEED).fit(x, y)


def _shots(y: Labels) -> Iterator[Rows]:
    """Yield the rows of each experiment, which shuffles the order of the one before again."""
    rows = np.arange(len(y))
    for _ in range(_EXPERIMENTS):
        np.random.RandomState(_MTEB_SEED).shuffle(rows)
        yield rows[pd.Series(y[rows]).groupby(y[rows]).cumcount() < _SHOTS]


def _v_measure(x: Vectors, y: Labels) -> float:
    generator = random.Random(_MTEB_SEED)
    clusters = MiniBatchKMeans(len(np.unique(y)), batch_size=512, n_init=1, random_state=_MTEB_SEED)
    samples = [generator.choices(range(len(y)), k=_CLUSTERED) for _ in range(_EXPERIMENTS)]
    return float(np.mean([v_measure_score(y[rows], clusters.fit_predict(x[rows])) for rows in samples]))
