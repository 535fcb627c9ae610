"""The tables of results: what they show of declarations and stored results."""

import pytest

from docs import tables
from paraphrastic.papers.plan import expected
from paraphrastic.papers.project import Project
from paraphrastic.papers.results import Result
from tests.helpers.recorded_results import changed
from tests.helpers.small_project import declare, make_project

ROWS = (
    '{ label = "avg of words", model = "avg", options = { dim = 16 }, seeds = [1, 2], cells = { weights = "20" } }',
    '{ label = "started", model = "avg", start = "avg of words", note = "with a note" }',
    '{ label = "earlier", model = "avg", cells = { sts = "58.4 ± 0.2", weights = "19" } }',
)


@pytest.fixture
def project(tmp_path):
    """A repository with a table of its own."""
    folder = make_project(tmp_path / "clone")
    declare(folder, "mine", *ROWS, paper="", columns='{ sts = "sts.mean", minutes = "minutes" }')
    return Project(folder)


def store(project, *means):
    """Store results for the runs of the table in their order."""
    runs = project.plan(project.experiments.select(["mine"]), "open")
    for run, mean in zip(runs, means, strict=False):
        project.store.add(run, Result("0.3.0", {"sts.mean": mean}, minutes=2.4), expected(project.params, run))


def rows(project, name="mine"):
    return [line.strip("| ").split(" | ") for line in tables.table(name, project).splitlines()]


def test_mean_and_spread_over_seeds_and_the_options(project):
    store(project, 67.0, 68.0)
    header, _, first, second, _ = rows(project)
    assert header == ["model", "options", "sts", "minutes", "weights"]
    assert first == ["`avg` of words", "`-S models.yaml:avg.dim=16`", "67.5 ± 0.7", "2", "20"]
    assert second == ["started", "vectors of `avg` (with a note)", "–", "–", "–"]


def test_row_with_a_missing_seed(project):
    store(project, 67.0)
    assert rows(project)[2][2:] == ["–", "–", "20"]


def test_numbers_of_an_earlier_version_until_the_row_is_run_again(project):
    assert rows(project)[4] == ["earlier \\*", "", "58.4 ± 0.2", "–", "19"]
    store(project, 67.0, 68.0, 50.0, 60.0)
    assert rows(project)[4] == ["earlier", "", "60.0", "2", "19"]


def test_numbers_that_were_stored_with_other_parameters_are_marked(project):
    runs = project.plan(project.experiments.select(["mine"]), "open")
    for run in runs[:2]:
        old = expected(changed(project.params, "vocabulary.min_count", 7), run)
        project.store.add(run, Result("0.3.0", {"sts.mean": 67.0}, minutes=2.4), old)
    assert rows(project)[2][0] == "`avg` of words \\*"


def test_table_of_the_readme_has_no_options(project):
    declare(project.root, "readme", ROWS[0], paper="")
    assert rows(project, "readme")[0] == ["model", "sts", "weights"]


def test_tables_between_marks_are_replaced(project):
    marks = "<!-- mine: python -m docs.tables -->{}<!-- end of mine -->"
    page = f"before\n{marks}\nbetween\n{marks}\nafter\n"
    written = tables.with_tables(page.format("\nold\n", "\n"), project)
    new = f"\n\n{tables.table('mine', project)}\n"
    assert written == page.format(new, new)
    assert tables.with_tables(written, project) == written
