"""Learning a task with the chosen model, from each initial state."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.base.errors import DataError, ModelError, ParameterError
from paraphrastic.finetuning import learning
from paraphrastic.finetuning.learning import FIXED, ModelChoice, train_tags, train_task
from paraphrastic.finetuning.options import FinetuneConfig, tagger_config_class
from paraphrastic.finetuning.task_trainers import TaskRun
from paraphrastic.finetuning.tasks import SPLITS, find_task
from paraphrastic.inference import model_folder
from paraphrastic.models import config_class, model_class
from paraphrastic.scoring.baseline import pretrained_mean
from paraphrastic.scoring.neural import TrainedEncoder, TrainedPairModel
from paraphrastic.training.trainer import Callback, Checkpoint, Trainer
from tests.helpers.encoder_variants import CHARAGRAM, LSTM, PROJ, WORD
from tests.helpers.ldc import LDC
from tests.helpers.pretended_device import DEVICE, gpu
from tests.helpers.small_models import save_baseline
from tests.helpers.tagged_text import VARIANTS as TAGGERS
from tests.helpers.task_tables import write_tasks
from tests.helpers.toy_tasks import HEAD, random_task

NO_NOISE = {"scramble": None, "dropout": None, "word_dropout": None}
OPTIONS = HEAD | NO_NOISE | {"epochs": 2, "projection_dim": 6, "num_threads": 1}
OPTIONS |= {"tasks": ["any"], "by_task": {}, "tagger": "charagram"}
BLOCKS = {
    "avg": WORD,
    "charagram": CHARAGRAM,
    "lstmavg": LSTM,
    "proj": PROJ,
    "ldc": LDC | {"epochs": 2, "batch_size": 10},
    "overlap": {},
    "tfidf-words": {},
    "vectors": {"vectors": "v.txt", "dim": 8},
    "sif": {"vectors": "v.txt", "dim": 8, "a": 0.1, "components": 1},
}
TASK = random_task("labelled_pairs")
WORDS = pa.array([f"word{n}" for n in range(30)])  # some of the words of TASK


@pytest.fixture
def train(tmp_path):
    """Return a function that trains a model on a task, whose pretrained folder is `tmp_path/model`."""

    def run(name: str, task=TASK, seed: int = 1, device: str = "cpu", **changes: Any):
        options = FinetuneConfig(**OPTIONS | {"init": "scratch"} | changes)
        choice = ModelChoice(name, config_class(name)(**BLOCKS[name]), [2, 3], tmp_path / "model")
        run_options = TaskRun(seed, Checkpoint(tmp_path / "checkpoint"), 1e9, Callback(), device)
        return train_task(task, choice, options, run_options)

    return run


def save_pretrained(name: str, folder: Path) -> TrainedEncoder | TrainedPairModel:
    """Save an untrained model with the vocabulary WORDS as the pretrained model, and return it."""
    config, generator = config_class(name)(**BLOCKS[name]), torch.Generator().manual_seed(3)
    module = model_class(name)(config, generator)
    trained = TrainedPairModel if name == "ldc" else TrainedEncoder
    rows = len(WORDS) + (module.vocabulary == "words")
    model = trained(module, torch.randn(rows, config.dim, generator=generator), WORDS)
    model_folder.write_model(model, model_folder.ModelInfo(name, config.model_dump()), folder)
    return model


def save_word_vectors(name: str, folder: Path) -> None:
    """Save random vectors of WORDS as the pretrained model."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(8, 8)))[0][:1].astype(np.float32) if name == "sif" else None
    scorer = pretrained_mean(WORDS, rng.normal(size=(len(WORDS) + 1, 8)).astype(np.float32), directions)
    model_folder.write_model(
        scorer, model_folder.ModelInfo(name, config_class(name)(**BLOCKS[name]).model_dump()), folder
    )


@pytest.mark.parametrize("kind", ["similarity", "ranking", "labelled_pairs", "labelled_sentences"])
def test_scratch_on_each_kind_of_task(train, kind):
    task = random_task(kind)
    outcome = train("avg", task)
    assert outcome.dev.keys() == outcome.test.keys()
    assert task.metric in outcome.dev
    assert 1 <= outcome.epoch <= 2


def test_scratch_with_equal_and_other_seeds(train):
    first, second, other = (train("avg", seed=seed, epochs=1) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_scratch_with_orders_of_ngrams(train, monkeypatch):
    orders = []
    untrained = learning.untrained_model

    def spy(module, config, sentences, given_orders, generator):
        orders.append(given_orders)
        return untrained(module, config, sentences, given_orders, generator)

    monkeypatch.setattr(learning, "untrained_model", spy)
    train("charagram")
    assert orders == [[2, 3]]


def test_universal_with_pretrained_encoder(train, tmp_path, monkeypatch):
    pretrained, states = save_pretrained("avg", tmp_path / "model"), []
    trainable_state = learning.trainable_state

    def spy(model, *arguments):
        assert torch.equal(model.embeddings[: len(WORDS) + 1], pretrained.embeddings)
        assert model.texts[: len(WORDS)].equals(pretrained.texts)
        assert len(model.texts) > len(WORDS)  # with the other words of the training rows
        states.append(trainable_state(model, *arguments))
        return states[0]

    monkeypatch.setattr(learning, "trainable_state", spy)
    assert train("avg", init="universal", lambda_c=0.1, lambda_w=0.2).epoch >= 1
    assert (states[0].penalty.strength, states[0].penalty.to_start) == (0.1, True)
    assert (states[0].embeddings_penalty.strength, states[0].embeddings_penalty.to_start) == (0.2, True)


def test_universal_with_pretrained_pair_model(train, tmp_path, monkeypatch):
    before, calls = save_pretrained("ldc", tmp_path / "model"), []
    finetune_pair_model = learning.finetune_pair_model

    def spy(model, config, task, pretrained, run):
        assert pretrained
        assert torch.equal(model.embeddings[: len(before.embeddings)], before.embeddings)
        assert torch.equal(model.module.similarity.W, before.module.similarity.W)
        calls.append(model)
        return finetune_pair_model(model, config, task, pretrained, run)

    monkeypatch.setattr(learning, "finetune_pair_model", spy)
    assert train("ldc", init="universal").epoch >= 1
    assert len(calls) == 1


@pytest.mark.parametrize("init", ["scratch", "universal"])
@pytest.mark.parametrize("name", ["avg", "lstmavg", "ldc"])
def test_frozen_word_embeddings(train, tmp_path, monkeypatch, name, init):
    monkeypatch.setitem(BLOCKS, name, BLOCKS[name] | {"freeze_embeddings": True})
    save_pretrained(name, tmp_path / "model")
    initial_model, starts = learning._initial_model, []

    def spy(*arguments):
        model = initial_model(*arguments)
        starts.append((model, model.embeddings.clone(), [p.detach().clone() for p in model.module.parameters()]))
        return model

    monkeypatch.setattr(learning, "_initial_model", spy)
    train(name, init=init, lambda_w=0.1)
    ((model, embeddings, parameters),) = starts
    assert torch.equal(model.embeddings, embeddings)
    assert not any(map(torch.equal, model.module.parameters(), parameters))


def test_options_of_the_task_replace_those_of_all_tasks(train):
    own = {"hidden_dim": 7, "learning_rate": 0.02}
    assert train("avg", by_task={TASK.name: own}) == train("avg", **own)
    assert train("avg", by_task={"other": own}) == train("avg") != train("avg", **own)


def test_options_of_a_task_of_tagging_are_those_of_its_tagger(monkeypatch):
    kinds = {"tags": "tagged_tokens", "sts": "similarity"}
    monkeypatch.setattr(learning, "find_task", lambda _, name, key="": SimpleNamespace(name=name, kind=kinds[name]))
    options = SimpleNamespace(task=SimpleNamespace(by_task={"tags": {"epochs": 1}}))
    message = r"^finetune/params\.yaml: by_task: tags: is a task of tagging, whose options are those of taggers\.yaml$"
    with pytest.raises(ParameterError, match=message):
        learning.learn("sts", None, options, None, None, None)


@pytest.mark.parametrize("init", ["scratch", "universal"])
@pytest.mark.parametrize("option", NO_NOISE)
def test_noise_in_place_of_that_of_the_model(train, tmp_path, monkeypatch, option, init):
    save_pretrained("lstmavg", tmp_path / "model")  # without noise
    without, replaced = train("lstmavg", init=init), train("lstmavg", init=init, **{option: 0.5})
    assert replaced.curves.loss != without.curves.loss
    monkeypatch.setitem(BLOCKS, "lstmavg", BLOCKS["lstmavg"] | {option: 0.5})
    save_pretrained("lstmavg", tmp_path / "model")
    assert train("lstmavg", init=init) == replaced
    assert train("lstmavg", init=init, **{option: 0.0}) == without


@pytest.mark.parametrize(
    ("name", "option"), [("avg", "scramble"), ("charagram", "dropout"), ("ldc", "word_dropout"), ("vectors", "dropout")]
)
def test_noise_of_model_without_that_option(train, name, option):
    message = rf"^finetune/params\.yaml: {option} = 0\.5: '{name}' .*{option}; leave it empty \(null\)$"
    with pytest.raises(ParameterError, match=message):
        train(name, **{option: 0.5})


@pytest.mark.parametrize("init", ["frozen", "projected"])
@pytest.mark.parametrize("name", ["avg", "proj", "charagram", "vectors", "sif"])
def test_fixed_sentence_vectors_of_pretrained_model(train, tmp_path, monkeypatch, name, init):
    if name in ("vectors", "sif"):
        save_word_vectors(name, tmp_path / "model")
    else:
        save_pretrained(name, tmp_path / "model")
    expected = model_folder.load_scorer(tmp_path / "model").encode(TASK.sentences)
    fixed_state, states = getattr(learning, f"{init}_state"), []

    def spy(vectors, *arguments):
        np.testing.assert_array_equal(vectors.numpy(), expected)
        states.append(fixed_state(vectors, *arguments))
        return states[0]

    monkeypatch.setattr(learning, f"{init}_state", spy)
    assert train(name, init=init).epoch >= 1
    (state,) = states
    np.testing.assert_array_equal(state.embeddings.numpy(), expected)  # after training
    assert state.encoder.out_dim == (expected.shape[1] if init == "frozen" else 6)


def test_frozen_word_vectors_with_learnable_labels(train, tmp_path):
    save_word_vectors("vectors", tmp_path / "model")
    outcome = train("vectors", random_task("labelled_sentences", 150), init="frozen", epochs=30)
    assert outcome.test["accuracy"] > 80


@pytest.mark.parametrize(
    ("name", "kind", "init", "message"),
    [
        ("overlap", "labelled_pairs", "scratch", "scratch': 'overlap' has nothing to train .*; choose an encoder"),
        (
            "vectors",
            "labelled_pairs",
            "scratch",
            "init = 'scratch': 'vectors' has nothing to train .*; choose an encoder, .* frozen$",
        ),
        (
            "sif",
            "labelled_pairs",
            "universal",
            "init = 'universal': 'sif' has nothing to train .*; choose an encoder, .* frozen$",
        ),
        ("ldc", "similarity", "scratch", "similarity: 'ldc' only predicts"),
        ("ldc", "labelled_sentences", "scratch", "labelled_sentences: 'ldc' only predicts"),
        ("ldc", "labelled_pairs", "frozen", "init = 'frozen': 'ldc' .*sentence vectors; use scratch"),
        ("ldc", "ranking", "projected", "init = 'projected': 'ldc' .*sentence vectors; use scratch"),
    ],
)
def test_model_unsuitable_for_task(train, name, kind, init, message):
    with pytest.raises(ParameterError, match=message) as caught:
        train(name, random_task(kind), init=init)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["overlap", "tfidf-words"])
def test_frozen_model_without_sentence_vectors(train, tmp_path, name):
    save_baseline(tmp_path / "model", name)
    with pytest.raises(ParameterError, match=f"'{name}' .*sentence vectors; choose an encoder"):
        train(name, init="frozen")


@pytest.mark.parametrize("init", ["universal", "frozen", "projected"])
def test_no_pretrained_model(train, init):
    with pytest.raises(ModelError, match="model: no model here; `dvc repro train`"):
        train("avg", init=init)


@pytest.mark.parametrize("init", ["universal", "frozen", "projected"])
def test_other_pretrained_model(train, tmp_path, init):
    save_baseline(tmp_path / "model", "overlap")
    with pytest.raises(ModelError, match=r"model holds 'overlap', .*'avg' .*; run `dvc repro train`"):
        train("avg", init=init)


@pytest.mark.parametrize("option", ["dim", "boundary_tokens"])
def test_pretrained_model_with_other_options(train, tmp_path, monkeypatch, option):
    save_pretrained("avg", tmp_path / "model")
    other = {"dim": 6, "boundary_tokens": "both"}[option]
    monkeypatch.setitem(BLOCKS, "avg", WORD | {"epochs": 7, "learning_rate": 0.1, "dropout": 0.3, option: other})
    with pytest.raises(ModelError, match=rf"with {option} = \w+, but models\.yaml has {other}; run `dvc repro train`$"):
        train("avg", init="universal", dropout=0.2)


class TestDevice:
    @pytest.fixture
    def trainers(self, monkeypatch):
        """Let `cuda` be a device, and return the trainers of all runs."""
        trainers, run = [], Trainer.run

        def spy(trainer, *arguments):
            trainers.append(trainer)
            return run(trainer, *arguments)

        monkeypatch.setattr(Trainer, "run", spy)
        with gpu():
            yield trainers

    @pytest.mark.parametrize(
        ("name", "init", "kind"),
        [
            *(("lstmavg", init, "similarity") for init in ("scratch", "universal", *FIXED)),
            ("lstmavg", "scratch", "labelled_sentences"),
            ("charagram", "scratch", "ranking"),
            ("charagram", "frozen", "labelled_pairs"),  # encodes without torch
            *(("ldc", init, "labelled_pairs") for init in ("scratch", "universal")),
        ],
    )
    def test_outcome_on_device_and_cpu(self, train, tmp_path, trainers, monkeypatch, name, init, kind):
        # Not with Adam: on the CPU the penalty of its idle rows is of first order.
        monkeypatch.setitem(BLOCKS, "ldc", BLOCKS["ldc"] | {"optimizer": "adagrad"})
        save_pretrained(name, tmp_path / "model")
        noise = {"dropout": 0.3} | ({"scramble": 0.5} if name == "lstmavg" else {}) if name != "charagram" else {}
        options = {"init": init, "optimizer": "adagrad", "lambda_c": 0.01, "lambda_w": 0.01, "max_grad_norm": 1.0}
        on_device, on_cpu = (
            train(name, random_task(kind), device=device, **options, **noise) for device in ("cuda", "cpu")
        )
        for trainer, device in zip(trainers, (DEVICE.type, "cpu"), strict=True):
            tensors = trainer.embedding_optimizer.weights, *trainer.modules.parameters()
            assert {tensor.device.type for tensor in tensors} == {device}
        np.testing.assert_allclose(on_device.curves.loss, on_cpu.curves.loss, rtol=1e-3)
        for metrics, expected in ((on_device.dev, on_cpu.dev), (on_device.test, on_cpu.test)):
            assert metrics == pytest.approx(expected, abs=2.1)  # the percentage of one row is 2


def tag_rows(split: str) -> list[tuple[Any, ...]]:
    return [("sample.tags", split, n // 2, word, word.upper(), 0, "root") for n, word in enumerate("abab")]


def task_run(folder: Path) -> TaskRun:
    return TaskRun(1, Checkpoint(folder), 1e9, Callback())


def test_tags_of_four_tokens(tmp_path):
    rows = [row for split in SPLITS for row in tag_rows(split)]
    found = find_task(write_tasks(tmp_path, tagged_tokens=rows), "sample-tags")
    name, block = TAGGERS["charagram"]
    config = tagger_config_class(name)(**block | {"epochs": 30, "lstm_dropout": 0.0, "learning_rate": 0.05})
    outcome = train_tags(found, config, task_run(tmp_path / "checkpoint"))
    assert outcome.dev == outcome.test == {"accuracy": 100.0}
    assert 1 <= outcome.epoch <= 30
    config = config.model_copy(update={"optimizer": "sgd", "learning_rate": 1e38, "max_grad_norm": None})
    with pytest.raises(ModelError, match=r"^finetune/taggers\.yaml: charagram on sample-tags: .* lower"):
        train_tags(found, config, task_run(tmp_path / "diverging"))
    rows = [row for split in ("train", "test") for row in tag_rows(split)]
    without = find_task(write_tasks(tmp_path, tagged_tokens=rows), "sample-tags")
    with pytest.raises(DataError, match="tagging, development split: no tagged"):
        train_tags(without, config, task_run(tmp_path / "other"))
