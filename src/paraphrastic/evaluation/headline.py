"""The few numbers of `metrics/evaluate.json`, from the figures of the sets."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

Figures = Mapping[str, Mapping[str, float]]  # set → metric → value, 1 = perfect

YEARS = ("2012", "2013", "2014", "2015")  # the papers' years; 2016 came later and serves for selection
NOT_STS = ("sample.dev", "sample.words")


def headline(figures: Figures) -> dict[str, Any]:
    """Nested figures × 100, rounded to 2 decimals; what rests on a set that is not there is left out.

    `sts.mean` is over the sets of `YEARS` that are there, `transfer.mean` over those of the papers' 22 sets
    (iclr2016 §4.1, acl2017 §4.1: `YEARS`, SICK relatedness and PIT-2015) that are there; `sets` counts them.
    """
    r = {name: metrics["pearson"] for name, metrics in figures.items() if "pearson" in metrics}
    sts = _sts(r)
    sections = {
        "sts": _by_year(r) | _mean(r, sts),
        "sick": _pick(figures, "sick.relatedness", "pearson", "spearman"),
        "transfer": _mean(r, _transfer(r)),
        "qa": {name: _pick(figures, f"qa.{name}", "map", "mrr") for name in ("qasent", "wikiqa")},
        "paraphrase": {
            "msrp": _pick(figures, "paraphrase.msrp", "accuracy", "f1"),
            "ppdb": _pick(figures, "paraphrase.ppdb", "spearman"),
        },
        "words": _rho(figures, {name: f"words.{name}" for name in ("simlex", "wordsim", "rarewords")}),
        "sample": {
            "sts": _mean(r, _sample(r)),
            "qa": _pick(figures, "sample.qa", "map", "mrr"),
            "paraphrase": _pick(figures, "sample.paraphrase", "accuracy", "f1"),
            **_rho(figures, {"words": "sample.words"}),
        },
    }
    return _without_empty(sections)


def pooled(names: Iterable[str]) -> list[str]:
    """The similarity sets that the supervised task `sts` splits (acl2017 §4.3): of `YEARS`, or else of the sample."""
    names = list(names)
    return _sts(names) or _sample(names)


def averaged(names: Iterable[str]) -> list[str]:
    """Those of these similarity sets that the headline's `transfer.mean` is over, or `sample.sts.mean`."""
    names = list(names)
    return _transfer(names) or _sample(names)


def _sts(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(tuple(f"sts.{year}." for year in YEARS))]


def _transfer(names: Iterable[str]) -> list[str]:
    return [*_sts(names), *(name for name in ("sick.relatedness", "pit2015") if name in names)]


def _sample(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith("sample.") and name not in NOT_STS]


def percent(value: float) -> float:
    """× 100, to 2 decimals; zero has no sign."""
    return round(100 * value, 2) + 0.0


def _by_year(r: Mapping[str, float]) -> dict[str, float]:
    sets = {year: [v for name, v in r.items() if name.startswith(f"sts.{year}.")] for year in (*YEARS, "2016")}
    return {year: percent(float(np.mean(values))) for year, values in sets.items() if values}


def _mean(r: Mapping[str, float], names: Iterable[str]) -> dict[str, float]:
    values = [r[name] for name in names]
    return {"mean": percent(float(np.mean(values))), "sets": len(values)} if values else {}


def _pick(figures: Figures, name: str, *metrics: str) -> dict[str, float]:
    return {metric: percent(figures[name][metric]) for metric in metrics if name in figures}


def _rho(figures: Figures, names: Mapping[str, str]) -> dict[str, float]:
    return {key: percent(figures[name]["spearman"]) for key, name in names.items() if name in figures}


def _without_empty(tree: dict[str, Any]) -> dict[str, Any]:
    pruned = {key: _without_empty(v) if isinstance(v, dict) else v for key, v in tree.items()}
    return {key: v for key, v in pruned.items() if v != {}}
