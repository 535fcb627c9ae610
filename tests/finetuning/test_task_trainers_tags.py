"""Training of taggers."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import torch

from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.finetuning.options import tagger_config_class
from paraphrastic.finetuning.tagger import Tagger
from paraphrastic.finetuning.task_trainers import TaskRun, train_tagger
from paraphrastic.readers.sample import table as sample_table
from paraphrastic.training.trainer import Checkpoint, Curves
from tests.helpers.pretended_device import DEVICE, gpu, tensors_of
from tests.helpers.tagged_text import TEXTS, VARIANTS, random_tagger, tagged_tokens
from tests.helpers.toy_training import watch

LARGER = {"dim": 40, "hidden_dim": 30, "batch_size": 10, "lstm_dropout": 0.0}
LARGER_CNN = {"filters": {2: 20, 3: 20}, "character_dim": 15, "dropout": 0.0}
LARGER_ENCODER = {
    "charcnn": LARGER_CNN,
    "charcnn-no-dense": LARGER_CNN,
    "charlstm": {"character_dim": 15},
    "charlstm-case": {"character_dim": 15},
}

every_variant = pytest.mark.parametrize("variant", VARIANTS)


def train(
    variant: str,
    folder: Path,
    rows: pa.Table,
    dev: pa.Table | None = None,
    on_step: Callable[[int, int], None] = lambda step, steps: None,
    seed: int = 5,
    seconds: float = 1e9,
    device: str = "cpu",
    **changes: Any,
) -> tuple[Tagger, Curves]:
    """Train a tagger on `rows`, with a checkpoint in `folder`; `dev` is `rows` by default."""
    name, block = VARIANTS[variant]
    config = tagger_config_class(name)(**(block | changes))
    run = TaskRun(seed, Checkpoint(folder), seconds, watch(lambda t: on_step(t.step, t.steps)), device)
    return train_tagger(config, rows, rows if dev is None else dev, run)


def content(tagger: Tagger) -> list[Any]:
    return [tagger.texts.to_pylist(), tagger.tags.to_pylist(), *(each.tolist() for each in tensors_of(tagger))]


@pytest.fixture(scope="module")
def sample() -> dict[str, pa.Table]:
    """Return the splits of the tagged sentences."""
    table = sample_table("tagged_tokens")
    return {split: table.filter(pc.equal(table["split"], split)) for split in ("train", "dev", "test")}


@every_variant
def test_weights_with_equal_and_other_seeds(variant, tmp_path):
    rows = tagged_tokens(TEXTS)
    taggers = [train(variant, tmp_path / str(run), rows, seed=seed)[0] for run, seed in enumerate((5, 5, 6))]
    first, second, other = map(content, taggers)
    assert first == second
    assert first[2:] != other[2:]


@every_variant
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_outcome_after_interruption(variant, optimizer, tmp_path):
    rows, steps = tagged_tokens(TEXTS), []

    def on_step(step: int, total: int) -> None:
        assert total == 8
        steps.append(step)
        if step == 5 and steps.count(5) == 1:
            raise KeyboardInterrupt

    uninterrupted, curves = train(variant, tmp_path / "1", rows, optimizer=optimizer)
    with pytest.raises(KeyboardInterrupt):
        train(variant, tmp_path / "2", rows, optimizer=optimizer, on_step=on_step, seconds=0)
    resumed, resumed_curves = train(variant, tmp_path / "2", rows, optimizer=optimizer, on_step=on_step)
    assert steps == [1, 2, 3, 4, 5, 5, 6, 7, 8]
    assert resumed_curves == curves
    assert content(uninterrupted) == content(resumed)


@every_variant
def test_tagger_on_device_and_cpu(variant, tmp_path):
    rows = tagged_tokens(TEXTS)  # with dropout
    with gpu():
        (tagger, curves), (on_cpu, cpu_curves) = (
            train(variant, tmp_path, rows, device=device, optimizer="sgd") for device in ("cuda", "cpu")
        )
        assert {tensor.device.type for tensor in tensors_of(tagger)} == {DEVICE.type}
        assert tagger.tag(rows) == on_cpu.tag(rows)
        np.testing.assert_allclose(curves.loss, cpu_curves.loss, rtol=1e-3)
        assert curves.selection == cpu_curves.selection


@pytest.mark.parametrize(
    "variant", ["charagram", *(pytest.param(name, marks=pytest.mark.slow) for name in [*VARIANTS][1:])]
)
def test_training_accuracy_on_50_sentences(variant, sample, tmp_path):
    rows = sample["train"].filter(pc.less(sample["train"]["sentence"], 50))
    changes = LARGER | LARGER_ENCODER.get(variant, {}) | {"epochs": 20, "batch_size": 5, "learning_rate": 0.02}
    tagger, _ = train(variant, tmp_path, rows, **changes)
    assert tagger.accuracy(rows) >= 99


@pytest.mark.parametrize(
    "optimizer", [{}, {"optimizer": "sgd", "learning_rate": 0.2, "schedule": "constant"}], ids=["adam", "sgd"]
)
def test_accuracy_on_the_sample(sample, tmp_path, optimizer):
    tagger, curves = train("charagram", tmp_path, sample["train"], sample["dev"], **LARGER, epochs=3, **optimizer)
    assert tagger.accuracy(sample["test"]) >= 97
    assert tagger.accuracy(sample["dev"]) == max(score for _, score in curves.selection)


def test_accuracy_with_shuffled_tags(sample, tmp_path):
    shuffled = sample["train"]["tag"].take(pa.array(np.random.default_rng(1).permutation(len(sample["train"]))))
    rows = sample["train"].set_column(sample["train"].column_names.index("tag"), "tag", shuffled)
    tagger, _ = train("charagram", tmp_path, rows, sample["dev"], batch_size=20, dim=40, hidden_dim=30)
    majority = 100 * max(Counter(sample["test"]["tag"].to_pylist()).values()) / len(sample["test"])
    assert tagger.accuracy(sample["test"]) <= majority + 3


def test_accuracy_on_names_and_nouns(tmp_path):
    words = [f"{a}{b}{c}" for a in "bdg" for b in "aeiou" for c in "lmn"]
    rows = tagged_tokens([f"{word}/NN {word.title()}/NNP {word.upper()}/NNP {word}/NN" for word in words])
    tagger, _ = train("charagram", tmp_path, rows, epochs=10, lstm_dropout=0.0)
    held_out = tagged_tokens(["rust/NN", "Rust/NNP", "élan/NN", "Élan/NNP", "iPod/NNP", "42/NN"])
    assert tagger.accuracy(rows) == 100
    assert tagger.accuracy(held_out) == 100


def test_first_best_epoch(tmp_path):
    rows, changes = tagged_tokens(TEXTS), {"learning_rate": 0.02, "schedule": "constant"}
    tagger, curves = train("charagram", tmp_path / "1", rows, epochs=30, **changes)
    best = int(curves.best)
    assert [epoch for epoch, _ in curves.selection] == list(range(1, 31))
    scores = [score for _, score in curves.selection]
    assert scores.index(max(scores)) + 1 == best < 30
    shorter, _ = train("charagram", tmp_path / "2", rows, epochs=best, **changes)
    assert torch.equal(tagger.embeddings, shorter.embeddings)


def test_vocabulary_of_most_frequent_ngrams():
    name, block = VARIANTS["charagram"]
    texts = random_tagger(name, block | {"ngrams_per_order": 5}).texts.to_pylist()
    assert sorted(map(len, texts)) == [2] * 5 + [3] * 5
    assert {" d", "do", "og"} <= set(texts)


@pytest.mark.parametrize(("variant", "has_capitals"), [("charagram", False), ("charagram-case", True)])
def test_vocabulary_of_words_with_and_without_case(variant, has_capitals):
    texts = random_tagger(*VARIANTS[variant]).texts.to_pylist()
    assert any(text != text.lower() for text in texts) == has_capitals
    assert {" d", "do", "og"} <= set(texts)


def test_accuracy_on_words_that_differ_in_their_capital_letters(tmp_path):
    rows = tagged_tokens(
        [tagged for word in ("abc", "dog", "cat") for tagged in (f"{word.upper()}/X", f"{word.title()}/Y")]
    )
    options = {"epochs": 30, "lstm_dropout": 0.0, "learning_rate": 0.05, "schedule": "constant"}
    accuracy = {
        name: train(name, tmp_path / name, rows, **options)[0].accuracy(rows)
        for name in ("charagram-case", "charagram")
    }
    assert accuracy == {"charagram-case": 100, "charagram": 50}  # in lower case, both tags have the same input


def test_vocabulary_of_words_and_ngrams():
    name, block = VARIANTS["charagram"]
    texts = random_tagger(name, block | {"words": True, "orders": [2]}).texts.to_pylist()
    assert {" dogs ", " the ", "do"} <= set(texts)


@pytest.mark.parametrize(("rows", "dev", "split"), [([], TEXTS, "training"), (TEXTS, [], "development")])
def test_empty_split(tmp_path, rows, dev, split):
    empty = tagged_tokens(TEXTS).slice(0, 0)
    rows, dev = (tagged_tokens(texts) if texts else empty for texts in (rows, dev))
    with pytest.raises(DataError, match=rf"^tagging, {split} split: no tagged tokens; check"):
        train("charagram", tmp_path, rows, dev)


def test_n_grams_that_are_all_too_rare(tmp_path):
    message = (
        r"^finetune/taggers\.yaml: charagram\.min_count: no n-gram of 20 training tokens occurs so often; lower it$"
    )
    with pytest.raises(DataError, match=message):
        train("charagram", tmp_path, tagged_tokens(TEXTS), min_count=100)


def test_diverging_run(tmp_path):
    changes = {"optimizer": "sgd", "learning_rate": 1e30, "max_grad_norm": None, "epochs": 20}
    with pytest.raises(ModelError, match=r"the loss is \w+ at step \d+: lower `learning_rate`"):
        train("charagram-2-layers", tmp_path, tagged_tokens(TEXTS), **changes)


def test_run_that_diverges_in_its_last_step(tmp_path):
    changes = {"optimizer": "sgd", "learning_rate": 1e30, "max_grad_norm": None, "epochs": 1, "batch_size": 100}
    with pytest.raises(ModelError, match=r"^a prediction is not finite; lower `learning_rate`"):
        train("charagram-2-layers", tmp_path, tagged_tokens(TEXTS), **changes)
