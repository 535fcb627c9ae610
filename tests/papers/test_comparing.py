"""Published numbers beside stored results, and the texts of their cells."""

from itertools import combinations
from statistics import fmean, median

import pytest
from pydantic import ValidationError

from paraphrastic.analysis.published import parsed, printed
from paraphrastic.evaluation.headline import PAPERS_SETS
from paraphrastic.papers.comparing import Cell, compare, signed
from paraphrastic.papers.experiments import Experiment, Experiments, Preset
from paraphrastic.papers.plan import expected, runs_of_row
from paraphrastic.papers.results import Result, Store
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


def test_row_that_differs_on_open_data_alone_is_shown_there_alone(tmp_path):
    same = {"label": "avg simpwiki", "model": "avg"}
    rows = [same, same | {"label": "avg, slow", "open_options": {"dim": 3}}, same | {"label": "avg ppdb"}]
    experiment = declare(rows=rows)
    declared = Experiments({experiment.id: experiment}, {}, PARAMS)
    labels = {
        data: [line.label for line in compare(experiment, declared, data, Store(tmp_path, PARAMS)).lines if line.rows]
        for data in ("open", "paper")
    }
    assert labels["open"] == ["avg ppdb", "avg simpwiki", "avg, slow"]
    assert labels["paper"] == ["avg ppdb", "avg simpwiki"]  # both are rows of the paper


def test_mean_over_fewer_sets_is_not_compared(tmp_path):
    lines = compared(tmp_path, declare(), [67.0], sets=PAPERS_SETS[:-1])
    cell = lines["avg simpwiki"].cells["mean"]
    assert (cell.mean, cell.published, cell.difference, cell.lacks) == (67.0, 68.4, None, ("pit2015",))
    assert cell.shown_mean == "67.0*"
    assert list(lines["avg simpwiki"].cells) == ["mean"]


def test_differences_from_a_row_are_compared_where_the_paper_states_the_mean_alone(tmp_path):
    rows = [
        {"label": label, "model": "avg", "options": {"dim": n}} for n, label in enumerate(("avg ppdb", "lstm ppdb"))
    ]
    experiment = declare(rows=rows, reference="avg ppdb")
    declared, store = Experiments({experiment.id: experiment}, {}), Store(tmp_path, PARAMS)
    for row, value in zip(experiment.rows, (60.0, 50.0), strict=True):
        (run,) = runs_of_row(experiment, row, declared, "open")
        store.add(run, Result("1.0", {"transfer.mean": value} | dict.fromkeys(COMMON, value)), expected(PARAMS, run))
    lines = {line.label: line for line in compare(experiment, declared, "open", store).lines}
    cell = lines["lstm ppdb"].cells["to avg ppdb"]
    assert (cell.theirs, cell.mean, cell.shown_difference) == ("−13.5", -10.0, "+3.5")  # 54.2 − 67.7
    assert lines["avg ppdb"].cells["to avg ppdb"].shown_mean == ""


COMMON = [name for name in PAPERS_SETS if name not in ("sts.2013.SMT", "pit2015")]


@pytest.mark.parametrize(
    ("paper", "table", "column", "key", "text", "mean"),
    [
        ("iclr2016", "T2", "mean", "transfer.mean", "67.7", 67.66),  # the paper states no mean
        ("charagram2016", "T11", "mean", "transfer.mean", "68.1", 68.11),  # 66.2 over 22 sets
        ("charagram2016", "T3", "mean", "transfer.mean", "68.1", 68.11),  # the sets are those of Table 11
        ("charagram2016", "T3", "sts.2013", "sts.2013", "63.4", 63.43),  # 57.7 with SMT
    ],
)
def test_mean_of_the_paper_over_the_sets_that_both_have(paper, table, column, key, text, mean, tmp_path):
    rows = [{"label": "avg", "model": "avg"}]
    experiment = declare(paper=paper, table=table, rows=rows, columns={column: key})
    cell = compared(tmp_path, experiment, [67.0], sets=[*COMMON, key])["avg"].cells[column]
    assert (cell.theirs, cell.common, set(cell.lacks) <= {"sts.2013.SMT", "pit2015"}) == (text, True, True)
    assert cell.published == pytest.approx(mean, abs=0.01)
    assert cell.difference == pytest.approx(67.0 - mean, abs=0.05)


def test_sets_that_ours_lacks_change_differences_between_rows_little():
    changes = []
    for paper, table in (("iclr2016", "T2"), ("charagram2016", "T11")):
        numbers = printed(paper, table)
        rows = {row for row, _ in numbers} - {"50%", "75%", "max"}  # of these, other systems
        means = [[fmean(parsed(numbers[row, name]) for name in sets) for sets in (PAPERS_SETS, COMMON)] for row in rows]
        changes += [abs((a - b) - (c - d)) for (a, c), (b, d) in combinations(means, 2)]
    assert (len(changes), round(median(changes), 2), round(max(changes), 2)) == (
        51,
        0.45,
        1.84,
    )  # docs/papers/differences.md


def test_misprint_is_in_no_mean(tmp_path):
    experiment = declare(paper="iclr2016", table="T2", rows=[{"label": "avg", "model": "avg"}])
    lines = compared(tmp_path, experiment, [67.0], sets=COMMON)
    assert lines["50%"].cells["sts.2012.OnWN"].theirs == "608"
    assert lines["50%"].cells["mean"].published is None


def test_pairs_of_a_set_that_is_missing_are_not_compared(tmp_path):
    columns = {"5": "length[length=5].pearson"}
    experiment = declare(paper="iclr2016", table="T7", rows=[{"label": "avg", "model": "avg"}], columns=columns)
    declared, store = Experiments({experiment.id: experiment}, {}), Store(tmp_path, PARAMS)
    (run,) = runs_of_row(experiment, experiment.rows[0], declared, "open")
    tables = {"length": [["length", "pearson"], ["5", 74.3]]}
    store.add(run, Result("1.0", dict.fromkeys(COMMON, 1.0), tables), expected(PARAMS, run))
    cell = compare(experiment, declared, "open", store).lines[0].cells["5"]
    assert (cell.theirs, cell.shown_mean, cell.lacks, cell.difference) == ("74.0", "74.3*", ("sts.2013.SMT",), None)


@pytest.mark.parametrize(("paper", "table"), [("iclr2016", "T2"), ("iclr2016", "T4"), ("charagram2016", "T11")])
def test_means_of_years_that_are_printed_are_those_of_the_printed_sets(paper, table):
    numbers = {key: parsed(text) for key, text in printed(paper, table).items()}
    for (row, year), mean in numbers.items():
        own = [value for (label, name), value in numbers.items() if label == row and name.startswith(f"{year}.")]
        if own and 608 not in own:
            assert mean == pytest.approx(fmean(own), abs=0.1), (row, year)


def test_rows_of_the_paper_come_first_and_ours_after_them(tmp_path):
    lines = compared(tmp_path, declare(), [67.0])
    assert list(lines)[:2] == ["avg ppdb", "avg simpwiki"]
    assert list(lines)[-1] == "avg new"
    assert [lines[label].gap for label in ("avg ppdb", "avg simpwiki", "avg new")] == [
        "no configuration of ours",
        "1 of 2 runs",
        "0 of 1 runs",
    ]


def test_rows_that_are_not_declared_are_those_of_the_first_experiment_of_a_table(tmp_path):
    first, second = declare(), declare(id="acl2017-t1-epochs")
    declared = Experiments({each.id: each for each in (first, second)}, {})
    shown = [
        [line.label for line in compare(each, declared, "open", Store(tmp_path, PARAMS)).lines]
        for each in declared.by_id.values()
    ]
    assert shown[1] == ["avg simpwiki", "avg new"]
    assert {*shown[0]} == {*shown[1], *(row for row, _ in printed("acl2017", "T1"))} > {*shown[1]}


def test_runs_of_two_declarations_with_one_label_count_once(tmp_path):
    row = {"label": "avg simpwiki", "model": "avg", "seeds": [1, 2]}
    columns = {"mean": "transfer.mean", "other": "transfer.mean"}
    experiment = declare(rows=[row | {"columns": [name]} for name in columns], columns=columns)
    line = compared(tmp_path, experiment, [67.0, 68.0])["avg simpwiki"]
    assert (len(line.runs), len(line.results), line.gap) == (2, 2, "")


def test_another_unit_of_the_paper(tmp_path):
    cell = compared(tmp_path, declare(scale=100.0), [6860.0])["avg simpwiki"].cells["mean"]
    assert (cell.theirs, cell.shown_mean) == ("6,840", "6,860")
    assert cell.published == pytest.approx(6840)


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


def shown(theirs, *ours, **options):
    """Return the texts of a cell: mean, spread, difference."""
    cell = Cell(theirs, ours, parsed(theirs), len(theirs.partition(".")[2]) if theirs else 1, **options)
    return cell.shown_mean, cell.shown_spread, cell.shown_difference


def test_mean_spread_and_difference_have_the_decimals_of_the_paper():
    assert shown("68.4", 67.0, 68.0) == ("67.5", "0.7", "−0.9")
    assert shown("26.31", 27.0) == ("27.00", "", "+0.69")
    assert shown("12,108", 12_000.0) == ("12,000", "", "−0.9 %")
    assert shown("100.0", 90.0) == ("90.0", "", "−10.0")
    assert shown("0.7535", 0.4673) == ("0.4673", "", "−38.0 %")  # within 1 point it is not
    assert shown("0.0", 1.0) == ("1.0", "", "+1.0")
    assert shown("", 67.04) == ("67.0", "", "")
    assert shown("68.4", 67.0, 68.0, lacks=("a",)) == ("67.5*", "0.7", "")
    assert shown("68.4", 67.0, lacks=("a",), common=True) == ("67.0", "", "−1.4")
    assert shown("a dog", "a cat") == ("a cat", "", "")
    assert shown("68.4", gap="not measured") == ("–", "", "")


def test_gaps_have_reasons(tmp_path):
    rows = [{"label": "avg simpwiki", "model": "avg", "seeds": [1, 2]}, {"label": "new", "model": "lstm"}]
    lines = compared(
        tmp_path, declare(rows=rows, columns={"mean": "transfer.mean", "other": "sick.pearson"}), [67.0, 68.0]
    )
    assert [lines[label].cells["mean"].gap for label in ("avg ppdb", "avg simpwiki", "new")] == [
        "no configuration of ours",
        "",
        "0 of 1 runs",
    ]
    assert [lines[label].cells["other"].gap for label in ("avg ppdb", "avg simpwiki")] == ["", "not measured"]


def test_settings_that_are_not_the_papers(tmp_path):
    row = {"label": "avg simpwiki", "model": "avg", "preset": "avg", "open_options": {"dim": 50}}
    preset = Preset(model="avg", options={"epochs": 10, "dim": 300})
    params = changed(changed(PARAMS, "models.avg.epochs", 5), "models.avg.dim", 300)
    experiment = declare(rows=[row])
    declared = Experiments({experiment.id: experiment}, {"avg": preset}, params)
    ours, papers = (compare(experiment, declared, data, Store(tmp_path, params)).lines for data in ("open", "paper"))
    found = {line.label: line.deviations for line in ours}["avg simpwiki"]
    assert found[:3] == ["`corpus` open in place of simpwiki", "`dim` 50 in place of 300", "`epochs` 5 in place of 10"]
    assert not any("benchmarks" in each for each in found)
    assert not any(line.deviations for line in papers)


@pytest.mark.parametrize(
    ("tasks", "kept"), [(["sst"], {"dim"}), (["tags-ewt"], set()), ([], {"dim", "epochs", "tokenize.drop_overlap"})]
)
def test_settings_that_a_run_on_tasks_does_not_read(tmp_path, tasks, kept):
    row = {"label": "avg simpwiki", "model": "avg", "preset": "avg", "open_options": {"dim": 50}, "tasks": tasks}
    row |= {"corpus": {"open": ["sample"], "paper": ["sample"]}}
    columns = {"score": f"finetune.{tasks[0]}.test.accuracy"} if tasks else {"mean": "transfer.mean"}
    experiment = declare(rows=[row], columns=columns)
    params = changed(changed(PARAMS, "models.avg.epochs", 5), "models.avg.dim", 300)
    preset = Preset(model="avg", options={"epochs": 10, "dim": 300})
    lines = compare(
        experiment, Experiments({experiment.id: experiment}, {"avg": preset}, params), "open", Store(tmp_path, params)
    ).lines
    assert {text.split("`")[1] for line in lines for text in line.deviations} - {"vectors"} == kept


def test_settings_of_some_rows_of_a_label_name_their_columns(tmp_path):
    same = {"label": "avg simpwiki", "model": "avg", "preset": "avg"}
    rows = [same | {"open_options": {"dim": 50}, "columns": ["mean"]}, same | {"columns": ["other"]}]
    experiment = declare(rows=rows, columns={"mean": "transfer.mean", "other": "sick.pearson"})
    params = changed(changed(PARAMS, "models.avg.epochs", 5), "models.avg.dim", 300)
    preset = Preset(model="avg", options={"epochs": 10, "dim": 300})
    declared = Experiments({experiment.id: experiment}, {"avg": preset}, params)
    lines = compare(experiment, declared, "open", Store(tmp_path, params)).lines
    found = [text for line in lines for text in line.deviations]
    assert "`dim` 50 in place of 300 (mean)" in found
    assert "`epochs` 5 in place of 10" in found


@pytest.mark.parametrize(("value", "text"), [(1.25, "+1.2"), (-0.04, "0.0"), (0.0, "0.0"), (-3.0, "−3.0")])
def test_sign(value, text):
    assert signed(value, 1) == text
