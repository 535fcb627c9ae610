"""Parameters that determine a result."""

import json
from dataclasses import replace

import pytest

from paraphrastic.papers.plan import ANY_FILE, Run, determining, differences, expected, needs_vectors
from tests.helpers.recorded_results import PARAMS, RUN, changed

AVG = "models.avg.vectors"
PAPER = replace(RUN, settings={**RUN.settings, "benchmarks": "full"}, data="paper")


def test_parameters_of_stages_and_of_the_chosen_model():
    assert determining(PARAMS, with_tasks=False) == {
        "corpus": ["sample"],
        "benchmarks": "open",
        "tokenize.drop_overlap": True,
        "vocabulary.min_count": 2,
        "model": "avg",
        "train.select": "test",
        "seed": 1,
        "models.avg.dim": 300,
        "models.avg.vectors": None,
        "models.avg.learning_rate": 1e-05,
    }


def test_parameters_of_tasks_are_those_of_fine_tuning_and_of_the_chosen_tagger():
    added = determining(PARAMS, with_tasks=True).keys() - determining(PARAMS, with_tasks=False).keys()
    assert added == {"finetune.tagger", "finetune.epochs", "taggers.charagram.dim"}


def test_settings_of_a_run_replace_values_of_params_yaml():
    settings = {"model": "charcnn", "models.charcnn.dim": 10, "train.select": "none"}
    wanted = expected(PARAMS, Run("charcnn", settings, seed=7))
    assert (wanted["models.charcnn.dim"], wanted["train.select"], wanted["seed"]) == (10, "none", 7)
    assert PARAMS["models"]["charcnn"]["dim"] == 300


def test_threads_device_and_list_of_tasks_do_not_matter():
    other = changed(changed(PARAMS, "models.avg.num_threads", 8), "train.device", "cpu")
    other = changed(other, "finetune.tasks", ["sts", "sample-qa"])
    assert determining(other, with_tasks=True) == determining(PARAMS, with_tasks=True)


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", 2), ("corpus", ["open"]), ("vocabulary.min_count", 3), ("finetune.epochs", 2), ("train.select", "none")],
)
def test_another_value_is_a_difference(key, value):
    found = determining(changed(PARAMS, key, value), with_tasks=True)
    assert differences(found, determining(PARAMS, with_tasks=True)) == [key]


def test_a_name_of_a_corpus_is_a_list_of_one():
    assert not differences(determining(changed(PARAMS, "corpus", ["sample"]), False), determining(PARAMS, False))


def test_a_parameter_that_an_earlier_version_lacks_is_no_difference():
    earlier = changed(PARAMS, "tokenize", {})
    assert not differences(determining(earlier, with_tasks=False), determining(PARAMS, with_tasks=False))


@pytest.mark.parametrize("filters", [{2: 175}, {2: 175, 3: 175, 4: 1}, {2: 175, 3: 1}, {}])
def test_a_mapping_with_other_keys_is_a_difference(filters):
    params = changed(PARAMS, "model", "charcnn")
    other = changed(params, "models.charcnn.filters", filters)
    assert differences(determining(other, False), determining(params, False)) == ["models.charcnn.filters"]


def test_parameters_are_the_same_after_they_were_stored():
    wanted = expected(PARAMS, Run("charcnn", {"model": "charcnn", "models.charcnn.filters": {2: 5, 7: 3}}, 1))
    assert not differences(json.loads(json.dumps(wanted)), wanted)


def test_vectors_are_compared_by_the_name_of_their_file():
    params = changed(PARAMS, AVG, "/home/a/glove.txt")
    assert determining(params, with_tasks=False)[AVG] == "glove.txt"
    assert differences(determining(params, False), determining(changed(PARAMS, AVG, "other.txt"), False)) == [AVG]


def test_start_is_the_file_of_another_run():
    wanted = expected(PARAMS, replace(RUN, start=RUN))
    assert wanted[AVG] == f"{RUN.name}.txt"
    assert differences(determining(PARAMS, with_tasks=False), wanted) == [AVG]
    assert not differences(determining(changed(PARAMS, AVG, f"/clone/{RUN.name}.txt"), with_tasks=False), wanted)


def test_models_of_words_start_from_any_file_on_the_data_of_the_papers():
    wanted = expected(PARAMS, PAPER)
    full = changed(PARAMS, "benchmarks", "full")
    assert wanted[AVG] == ANY_FILE
    assert differences(determining(full, with_tasks=False), wanted) == [AVG]
    assert not differences(determining(changed(full, AVG, "/a/paragram.txt"), with_tasks=False), wanted)


def test_runs_whose_word_vectors_the_user_names():
    assert needs_vectors(PARAMS, PAPER)
    assert not needs_vectors(PARAMS, RUN)
    assert not needs_vectors(PARAMS, replace(PAPER, start=RUN))
    assert not needs_vectors(PARAMS, replace(PAPER, settings={**PAPER.settings, AVG: "glove.txt"}))
    assert not needs_vectors(PARAMS, replace(PAPER, model="overlap"))
