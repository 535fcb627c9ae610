"""Results of a clone of the repository that are gathered from its experiments, and stored."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import PREDICTIONS
from paraphrastic.papers import project as module
from paraphrastic.papers.plan import determining, expected
from paraphrastic.papers.project import Project
from paraphrastic.papers.results import Result, Store
from tests.helpers.recorded_results import PARAMS, RUN, changed

PARAMETERS = determining(PARAMS, with_tasks=True)
SECOND = replace(RUN, seed=2)


@dataclass
class FakeRecord:
    """A record that holds one result, and counts how often it is read."""

    name: str
    score: float = 50.0
    rev: str = "abc"
    version: str = "0.3.0"
    params: Any = None
    readings: int = 0

    @property
    def parameters(self):
        self.readings += 1
        return PARAMETERS if self.params is None else self.params

    def result(self, run):
        return Result(self.version, {"sts.mean": self.score})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, PARAMS)


def clone(store, params=PARAMS, version="0.3.0"):
    """Return a clone of the repository with these stored results, parameters and version."""
    project = Project(Path())
    vars(project).update(store=store, params=params, version=version)
    return project


def gather(store, *records, runs=(RUN,), params=PARAMS, version="0.3.0"):
    return clone(store, params, version).collect_from(runs, records)


def score(store, run=RUN):
    result = store.result(run)
    return result and result.values["sts.mean"]


@pytest.mark.parametrize("name", ["workspace", "HEAD", "hand-made", RUN.name])
def test_result_of_the_same_parameters_is_stored(store, name):
    assert gather(store, FakeRecord(name)) == []
    assert score(store) == 50.0
    assert clone(store).missing([RUN]) == []


def test_result_of_other_parameters_is_not(store):
    other = determining(changed(PARAMS, "models.avg.dim", 10), with_tasks=True)
    assert gather(store, FakeRecord(RUN.name, params=other), FakeRecord("broken", params={})) == []
    assert clone(store).missing([RUN, SECOND]) == [RUN, SECOND]


def test_each_seed_has_its_record(store):
    second = determining(changed(PARAMS, "seed", 2), with_tasks=True)
    gather(store, FakeRecord("a", 2.0, params=second), FakeRecord("b", 1.0), runs=(RUN, SECOND))
    assert (score(store), score(store, SECOND)) == (1.0, 2.0)


def test_the_experiment_with_the_name_of_the_run_comes_first(store):
    (warning,) = gather(store, FakeRecord("workspace", 1.0), FakeRecord(RUN.name, 2.0))
    assert score(store) == 2.0
    assert re.match(f"{RUN.name}: '{RUN.name}' and 'workspace' .*different results; '{RUN.name}' counts, ", warning)


def test_equal_results_are_no_contradiction(store):
    assert gather(store, FakeRecord("workspace"), FakeRecord(RUN.name)) == []


def test_stored_result_and_a_different_one(store):
    gather(store, FakeRecord(RUN.name, 1.0))
    (warning,) = gather(store, FakeRecord("hand-made", 2.0))
    assert warning.startswith(f"{RUN.name}: the stored result and 'hand-made' have different results; the stored")
    assert score(store) == 1.0


def test_stored_records_are_not_read_again(store):
    records = [FakeRecord(RUN.name), FakeRecord(SECOND.name, params=determining(changed(PARAMS, "seed", 2), True))]
    gather(store, *records, runs=(RUN, SECOND))
    readings = [each.readings for each in records]
    gather(store, *records, runs=(RUN, SECOND))
    assert [each.readings for each in records] == readings


def test_stored_result_of_an_earlier_version(store):
    gather(store, FakeRecord(RUN.name, version="0.2.0"), version="0.2.0")
    (warning,) = gather(store)
    assert re.match(f"{RUN.name}: .*version 0.2.0, this is 0.3.0; `paraphrastic papers run` ", warning)
    assert clone(store).missing([RUN]) == [RUN]
    assert gather(store, FakeRecord(RUN.name, 60.0)) == []
    assert score(store) == 60.0


def test_record_of_this_version_comes_before_one_of_an_earlier_version(store):
    gather(store, FakeRecord(RUN.name, 1.0, version="0.2.0"), FakeRecord("hand-made", 2.0))
    assert score(store) == 2.0
    assert clone(store).missing([RUN]) == []


def test_stored_result_of_other_parameters(store, tmp_path):
    store.add(RUN, Result("0.3.0", {"sts.mean": 1.0}), expected(PARAMS, RUN))
    params = changed(PARAMS, "train.select", "none")
    later = Store(tmp_path, params)
    (warning,) = gather(later, params=params)
    assert re.match(f"{RUN.name}: .*another train.select; `paraphrastic papers run` ", warning)
    assert clone(later).missing([RUN]) == [RUN]
    gather(later, FakeRecord(RUN.name, 2.0, params=determining(params, with_tasks=True)), params=params)
    assert (score(later), clone(later).missing([RUN])) == (2.0, [])


def test_one_line_for_a_reason(store):
    for run in (RUN, SECOND, replace(RUN, seed=3)):
        store.add(run, Result("0.2.0", {"sts.mean": 1.0}), expected(PARAMS, run))
    (warning,) = gather(store, runs=(RUN, SECOND, replace(RUN, seed=3)))
    assert warning.startswith(f"{RUN.name} and 2 more: stored by version 0.2.0")


def test_result_that_lacks_a_task_is_completed(store, monkeypatch):
    monkeypatch.setattr(module, "predictions_of", Mock(side_effect=DataError("not in the DVC cache")))
    run = replace(RUN, tasks=("sts",))
    gather(store, FakeRecord(RUN.name))
    assert clone(store).missing([run]) == [run]
    record = FakeRecord(RUN.name)
    record.result = lambda run: Result("0.3.0", {"sts.mean": 50.0, "finetune.sts.test.pearson": 70.0})
    (warning,) = gather(store, record, runs=(run,))
    assert warning == f"{run.name}: intervals of sts do not resample its rows: not in the DVC cache"
    assert clone(store).missing([run]) == []


def test_replicates_of_tasks_are_stored_with_their_result(store, monkeypatch):
    run, read = replace(RUN, tasks=("sts", "sst")), []

    def predictions_of(revision, task):
        read.append((revision, task))
        if task == "sst":
            raise DataError("not in the DVC cache")
        columns = [["similarity"] * 20, ["dev", "test"] * 10, [-1] * 20, np.arange(20.0), np.arange(20.0) ** 2]
        return pa.table(columns, PREDICTIONS.names).cast(PREDICTIONS)

    monkeypatch.setattr(module, "predictions_of", predictions_of)
    record = FakeRecord(RUN.name)
    values = {"sts.mean": 50.0, "finetune.sts.test.pearson": 96.0, "finetune.sst.test.accuracy": 80.0}
    record.result = lambda run: Result("0.3.0", values)
    warnings = gather(store, record, runs=(run,))
    assert warnings == [f"{run.name}: intervals of sst do not resample its rows: not in the DVC cache"]
    assert read == [("abc", task) for task in run.tasks]
    replicates = Store(store._folder, PARAMS).result(run).replicates("finetune.sts.test.pearson")
    assert len(replicates) == 1000
    assert np.mean(replicates) == pytest.approx(96, abs=2)
