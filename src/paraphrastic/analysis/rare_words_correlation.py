"""Correlation over sets of rare words with the deviation from the participants of the tasks: iclr2016 §5.1."""

import pandas as pd

from paraphrastic.analysis import rare_words
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.errors import DataError
from paraphrastic.evaluation.metrics import percent, spearman


def analyze(artifacts: Artifacts) -> pd.DataFrame:
    """Return Spearman's ρ × 100, over the papers' sets, of the columns of `rare_words` with `deviation`.

    A negative ρ says that the model falls behind the participants where more words are rare.

    Returns:
        `share` (`rare_words` or `rare_tokens`), `sets` and `spearman`.

    Raises:
        DataError: there are fewer than two of the papers' sets.
    """
    table = rare_words.analyze(artifacts).dropna()
    if len(table) < 2:
        raise DataError(f"{artifacts.folder}/scores.parquet: not two sets of iclr2016; choose `benchmarks: open`")
    deviation = table["deviation"].to_numpy()
    shares = ("rare_words", "rare_tokens")
    rows = [(share, len(table), percent(spearman(table[share].to_numpy(), deviation))) for share in shares]
    return pd.DataFrame(rows, columns=["share", "sets", "spearman"])
