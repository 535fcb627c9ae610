"""Sentence vectors as SentEval and MTEB evaluate them: features of logistic regression, clusters, cosines.

* A set of one split is divided into ten folds; one with training rows is learned from these and tested on the others.
  The penalty is chosen on ten folds of the training rows, or on development rows. Penalties, folds and seeds are those
  of SentEval (Conneau and Kiela, LREC 2018), which sorts the rows before by their length. The features of a pair (u, v)
  are |u - v| and u * v. TF-IDF, which has no vectors, has its sparse rows.
* `FEW_SHOT` is learned from eight rows of each class, in ten experiments, as MTEB does (Muennighoff et al., EACL 2023).
  Its test rows are clustered as MTEB clusters.
"""

import random
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import f1_score, v_measure_score
from sklearn.metrics.pairwise import paired_cosine_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from paraphrastic.base.errors import ModelError
from paraphrastic.base.parallel import in_order
from paraphrastic.base.tables import SIDES
from paraphrastic.evaluation.metrics import positions_in_groups
from paraphrastic.scoring.scorer import Rows, Scores, SparseScorer, Vectors, VectorScorer

FEW_SHOT = "features.Banking77"
_SENTEVAL_SEED, _MTEB_SEED = 1111, 42
_FOLDS = StratifiedKFold(10, shuffle=True, random_state=_SENTEVAL_SEED)
_PENALTIES = 2.0 ** np.arange(-2, 4)  # values of C
_PENALTIES_OF_TRAINING = 2.0 ** np.arange(-1, 6)  # with training rows, but no development rows
_EXPERIMENTS, _SHOTS = 10, 8
_CLUSTERED = 16_384  # rows that are drawn, with repetition

Labels = NDArray[np.int64]
Correct = NDArray[np.float64]
Matrix = Any  # (rows, dim): an array, or sparse rows of SciPy


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
    scorer: VectorScorer | SparseScorer, sentences: pa.StringArray, sets: Mapping[str, pa.Table]
) -> list[tuple[dict[str, float], Correct]]:
    """Return the metrics of each set, and which of its test rows a classifier labels correctly.

    Metrics are in [0, 1]: accuracy, for pairs also F1, and for `FEW_SHOT` the v-measure of clusters. A row is 1 or 0,
    (test rows,); of `FEW_SHOT` it is the share of experiments. The accuracy is the mean of the rows.

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
    vectors = _rows(scorer, sentences.take(rows))

    def metrics(name: str) -> tuple[dict[str, float], Correct]:
        left, *right = (vectors[np.searchsorted(rows, side)] for side in numbers[name])
        if right:
            parts = abs(left - right[0]), left * right[0]
            left = np.hstack(parts) if isinstance(left, np.ndarray) else hstack(parts, format="csr")
        with threadpool_limits(1, "openmp"):  # holds for one thread
            return _metrics(name, sets[name], left)

    with threadpool_limits(1, "blas"), warnings.catch_warnings():  # sums do not depend on the number of cores
        warnings.simplefilter("ignore")  # the protocols stop after 100 iterations
        return list(in_order(metrics, sets))


def _rows(scorer: VectorScorer | SparseScorer, sentences: pa.StringArray) -> Matrix:
    """Return sentence vectors, (n, dim), or sparse rows of length 1."""
    if not isinstance(scorer, SparseScorer):
        return _finite_vectors(scorer, sentences)
    entries, values = scorer.weigh(sentences)
    offsets = entries.offsets.astype(np.int32)  # k-means takes no others
    return normalize(csr_array((values, entries.ids, offsets), (len(sentences), len(scorer.texts))))


def _finite_vectors(scorer: VectorScorer, sentences: pa.StringArray) -> Vectors:
    vectors = scorer.encode(sentences)
    if bad := np.count_nonzero(~np.isfinite(vectors).all(1)):
        raise ModelError(f"{bad} of {len(vectors)} sentence vectors are not finite; train the model again")
    return vectors


def _metrics(name: str, table: pa.Table, x: Matrix) -> tuple[dict[str, float], Correct]:
    y, split = table["label"].to_numpy().astype(np.int64), table["split"].to_numpy()
    test = split == "test"
    if not isinstance(x, np.ndarray):
        x = x[:, np.unique(x.indices) if x.nnz else [0]]  # the others weigh nothing; scikit-learn needs one
    correct = _correct(name, split, x, y)
    metrics = {"accuracy": float(correct.mean())}
    if name == FEW_SHOT:
        metrics["v_measure"] = _v_measure(x[test], y[test])
    if "right" in table.column_names:
        metrics["f1"] = float(f1_score(y[test], np.where(correct, y[test], 1 - y[test])))
    return metrics, correct


def _correct(name: str, split: NDArray[np.object_], x: Matrix, y: Labels) -> Correct:
    """Return which test rows get their label, (test rows,); of `FEW_SHOT` in which share of experiments."""
    train, dev, test = (split == part for part in ("train", "dev", "test"))
    if name == FEW_SHOT:
        regression = LogisticRegression(max_iter=100, random_state=_MTEB_SEED)
        learned = (regression.fit(x[train][rows], y[train][rows]) for rows in _shots(y[train]))
        shares: Correct = np.mean([each.predict(x[test]) == y[test] for each in learned], axis=0)
        return shares
    if test.all():
        correct = np.empty(len(y))
        for rest, fold in _FOLDS.split(x, y):
            correct[fold] = _regression(_PENALTIES, _FOLDS).fit(x[rest], y[rest]).predict(x[fold]) == y[fold]
        return correct
    if dev.any():
        validation = [(np.flatnonzero(train[~test]), np.flatnonzero(dev[~test]))]
        # without `refit` it learns from the rows that the only fold learns from
        classifier = _regression(_PENALTIES, validation, refit=False).fit(x[~test], y[~test])
    else:
        classifier = _regression(_PENALTIES_OF_TRAINING, _FOLDS).fit(x[train], y[train])
    return np.where(classifier.predict(x[test]) == y[test], 1.0, 0.0)


def _regression(penalties: NDArray[np.floating], folds: Any, refit: bool = True) -> LogisticRegressionCV:
    """Return a classifier that will have the penalty with the best accuracy on the folds."""
    return LogisticRegressionCV(Cs=penalties, cv=folds, scoring="accuracy", refit=refit)


def _shots(y: Labels) -> Iterator[Rows]:
    """Yield the rows of each experiment, which shuffles the order of the one before again."""
    rows = np.arange(len(y))
    for _ in range(_EXPERIMENTS):
        np.random.RandomState(_MTEB_SEED).shuffle(rows)
        yield rows[positions_in_groups(y[rows]) < _SHOTS]


def _v_measure(x: Matrix, y: Labels) -> float:
    generator = random.Random(_MTEB_SEED)
    clusters = MiniBatchKMeans(len(np.unique(y)), batch_size=512, n_init=1, random_state=_MTEB_SEED)
    samples = [generator.choices(range(len(y)), k=_CLUSTERED) for _ in range(_EXPERIMENTS)]
    return float(np.mean([v_measure_score(y[rows], clusters.fit_predict(x[rows])) for rows in samples]))
