"""The pages of the documentation: tables, escapes, figures, facts, and the files of the folder."""

import re
from xml.etree import ElementTree

import markdown
import pytest
from markdown.extensions.toc import slugify

from paraphrastic.papers.comparing import grid
from paraphrastic.papers.pages import Tally, docs_files, facts, plain, table_text, tally, text, write_docs
from tests.helpers.paper_comparisons import VERSION, make_comparison, make_line

BARS = {"kind": "bar", "x": "model", "y": "mean", "column": "mean"}


def lines(*rows, **experiment):
    return table_text(grid(make_comparison(*rows, **experiment))).splitlines()


def html(content):
    return markdown.markdown(content, extensions=["tables"])


def test_columns_of_narrow_and_wide_tables():
    rows = [
        make_line("avg", {"mean": ("68.4", (67.0, 68.0))}, seeds=2),
        make_line("lstm", {"mean": ("59.3", ())}, seeds=3, finished=0),
    ]
    assert lines(*rows) == [
        "| row | mean: theirs | mean: ours | mean: difference |",
        "| --- | ---: | ---: | ---: |",
        '| avg<br><small>open · 2 runs</small> | 68.4 | <span class="close" title="−0.9">67.5 ± 0.7</span> | −0.9 |',
        '| lstm<br><small>open · 0 of 3 runs</small> | 59.3 | <span class="gap" title="0 of 3 runs">–</span> |  |',
    ]
    cells = {f"set{number}": ("60.0", (65.0,)) for number in range(4)}
    header, _, row = lines(make_line("avg", cells))
    assert header == "| row | set0 | set1 | set2 | set3 |"
    assert row.count('| 60.0 / <span class="off" title="+5.0">65.0</span> ') == 4


@pytest.mark.parametrize("content", ["a | b", "*a* _b_ [c](d)", "<b>c</b> & d", r"back\slash", "`code`", "_dy"])
def test_any_text_is_shown_as_it_is(content):
    table = html(f"| a |\n|---|\n| {plain(content)} |")
    assert table.count("<td>") == 1
    (cell,) = ElementTree.fromstring(table).iter("td")
    assert "".join(cell.itertext()) == content
    assert not list(cell)


def test_text_between_backticks_is_code():
    assert text("a `b_c` d_e") == r"a `b_c` d\_e"


def test_page_of_each_paper_and_their_index():
    found = docs_files([make_comparison(make_line("avg", {"mean": ("68.4", (67.0,))}), finding="It `holds`.")])
    assert set(found) == {"index.md", "iclr2016.md", "charagram2016.md", "acl2017.md", "ldc2016.md"}
    assert "[acl2017-t2](acl2017.md#table-2-a-title) | Table 2: A title | 1 of 1 | 1 | 1 |" in found["index.md"]
    page = found["acl2017.md"]
    assert "\n## Table 2: A title\n" in page
    assert "\n**Finding.** It `holds`.\n" in page
    assert "\n* **command**: `paraphrastic papers run acl2017-t2`\n" in page
    assert "\n## " not in found["iclr2016.md"]
    found = docs_files([make_comparison(make_line("avg", {"mean": ("68.4", (67.0,))}), title="A_b + ρ – B, (100%)")])
    ((page, anchor),) = re.findall(r"\]\((\w+\.md)#([^)]*)\)", found["index.md"])
    assert [slugify(heading, "-") for heading in re.findall("^## (.*)$", found[page], re.M)] == [anchor]
    found = docs_files([make_comparison(make_line("avg", {"mean": ("", (67.0,))}), paper=None)])
    assert found == docs_files([])
    page = docs_files([make_comparison(make_line("avg", {"mean": ("68.4", (67.0,))}))])["acl2017.md"]
    (sentence,) = re.findall("^Not here, .*$", page, re.M)
    assert "Table 1, Table 3," in sentence
    assert "Section 4.1.2" in sentence


def test_figure_is_a_file_and_an_analysis_is_shown_whole():
    found = docs_files([make_comparison(make_line("avg", {"mean": ("68.4", (67.0,))}), figure=BARS)])
    assert "![Bar chart: mean by model. avg: ours 67.0; theirs 68.4.](acl2017-t2.svg)" in found["acl2017.md"]
    assert ElementTree.fromstring(found["acl2017-t2.svg"]).tag == "{http://www.w3.org/2000/svg}svg"
    found = docs_files([make_comparison(make_line("avg", {"mean": ("", ())}, finished=0), figure=BARS)])
    assert "acl2017-t2.svg" not in found
    assert '<span class="gap">No results yet.</span>' in found["acl2017.md"]
    table = [["sentence", "error"], ["a | b", -1.5]]
    line = make_line("avg", {"mean": ("", (1.0,))}, tables={"errors": table})
    page = docs_files([make_comparison(line, shows=["errors"])])["acl2017.md"]
    assert "avg: errors\n\n| sentence | error |\n| --- | --- |\n| a &#124; b | -1.5 |\n" in page


def test_files_of_earlier_experiments_are_removed(tmp_path):
    for name in ("old.svg", "data.csv"):
        (tmp_path / name).write_text("")
    comparison = make_comparison(make_line("avg", {"mean": ("68.4", (67.0,))}))
    write_docs([comparison], tmp_path, "## Claims\n")
    assert {path.name for path in tmp_path.iterdir()} == {*docs_files([comparison]), "data.csv"}
    assert "\n## Claims\n\n## Tables and figures\n" in (tmp_path / "index.md").read_text()


def test_command_data_runs_and_version():
    found = dict(facts(make_comparison(make_line("avg", {"mean": ("1.0", (1.0,))}, seeds=2, finished=1))))
    assert found["command"] == ["`paraphrastic papers run acl2017-t2`"]
    assert found["data"] == ["ours: open data, `open`; the paper: `simpwiki`"]
    assert found["runs"] == [f"1 of 2, by version {VERSION}"]
    assert found["gaps"] == ["1 of 2 runs: avg"]
    assert found.keys() == {"command", "data", "runs", "gaps"}
    paper, ours = (
        make_comparison(make_line("avg", {"mean": ("1.0", (1.0,))}), data=data) for data in ("paper", "open")
    )
    assert dict(facts(paper))["command"] == ["`paraphrastic papers run acl2017-t2 --data paper`"]
    assert ["trained on open data" in docs_files([each])["index.md"] for each in (paper, ours)] == [False, True]


def test_data_of_models_of_tasks_alone_and_of_hidden_rows():
    sample = {"open": ["sample"], "paper": ["sample"]}
    line = make_line("ldc", {"mean": ("1.0", (1.0,))}, tasks=["qa-qasent"], corpus=sample)
    assert dict(facts(make_comparison(line)))["data"] == [
        "ours: open data, `open`, `qa-qasent`; the paper: `qa-qasent`"
    ]
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
    assert found["gaps"] == ["0 of 1 runs: lstm, rnn", "no configuration of ours: glove", "columns not measured: pairs"]
    assert found["changed"] == ["avg: measured with another `models.avg.dim`"]
    assert found["notes"] == ["avg: A `note`."]
    assert found["missing"] == ["A reason."]


def test_sets_that_means_are_without():
    lines = [make_line(label, {"mean": ("1.0", (1.0,))}, lacks=["pit2015"]) for label in ("a", "b")]
    comparison = make_comparison(*lines)
    assert dict(facts(comparison))["sets"] == ["* without pit2015: not compared"]
    assert tally(comparison).compared == 0
    line = make_line("avg", {"mean": ("68.4", (67.0,))}, lacks=["pit2015"])
    assert '<span title="without pit2015">67.0\\*</span>' in docs_files([make_comparison(line)])["acl2017.md"]


def test_tally_counts_what_is_within_3_points():
    lines = [
        make_line("a", {"x": ("1.0", (2.0,)), "y": ("1.0", (4.0,))}),
        make_line("b", {"x": ("1.0", (4.1,)), "y": ("", (1.0,))}, seeds=3, finished=1),
    ]
    assert tally(make_comparison(*lines)) == Tally(runs=4, finished=2, compared=3, close=2)
