"""DVC's records as a table."""

from types import SimpleNamespace

import pytest

from paraphrastic.base.errors import ParameterError
from paraphrastic.papers.records import Entry, entries, records, table
from tests.helpers.recorded_results import PARAMS, add_experiment, changed, commit, make_repository, write_results

KEY = "sample.sts.mean"
HEADER = ["experiment", "model", "corpus", "changed"]


@pytest.fixture
def folder(tmp_path):
    folder = make_repository(tmp_path / "clone")
    write_results(folder)
    commit(folder)
    return folder


def listed(folder, by=None):
    with records(folder) as found:
        return entries(found, by)


def test_best_first_with_what_is_not_as_in_the_last_commit(folder):
    params = changed(changed(PARAMS, "models.avg.dim", 50), "vocabulary.min_count", 3)
    add_experiment(folder, "small", changed(params, "seed", 2), score=60.0)
    add_experiment(folder, "worse", changed(PARAMS, "corpus", ["sample", "open"]), score=40.0)
    found = listed(folder)
    assert [entry.name for entry in found] == ["small", "workspace", "HEAD", "worse"]
    assert found[0].changed == ["dim=50", "seed=2", "vocabulary.min_count=3"]
    assert [entry.corpus for entry in found] == ["sample", "sample", "sample", "sample+open"]
    assert found[1].changed == found[2].changed == found[3].changed == []


def test_another_model_is_compared_with_its_block_in_the_last_commit(folder):
    other = changed(PARAMS, "model", "charcnn")
    add_experiment(folder, "same", other)
    add_experiment(folder, "filters", changed(other, "models.charcnn.filters", {2: 7}))
    found = {entry.name: entry for entry in listed(folder)}
    assert (found["same"].model, found["same"].changed) == ("charcnn", [])
    assert found["filters"].changed == ["filters={'2':7}"]


def test_record_whose_metrics_are_of_other_parameters_is_left_out(folder):
    options = (folder / "models.yaml").read_text()
    (folder / "models.yaml").write_text(options.replace("dim: 300", "dim: 301"))
    assert [entry.name for entry in listed(folder)] == ["HEAD"]
    (folder / "params.yaml").write_text("[]")
    assert [entry.name for entry in listed(folder)] == ["HEAD"]


def test_metric_that_no_record_has(folder):
    with pytest.raises(ParameterError, match=r"^no experiment has the metric 'sts\.meen': did you mean 'sts\.mean'\?$"):
        listed(folder, "sts.meen")
    with pytest.raises(ParameterError, match=r"'xyz': metrics/evaluate\.json and metrics/sets\.csv have them$"):
        listed(folder, "xyz")


def test_columns_are_the_metrics_that_there_are():
    found = [
        Entry("a", "avg", "open", ["dim=5", "seed=2"], {"sts.mean": 50.0, "sts.2016": 40.125, "words.simlex": 1.0}),
        Entry("b", "gran", "open", [], {"sts.mean": 49.0}),
    ]
    rows = [["a", "avg", "open", "dim=5 seed=2", "50.00", "40.12"], ["b", "gran", "open", "", "49.00", ""]]
    assert table(found) == ([*HEADER, "STS", "STS 2016"], rows)
    header, rows = table(found, "words.simlex")
    assert header == [*HEADER, "words.simlex", "STS", "STS 2016"]
    assert [row[4] for row in rows] == ["1.00", ""]
    assert table([]) == (HEADER, [])


def test_experiments_on_the_sample_are_sorted_by_its_mean():
    def record(name, score):
        return SimpleNamespace(name=name, parameters={"model": "avg", "corpus": ["sample"]}, values={KEY: score})

    assert [entry.name for entry in entries([record("a", 1.0), record("b", 2.0)])] == ["b", "a"]
    assert table(entries([record("a", 1.0)])) == ([*HEADER, "sample"], [["a", "avg", "sample", "", "1.00"]])
