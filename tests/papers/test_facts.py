"""Facts about a comparison."""

from paraphrastic.papers.pages import Tally, facts, legend, tally
from tests.helpers.paper_comparisons import VERSION, make_comparison, make_line


def test_command_data_runs_and_version():
    found = dict(facts(make_comparison(make_line("avg", {"mean": ("1.0", (1.0,))}, seeds=2, finished=1))))
    assert found["command"] == ["`paraphrastic papers run acl2017-t2`"]
    assert found["data"] == ["ours: open data, `open`; the paper: `simpwiki`"]
    assert found["runs"] == [f"1 of 2, by version {VERSION}"]
    assert found["gaps"] == ["1 of 2 runs: avg"]
    assert found.keys() == {"command", "data", "runs", "gaps"}


def test_command_on_the_data_of_the_papers():
    found = dict(facts(make_comparison(make_line("avg", {"mean": ("1.0", (1.0,))}), data="paper")))
    assert found["command"] == ["`paraphrastic papers run acl2017-t2 --data paper`"]
    assert len(legend("paper")) == len(legend("open")) - 1


def test_models_of_tasks_alone_have_no_corpus():
    sample = {"open": ["sample"], "paper": ["sample"]}
    line = make_line("ldc", {"mean": ("1.0", (1.0,))}, tasks=["qa-qasent"], corpus=sample)
    assert dict(facts(make_comparison(line)))["data"] == [
        "ours: open data, `open`, `qa-qasent`; the paper: `qa-qasent`"
    ]


def test_hidden_rows_are_no_data_of_the_paper():
    line = make_line("ldc", {"mean": ("1.0", (1.0,))})
    other = {"label": "avg", "model": "avg", "hidden": True, "note": "helps", "corpus": {"open": ["a"], "paper": ["b"]}}
    found = dict(facts(make_comparison(line, rows=[*line.rows, other])))
    assert found["data"] == ["ours: open data, `open`; the paper: `simpwiki`"]
    assert "notes" not in found


def test_gaps_changes_notes_and_what_is_missing():
    lines = [
        make_line("avg", {"mean": ("1.0", (1.0,)), "pairs": ("9", ())}, note="A `note`.", changed=["models.avg.dim"]),
        make_line("lstm", {"mean": ("1.0", ()), "pairs": ("9", ())}, finished=0),
        make_line("rnn", {"mean": ("1.0", ()), "pairs": ("9", ())}, finished=0),
        make_line("glove", {"mean": ("1.0", ()), "pairs": ("9", ())}, configured=False),
    ]
    found = dict(facts(make_comparison(*lines, measured=["mean"], missing="A reason.")))
    assert found["gaps"] == [
        "0 of 1 runs: lstm, rnn",
        "no configuration of ours: glove",
        "columns not measured: pairs",
    ]
    assert found["changed"] == ["avg: measured with another `models.avg.dim`"]
    assert found["notes"] == ["avg: A `note`."]
    assert found["missing"] == ["A reason."]


def test_sets_that_means_are_without():
    lines = [make_line(label, {"mean": ("1.0", (1.0,))}, lacks=["pit2015"]) for label in ("a", "b")]
    comparison = make_comparison(*lines)
    assert dict(facts(comparison))["sets"] == ["* without pit2015: not compared"]
    assert tally(comparison).compared == 0


def test_tally_counts_what_is_within_3_points():
    lines = [
        make_line("a", {"x": ("1.0", (2.0,)), "y": ("1.0", (4.0,))}),
        make_line("b", {"x": ("1.0", (4.1,)), "y": ("", (1.0,))}, seeds=3, finished=1),
    ]
    assert tally(make_comparison(*lines)) == Tally(runs=4, finished=2, compared=3, close=2)
