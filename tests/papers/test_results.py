"""Stored results."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.evaluation.headline import PAPERS_SETS
from paraphrastic.papers.plan import Run, determining
from paraphrastic.papers.results import Result, Store, rows_of
from tests.helpers.recorded_results import PARAMS, RUN, changed

RESULT = Result("0.3.0", {"sts.mean": 50.0, "sts.sets": 2}, {"length": [["length", "r"], ["≤ 4", 0.5]]})
WITH_TASK = replace(RUN, tasks=("sts",))
TASK = Result("0.3.0", {"sts.mean": 50.0, "finetune.sts.test.pearson": 70.0})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results"


@pytest.fixture
def store(folder):
    return Store(folder, PARAMS)


def add(store: Store, run: Run, result: Result, params=PARAMS) -> None:
    """Add a result with all parameters of its record, as the collection of results does."""
    store.add(run, result, {**determining(params, with_tasks=True), "seed": run.seed})


def test_result_of_a_task_alone_is_none_of_evaluation_sets():
    result = Result("0.3.0", {"finetune.sts.test.pearson": 70.0})
    run = replace(RUN, tasks=("sts",))
    assert result.has(replace(run, sets=False))
    assert not result.has(run)
    result = Result("0.3.0", {"finetune.sts-2012.test.pearson": 1.0})
    assert not result.has(WITH_TASK)


def test_seeds_that_start_from_embeddings_of_their_own_seed(store, folder):
    for seed in (1, 2):
        run = replace(RUN, seed=seed, start=replace(RUN, model="avg", seed=seed))
        add(store, run, RESULT, changed(PARAMS, "models.avg.vectors", f"/work/{run.start.name}.txt"))
        assert not store.changed(run)
    (file,) = folder.iterdir()
    content = json.loads(file.read_text())
    assert list(content["seeds"]) == ["1", "2"]
    assert content["params"]["models.avg.vectors"] == f"{RUN.configuration}.txt"


def test_result_is_read_again_with_its_integers(store, folder):
    assert store.result(RUN) is None
    add(store, RUN, RESULT)
    assert store.result(RUN) == RESULT
    assert Store(folder, PARAMS).result(RUN) == RESULT
    add(store, RUN, RESULT)
    result = Store(folder, PARAMS).result(RUN)
    assert isinstance(result.values["sts.sets"], int)
    assert isinstance(result.values["sts.mean"], float)
    add(store, RUN, RESULT)
    assert store.has(RUN.name)
    assert not store.has(replace(RUN, seed=2).name)
    assert not any(map(store.has, ["workspace", "HEAD", "", "avg-s1", f"{RUN.configuration}-sx"]))


def test_one_file_for_the_seeds_of_a_configuration(store, folder):
    for seed in (10, 2, 1):
        add(store, replace(RUN, seed=seed), replace(RESULT, values={"sts.mean": float(seed)}))
    (file,) = folder.iterdir()
    assert file.name == f"{RUN.configuration}.json"
    content = json.loads(file.read_text())
    assert list(content["seeds"]) == ["1", "2", "10"]
    assert content["seeds"]["10"]["values"] == {"sts.mean": 10.0}
    assert "seed" not in content["params"]
    assert content["params"]["models.avg.learning_rate"] == 1e-05


def test_parts_in_any_order_are_the_same_bytes(tmp_path):
    def bytes_of(name: str, parts: list[tuple[Run, Result]]) -> bytes:
        store = Store(tmp_path / name, PARAMS)
        for run, result in parts:
            add(store, run, result)
        return (tmp_path / name / f"{RUN.configuration}.json").read_bytes()

    parts = [(RUN, RESULT), (WITH_TASK, TASK), (replace(RUN, seed=2), RESULT)]
    assert bytes_of("a", parts) == bytes_of("b", parts[::-1])


def test_tasks_are_added_to_a_result_of_the_same_version(store):
    add(store, RUN, RESULT)
    assert store.result(WITH_TASK) is None
    add(store, WITH_TASK, TASK)
    assert store.result(WITH_TASK).values == {**RESULT.values, **TASK.values}
    assert store.result(WITH_TASK).tables == RESULT.tables


def test_tasks_of_an_earlier_version_are_dropped(store):
    add(store, WITH_TASK, TASK)
    add(store, RUN, replace(RESULT, version="0.4.0"))
    assert store.result(RUN).values == RESULT.values
    assert store.result(WITH_TASK) is None


def test_result_lacks_an_analysis_or_a_task(store):
    add(store, RUN, RESULT)
    assert store.result(replace(RUN, analyses=("length",))) == RESULT
    assert store.result(replace(RUN, analyses=("length", "rare-words"))) is None
    assert store.result(replace(RUN, tasks=("sts",))) is None
    assert store.result(replace(RUN, seed=2)) is None


def test_changed_parameters(store, folder):
    add(store, RUN, RESULT)
    later = Store(folder, changed(PARAMS, "train.select", "none"))
    assert store.changed(RUN) == []
    assert later.changed(RUN) == ["train.select"]
    assert later.changed(replace(RUN, model="charcnn")) == []


def test_results_of_other_parameters_are_dropped(store, folder):
    add(store, RUN, RESULT)
    add(store, replace(RUN, seed=2), RESULT)
    params = changed(PARAMS, "train.select", "none")
    later = Store(folder, params)
    add(later, RUN, TASK, params)
    assert later.changed(RUN) == []
    assert later.result(RUN) == TASK
    assert later.result(replace(RUN, seed=2)) is None


def test_parameters_of_tasks_are_kept_when_a_run_without_tasks_is_added(store, folder):
    add(store, WITH_TASK, TASK)
    params = changed(PARAMS, "finetune.epochs", 1)
    later = Store(folder, params)
    add(later, RUN, RESULT, params)
    assert later.changed(RUN) == []
    assert later.changed(WITH_TASK) == ["finetune.epochs"]


def test_minutes(store):
    add(store, RUN, RESULT)
    store.note_minutes(RUN, 2.04)
    assert store.result(RUN).minutes == 2.0
    store.note_minutes(replace(RUN, seed=2), 4.0)
    assert store.minutes() == {("avg", "open"): 2.0, ("avg", "open", "sample"): 2.0}
    add(store, replace(RUN, seed=2), replace(RESULT, minutes=4.0))
    assert store.minutes()["avg", "open"] == store.minutes()["avg", "open", "sample"] == 3.0
    add(store, RUN, replace(RESULT, minutes=30.0))
    add(store, RUN, RESULT)
    store.note_minutes(RUN, 0.2)
    assert store.result(RUN).minutes == 30.0


def test_read_only_store_writes_nothing(folder):
    store = Store(folder, PARAMS, read_only=True)
    add(store, RUN, RESULT)
    assert store.result(RUN) == RESULT
    assert not folder.exists()


def test_tables_are_added_to_a_stored_result(store):
    store.add_tables(RUN, {"agreement": []})
    assert store.result(RUN) is None
    add(store, RUN, RESULT)
    store.add_tables(RUN, {"agreement": [["a"], [1]]})
    assert store.result(RUN).tables == {**RESULT.tables, "agreement": [["a"], [1]]}


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "null", "{}", '{"params": {}}', '{"params": {}, "seeds": []}', '{"params": 1, "seeds": {}}',
        '{"params": {}, "seeds": {"x": {}}}', '{"params": {}, "seeds": {"1": {"version": "1"}}}',
        '{"params": {}, "seeds": {"1": {"version": "1", "values": {"a": "high"}}}}',
        '{"params": {}, "seeds": {"1": {"version": "1", "values": {"a": NaN}}}}',
        '{"params": {}, "seeds": {"1": {"version": "1", "values": {}, "tables": {"length": [1]}}}}', "<<<<<<< HEAD\n{}",
        *(
            f'{{"params": {{}}, "seeds": {{"1": {{"version": "1", "values": {{}}, {part}}}}}}}'
            for part in (
                '"tables": {"resamples": []}', '"tables": {"resamples": [[1, 2]]}',
                '"tables": {"a": [["x", "y"], [1]]}',
                '"curves": {"selection": [[1, 2, 3]]}',
            )
        ),
    ],
)  # fmt: skip
def test_damaged_file(store, folder, content):
    folder.mkdir()
    file = folder / f"{RUN.configuration}.json"
    file.write_text(content)
    with pytest.raises(DataError, match=r"not a stored result; .*`git checkout") as caught:
        store.result(RUN)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sets_that_a_mean_lacks():
    values = {name: 50.0 for name in PAPERS_SETS if name not in ("sts.2013.SMT", "pit2015")}
    result = Result("0.3.0", {**values, "sts.2012": 50.0})
    assert result.lacks("transfer.mean") == ["sts.2013.SMT", "pit2015"]
    assert result.lacks("norm-weights[vectors=initial].pearson") == ["sts.2013.SMT", "pit2015"]
    assert result.lacks("norm-weights[vectors=initial].improvement") == []
    assert result.lacks("sts.2013") == ["sts.2013.SMT"]
    assert result.lacks("sts.2012") == result.lacks("sts.2013.OnWN") == result.lacks("sts.2013.OnWN.n") == []
    rows = [["length", "pearson", "n"], ["≤ 4", 70.5, 3], ["≥ 5", 60.0, 9], ["short"]]
    result = Result("0.3.0", {"sts.mean": 50.0}, {"length": rows, "none": []})
    assert result.value("sts.mean") == 50.0
    assert result.value("sts.2012") is result.value("minutes") is None
    assert Result("0.3.0", {}, minutes=2.5).value("minutes") == 2.5
    assert result.value("length[length=≥ 5].pearson") == 60.0
    assert result.value("length[length=≤ 4,n=3].pearson") == 70.5
    assert result.value("length[].pearson") == 70.5
    assert result.value("length[length=≤ 4,n=9].pearson") is None
    assert result.value("length[length=short].n") is None
    assert result.value("rare-words[length=1].pearson") is None
    assert result.value("none[length=1].pearson") is None


def test_condition_without_a_value():
    result = Result("1", {}, {"length": [["length", "pearson"], ["5", 70.0]]})
    assert (result.value("length[length=5].pearson"), result.value("length[foo].pearson")) == (70.0, None)


def test_replicates_of_a_value():
    tables = {"resamples": [["sts.2016"], [1.0], [2.0]], "finetune.sts": [["dev.map", "test.map"], [3.0, 4.0]]}
    result = Result("0.3.0", {}, tables)
    assert result.replicates("sts.2016") == [1.0, 2.0]
    assert result.replicates("finetune.sts.test.map") == [4.0]
    for key in ("transfer.mean", "finetune.sts.test.mrr", "finetune.sst.test.map"):
        assert result.replicates(key) == []


def test_replicates_of_the_families_of_a_run_are_kept_on_one_line(store, folder):
    run, values = replace(RUN, analyses=("resamples",)), {"transfer.mean": 60.0, "words.simlex": 40.0}
    rows = [[round(60 + n / 100, 2), round(40 + n / 100, 2)] for n in range(1000)]
    result = Result("0.3.0", values, {"resamples": [["transfer.mean", "words.simlex"], *rows]})
    add(store, run, result)
    assert store.result(run).tables["resamples"] == [["transfer.mean"], *(row[:1] for row in rows)]
    with_words = replace(run, families=frozenset({"words"}))
    assert store.result(with_words).replicates("words.simlex") == []  # its value can be shown all the same
    add(store, with_words, result)
    assert Store(folder, PARAMS).result(run).tables["resamples"] == [["transfer.mean", "words.simlex"], *rows]
    line = max(next(folder.iterdir()).read_text().splitlines(), key=len)
    assert len(line) <= 14 * 1024
    tags = replace(run, seed=2, families=frozenset({"tags"}))
    add(store, tags, result)
    assert store.result(tags).tables["resamples"] == [[]]


def test_rows_of_a_table_with_gaps():
    assert rows_of(pd.DataFrame({"a": [1.5, None], "b": ["x", None]})) == [["a", "b"], [1.5, "x"], ["", ""]]
