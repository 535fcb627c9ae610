"""Experiments by configuration, which is everything but the seed, and the differences between configurations."""

import json
import re
from collections.abc import Collection, Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from ruamel.yaml import YAML

from paraphrastic.analysis.comparison.by_set import ScoresBySet, compare
from paraphrastic.analysis.comparison.formats import change_cells, mean_and_deviation
from paraphrastic.analysis.comparison.repository import dvc_repository
from paraphrastic.analysis.comparison.revisions import scores_of
from paraphrastic.analysis.comparison.significance import Estimate, Runs, difference, holm
from paraphrastic.base.errors import DataError, ParameterError, ParaphrasticError, unknown_name
from paraphrastic.evaluation.headline import pooled_sets
from paraphrastic.papers.plan import without_seed
from paraphrastic.papers.records import COLUMNS, LOCKS, Record, entries

_ROUNDING = 0.0051  # of recorded metrics × 100

_scores = cache(scores_of)


def by_state(root: Path) -> dict[str, set[str]]:
    """Return names of experiments: those that have ended, and those of DVC's queue that failed, run or wait."""
    with dvc_repository(root) as repo:
        queue, ended = repo.experiments.celery_queue, repo.experiments.ls(all_commits=True).values()
        return {
            "ended": {name for each in ended for name, _ in each},
            "failed": {done.entry.name for done in queue.iter_failed()},
            "running": {entry.name for entry in queue.iter_active()},
            "queued": {entry.name for entry in queue.iter_queued()},
        }


def runs(found: Iterable[Record], names: Collection[str], by: str | None = None) -> pd.DataFrame:
    """Return the experiments `names` that have results: `configuration`, `seed` and metrics × 100, by experiment.

    A configuration is named by its model and by the parameters that have another value than in the last commit, unless
    all configurations have that value. It has a digest if another one has the same name, but other code or data.
    Errors are those of `entries`.
    """
    known = {each.name: each for each in found}
    described = entries([known[name] for name in {"HEAD", *names} if name in known], by)
    listed = sorted((each for each in described if each.name in names), key=lambda each: each.name)
    digests = [_all_but_seed(known[each.name]) for each in listed]
    usual = "+".join(known["HEAD"].parameters.get("corpus", ()))
    corpora = ["" if each.corpus == usual else f"corpus={each.corpus} " for each in listed]
    changes = [
        re.sub(r"\bseed=\S+", "", corpus + each.changed).split() for corpus, each in zip(corpora, listed, strict=True)
    ]
    shared = set.intersection(*map(set, changes)) if len(set(digests)) > 1 else set()
    labels = [
        " ".join([each.model, *(text for text in texts if text not in shared)])
        for each, texts in zip(listed, changes, strict=True)
    ]
    seeds, index = [known[each.name].parameters["seed"] for each in listed], [each.name for each in listed]
    table = pd.DataFrame({"configuration": labels, "digest": digests, "seed": seeds}, index, dtype=object)
    table = table.join(pd.DataFrame([each.metrics for each in listed], index))
    twins = table.groupby("configuration")["digest"].transform("nunique") > 1
    table.loc[twins, "configuration"] += " (" + table["digest"].str[:6] + ")"
    return table


def _all_but_seed(record: Record) -> str:
    """Return a digest of the parameters without the seed, of the code, and of the user's files."""
    stages = YAML(typ="safe").load(record.read(LOCKS[0]))["stages"].values()
    deps = {each["path"]: each["md5"] for stage in stages for each in stage.get("deps", ())}
    inputs = {path: md5 for path, md5 in deps.items() if path == "data/inputs/data.csv" or not path.startswith("data/")}
    return sha256(json.dumps([without_seed(record.parameters), inputs], sort_keys=True).encode()).hexdigest()


class Means(NamedTuple):
    """Configurations, the best first, with the mean of each metric over seeds."""

    numbers: pd.DataFrame  # × 100, with standard deviations (`sd`), and p before and after its correction (`holm`)
    cells: pd.DataFrame  # the same as text, in fewer columns
    notes: list[str]  # what does not count, and how to read p


def means(table: pd.DataFrame, by: str | None = None, against: str | None = None) -> Means:
    """Return the configurations of experiments, and their differences from one of them.

    Args:
        table: as `runs` returns it. Of several experiments with one seed the first counts.
        by: the metric that is compared; by default the first of `COLUMNS` that there is.
        against: name of the configuration with which the others are compared, or of its experiment; None for none.

    Raises:
        ParameterError: no experiment has a metric, or no configuration has the name `against`.
    """
    titles = ({by: by} if by else {}) | {key: title for title, key in COLUMNS.items()}
    titles = {key: title for key, title in titles.items() if key in table and table[key].notna().any()}
    if not titles:
        raise ParameterError("no experiment has results of this kind; `dvc queue status` and `dvc exp show` list them")
    key, repeated = next(iter(titles)), table.duplicated(["configuration", "seed"])
    notes = [f"not counted, with the seed of another: {', '.join(table.index[repeated])}"] if repeated.any() else []
    groups = table[~repeated].dropna(subset=key).groupby("configuration")
    numbers = groups[list(titles)].mean().join(groups[list(titles)].std().add_suffix(" sd"))
    numbers.insert(0, "n", groups.size())
    numbers = numbers.sort_values(key, ascending=False)
    cells = numbers[["n"]].astype(str)
    for name, title in titles.items():
        cells[title] = [
            mean_and_deviation(groups.get_group(each)[name].dropna().to_numpy() / 100) for each in cells.index
        ]
    if against:
        chosen = str(table["configuration"].get(against, against))
        if chosen not in numbers.index:
            raise ParameterError(unknown_name("configuration", against, [*numbers.index, *table.index]))
        others = [name for name in numbers.index if name != chosen]
        changes = {name: _change(groups.get_group(chosen), groups.get_group(name), key) for name in others}
        tested = {name: each.estimate for name, each in changes.items() if each.estimate}
        ps = dict(zip(tested, holm([each.p for each in tested.values()]), strict=True))
        rows = {name: [*(100 * value for value in each[:3]), each.p, ps[name]] for name, each in tested.items()}
        texts = {name: change_cells(each, ps[name]) for name, each in tested.items()}
        numbers = numbers.join(pd.DataFrame(rows, ["difference", "low", "high", "p", "holm"]).T)
        cells = cells.join(pd.DataFrame(texts, ["difference", "95 %", "p (Holm)"]).T)
        numbers["factors"] = cells["factors"] = pd.Series({name: each.factors for name, each in changes.items()})
        notes += [f"{name}: items are not a factor: {each.reason}" for name, each in changes.items() if each.reason]
        notes += [
            f"differences are from {chosen}; p is corrected for their number, {len(ps)} (Holm), intervals are not"
        ]
    return Means(numbers.reset_index(), cells.astype(object).fillna("–").reset_index(), notes)


class Change(NamedTuple):
    """By how much a metric of a configuration exceeds that of another one."""

    estimate: Estimate | None  # None without scores if both have one seed
    factors: str  # the random factors: seeds, items, or both
    reason: str  # why items are not a factor; an empty string if they are


def _change(a: pd.DataFrame, b: pd.DataFrame, key: str) -> Change:
    """Return the difference with seeds and items as factors if all scores are in the DVC cache, otherwise seeds alone.

    Without items this is Welch's test, see `significance.difference`.
    """
    seeds = ["seeds"] if max(len(a), len(b)) > 1 else []
    try:
        return Change(_from_scores(a, b, key), " and ".join([*seeds, "items"]), "")
    except ParaphrasticError as error:
        values = [side[key].to_numpy() / 100 for side in (a, b)]
        first, second = (Runs(each, np.stack([each, each], axis=1)) for each in values)
        return Change(difference(first, second) if seeds else None, "".join(seeds), str(error))


def _from_scores(a: pd.DataFrame, b: pd.DataFrame, key: str) -> Estimate:
    """Return the difference in the row of `compare` in which all runs have their recorded metric.

    Raises:
        ParaphrasticError: scores are not here, or no row has these values.
    """
    sides: list[list[ScoresBySet]] = [[_scores(name) for name in side.index] for side in (a, b)]
    if key.endswith("sts.mean"):  # otherwise the mean of `compare` has sets beside STS
        sides = [[{name: run[name] for name in pooled_sets(run)} for run in side] for side in sides]
    for row in compare(sides[0], sides[1]).rows:
        points = np.concatenate([row.a.points, row.b.points])
        if np.allclose(100 * points, np.concatenate([a[key], b[key]]), 0, _ROUNDING):
            return row.change
    raise DataError(f"the stored scores do not give {key}")
