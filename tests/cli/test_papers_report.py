"""`paraphrastic papers report`."""

import shutil

import pytest
from typer.testing import CliRunner

from paraphrastic.cli.main import app
from paraphrastic.evaluation.headline import PAPERS_SETS
from paraphrastic.papers.plan import expected, plan
from paraphrastic.papers.project import Project
from paraphrastic.papers.results import Result
from tests.helpers.command_line import assert_refused
from tests.helpers.repository import copy_repository

DECLARATION = """
paper = "acl2017"
table = "T1"
title = "Sources"
caption = "Means."
corpus = { open = ["open"], paper = ["simpwiki"] }
columns = { mean = "transfer.mean" }
seeds = [1, 2]

[[rows]]
label = "avg simpwiki"
model = "avg"

[[rows]]
label = "new"
model = "lstm"
"""

CLAIM = """
[[claims]]
id = "acl2017-1"
paper = "acl2017"
place = "Table 1"
says = "New is better."
experiment = "acl2017-t1"
rows = [["new", "avg simpwiki"]]
keys = ["mean"]
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone with one experiment and the result of one of its runs."""
    folder = tmp_path_factory.mktemp("clone")
    copy_repository(folder)
    for file in (*(folder / "experiments").glob("*-*.toml"), *(folder / "experiments/results").glob("*.json")):
        file.unlink()
    shutil.rmtree(folder / "experiments/results", ignore_errors=True)  # those of this repository
    (folder / "experiments/acl2017-t1.toml").write_text(DECLARATION)
    (folder / "experiments/claims.toml").write_text(CLAIM)
    project = Project(folder)
    run = plan(project.experiments.select([]), project.experiments, "open")[0]
    values = {"transfer.mean": 67.94} | dict.fromkeys(PAPERS_SETS, 67.94)
    project.store.add(run, Result(project.version, values), expected(project.params, run))
    return folder


@pytest.fixture
def report(clone, monkeypatch):
    """Return a function that runs the command in the clone."""
    monkeypatch.chdir(clone)
    return lambda *arguments: CliRunner().invoke(app, ["papers", "report", *arguments])


def test_rows_of_a_half_finished_experiment(report):
    result = report("acl2017-t1")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "experiment\trow\tcolumn\ttheirs\tours\t±\tdifference\tdata"
    assert "acl2017-t1\tavg ppdb\tmean\t67.7\t–\t\t\t" in lines
    assert "acl2017-t1\tavg simpwiki\tmean\t68.4\t67.9\t\t−0.5\topen · 1 of 2 runs" in lines
    assert "acl2017-t1\tnew\tmean\t\t–\t\t\topen · 0 of 2 runs" in lines
    assert "avg simpwiki\tmean\t68.4\t–\t\t\tsimpwiki · 0 of 2 runs" in report("--data", "paper").stdout


def test_pages_of_the_documentation(report, clone):
    result = report("--docs")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "| avg simpwiki  " in (clone / "docs/papers/acl2017.md").read_text()
    assert {path.suffix for path in (clone / "docs/papers").iterdir()} == {".md"}


def test_claims(report, clone):
    result = CliRunner().invoke(app, ["papers", "claims"])
    open_claim = "cannot be decided here: no results: acl2017-t1, new"
    assert result.stdout.splitlines() == [
        "claim\tsays\ttested as\tprotocol\tdifference\tverdict",
        f"acl2017-1\tNew is better. (Table 1)\tnew above avg simpwiki; in mean\treplica\t\t{open_claim}",
    ]
    report("--docs")
    page = (clone / "docs/papers/index.md").read_text()
    assert f"| acl2017-1: New is better. (Table 1) |  | {open_claim} |\n" in page
    link = "[Table 1](acl2017.md#table-1-sources)"
    assert f"\n* acl2017-1: {link}: new above avg simpwiki; in mean; replica\n" in page


def test_refused(report):
    assert_refused(report("acl2017-t9"), "unknown experiment 'acl2017-t9': did you mean 'acl2017-t1'?")
    wrong = report("acl2017-t1", "--docs")
    assert wrong.exit_code == 2
    assert "leave out the names" in wrong.stderr
