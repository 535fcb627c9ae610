"""A clone of the repository: what its parts do together."""

from dataclasses import replace

import pandas as pd
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.papers import project as module
from paraphrastic.papers.plan import expected
from paraphrastic.papers.project import Project
from paraphrastic.papers.results import Result
from tests.helpers.recorded_results import RUN, add_experiment
from tests.helpers.small_project import PARAMS, make_project

OTHER = replace(RUN, model="charcnn", settings={**RUN.settings, "model": "charcnn"})
COMPARED = replace(RUN, against=OTHER)


@pytest.fixture
def project(tmp_path):
    return Project(make_project(tmp_path / "clone"))


@pytest.fixture
def comparisons(monkeypatch):
    """Return the pairs of experiments that are compared, in place of reading their scores."""
    found = []

    def pairs(first, second):
        if "broken" in found:
            raise DataError("no scores")
        found.append((first, second))
        return pd.DataFrame({"agree": [len(found)]}), []

    monkeypatch.setattr(module, "pairs_of_two_runs", pairs)
    monkeypatch.setattr(module, "OF_TWO_RUNS", {"agreement": lambda pairs: pairs})
    return found


def store(project, run, score):
    project.store.add(run, Result("0.3.0", {"sts.mean": score}), expected(project.params, run))


def test_runs_are_compared_once(project, comparisons):
    assert project.compare_runs([COMPARED, OTHER]) == []
    store(project, RUN, 1.0)
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert comparisons == []  # the other run has no result yet
    store(project, OTHER, 2.0)
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert comparisons == [(RUN.name, OTHER.name)]
    assert project.store.tables(RUN)["agreement"] == [["agree"], [1]]


def test_runs_are_compared_again_when_the_other_one_has_another_result(project, comparisons):
    store(project, RUN, 1.0)
    store(project, OTHER, 2.0)
    project.compare_runs([COMPARED])
    store(project, OTHER, 3.0)
    project.compare_runs([COMPARED])
    assert project.store.tables(RUN)["agreement"] == [["agree"], [2]]


def test_scores_that_are_not_here(project, comparisons):
    store(project, RUN, 1.0)
    store(project, OTHER, 2.0)
    comparisons.append("broken")
    assert project.compare_runs([COMPARED]) == [f"{RUN.name} is not compared with {OTHER.name}: no scores"]


def test_results_that_are_collected_by_a_read_only_project_are_not_written(project):
    add_experiment(project.root, "by-hand", PARAMS)
    reader = Project(project.root, read_only=True)
    assert reader.collect([RUN]) == []
    assert reader.missing([RUN]) == []
    assert not (project.root / "experiments/results").exists()
    project.collect([RUN])
    assert len(list((project.root / "experiments/results").iterdir())) == 1


def test_version_is_that_of_the_clone(project):
    (project.root / "pyproject.toml").write_text('[project]\nversion = "9.8.7"\n')
    assert Project(project.root).version == "9.8.7"
