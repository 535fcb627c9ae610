"""Agreement of two models: correlation of their scores, and pairs that only one of them judges well."""

import numpy as np
import pandas as pd

from paraphrastic.analysis.comparison.significance import Vector, standardize
from paraphrastic.base.errors import DataError
from paraphrastic.evaluation.headline import pooled_sets
from paraphrastic.evaluation.metrics import pearson, percent, spearman

EXAMPLES = 5  # of each kind of error


def agreement(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the correlations × 100 of two models' scores, and of their results over sets (acl2017 §4.2).

    Args:
        pairs: with the columns `set`, `gold`, `score_a` and `score_b`.

    Returns:
        `set`, `n`, `pearson` and `spearman`. Each set has a row, over its n pairs. The row `pooled` is over the pairs
        of all STS sets of 2012–2015 together, or of the sample's sets. The row `results` is over the n sets and
        correlates the Pearson's r of both models with the human scores.

    Raises:
        DataError: there are no STS sets.
    """
    parts = [(str(name), part) for name, part in pairs.groupby("set")]
    rows = [_row(name, *_scores(part)) for name, part in [*parts, ("pooled", _pooled(pairs))]]
    results = [[pearson(part["gold"].to_numpy(), scores) for scores in _scores(part)] for _, part in parts]
    return pd.DataFrame([*rows, _row("results", *np.transpose(results))], columns=["set", "n", "pearson", "spearman"])


def errors(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that one model overestimates or underestimates most, by comparison with the other.

    The examples of acl2017 §5.1 and Table 7 are of these four kinds. The paper scales cosines to [0, 5] and subtracts
    the gold score. Here the scores of each model and the gold scores are standardised over all STS sets of 2012–2015
    together, or over the sample's sets, so that the errors of models with another mean or spread are comparable. Pairs
    are ranked by how much larger the error of the model is than that of the other one.

    Args:
        pairs: with the columns `set`, `text1`, `text2`, `gold`, `score_a` and `score_b`.

    Returns:
        At most 5 pairs of each kind: `wrong` (`a` or `b`), `estimate` (`over` or `under`), the columns of `pairs`,
        `error_a` and `error_b`: standardised score minus standardised gold score.

    Raises:
        DataError: there are no STS sets.
    """
    pooled = _pooled(pairs)
    gold, a, b = (standardize(pooled[name].to_numpy()) for name in ("gold", "score_a", "score_b"))
    pooled = pooled.assign(error_a=a - gold, error_b=b - gold)
    kinds = [(*models, sign) for models in (("a", "b"), ("b", "a")) for sign in (1, -1)]
    table = pd.concat([_examples(pooled, *kind) for kind in kinds], ignore_index=True)
    table = table.astype({"score_a": float, "score_b": float})  # float32 has no exact 4 decimals
    return table.round({"score_a": 4, "score_b": 4, "error_a": 2, "error_b": 2})


OF_TWO_RUNS = {"agreement": agreement, "errors": errors}  # analyses by name


def _examples(pairs: pd.DataFrame, wrong: str, right: str, sign: int) -> pd.DataFrame:
    """Return the pairs with errors of the model `wrong` in direction `sign` that exceed those of `right` most."""
    excess = pairs[f"error_{wrong}"].abs() - pairs[f"error_{right}"].abs()
    candidates = excess[(sign * pairs[f"error_{wrong}"] > 0) & (excess > 0)]
    chosen = pairs.loc[candidates.sort_values(ascending=False, kind="stable").index[:EXAMPLES]]
    chosen.insert(0, "wrong", wrong)
    chosen.insert(1, "estimate", "over" if sign > 0 else "under")
    return chosen


def _pooled(pairs: pd.DataFrame) -> pd.DataFrame:
    names = pooled_sets(pairs["set"].unique())
    if not names:
        raise DataError("the runs have no STS sets in common; evaluate both with `benchmarks: sample` or `open`")
    return pairs[pairs["set"].isin(names)].reset_index(drop=True)


def _scores(pairs: pd.DataFrame) -> tuple[Vector, Vector]:
    return pairs["score_a"].to_numpy(), pairs["score_b"].to_numpy()


def _row(name: str, a: Vector, b: Vector) -> tuple[str, int, float, float]:
    return name, len(a), percent(pearson(a, b)), percent(spearman(a, b))
