"""Searches of grids: their runs, the choice by stored results, and the row with it."""

import json

import pytest

from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.papers.plan import expected
from paraphrastic.papers.project import Project
from paraphrastic.papers.results import Result
from paraphrastic.papers.tuning import searches
from tests.helpers.small_project import declare, make_project

PRESETS = """
[grids.small]
source = "§1"
set = { "train.select" = "sts.mean" }
options = { epochs = 5 }
over = { margin = [0.4, 0.6], size = [{ dim = 10 }, { dim = 20, epochs = 3 }] }
[avg]
model = "avg"
options = {}
grid = "small"
over = { margin = [0.6, 0.8, 1.0] }
"""
AVG = 'label = "avg", model = "avg", preset = "avg"'
UNKNOWN_KEYS = {
    "margn": "no parameter 'models.yaml:avg.margn': unknown key 'margn': did you mean 'margin'",
    "trian.select": "no parameter 'trian.select': unknown key 'trian': did you mean 'train'",
    "models.charcnn.margin": "'models.charcnn.margin' is an option of another model than avg; remove it$",
}


@pytest.fixture
def project(tmp_path):
    """Return a project with an experiment whose only row has a grid of six points."""
    folder = make_project(tmp_path / "clone")
    (folder / "experiments/presets.toml").write_text(PRESETS)
    declare(folder, "first", f"{{ {AVG} }}", '{ label = "charcnn", model = "charcnn" }', seeds="[1, 2]")
    return Project(folder)


def search(project, *rows, **options):
    """Return the searches of an experiment with other rows."""
    declare(project.root, "second", *rows)
    project = Project(project.root)
    return searches(project.experiments.by_id["second"], project.experiments, "open", **options)


def points(found):
    return [dict(point) for point, _ in found.runs]


def test_axes_of_a_preset_replace_those_of_its_grid_and_a_mapping_sets_several_options(project):
    (found,) = search(project, f"{{ {AVG} }}")
    large, small = {"dim": 20, "epochs": 3}, {"dim": 10}
    assert points(found) == [{"margin": margin, **size} for margin in (0.6, 0.8, 1.0) for size in (small, large)]
    settings = [run.settings for _, runs in found.runs for run in runs]
    assert [each["models.avg.epochs"] for each in settings] == [5, 3] * 3  # those of the search, then of the point
    assert {each["train.select"] for each in settings} == {"sts.mean"}
    assert found.key == "sts.mean"


@pytest.mark.parametrize(
    ("row", "margins", "dims"),
    [
        ("options = { margin = 0.5 }", {None}, {10, 20}),
        ("options = { epochs = 0 }", {0.6, 0.8, 1.0}, {None}),
        ("over = { margin = [0.1] }", {0.1}, {10, 20}),
        ('grid = "small"', {0.4, 0.6}, {10, 20}),
    ],
)
def test_axes_of_a_row(project, row, margins, dims):
    (found,) = search(project, f"{{ {AVG}, {row} }}")
    assert {point.get("margin") for point in points(found)} == margins
    assert {point.get("dim") for point in points(found)} == dims


@pytest.mark.parametrize("settings", ["set", "paper_set"])
def test_axis_of_a_setting_that_a_row_has_is_not_searched(project, settings):
    counts = PRESETS.replace("margin = [0.6, 0.8, 1.0]", '"vocabulary.min_count" = [1, 2]')
    (project.root / "experiments/presets.toml").write_text(counts)
    (own,) = search(project, f'{{ {AVG}, {settings} = {{ "vocabulary.min_count" = 3 }} }}')
    (other,) = search(project, f"{{ {AVG} }}")
    assert [list(each.axes) for each in (own, other)] == [
        ["margin", "size"],
        ["margin", "size", "vocabulary.min_count"],
    ]


def test_some_axes_alone_and_other_seeds(project):
    (found,) = search(project, f"{{ {AVG} }}", over=["margin"], seeds=[3, 4])
    assert points(found) == [{"margin": 0.6}, {"margin": 0.8}, {"margin": 1.0}]
    assert [run.seed for _, runs in found.runs for run in runs] == [3, 4] * 3
    with pytest.raises(ParameterError, match="second: unknown axis 'margn': did you mean 'margin'"):
        search(project, f"{{ {AVG} }}", over=["margn"])


def test_rows_without_a_grid_and_hidden_rows_are_not_searched(project):
    assert search(project, '{ label = "charcnn", model = "charcnn" }', f"{{ {AVG}, hidden = true }}") == []


def test_each_task_is_searched_by_its_development_set(project):
    tasks = 'tasks = ["sst", "sts"], columns = ["first", "second"], key = "finetune.{column}.test.accuracy"'
    found = search(project, f"{{ {AVG}, {tasks.replace('first', 'sst').replace('second', 'sts')} }}")
    assert [(each.row.tasks, each.row.columns, each.key) for each in found] == [
        ([task], [task], f"finetune.{task}.dev.accuracy") for task in ("sst", "sts")
    ]
    assert {run.tasks for each in found for _, runs in each.runs for run in runs} == {("sst",), ("sts",)}


def store(project, run, score):
    project.store.add(run, Result("0.3.0", {"sts.mean": score}), expected(project.params, run))


def test_the_best_mean_over_seeds_is_chosen_and_becomes_a_row(project):
    experiment = project.experiments.by_id["first"]
    (found,) = searches(experiment, project.experiments, "open", ["margin"], [1, 2])
    assert found.best(project.store) is None
    scores = [(10.0, 20.0), (14.0, 17.0), (90.0, None)]  # the last point lacks a seed
    for (_, runs), of_seeds in zip(found.runs, scores, strict=True):
        for run, score in zip(runs, of_seeds, strict=True):
            if score is not None:
                store(project, run, score)
    project.choices.add(experiment, "open", [found.best(project.store)])
    project.choices.add(experiment, "open", [])
    runs = project.plan([experiment], "open")
    tuned = [run for run in runs if run.settings.get("models.avg.margin") == 0.8]
    assert [run.seed for run in tuned] == [1, 2]
    assert all("models.avg.epochs" not in run.settings for run in tuned)  # those of the search end with it
    store(project, tuned[0], 33.0)
    line = project.compare(experiment, "open").lines[-1]
    assert line.label == "avg, tuned"
    assert line.cells["sts"].ours == (33.0,)
    note = "margin 0.8: best of 2 by sts.mean (15.5, 2 seeds), of the grid of §1"
    assert [row.note for row in line.rows] == [note]
    assert len(project.plan([experiment], "paper")) == 4  # the choice holds on open data


def test_choices_that_are_damaged_or_of_a_row_that_is_gone(project):
    experiment, file = project.experiments.by_id["first"], project.root / "experiments/tuned.json"
    choice = {"label": "gran", "columns": [], "tasks": [], "tuned": {}, "note": ""}
    file.write_text(json.dumps({"open": {"first": [choice]}}))
    with pytest.raises(DataError, match=r"tuned\.json: first has no row 'gran'"):
        project.plan([experiment], "open")
    for key, reason in UNKNOWN_KEYS.items():
        file.write_text(json.dumps({"open": {"first": [choice | {"label": "avg", "tuned": {key: 1}}]}}))
        for use in (project.plan, lambda experiments, data: project.compare(*experiments, data)):
            with pytest.raises(DataError, match=rf"tuned\.json: first: row 'avg, tuned': {reason}"):
                use([experiment], "open")
    for content in ("{", '{"opne": {}}'):
        file.write_text(content)
        with pytest.raises(DataError, match=r"tuned\.json: not the choices of searches"):
            project.plan([experiment], "open")
