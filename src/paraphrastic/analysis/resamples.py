"""Bootstrap replicates of the main metrics of a run, all that intervals and tests of differences need of it.

The tables of the papers, from iclr2016 to ldc2016, have neither.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.analysis.comparison.by_set import by_set, measure, metric_name, why_undefined
from paraphrastic.analysis.comparison.significance import Correlation, Mean, Measure, resample
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import SCORES
from paraphrastic.evaluation.headline import OWN, headline_sets
from paraphrastic.evaluation.metrics import average_precision_and_reciprocal_rank

REPLICATES = 1000
MEANS = ("transfer.mean", "sample.sts.mean")  # over the sets of `headline_sets`
SETS = {  # key of metrics/evaluate.json → its set, or the group of sets over which it is the mean
    "sts.2016": "sts.2016",
    "sick.pearson": "sick.relatedness",
    "qa.qasent.map": "qa.qasent",
    "qa.wikiqa.map": "qa.wikiqa",
    "paraphrase.msrp.accuracy": "paraphrase.msrp",
    "paraphrase.ppdb.spearman": "paraphrase.ppdb",
    "words.simlex": "words.simlex",
    "words.wordsim": "words.wordsim",
    "words.rarewords": "words.rarewords",
    "words.ppdb": "words.ppdb",
    "sample.qa.map": "sample.qa",
    "sample.paraphrase.accuracy": "sample.paraphrase",
    "sample.words": "sample.words",
}
KEYS = (*MEANS, *SETS)


def resamples(artifacts: Artifacts) -> pd.DataFrame:
    """Return 1,000 bootstrap replicates of the main metrics × 100, as far as the scores have their sets.

    A replicate draws the pairs of each set, or the questions of a ranking, with replacement; ranks are those in the
    replicate, and the threshold of an accuracy is that of the whole set. Row r of two runs is computed from the same
    pairs, see `significance.resample`, so that the differences of rows are replicates of the paired difference.

    Returns:
        A column for each of `KEYS`, named as in metrics/evaluate.json, and a row for each replicate. Of `MEANS` there
        is the first one that the sets define.

    Raises:
        DataError: the scores are missing, or have no set of these metrics.
    """
    tables = by_set(artifacts.read("scores.parquet", SCORES))
    tables = {name: table for name, table in tables.items() if not why_undefined(table)}
    columns = _columns(tables)
    if not columns:
        raise DataError(f"{artifacts.folder}/scores.parquet: no main metric; choose `benchmarks: sample` or `open`")
    needed = {name for names in columns.values() for name in names}
    replicates = {name: resample([measure(tables[name])], name, REPLICATES)[0] for name in needed}
    means = {key: 100 * np.mean([replicates[name] for name in names], axis=0) for key, names in columns.items()}
    return pd.DataFrame(means).round(2) + 0.0  # no −0.0


def of_predictions(task: str, predictions: pa.Table) -> pd.DataFrame:
    """Return replicates × 100, as those of `resamples`, of the main metrics of a supervised task.

    Args:
        task: its name.
        predictions: with the columns of `PREDICTIONS`.

    Returns:
        The columns `dev.pearson` and `test.pearson`, or likewise `map` and `mrr`, or `accuracy`.
    """
    replicates = {
        f"{split}.{name}": 100 * resample([values], f"{task}.{split}", REPLICATES)[0]
        for split in pc.unique(predictions["split"]).to_pylist()
        for name, values in _main_measures(predictions.filter(pc.equal(predictions["split"], split))).items()
    }
    return pd.DataFrame(replicates).round(2) + 0.0


def _main_measures(predictions: pa.Table) -> dict[str, Measure]:
    kind = predictions["kind"][0].as_py()
    question, gold, predicted = (predictions[name].to_numpy() for name in ("question", "gold", "predicted"))
    if kind == "similarity":
        return {"pearson": Correlation(gold, predicted)}
    if kind == "ranking":
        both = average_precision_and_reciprocal_rank(question, gold, predicted)
        return {name: Mean(values) for name, values in zip(("map", "mrr"), both, strict=True)}
    return {"accuracy": Mean(gold == predicted)}


def _columns(tables: Mapping[str, pa.Table]) -> dict[str, list[str]]:
    """Return the sets over which each metric is a mean."""
    main = headline_sets(name for name, table in tables.items() if metric_name(table) == "pearson")
    key = MEANS[all(name.startswith("sample.") for name in main)]
    columns = {key: main} if main and not main[0].startswith(OWN) else {}
    others = {key: [name for name in tables if f"{name}.".startswith(f"{group}.")] for key, group in SETS.items()}
    return columns | {key: names for key, names in others.items() if names}
