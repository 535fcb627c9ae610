"""Analyses of two runs: agreement of their scores, and pairs that only one of them judges well."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from paraphrastic.analysis.comparison.revisions import SCORES_FILE, table_of
from paraphrastic.analysis.comparison.significance import standardize
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import SCORES, SENTENCES
from paraphrastic.evaluation.headline import headline_sets, pooled_sets
from paraphrastic.evaluation.metrics import correlation, defined_percent, pearson, spearman

SENTENCES_FILE = Path("data/benchmarks/sentences.parquet")  # in the root of the repository
EXAMPLES = 5  # of each kind of error
_PAIR, _SCORES = ["text1", "text2", "gold"], ["score_a", "score_b"]


def pairs_of_two_runs(a: str, b: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the test pairs that two runs have scored, and the names of the sets that only one of them has.

    The sets are the papers' 22 as far as both runs have them, or the sample's.

    Args:
        a: a git revision, a DVC experiment, or `workspace` for the files of the last `dvc repro` here.
        b: the same.

    Returns:
        The columns `set`, `text1`, `text2` (tokenized), `gold`, `score_a` and `score_b`, by set; the names.

    Raises:
        ParameterError: as for `table_of`.
        DataError: the same, or the runs have no set or other pairs in common.
    """
    first, second = _scored_pairs(a), _scored_pairs(b)
    sets_a, sets_b = ({*side["set"]} for side in (first, second))
    common = sorted(headline_sets(sets_a & sets_b))
    if not common:
        raise DataError(f"{a} and {b} have no set of sentences in common: evaluate both with the same `benchmarks`")
    left_out = sorted({*headline_sets(sets_a | sets_b)} - {*common})
    first, second = (side[side["set"].isin(common)].reset_index(drop=True) for side in (first, second))
    for name in common:
        pairs = [side.loc[side["set"] == name, _PAIR].reset_index(drop=True) for side in (first, second)]
        if not pairs[0].equals(pairs[1]):
            raise DataError(f"{name}: the runs have different pairs; evaluate both with the same data")
    return first.rename(columns={"score": "score_a"}).assign(score_b=second["score"]), left_out


def _scored_pairs(revision: str) -> pd.DataFrame:
    """Return the pairs that one run has scored, with the columns `set`, `text1`, `text2`, `gold` and `score`."""
    scores = table_of(revision, SCORES_FILE, SCORES).to_pandas()
    texts = table_of(revision, SENTENCES_FILE, SENTENCES)["text"].combine_chunks()
    scores = scores[(scores["kind"] == "similarity") & (scores["split"] == "test")]
    if (scores[["left", "right"]] >= len(texts)).any(axis=None):
        raise DataError(f"{revision}: {SCORES_FILE} has scores of other benchmarks; run `dvc repro evaluate` there")
    text1, text2 = (texts.take(pa.array(scores[side])).to_pylist() for side in ("left", "right"))
    pairs: pd.DataFrame = scores.assign(text1=text1, text2=text2)[["set", *_PAIR, "score"]]
    return pairs


def agreement(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the correlations × 100 of two models' scores, and of their results over sets (acl2017 §4.2).

    Args:
        pairs: with the columns `set`, `gold`, `score_a` and `score_b`.

    Returns:
        `set`, `n`, `pearson` and `spearman`. Each set has a row, over its n pairs. The row `pooled` is over the pairs
        of all STS sets of 2012–2015 together, or of the sample's sets. The row `results` is over the n sets and
        correlates the Pearson's r of both models with the human scores. A correlation that is not defined is null.

    Raises:
        DataError: there are no STS sets.
    """
    parts = {str(name): part for name, part in pairs.groupby("set")}
    results = {score: [correlation(part["gold"], part[score]) for part in parts.values()] for score in _SCORES}
    tables = parts | {"pooled": _pooled(pairs), "results": pd.DataFrame(results)}
    scores = {name: [table[score] for score in _SCORES] for name, table in tables.items()}
    metrics = pearson, spearman
    rows = [(name, len(a), *(defined_percent(metric, a, b) for metric in metrics)) for name, (a, b) in scores.items()]
    return pd.DataFrame(rows, columns=["set", "n", "pearson", "spearman"])


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
    gold, a, b = (standardize(pooled[name].to_numpy()) for name in ("gold", *_SCORES))
    pooled = pooled.assign(error_a=a - gold, error_b=b - gold)
    kinds = [(*models, sign) for models in (("a", "b"), ("b", "a")) for sign in (1, -1)]
    table = pd.concat([_examples(pooled, *kind) for kind in kinds], ignore_index=True)
    table = table.astype(dict.fromkeys(_SCORES, float))  # float32 has no exact 4 decimals
    return table.round({"score_a": 4, "score_b": 4, "error_a": 2, "error_b": 2})


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


OF_TWO_RUNS = {"agreement": agreement, "errors": errors}  # analyses by name
