"""The pages of the documentation: tables, escapes, figures, facts, and the files of the folder."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import markdown
import pytest
from markdown.extensions.toc import slugify

from paraphrastic.papers.facts import Tally, details, facts, tally
from paraphrastic.papers.pages import docs_files, plain, tables, text, write_docs
from tests.helpers.paper_comparisons import VERSION, make_comparison, make_line

BARS = {"kind": "bar", "x": "model", "y": "mean", "column": "mean"}


def rows_of(*lines, **experiment):
    """Return the cells of each row of the only table of a comparison."""
    (table,) = tables(make_comparison(*lines, **experiment))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def html(content):
    return markdown.markdown(content, extensions=["tables"])


def test_table_of_few_columns_has_theirs_and_ours_with_the_distance():
    lines = [
        make_line("avg", {"mean": ("68.4", (67.0, 68.0))}, seeds=2),
        make_line("lstm", {"mean": ("59.3", ())}, seeds=3, finished=0),
    ]
    assert list(tables(make_comparison(*lines))) == [
        "| row  | mean: paper |        mean: ours |   runs |\n"
        "| ---- | ----------: | ----------------: | -----: |\n"
        "| avg  |        68.4 | 67.5 ± 0.7 (−0.9) |      2 |\n"
        "| lstm |        59.3 |                 – | 0 of 3 |"
    ]


def test_table_of_many_columns_has_both_in_one_cell():
    cells = {f"c{number}": ("60.0", (65.0,)) for number in range(4)}
    lines = [
        make_line("avg", cells | {"c3": ("", (1.0,))}),
        make_line("glove", dict.fromkeys(cells, ("60.0", ())), configured=False),
    ]
    header, _, avg, glove = rows_of(*lines)
    assert header == ["row", "c0", "c1", "c2", "c3", "runs"]
    assert avg == ["avg", "65.0 (+5.0)", "65.0 (+5.0)", "65.0 (+5.0)", "1.0", "1"]
    assert glove == ["glove", *4 * ["paper 60.0"], ""]


def test_wide_and_short_table_is_transposed():
    cells = {f"c{number}": ("60.0", (65.0,)) for number in range(9)}
    rows = rows_of(make_line("avg", cells), make_line("lstm", cells))
    assert [row[0] for row in rows[::2]] == ["", "c0", "c2", "c4", "c6", "c8"]
    assert rows[2] == ["c0", "65.0 (+5.0)", "65.0 (+5.0)"]


def test_single_sets_are_folded_below_the_means():
    cells = {"sts.2012.MSRpar": ("42.6", (43.6,)), "sts.2012": ("58.7", (59.0,))}
    lines = [make_line(f"avg {number}", cells) for number in range(9)]
    glove = make_line("glove", {"sts.2012.MSRpar": ("42.6", ()), "sts.2012": ("1.0", ())}, configured=False)
    short, folded = tables(make_comparison(*lines, glove))
    assert "MSRpar" not in short
    assert folded.startswith("<details markdown>\n<summary>Each set</summary>\n\n| ")
    assert re.findall(r"\| sts.2012.MSRpar(.*)", folded)[0].split() == 8 * ["|", "43.6", "(+1.0)"] + ["|"]
    assert folded.count("| sts.2012.MSRpar") == 2  # at most eight columns
    assert "glove" not in folded


def test_ranks_are_lists():
    neighbours = {"1": ("not", ("not", "no")), "2": ("capable", ("able", "x")), "3": ("stalled", ("capable", "y"))}
    _, _, row = rows_of(make_line("avg not capable", neighbours, seeds=2))
    assert row == ["avg not capable", "not, capable, stalled", "not, able, capable", "2 of 3"]
    _, _, gap = rows_of(make_line("avg", {"1": ("a", ()), "2": ("b", ())}, finished=0))
    assert gap == ["avg", "a, b", "–", ""]


def test_no_cell_has_markup():
    lines = [
        make_line("a_b", {"x": ("1.0", (2.0,)), "y": ("1.0", ())}),
        make_line("<b>", {"x": ("", ()), "y": ("", ())}),
    ]
    page = docs_files([make_comparison(*lines)])["acl2017.md"]
    assert not re.search(r"^\|.*<[a-z]", page, re.M)


@pytest.mark.parametrize("content", ["a | b", "*a* _b_ [c](d)", "<b>c</b> & d", r"back\slash", "`code`", "_dy"])
def test_any_text_is_shown_as_it_is(content):
    table = html(f"| a |\n|---|\n| {plain(content)} |")
    assert table.count("<td>") == 1
    (cell,) = ElementTree.fromstring(table).iter("td")
    assert "".join(cell.itertext()) == content
    assert not list(cell)


def test_hours_of_the_runs_of_all_tables():
    line = make_line("avg", {"mean": ("68.4", (67.0, 67.1))}, seeds=2)
    first, second = line.results
    timed = replace(line, results={first: replace(line.results[first], minutes=90.0), second: line.results[second]})
    index = docs_files([make_comparison(timed), make_comparison(timed)])["index.md"]
    others = "with the mean of their rows for 1 others, 3.0 hours."
    assert f"\nDistinct runs: 2; with a stored time: 1, together 1.5 hours; {others}\n" in index


def test_text_between_backticks_is_code():
    assert text("a `b_c` d_e") == r"a `b_c` d\_e"


def test_page_of_each_paper_and_their_index():
    found = docs_files(
        [make_comparison(make_line("avg", {"mean": ("68.4", (67.0,))}), finding=["It `holds`.", "Not *here*."])]
    )
    assert set(found) == {"index.md", "iclr2016.md", "charagram2016.md", "acl2017.md", "ldc2016.md"}
    (row,) = re.findall(r"\[acl2017-t2\]\(acl2017.md#table-2-a-title\)(.*)", found["index.md"])
    assert row.split("|")[1].strip() == "Table 2: A title"
    assert [cell.strip() for cell in row.split("|")[2:-1]] == ["open", "1 of 1", "1", "1"]
    page = found["acl2017.md"]
    assert "\n## Table 2: A title\n" in page
    assert "\n**Finding.** It `holds`.\n\n* Not \\*here\\*.\n\n" in page
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
    assert "\nNo results yet.\n" in found["acl2017.md"]
    table = [["sentence", "error"], ["a | b", -1.5], ["c", -0.0], ["d", 0.25]]
    line = make_line("avg", {"mean": ("", (1.0,))}, tables={"errors": table})
    page = docs_files([make_comparison(line, shows=["errors"])])["acl2017.md"]
    rows = ["| sentence   | error |", "| ---------- | ----- |", "| a &#124; b | −1.50 |", "| c          | 0.00  |"]
    assert "\n".join(["avg: errors\n", *rows, "| d          | 0.25  |\n"]) in page


def test_whole_page():
    """After a wanted change of the pages, write `page` to page.md."""
    numbers = {"mean": ("68.4", (67.0, 68.0)), "pairs": ("9", ())}
    lines = [
        replace(make_line("avg", numbers, seeds=2, note="A note."), changed=["seed"], deviations=["`dim` 5", "`a` 1"]),
        replace(
            make_line("lstm", {"mean": ("59.3", (58.0,)), "pairs": ("9", ())}, lacks=["x", "y"]), deviations=["`a` 1"]
        ),
        make_line("rnn", {"mean": ("1.0", ()), "pairs": ("9", ())}, seeds=3, finished=0, note="A note."),
        make_line("glove", {"mean": ("1.0", ()), "pairs": ("9", ())}, configured=False),
    ]
    errors = [["sentence", "error"], ["a | b", -1.5]]
    wide = {f"c{number}": ("60.0", (65.0,)) for number in range(9)} | {"sts.2012.MSRpar": ("42.6", (43.6,))}
    ranks = {"1": ("not", ("not",)), "2": ("able", ("able",)), "3": ("stalled", ("capable",))}
    comparisons = [
        make_comparison(*lines, figure=BARS, missing="A reason.", finding=["It `holds`."]),
        make_comparison(
            make_line("avg", wide, tables={"errors": errors}), id="a-1", table="F1", shows=["errors", "bins"]
        ),
        make_comparison(
            make_line("avg", ranks), id="a-2", table="S4.1", data="paper", corpus={"open": ["a"], "paper": ["b"]}
        ),
    ]
    page = docs_files(comparisons)["acl2017.md"]
    assert page.splitlines() == Path(__file__).with_name("page.md").read_text(encoding="utf-8").splitlines()


def test_files_of_earlier_experiments_are_removed(tmp_path):
    for name in ("old.svg", "data.csv", "differences.md"):
        (tmp_path / name).write_text("")
    comparison = make_comparison(make_line("avg", {"mean": ("68.4", (67.0,))}))
    write_docs([comparison], tmp_path, "## Claims\n")
    assert {path.name for path in tmp_path.iterdir()} == {*docs_files([comparison]), "data.csv", "differences.md"}
    assert "\n## Claims\n\n## Tables and figures\n" in (tmp_path / "index.md").read_text()


def test_command_data_runs_and_version():
    found = dict(facts(make_comparison(make_line("avg", {"mean": ("1.0", (1.0,))}, seeds=2, finished=1))))
    assert found["command"] == ["`paraphrastic papers run acl2017-t2`"]
    assert found["data"] == ["ours: open data, `open`; the paper: `simpwiki`"]
    assert found["runs"] == [f"1 of 2, by version {VERSION}"]
    assert found["gaps"] == ["avg: 1 of 2 runs"]
    assert details(make_line("avg", {"mean": ("1.0", (1.0,))})) == "open · 1 run"
    assert found.keys() == {"command", "data", "runs", "gaps"}
    paper = make_comparison(make_line("avg", {"mean": ("1.0", (1.0,))}), data="paper")
    assert dict(facts(paper))["command"] == ["`paraphrastic papers run acl2017-t2 --data paper`"]


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
    found = dict(facts(make_comparison(*lines, missing="A reason.")))
    assert found["gaps"] == ["lstm; rnn: 0 of 1 runs", "glove: no configuration of ours", "columns not measured: pairs"]
    assert found["changed"] == ["avg: another `models.avg.dim`"]
    assert found["notes"] == ["avg: A `note`."]
    assert found["missing"] == ["A reason."]


def test_sets_that_means_are_without():
    lines = [make_line(label, {"mean": ("1.0", (1.0,))}, lacks=["pit2015"]) for label in ("a", "b")]
    comparison = make_comparison(*lines)
    assert dict(facts(comparison))["sets"] == ["mean: * without pit2015, not compared"]
    assert tally(comparison).compared == 0
    assert rows_of(*lines)[2] == ["a", "1.0", "1.0\\*", "1"]
    common = replace(lines[0].cells["mean"], common=True)
    comparison = make_comparison(*(replace(line, cells={"mean": common}) for line in lines))
    assert dict(facts(comparison))["sets"] == ["mean: theirs and ours are without pit2015"]
    assert tally(comparison).compared == 2


def test_settings_that_are_not_the_papers_name_their_rows():
    deviations = [["`epochs` 1 in place of 10", "`dim` 50 in place of 300"], ["`dim` 50 in place of 300"]]
    lines = [make_line(label, {"mean": ("1.0", (1.0,))}) for label in ("a", "b")]
    lines = [replace(line, deviations=each) for line, each in zip(lines, deviations, strict=True)]
    found = dict(facts(make_comparison(*lines)))
    assert found["settings"] == ["`dim` 50 in place of 300: all rows", "`epochs` 1 in place of 10: a"]


def test_the_epoch_that_rows_were_selected_at():
    curves = [[[0, 9.0], [0.5, 30.0], [1, 20.0]], [[0, 9.0], [0.5, 30.0], [1, 30.5]], []]
    lines = [make_line(label, {"mean": ("1.0", (1.0,) * 3)}, seeds=3) for label in ("a", "b")]
    of_run = zip(lines[0].results.items(), curves, strict=True)
    results = {name: replace(result, curves={"selection": curve}) for (name, result), curve in of_run}
    found = dict(facts(make_comparison(replace(lines[0], results=results), lines[1])))
    assert found["epoch"] == ["selected, mean over seeds: a 0.8 of 1"]
    assert "epoch" not in dict(facts(make_comparison(lines[1])))


def test_tally_counts_what_is_within_3_points():
    lines = [
        make_line("a", {"x": ("1.0", (2.0,)), "y": ("1.0", (4.0,))}),
        make_line("b", {"x": ("1.0", (4.04,)), "y": ("", (1.0,))}, seeds=3, finished=1),
    ]
    assert tally(make_comparison(*lines)) == Tally(runs=4, finished=2, compared=3, close=2)
