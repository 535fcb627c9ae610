"""A clone of the repository: names in declarations, needed data, gathered results, and what these do together."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.tables import PREDICTIONS
from paraphrastic.papers import project as module
from paraphrastic.papers.experiments import Experiments
from paraphrastic.papers.plan import determining, expected
from paraphrastic.papers.project import DataNeeds, Project, check
from paraphrastic.papers.results import Result, Store
from paraphrastic.sources.catalogue import suite
from paraphrastic.sources.locations import DataLocations
from tests.helpers.paper_comparisons import make_comparison, make_line
from tests.helpers.recorded_results import PARAMS, RUN, add_experiment, changed
from tests.helpers.small_project import PARAMS as SMALL
from tests.helpers.small_project import declare, make_project

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


def store_score(project, run, score):
    project.store.add(run, Result("0.3.0", {"sts.mean": score}), expected(project.params, run))


def test_runs_are_compared_once_and_again_when_the_other_one_has_another_result(project, comparisons):
    assert project.compare_runs([COMPARED, OTHER]) == []
    store_score(project, RUN, 1.0)
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert comparisons == []  # the other run has no result yet
    store_score(project, OTHER, 2.0)
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert project.compare_runs([COMPARED, OTHER]) == []
    assert comparisons == [(RUN.name, OTHER.name)]
    assert project.store.result(RUN).tables["agreement"] == [["agree"], [1]]
    store_score(project, RUN, 1.0)
    store_score(project, OTHER, 2.0)
    project.compare_runs([COMPARED])
    store_score(project, OTHER, 3.0)
    project.compare_runs([COMPARED])
    assert project.store.result(RUN).tables["agreement"] == [["agree"], [2]]


@pytest.mark.parametrize(
    ("finished", "cells", "data"),
    [(1, {}, "replica"), (1, {"a": ("1.0", [2.0])}, "replica"), (1, {"a": ("1.0", [])}, "open"), (0, {}, "open")],
)
def test_pages_show_the_replica_where_it_has_numbers_or_curves(finished, cells, data, project, monkeypatch):
    by_data = {
        "replica": make_comparison(make_line("avg", cells, seeds=2, finished=finished), data="replica"),
        "open": make_comparison(make_line("avg", {}), data="open"),
    }
    monkeypatch.setattr(Project, "compare", lambda _, experiment, data: by_data[data])
    monkeypatch.setattr(Project, "experiments", Experiments({}, {}, replica=object()))
    assert project.shown(by_data["open"].experiment).data == data
    assert project.shown(by_data["open"].experiment.model_copy(update={"paper": None})).data == "open"


def test_scores_that_are_not_here(project, comparisons):
    store_score(project, RUN, 1.0)
    store_score(project, OTHER, 2.0)
    comparisons.append("broken")
    assert project.compare_runs([COMPARED]) == [f"{RUN.name} is not compared with {OTHER.name}: no scores"]


def test_results_that_are_collected_by_a_read_only_project_are_not_written(project):
    add_experiment(project.root, "by-hand", SMALL)
    reader = Project(project.root, read_only=True)
    assert reader.collect([RUN]) == []
    assert reader.missing([RUN]) == []
    assert not (project.root / "experiments/results").exists()
    project.collect([RUN])
    assert len(list((project.root / "experiments/results").iterdir())) == 1
    (project.root / "pyproject.toml").write_text('[project]\nversion = "9.8.7"\n')
    assert Project(project.root).version == "9.8.7"


AVG = 'label = "avg", model = "avg"'


@pytest.fixture
def check_rows(tmp_path):
    """Return a function that declares rows and checks them."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/presets.toml").write_text('[small]\nmodel = "avg"\noptions = { dims = 10 }\n')

    def check_declared(*rows: str, params=PARAMS, **header: str) -> None:
        declare(tmp_path, "acl2017-t1", *rows, **header)
        check(Experiments.load(tmp_path / "experiments", params))

    return check_declared


def test_everything_exists(check_rows):
    check_rows(
        f'{{ {AVG}, options = {{ dim = 10 }}, set = {{ "train.select" = "none" }}, analyses = ["length"] }}',
        '{ label = "charcnn", model = "charcnn", options = { filters = { 9 = 1 } } }',
        f'{{ {AVG.replace("avg", "avg2", 1)}, start = "avg" }}',
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('label = "x", model = "av"', "row 'x': unknown model 'av': did you mean 'avg'?"),
        (f"{AVG}, options = {{ dims = 1 }}", "'models.yaml:avg.dims': unknown key 'dims': did you mean 'dim'?"),
        (f"{AVG}, open_options = {{ dims = 1 }}", "no parameter 'models.yaml:avg.dims'"),
        (f'{AVG}, preset = "small"', "no parameter 'models.yaml:avg.dims'"),
        (f'{AVG}, set = {{ "train.selects" = 1 }}', "no parameter 'train.selects'"),
        (f'{AVG}, set = {{ "train.select.x" = 1 }}', "no parameter 'train.select.x'"),
        (f'{AVG}, set = {{ benchmarks = "opn" }}', "unknown suite of benchmarks 'opn': did you mean 'open'?"),
        (f'{AVG}, corpus = {{ open = ["sample"], paper = ["smple"] }}', "'smple'"),
        (f'{AVG}, analyses = ["lenght"]', "unknown analysis 'lenght': did you mean 'length'?"),
        (f'{AVG} }}, {{ label = "o", model = "overlap", start = "avg"', "no parameter 'models.yaml:overlap.vectors'"),
    ],
)  # fmt: skip
def test_unknown_names(check_rows, row, message):
    with pytest.raises(DataError) as caught:
        check_rows(f"{{ {row} }}")
    assert message in str(caught.value)
    assert str(caught.value).startswith("experiments/acl2017-t1.toml: row '")
    assert "\n" not in str(caught.value)


REPLICA = """
seeds = [1]
vectors = "glove-6b-50d"
corpora = {}
words = {}
presets = { PRESET = {} }
start = { model = "START", options = {} }
start_corpus = { corpus = ["sample"] }
"""


@pytest.mark.parametrize(
    ("preset", "start", "row", "message"),
    [
        ("small", "avg", 'label = "b", model = "agv"', "row 'b': unknown model 'agv': did you mean 'avg'?"),
        ("small", "agv", 'label = "b", model = "avg"', "unknown model 'agv': did you mean 'avg'?"),
        (
            "smal",
            "avg",
            'label = "b", model = "avg"',
            "replica.toml: presets: unknown preset 'smal': did you mean 'small'?",
        ),
    ],
)
def test_unknown_names_of_the_replica(check_rows, tmp_path, preset, start, row, message):
    text = REPLICA.replace("PRESET", preset).replace("START", start)
    (tmp_path / "experiments/replica.toml").write_text(text)
    with pytest.raises(DataError) as caught:
        check_rows(f'{{ {AVG}, against = "b" }}, {{ {row} }}')
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_corpus_of_the_experiment(check_rows):
    with pytest.raises(DataError, match="'ppdb'"):
        check_rows(f"{{ {AVG} }}", corpus='{ open = ["ppdb"], paper = ["sample"] }')
    check_rows('{ label = "o", model = "overlap" }', params=changed(PARAMS, "models.overlap", None))


SAMPLE = replace(RUN, settings={"corpus": ["sample"], "benchmarks": "sample"})
FULL = replace(RUN, settings={"corpus": ["sample"], "benchmarks": "full"})


@pytest.fixture
def locations(tmp_path):
    return DataLocations(tmp_path / "cache")


def test_generated_data_are_here(locations):
    needs = DataNeeds.of([SAMPLE, SAMPLE], locations)
    assert (needs.names, needs.absent, needs.manual) == (["sample", "suite sample"], [], [])
    needs.check(locations)


def test_sources_that_are_fetched_and_sources_to_bring(locations):
    needs = DataNeeds.of([SAMPLE, FULL], locations)
    assert needs.names == ["sample", "suite full", "suite sample"]
    assert {each.name for each in needs.sources} >= {each.name for each in suite("full").sources}
    assert len({each.name for each in needs.sources}) == len(needs.sources)
    assert {each.name for each in needs.absent} == {each.name for each in suite("full").sources if each.files}
    assert [each.name for each in needs.manual] == ["sts2013-smt"]
    with pytest.raises(ParameterError, match=r"sts2013-smt is not here: .* LDC; .* Put it at ") as caught:
        needs.check(locations)
    assert str(locations.manual / "sts2013-smt") in str(caught.value)


def test_source_that_was_brought(locations):
    (source,) = DataNeeds.of([FULL], locations).manual
    for file in source.files:
        path = locations.manual / source.name / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    needs = DataNeeds.of([FULL], locations)
    assert needs.manual == []
    needs.check(locations)


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
