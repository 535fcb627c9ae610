"""Published numbers beside stored results, and the texts of their cells."""

import pytest
from pydantic import ValidationError

from paraphrastic.evaluation.headline import PAPERS_SETS
from paraphrastic.papers.comparing import Cell, Shown, compare, grid, signed
from paraphrastic.papers.experiments import Experiment, Experiments
from paraphrastic.papers.plan import expected, runs_of_row
from paraphrastic.papers.results import Result, Store
from tests.helpers.paper_comparisons import make_comparison, make_line
from tests.helpers.recorded_results import PARAMS, changed


def declare(**keys):
    """Return a declaration of acl2017, Table 1, with two configurations."""
    rows = [{"label": "avg simpwiki", "model": "avg", "seeds": [1, 2]}, {"label": "avg new", "model": "charcnn"}]
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


def test_table_of_our_own_has_no_published_numbers(tmp_path):
    lines = compared(tmp_path, declare(paper=None), [67.0])
    assert list(lines) == ["avg simpwiki", "avg new"]
    assert (lines["avg simpwiki"].cells["mean"].theirs, lines["avg simpwiki"].cells["mean"].mean) == ("", 67.0)


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
    lines = compared(tmp_path, declare(), [67.0], params=changed(PARAMS, "models.avg.dim", 600))
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


def only_cell(theirs, ours, **options):
    """Return the texts of the only cell of a comparison."""
    seeds = {"seeds": max(len(ours), 1), "finished": len(ours)}
    return grid(make_comparison(make_line("avg", {"mean": (theirs, ours)}, **seeds), **options)).rows[0][1][0]


def test_mean_spread_and_difference_have_the_decimals_of_the_paper():
    assert only_cell("68.4", (67.0, 68.0)) == Shown("68.4", "67.5", "0.7", "−0.9", "close")
    assert only_cell("26.31", (27.0,)) == Shown("26.31", "27.00", "", "+0.69", "close")


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (69.4, "close"), (69.5, "near"), (71.4, "near"), (71.5, "off"), (58.4, "off"), (58.3, "far"), (68.44, "close"),
        (67.4, "close"), (67.3, "near"), (float("nan"), "far"),
    ],
)  # fmt: skip
def test_bounds_of_classes(ours, expected):
    assert only_cell("68.4", (ours,)).closeness == expected


def test_class_of_the_difference_as_it_is_shown_in_percent_or_points():
    cell = only_cell("68.4", (69.44,))
    assert (cell.difference, cell.closeness) == ("+1.0", "close")
    assert only_cell("12,108", (12_000.0,)) == Shown("12,108", "12,000", "", "−0.9 %", "close")
    assert only_cell("100.0", (90.0,)).difference == "−10.0"
    assert only_cell("0.7714", (75.15, 75.35), scale=100.0) == Shown("0.7714", "0.7525", "0.0014", "−0.0189", "near")
    assert only_cell("0.7714", (0.7515,)).closeness == "close"


def test_cells_without_a_difference():
    lines = [make_line("avg", {"mean": ("68.4", (67.0, 68.0)), "new": ("", (1.0,))}, seeds=2, lacks=["a", "b"])]
    ((_, (cell, new)),) = grid(make_comparison(*lines)).rows
    assert cell == Shown("68.4", "67.5", "0.7", partial="without a, b")
    assert cell.ours_and_spread == "67.5 ± 0.7*"
    assert new == Shown("", "1.0")
    assert only_cell("", (67.04,)) == Shown("", "67.0")
    assert only_cell("a dog", ("a cat",)) == Shown("a dog", "a cat")


def test_gaps_have_reasons():
    lines = [
        make_line("avg", {"mean": ("68.4", ())}, seeds=3, finished=0),
        make_line("lstm", {"mean": ("59.3", ())}),
        make_line("skip-thought", {"mean": ("50.1", ())}, configured=False),
        make_line("new", {"mean": ("", ())}, seeds=3, finished=0),
    ]
    shown = [cells[0] for _, cells in grid(make_comparison(*lines)).rows]
    assert [cell.ours for cell in shown] == ["–"] * 4
    assert [cell.reason for cell in shown] == ["0 of 3 runs", "not measured", "no configuration of ours", "0 of 3 runs"]


def test_cells_that_are_no_gaps():
    lines = [
        make_line("a", {"x": ("", ()), "y": ("", ())}, finished=0, columns=["x"]),
        make_line("b", {"x": ("", ()), "y": ("", ())}, finished=0, columns=["y"]),
    ]
    (_, first), (_, second) = grid(make_comparison(*lines)).rows
    assert [cell.ours for cell in (*first, *second)] == ["–", "", "", "–"]
    lines = [
        make_line("avg", {"mean": ("68.4", (68.0,)), "pairs": ("", ())}),
        make_line("data", {"mean": ("", ()), "pairs": ("71", ())}, configured=False),
    ]
    table = grid(make_comparison(*lines, measured=["mean"]))
    assert table.rows[0][1][1] == table.rows[1][1][0] == Shown("", "")
    assert [table.parts(column) for column in (0, 1)] == [["theirs", "ours", "difference"], ["theirs"]]
    assert [(row.text, column.text) for row, column, _ in table.entries()] == [("avg", "mean"), ("data", "pairs")]


def test_headings_name_data_and_runs():
    lines = [
        make_line("a", {"mean": ("1", (1.0,))}, seeds=3),
        make_line("b", {"mean": ("1", (1.0,))}, seeds=3, finished=1),
        make_line("c", {"mean": ("1", (1.0,))}, tasks=["sst"]),
        make_line("d", {"mean": ("1", ())}, configured=False),
    ]
    details = [heading.details for heading, _ in grid(make_comparison(*lines)).rows]
    assert details == ["open · 3 runs", "open · 1 of 3 runs", "open + sst · 1 run", ""]


def test_table_that_is_transposed_or_has_lists():
    cells = {f"set{number}": (f"{number}.0", (number + 0.5,)) for number in range(9)}
    wide = grid(make_comparison(make_line("avg", cells), make_line("lstm", cells)))
    assert wide.transposed
    assert [heading.text for heading in wide.columns] == ["avg", "lstm"]
    assert wide.rows[8][0].text == "set8"
    assert wide.rows[8][1][1].ours == "8.5"
    assert [(row.text, column.text) for row, column, _ in wide.entries()][1] == ("lstm", "set0")
    long = grid(make_comparison(*(make_line(f"avg {number}", cells) for number in range(9))))
    assert not long.transposed
    assert len(long.columns) == 9
    neighbours = {"1": ("not", ("not", "no")), "2": ("capable", ("able", "x")), "3": ("stalled", ("capable", "y"))}
    table = grid(make_comparison(make_line("avg not capable", neighbours, seeds=2)))
    assert table.rows[0][1] == [Shown("not, capable, stalled", "not, able, capable", difference="2 of 3 in both")]
    gap = grid(make_comparison(make_line("avg", {"1": ("a", ()), "2": ("b", ())}, finished=0)))
    assert gap.rows[0][1] == [Shown("a, b", "–", reason="0 of 1 runs")]


@pytest.mark.parametrize(("value", "text"), [(1.25, "+1.2"), (-0.04, "0.0"), (0.0, "0.0"), (-3.0, "−3.0")])
def test_sign(value, text):
    assert signed(value, 1) == text
