"""The pairs that two runs have scored, with their texts."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from paraphrastic.analysis.comparison.revisions import SCORES_FILE, table_of
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import SCORES, SENTENCES
from paraphrastic.evaluation.headline import headline_sets

SENTENCES_FILE = Path("data/benchmarks/sentences.parquet")  # in the root of the repository
_PAIR = ["text1", "text2", "gold"]


def pairs_of_two_runs(a: str, b: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the test pairs that two runs have scored, and the names of the sets that only one of them has.

    The sets are the papers' 22 as far as both runs have them, or the sample's.

    Args:
        a: a git revision, a DVC experiment, or `workspace` for the files of the last `dvc repro` here.
        b: the same.

    Returns:
        The columns `set`, `text1`, `text2` (tokenized), `gold`, `score_a` and `score_b`, by set; the names.

    Raises:
        ParameterError: there is no such revision or experiment, or this is not a DVC repository.
        DataError: scores or sentences are missing or damaged, or the runs have no set or other pairs in common.
    """
    first, second = _scored_pairs(a), _scored_pairs(b)
    common = sorted({*first["set"]} & {*second["set"]})
    if not common:
        raise DataError(f"{a} and {b} have no set of sentences in common: evaluate both with the same `benchmarks`")
    left_out = sorted({*first["set"]} ^ {*second["set"]})
    first, second = (side[side["set"].isin(common)].reset_index(drop=True) for side in (first, second))
    _refuse_other_pairs(first, second, common)
    return first.rename(columns={"score": "score_a"}).assign(score_b=second["score"]), left_out


def _scored_pairs(revision: str) -> pd.DataFrame:
    """Return the pairs that one run has scored, with the columns `set`, `text1`, `text2`, `gold` and `score`."""
    scores = table_of(revision, SCORES_FILE, SCORES).to_pandas()
    texts = table_of(revision, SENTENCES_FILE, SENTENCES)["text"].combine_chunks()
    scores = scores[(scores["kind"] == "similarity") & (scores["split"] == "test")]
    scores = scores[scores["set"].isin(headline_sets(scores["set"].unique()))]
    if (scores[["left", "right"]] >= len(texts)).any(axis=None):
        raise DataError(f"{revision}: {SCORES_FILE} has scores of other benchmarks; run `dvc repro evaluate` there")
    text1, text2 = (texts.take(pa.array(scores[side])).to_pylist() for side in ("left", "right"))
    pairs: pd.DataFrame = scores.assign(text1=text1, text2=text2)[["set", *_PAIR, "score"]]
    return pairs


def _refuse_other_pairs(first: pd.DataFrame, second: pd.DataFrame, names: list[str]) -> None:
    for name in names:
        a, b = (side.loc[side["set"] == name, _PAIR].reset_index(drop=True) for side in (first, second))
        if not a.equals(b):
            raise DataError(f"{name}: the runs have different pairs; evaluate both with the same data")
