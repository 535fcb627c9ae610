"""Published numbers beside stored results."""

import pytest
from pydantic import ValidationError

from paraphrastic.evaluation.headline import PAPERS_SETS
from paraphrastic.papers.comparing import Cell, compare
from paraphrastic.papers.experiments import Experiment, Experiments
from paraphrastic.papers.plan import expected, runs_of_row
from paraphrastic.papers.results import Result, Store

PARAMS = {
    "corpus": ["open"],
    "benchmarks": "open",
    "tokenize": {},
    "vocabulary": {},
    "train": {},
    "model": "avg",
    "seed": 1,
    "models": {"avg": {"dim": 300}, "lstm": {"dim": 300}},
}


def declare(**keys):
    """Return a declaration of acl2017, Table 1, with two configurations."""
    rows = [{"label": "avg simpwiki", "model": "avg", "seeds": [1, 2]}, {"label": "avg new", "model": "lstm"}]
    declared = {"id": "acl2017-t1", "paper": "acl2017", "table": "T1", "title": "title", "caption": "caption"}
    declared |= {"corpus": {"open": ["open"], "paper": ["simpwiki"]}, "columns": {"mean": "transfer.mean"}}
    return Experiment.model_validate(declared | {"rows": rows} | keys)


def compared(folder, experiment, values=(), params=PARAMS, sets=PAPERS_SETS):
    """Return the lines of a comparison by label, after `values` have been stored for the seeds of the first row.

    Args:
        folder: of the stored results.
        experiment: its declaration.
        values: `transfer.mean` of each seed.
        params: content of params.yaml.
        sets: evaluation sets of the results.
    """
    declared, store = Experiments({experiment.id: experiment}, {}), Store(folder, PARAMS)
    for run, value in zip(runs_of_row(experiment, experiment.rows[0], declared, "open"), values, strict=False):
        store.add(run, Result("1.0", {"transfer.mean": value} | dict.fromkeys(sets, value)), expected(PARAMS, run))
    return {line.label: line for line in compare(experiment, declared, "open", Store(folder, params)).lines}


def test_mean_and_spread_over_seeds(tmp_path):
    cell = compared(tmp_path, declare(), [67.0, 68.0])["avg simpwiki"].cells["mean"]
    assert (cell.theirs, cell.mean, cell.published) == ("68.4", 67.5, 68.4)
    assert cell.spread == pytest.approx(0.5**0.5)
    assert cell.difference == pytest.approx(-0.9)


def test_mean_over_fewer_sets_is_not_compared(tmp_path):
    cell = compared(tmp_path, declare(), [67.0], sets=PAPERS_SETS[:-1])["avg simpwiki"].cells["mean"]
    assert (cell.mean, cell.published, cell.difference, cell.lacks) == (67.0, 68.4, None, ("pit2015",))


def test_rows_of_the_paper_come_first_and_ours_after_them(tmp_path):
    lines = compared(tmp_path, declare(), [67.0])
    assert list(lines)[:2] == ["avg ppdb", "avg simpwiki"]
    assert list(lines)[-1] == "avg new"
    assert [lines[label].gap for label in ("avg ppdb", "avg simpwiki", "avg new")] == [
        "no configuration of ours",
        "1 of 2 runs",
        "0 of 1 runs",
    ]


def test_another_unit_of_the_paper(tmp_path):
    cell = compared(tmp_path, declare(scale=0.5), [35.0])["avg simpwiki"].cells["mean"]
    assert (cell.published, cell.difference) == pytest.approx((34.2, 0.8))


def test_result_of_other_parameters_is_told(tmp_path):
    wide = PARAMS | {"models": {"avg": {"dim": 600}, "lstm": {"dim": 300}}}
    lines = compared(tmp_path, declare(), [67.0], params=wide)
    assert lines["avg simpwiki"].changed == ["models.avg.dim"]
    assert lines["avg new"].changed == []


def test_data_of_a_line(tmp_path):
    rows = [
        {"label": "a", "model": "avg", "corpus": {"open": ["open", "captions"], "paper": ["ppdb"]}},
        {"label": "b", "model": "avg", "corpus": {"open": ["sample"], "paper": ["sample"]}, "tasks": ["sst"]},
    ]
    rows.append(rows[1] | {"label": "c", "start": "a"})
    lines = compared(tmp_path, declare(rows=rows))
    assert lines["a"].data == ["open", "captions"]
    assert lines["b"].data == ["sst"]
    assert lines["c"].data == ["open", "captions", "sst"]


@pytest.mark.parametrize("text", ["", "a text", "1.2.3"])
def test_text_of_the_paper_is_no_number(text):
    assert Cell(text, (1.0,)).published is None
    assert Cell(text, (1.0,)).difference is None


@pytest.mark.parametrize(
    ("places", "figure", "message"),
    [
        ([1, 2], {"column": "men"}, "unknown column 'men'"),
        ([1, None], {}, "needs `x`"),
        ([1, "two"], {}, "text in others"),
        ([1, 0], {"log": True}, "numbers above 0"),
    ],
)
def test_figure_that_cannot_be_drawn(places, figure, message):
    rows = [{"label": str(n), "model": "avg"} | ({} if x is None else {"x": x}) for n, x in enumerate(places)]
    shown = {"kind": "line", "x": "pairs", "y": "score", "column": "mean"}
    with pytest.raises(ValidationError, match=message):
        declare(rows=rows, figure=shown | figure)
