"""Comparisons with the papers, made up for tests."""

from paraphrastic.analysis.published import parsed
from paraphrastic.papers.comparing import Cell, Comparison, Line
from paraphrastic.papers.experiments import Experiment, Row
from paraphrastic.papers.plan import Run
from paraphrastic.papers.results import Result

VERSION = "1.2.3"


def make_line(
    label, cells, seeds=1, finished=None, configured=True, curve=None, tables=None, changed=(), lacks=(), **row
):
    """Return a line whose cells are column → (theirs, ours), ours with one value for each finished seed.

    `finished` seeds, or all, have a result, with points of its curve `selection` and tables of analyses. `changed` are
    parameters that have changed since, `lacks` sets that our means are without, `row` further keys of the declaration.
    """
    shown = {
        column: Cell(
            theirs, tuple(ours), parsed(theirs), len(theirs.partition(".")[2]) or 1, "" if ours else "a gap", lacks
        )
        for column, (theirs, ours) in cells.items()
    }
    if not configured:
        return Line(label, [], [], {}, shown)
    declared = Row(label=label, model="avg", **row)
    runs = [
        Run("avg", {"model": "avg", "corpus": ["open"], "label": label}, seed, tuple(declared.tasks))
        for seed in range(1, seeds + 1)
    ]
    done = runs[: seeds if finished is None else finished]
    result = Result(VERSION, {"sts.mean": 1.0}, tables or {}, {"selection": curve} if curve else {})
    return Line(label, [declared], runs, {run.name: result for run in done}, shown, changed)


def make_comparison(*lines, data="open", **experiment):
    """Return a comparison of an experiment whose rows are those of `lines`."""
    columns = list(dict.fromkeys(column for line in lines for column in line.cells))
    keys = {column: f"key.{column}" for column in columns}
    declared = {"id": "acl2017-t2", "paper": "acl2017", "table": "T2", "title": "A title", "caption": "A caption."}
    declared |= {"corpus": {"open": ["open"], "paper": ["simpwiki"]}, "columns": keys}
    declared |= {"rows": [row for line in lines for row in line.rows]} | experiment
    return Comparison(Experiment.model_validate(declared), data, columns, list(lines))
