"""The few numbers of metrics/evaluate.json, computed from the metrics of all sets."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from paraphrastic.evaluation.metrics import percent

SetMetrics = Mapping[str, Mapping[str, float]]  # set → metric → value, 1 = perfect

YEARS = ("2012", "2013", "2014", "2015")  # the papers' years; 2016 serves for selection
NOT_STS = ("sample.dev", "sample.words")
OWN = "own."  # sets in files of the user
MTEB = "mteb."  # sets as MTEB scores them, by Spearman's ρ
FEATURES = "features."  # sets whose labels a classifier learns from sentence vectors
SMT = "sts.2013.SMT"  # needs a licence of the LDC, so it is missing in most runs
PAPERS_SETS = (
    *(f"sts.2012.{name}" for name in ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews")),
    *(f"sts.2013.{name}" for name in ("headlines", "OnWN", "FNWN", "SMT")),
    *(f"sts.2014.{name}" for name in ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news")),
    *(f"sts.2015.{name}" for name in ("answers-forums", "answers-students", "belief", "headlines", "images")),
    "sick.relatedness",
    "pit2015",
)


def headline(metrics: SetMetrics) -> dict[str, Any]:
    """Return nested metrics × 100, rounded to 2 decimals; entries whose sets are missing are left out.

    `sts.mean` is the mean over the available sets of `YEARS`. `transfer.mean` is the mean over the available ones of
    the papers' 22 sets: `YEARS`, SICK relatedness and PIT-2015 (iclr2016 §4.1, acl2017 §4.1.1). `sets` counts them.
    `mteb` and `features` have the sets of these suites and their mean.
    `transfer.mean22` is the mean over `PAPERS_SETS`, `transfer.mean21` that without `SMT`; each needs all of its sets.
    """
    r = {name: values["pearson"] for name, values in metrics.items() if "pearson" in values}
    fixed = {"mean22": PAPERS_SETS, "mean21": [name for name in PAPERS_SETS if name != SMT]}
    complete = {key: _mean(r, names)["mean"] for key, names in fixed.items() if r.keys() >= set(names)}
    sections = {
        "sts": _by_year(r) | _mean(r, _sts(r)),
        "sick": _pick(metrics, "sick.relatedness", "pearson", "spearman"),
        "transfer": _mean(r, _transfer(r)) | complete,
        "qa": {name: _pick(metrics, f"qa.{name}", "map", "mrr") for name in ("qasent", "wikiqa")},
        "paraphrase": {
            "msrp": _pick(metrics, "paraphrase.msrp", "accuracy", "f1"),
            "pit2015": _pick(metrics, "paraphrase.pit2015", "accuracy", "f1"),
            "ppdb": _pick(metrics, "paraphrase.ppdb", "spearman"),
            "annotated-ppdb": _pick(metrics, "paraphrase.annotated-ppdb", "spearman"),
        },
        "words": _spearman(metrics, {name: f"words.{name}" for name in ("simlex", "wordsim", "rarewords", "ppdb")}),
        "mteb": _named(metrics, MTEB, "spearman"),
        "features": _named(metrics, FEATURES, "accuracy"),
        "clustering": {"Banking77": _pick(metrics, f"{FEATURES}Banking77", "v_measure")},
        "own": _own(metrics),
        "sample": {
            "sts": _mean(r, _sample(r)),
            "qa": _pick(metrics, "sample.qa", "map", "mrr"),
            "paraphrase": _pick(metrics, "sample.paraphrase", "accuracy", "f1"),
            **_spearman(metrics, {"words": "sample.words"}),
        },
    }
    return _without_empty(sections)


def pooled_sets(names: Iterable[str]) -> list[str]:
    """Return the similarity sets that the supervised task `sts` divides: those of `YEARS`, otherwise the sample's.

    See acl2017 §4.3.
    """
    names = list(names)
    return _sts(names) or _sample(names)


def headline_sets(names: Iterable[str]) -> list[str]:
    """Return the similarity sets of `transfer.mean`; if there are none, of `sample.sts.mean` or else the user's."""
    names = list(names)
    return _transfer(names) or _sample(names) or [name for name in names if name.startswith(OWN)]


def _sts(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(tuple(f"sts.{year}." for year in YEARS))]


def _transfer(names: Iterable[str]) -> list[str]:
    names = list(names)
    return [*_sts(names), *(name for name in ("sick.relatedness", "pit2015") if name in names)]


def _sample(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith("sample.") and name not in NOT_STS]


def _by_year(r: Mapping[str, float]) -> dict[str, float]:
    """Return the mean of each year, and `2013_sets`: the sets of 2013 are 3 without `SMT`, otherwise 4."""
    years = {year: [v for name, v in r.items() if name.startswith(f"sts.{year}.")] for year in (*YEARS, "2016")}
    means = {year: percent(float(np.mean(values))) for year, values in years.items() if values}
    return means | ({"2013_sets": len(years["2013"])} if years["2013"] else {})


def _own(metrics: SetMetrics) -> dict[str, Any]:
    """Return all metrics of the sets of the user, nested by their names."""
    nested: dict[str, Any] = {}
    for name, values in metrics.items():
        if name.startswith(OWN):
            inner = nested
            for part in name.removeprefix(OWN).split("."):
                inner = inner.setdefault(part, {})
            inner.update({metric: percent(value) for metric, value in values.items()})
    return nested


def _named(metrics: SetMetrics, prefix: str, metric: str) -> dict[str, float]:
    """Return a metric of the sets with a prefix by the rest of their names, and its mean."""
    values = {name.removeprefix(prefix): each[metric] for name, each in metrics.items() if name.startswith(prefix)}
    return {name: percent(value) for name, value in values.items()} | _mean(values, values)


def _mean(r: Mapping[str, float], names: Iterable[str]) -> dict[str, float]:
    values = [r[name] for name in names]
    return {"mean": percent(float(np.mean(values))), "sets": len(values)} if values else {}


def _pick(metrics: SetMetrics, name: str, *wanted: str) -> dict[str, float]:
    return {metric: percent(metrics[name][metric]) for metric in wanted if name in metrics}


def _spearman(metrics: SetMetrics, names: Mapping[str, str]) -> dict[str, float]:
    return {key: percent(metrics[name]["spearman"]) for key, name in names.items() if name in metrics}


def _without_empty(tree: dict[str, Any]) -> dict[str, Any]:
    pruned = {key: _without_empty(v) if isinstance(v, dict) else v for key, v in tree.items()}
    return {key: v for key, v in pruned.items() if v != {}}
