"""Experiments by configuration, which is everything but the seed, and the differences between configurations."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from hashlib import sha256
from itertools import filterfalse
from pathlib import Path

import numpy as np
import pandas as pd

from paraphrastic.analysis.comparison.by_set import ScoresBySet, compare
from paraphrastic.analysis.comparison.formats import change_cells, mean_and_deviation
from paraphrastic.analysis.comparison.repository import dvc_repository, experiments
from paraphrastic.analysis.comparison.revisions import predictions_of, scores_of
from paraphrastic.analysis.comparison.significance import Estimate, Runs, difference, holm
from paraphrastic.analysis.resamples import of_predictions
from paraphrastic.base.errors import DataError, ParameterError, ParaphrasticError, unknown_name
from paraphrastic.evaluation.headline import pooled_sets
from paraphrastic.papers.experiments import TASKS
from paraphrastic.papers.plan import corpus_text, without_seed
from paraphrastic.papers.records import COLUMNS, LOCKS, Record, entries, parse_yaml

_ROUNDING = 0.0051  # of recorded metrics × 100

_Change = tuple[Estimate | None, str, str]

_scores = cache(scores_of)


@cache
def _replicates(name: str, task: str) -> pd.DataFrame:
    return of_predictions(task, predictions_of(name, task))


def by_state(root: Path) -> dict[str, set[str]]:
    """Return names of experiments: those that have ended, and those of DVC's queue that failed, run or wait."""
    with dvc_repository(root) as repo:
        queue = repo.experiments.celery_queue
        return {
            "ended": {name for name, _ in experiments(repo.scm)},
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
    table = pd.DataFrame([each.metrics for each in listed], [each.name for each in listed])
    table["seed"] = [known[name].parameters["seed"] for name in table.index]
    table["digest"] = pd.Series({name: _all_but_seed(known[name]) for name in table.index}, dtype=str)
    usual = f"corpus={corpus_text(known['HEAD'].parameters.get('corpus', ()))}"
    texts = [re.sub(r"\bseed=\S+", "", f"corpus={each.corpus} {each.changed}").split() for each in listed]
    shared = {usual}.union(set.intersection(*map(set, texts)) if table["digest"].nunique() > 1 else ())
    labels = [[each.model, *filterfalse(shared.__contains__, words)] for each, words in zip(listed, texts, strict=True)]
    table["configuration"] = pd.Series(map(" ".join, labels), table.index, dtype=str)
    twins = table.groupby("configuration")["digest"].transform("nunique") > 1
    table.loc[twins, "configuration"] += " (" + table["digest"].str[:6] + ")"
    return table


def _all_but_seed(record: Record) -> str:
    """Return a digest of the parameters without the seed, of the code, and of the user's files."""
    stages = parse_yaml(record.read(LOCKS[0]))["stages"].values()
    deps = {each["path"]: each["md5"] for stage in stages for each in stage.get("deps", ())}
    own = ("data/inputs/data.csv", "data/inputs/teacher.csv")
    inputs = {path: md5 for path, md5 in deps.items() if path in own or not path.startswith("data/")}
    return sha256(json.dumps([without_seed(record.parameters), inputs], sort_keys=True).encode()).hexdigest()


def means(
    table: pd.DataFrame, by: str | None = None, against: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return the configurations of experiments, the best first, and their differences from one of them.

    Args:
        table: as `runs` returns it. Of several experiments with one seed the first counts.
        by: the metric that is compared; by default the first of `COLUMNS` that there is.
        against: name of the configuration with which the others are compared, or of its experiment; None for none.

    Returns:
        Numbers × 100, with standard deviations (`sd`), and p before and after its correction (`holm`); the same as
        text, in fewer columns; what does not count, and how to read p.

    Raises:
        ParameterError: no experiment has a metric, or no configuration has the name `against`.
    """
    titles = ({by: by} if by else {}) | {key: title for title, key in COLUMNS.items()}
    titles = {key: title for key, title in titles.items() if key in table and table[key].notna().any()}
    if not titles:
        raise ParameterError("no experiment has results of this kind; `dvc queue status` and `dvc exp show` list them")
    key = next(iter(titles))
    counted = table.dropna(subset=key).drop_duplicates(["configuration", "seed"])
    notes, groups = _left_out(table, counted, titles), counted.groupby("configuration")
    numbers = groups[list(titles)].mean().join(groups[list(titles)].std().add_suffix(" sd"))
    numbers.insert(0, "n", groups.size())
    numbers = numbers.sort_values(key, ascending=False)
    cells = numbers[["n"]].astype(str)
    for name, title in titles.items():
        values = [groups.get_group(each)[name].dropna().to_numpy() / 100 for each in cells.index]
        cells[title] = list(map(mean_and_deviation, values))
    if against:
        chosen = str(table["configuration"].get(against, against))
        if chosen not in numbers.index:
            raise ParameterError(unknown_name("configuration", against, [*numbers.index, *table.index]))
        others = [name for name in numbers.index if name != chosen]
        changes = {name: _change(groups.get_group(chosen), groups.get_group(name), key) for name in others}
        of_numbers, of_cells, of_notes = _differences(changes, chosen)
        numbers, cells, notes = numbers.join(of_numbers), cells.join(of_cells), [*notes, *of_notes]
    return numbers.reset_index(), cells.astype(object).fillna("–").reset_index(), notes


def _left_out(table: pd.DataFrame, counted: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Return which experiments do not count, and which configurations have fewer values of a column than runs."""
    key, groups = next(iter(titles)), counted.groupby("configuration")
    valued, sizes, counts = table.dropna(subset=key), groups.size(), groups[list(titles)].count()
    reasons: dict[str, Iterable[str]] = {
        f"no {key}": table.index.difference(valued.index),
        "a seed counts once": valued.index.difference(counted.index),
    }
    for name, title in titles.items():
        of_column = zip(counts.index, counts[name], sizes, strict=True)
        reasons[f"{title} of fewer runs than n"] = [f"{each} {n}" for each, n, size in of_column if n < size]
    texts = {reason: ", ".join(names) for reason, names in reasons.items()}
    return [f"{reason}: {names}" for reason, names in texts.items() if names]


def _differences(changes: Mapping[str, _Change], chosen: str) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return what `means` returns of the differences from the configuration `chosen`."""
    tested = {name: change for name, (change, _, _) in changes.items() if change}
    ps = dict(zip(tested, holm([each.p for each in tested.values()]), strict=True))
    rows = {name: [*(100 * value for value in each[:3]), each.p, ps[name]] for name, each in tested.items()}
    texts = {name: change_cells(each, ps[name]) for name, each in tested.items()}
    factors = pd.DataFrame({"factors": {name: factors for name, (_, factors, _) in changes.items()}})
    numbers = pd.DataFrame(rows, ["difference", "low", "high", "p", "holm"]).T
    cells = pd.DataFrame(texts, ["difference", "95 %", "p (Holm)"]).T
    notes = [f"{name}: items are not a factor: {why}" for name, (_, _, why) in changes.items() if why]
    notes += [f"differences are from {chosen}; p is corrected for their number, {len(ps)} (Holm)"]
    return numbers.join(factors, how="outer"), cells.join(factors, how="outer"), notes


def _change(a: pd.DataFrame, b: pd.DataFrame, key: str) -> _Change:
    """Return by how much a metric of B exceeds that of A, its random factors, and why items are not one of them.

    Items are if the scores of all runs, or their predictions for a task, are in the DVC cache, and give the recorded
    metrics. Without items this is Welch's test, which needs two seeds.
    """
    seeds = ["seeds"] if max(len(a), len(b)) > 1 else []
    try:
        if key.startswith(TASKS):
            return difference(_of_task(a, key), _of_task(b, key)), " and ".join([*seeds, "items"]), ""
        scores = [[_of_metric(key, _scores(name)) for name in side.index] for side in (a, b)]
        for row in compare(scores[0], scores[1]).rows:
            points = np.concatenate([row.a.points, row.b.points])
            if np.allclose(100 * points, np.concatenate([a[key], b[key]]), 0, _ROUNDING):
                return row.change, " and ".join([*seeds, "items"]), ""
        reason = f"the stored scores do not give {key}"
    except ParaphrasticError as error:
        reason = str(error)
    values = [side[key].to_numpy() / 100 for side in (a, b)]
    first, second = (Runs(each, np.stack([each, each], axis=1)) for each in values)
    return difference(first, second) if seeds else None, "".join(seeds), reason


def _of_task(side: pd.DataFrame, key: str) -> Runs:
    """Return a metric of a supervised task of the runs of a configuration, with replicates from its predictions."""
    task, column = key.removeprefix(TASKS).split(".", 1)
    tables = [_replicates(name, task) for name in side.index]
    if not all(column in table for table in tables):
        raise DataError(f"the stored predictions do not give {key}")
    return Runs(side[key].to_numpy() / 100, np.stack([table[column] / 100 for table in tables]))


def _of_metric(key: str, scores: ScoresBySet) -> ScoresBySet:
    """Return the scores of fewer sets if the key of a metric tells which; the mean of all has sets beside STS."""
    names = pooled_sets(scores) if key.endswith("sts.mean") else [key] if key in scores else scores
    return {name: scores[name] for name in names}
