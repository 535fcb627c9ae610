"""Options of taggers; every option changes supervised training, or a table here says why it is not read."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
import torch
from pydantic import ValidationError

from paraphrastic import models
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.finetuning.initial_state import untrained_model
from paraphrastic.finetuning.learning import ModelChoice, train_task
from paraphrastic.finetuning.options import FinetuneConfig, tagger_config_class
from paraphrastic.finetuning.task_trainers import TaskRun, train_tagger
from paraphrastic.finetuning.tasks import Task
from paraphrastic.inference import model_folder
from paraphrastic.nn.layers import PairModel, TrainableModel
from paraphrastic.training.trainer import Callback, Checkpoint
from tests.helpers.option_changes import PARAMS, WITHOUT_RESULT, changed, differs, small_block, write_vectors
from tests.helpers.tagged_text import TEXTS, VARIANTS, tagged_tokens
from tests.helpers.task_tables import WORDS
from tests.helpers.toy_tasks import random_task

TRAINING = ("epochs", "batch_size", "optimizer", "learning_rate", "schedule", "max_grad_norm", "lambda_c", "lambda_w")
NOT_READ = {  # options of a model's block
    "encoder": {
        **dict.fromkeys(TRAINING, "finetune/params.yaml has its own"),
        "accumulate": "each step has one mini-batch",
        **dict.fromkeys(("margin", "temperature", "negatives"), "the rows of a task have labels"),
        **dict.fromkeys(("batches", "curriculum"), "the rows of a task have neither sources nor an order"),
    },
    "pair model": dict.fromkeys(("negatives", "negatives_per_sentence"), "the pairs of a task have labels"),
}
HEAD = ("hidden_dim", *TRAINING, "lambda_s")
NOISE = ("scramble", "dropout", "word_dropout")
NOT_READ_OF_FINETUNE = {  # options of finetune/params.yaml by model and `init`
    ("lstmavg", "scratch"): {"projection_dim": "there is no projection"},
    ("lstmavg", "universal"): {"projection_dim": "there is no projection"},
    ("lstmavg", "projected"): dict.fromkeys(("lambda_w", *NOISE), "the vectors are not trained"),
    ("lstmavg", "frozen"): dict.fromkeys(
        ("projection_dim", "lambda_c", "lambda_w", *NOISE), "only the head is trained"
    ),
    ("ldc", "scratch"): dict.fromkeys(("projection_dim", *HEAD), "there is no head; the model's block has the others"),
}
REFUSED = {("ldc", "scramble"), ("ldc", "word_dropout")}  # it has no such options
CHOICES = {"tasks": "names of the tasks", "tagger": "name of a block of `taggers`"}
CHOICES |= dict.fromkeys(("init", "by_task"), "has a test of its own")

FINETUNE: dict[str, Any] = {
    **PARAMS["finetune"],
    "epochs": 2,
    "batch_size": 10,
    "hidden_dim": 6,
    "projection_dim": 8,
    "learning_rate": 0.02,
}
TAGGERS = {name: small_block("taggers", name) | {"batch_size": 2} for name in PARAMS["taggers"]}
TAGGED = tagged_tokens([*TEXTS, "bananas/NNS bark/VBP", "a/DT banana/NN runs/VBZ"])
TRAINED = [name for name in models.names() if issubclass(models.model_class(name), TrainableModel)]


def kind(name: str) -> str:
    return "pair model" if issubclass(models.model_class(name), PairModel) else "encoder"


def pairs(without: dict[str, dict[str, str]], blocks: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Return names and options of `blocks` that should have an effect: those that are not in `without`."""
    return [
        (name, option)
        for name, block in blocks.items()
        for option in block
        if option not in WITHOUT_RESULT and option not in without.get(name, {})
    ]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return write_vectors(tmp_path_factory.mktemp("vectors") / "v.txt", WORDS)


@cache
def task(name: str) -> Task:
    """Return a small task for the model `name`, with six words per sentence."""
    short = random_task("labelled_pairs" if kind(name) == "pair model" else "similarity", 15)
    long = pc.binary_join_element_wise(short.sentences, short.sentences[::-1], short.sentences, " ")
    return replace(short, sentences=long)


def losses(name: str, block: dict[str, Any], finetune: dict[str, Any], folder: Path) -> np.ndarray:
    """Train a model on its task and return the loss curve; the pretrained model has random weights."""
    config = models.config_class(name)(**block)
    if finetune["init"] != "scratch":
        generator = torch.Generator().manual_seed(5)
        pretrained = untrained_model(models.model_class(name), config, task(name).sentences, [2, 3], generator)
        model_folder.write_model(pretrained, model_folder.ModelInfo(name, config.model_dump()), folder / "model")
    choice = ModelChoice(name, config, [2, 3], folder / "model")
    run = TaskRun(1, Checkpoint(folder / "checkpoint"), 1e9, Callback())
    return np.array(train_task(task(name), choice, FinetuneConfig(**finetune), run).curves.loss)


@cache
def unchanged_losses(name: str, init: str = "scratch") -> np.ndarray:
    with TemporaryDirectory() as folder:
        return losses(name, small_block("models", name), FINETUNE | {"init": init}, Path(folder))


@pytest.mark.parametrize(("name", "file"), [("avg", "finetune/params"), ("ldc", "models")])
def test_diverging_run_names_the_file_of_its_options(name, file, tmp_path):
    diverging = {"learning_rate": 1e38, "max_grad_norm": None, "epochs": 1, "batch_size": 200}
    block, finetune = (each | diverging for each in (small_block("models", name), FINETUNE))
    with pytest.raises(ModelError, match=rf"^{file}\.yaml: {name} on {task(name).name}: .* lower `learning_rate`"):
        losses(name, block, finetune, tmp_path)


class TestModels:
    @pytest.mark.parametrize(
        ("name", "option"),
        pairs(
            {name: NOT_READ[kind(name)] for name in TRAINED}, {name: small_block("models", name) for name in TRAINED}
        ),
    )
    def test_effect_of_option(self, name, option, vectors, tmp_path):
        block = changed(models.config_class(name), small_block("models", name), option, vectors)
        assert differs(losses(name, block, FINETUNE, tmp_path), unchanged_losses(name))

    @pytest.mark.parametrize("name", TRAINED)
    def test_options_that_are_not_read(self, name, vectors, tmp_path):
        block = small_block("models", name)
        for option in NOT_READ[kind(name)].keys() & block.keys():
            block = changed(models.config_class(name), block, option, vectors)
        np.testing.assert_array_equal(losses(name, block, FINETUNE, tmp_path), unchanged_losses(name))


class TestFinetune:
    @pytest.mark.parametrize(
        ("name", "init", "option"),
        [
            (name, init, option)
            for (name, init), not_read in NOT_READ_OF_FINETUNE.items()
            for _, option in pairs({name: not_read | CHOICES}, {name: FINETUNE})
            if (name, option) not in REFUSED
        ],
    )
    def test_effect_of_option(self, name, init, option, vectors, tmp_path):
        finetune = changed(FinetuneConfig, FINETUNE | {"init": init}, option, vectors)
        after = losses(name, small_block("models", name), finetune, tmp_path)
        assert differs(after, unchanged_losses(name, init))

    @pytest.mark.parametrize(("name", "init"), NOT_READ_OF_FINETUNE)
    def test_options_that_are_not_read(self, name, init, vectors, tmp_path):
        finetune = FINETUNE | {"init": init}
        for option in NOT_READ_OF_FINETUNE[name, init]:
            finetune = changed(FinetuneConfig, finetune, option, vectors)
        after = losses(name, small_block("models", name), finetune, tmp_path)
        np.testing.assert_array_equal(after, unchanged_losses(name, init))

    def test_effect_of_initial_state(self):
        curves = [unchanged_losses("lstmavg", init) for init in ("scratch", "universal", "frozen", "projected")]
        assert all(differs(one, other) for n, one in enumerate(curves) for other in curves[:n])


def tagger_losses(name: str, block: dict[str, Any], folder: Path) -> np.ndarray:
    """Train a tagger on tagged sentences and return its loss curve."""
    config = tagger_config_class(name)(**block)
    run = TaskRun(1, Checkpoint(folder), 1e9, Callback())
    _, curves = train_tagger(config, TAGGED, TAGGED, run)
    return np.array(curves.loss)


@cache
def unchanged_tagger_losses(name: str) -> np.ndarray:
    with TemporaryDirectory() as folder:
        return tagger_losses(name, TAGGERS[name], Path(folder))


@pytest.mark.parametrize(("name", "option"), pairs({}, TAGGERS))
def test_effect_of_option_of_tagger(name, option, vectors, tmp_path):
    block = changed(tagger_config_class(name), TAGGERS[name], option, vectors)
    assert differs(tagger_losses(name, block, tmp_path), unchanged_tagger_losses(name))


def test_unknown_tagger():
    known = r"^finetune/taggers.yaml: unknown tagger 'chargram': did you mean 'charagram'\?"
    with pytest.raises(ParameterError, match=known):
        tagger_config_class("chargram")


@pytest.mark.parametrize(("name", "block"), VARIANTS.values(), ids=VARIANTS)
def test_options_of_each_tagger(name, block):
    assert tagger_config_class(name)(**block).model_dump() == block


@pytest.mark.parametrize(
    "change",
    [
        {"epoch": 1},
        {"orders": [3, 2]},
        {"orders": []},
        {"learning_rate": 0.0},
        {"lstm_dropout": 1.0},
        {"num_layers": 3},
    ],
)
def test_wrong_options(change):
    name, block = VARIANTS["charagram"]
    with pytest.raises(ValidationError):
        tagger_config_class(name)(**(block | change))


def test_size_of_word_vectors_without_dense_layer():
    name, block = VARIANTS["charcnn-no-dense"]
    with pytest.raises(ValidationError, match=r"dense\n.*needs dim: 7, the number of filters; dim is 6"):
        tagger_config_class(name)(**block | {"dim": 6})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_dim": "5"}, "valid integer"),
        ({"hidden_dim": 0}, "greater than 0"),
        ({"lambda_w": 1e31}, r"less than or equal to 10{30}"),  # a product with a learning rate overflowed
        ({"lambda_w": float("nan")}, "finite number"),
        ({"x": 1}, "Extra inputs"),
    ],
)
def test_options_are_not_converted_or_ignored(change, message):
    assert FinetuneConfig(**PARAMS["finetune"]).hidden_dim == PARAMS["finetune"]["hidden_dim"]
    with pytest.raises(ValidationError, match=message):
        FinetuneConfig(**PARAMS["finetune"] | change)


def test_options_of_single_tasks():
    """iclr2016 tunes the size of the hidden layer on each task (note 16)."""
    config = FinetuneConfig(**PARAMS["finetune"] | {"by_task": {"sst": {"hidden_dim": 300, "optimizer": "adagrad"}}})
    assert [config.of(task).hidden_dim for task in ("sst", "sick-relatedness")] == [300, 50]
    assert config.of("sst") == config.model_copy(update={"hidden_dim": 300, "optimizer": "adagrad"})


@pytest.mark.parametrize(
    ("options", "message"), [({"hiden": 3}, "unknown key"), ({"epochs": 0}, "epochs"), ({"tasks": []}, "unknown key")]
)
def test_wrong_options_of_single_tasks(options, message):
    with pytest.raises(ParameterError, match=rf"finetune/params.yaml: by_task.sst.*{message}"):
        FinetuneConfig(**PARAMS["finetune"] | {"by_task": {"sst": options}}).of("sst")


def test_options_cannot_be_set():
    with pytest.raises(ValidationError, match="frozen"):
        FinetuneConfig(**PARAMS["finetune"]).hidden_dim = 1
