"""The training loop: model selection, the loss curve, checkpoints, clipping, diverging runs, and lines of the log."""

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pyarrow.compute as pc
import pytest
import torch

from paraphrastic.base.console import progress
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.losses import infonce, margin
from paraphrastic.nn.negatives import ALL, negative_mask
from paraphrastic.training import train_model
from paraphrastic.training import trainer as training_loop
from paraphrastic.training.train_model import Shown
from paraphrastic.training.trainer import Callback, Checkpoint, Curves
from tests.helpers.encoder_variants import LSTM, VARIANTS, WORD
from tests.helpers.toy_training import SENTENCES, encoder_trainer, kill_at, prepare, train


def test_points_of_a_long_loss_curve(tmp_path):
    _, curves = train("avg", WORD, tmp_path, epochs=90)
    assert [step for step, _ in curves.loss] == list(range(3, 451, 3))  # at most 200 points for 450 steps


def test_loss_curve_of_killed_and_unbroken_run(tmp_path, monkeypatch):
    monkeypatch.setattr(training_loop, "_POINTS", 10)
    _, unbroken = train("avg", WORD, tmp_path / "1")
    with pytest.raises(KeyboardInterrupt):
        train("avg", WORD, tmp_path / "2", every=0, on_step=kill_at(9))  # step 8, in the middle of a point, is saved
    assert train("avg", WORD, tmp_path / "2")[1] == unbroken


@pytest.mark.parametrize(("points", "steps"), [(10, [*range(3, 31, 3)]), (4, [8, 16, 24, 30])])
def test_points_of_a_loss_curve_are_means(points, steps, tmp_path, monkeypatch):
    _, single = train("avg", WORD, tmp_path / "1")
    monkeypatch.setattr(training_loop, "_POINTS", points)
    _, curves = train("avg", WORD, tmp_path / "2")
    assert [step for step, _ in curves.loss] == steps
    parts = np.split([loss for _, loss in single.loss], steps[:-1])
    assert [loss for _, loss in curves.loss] == pytest.approx(list(map(np.mean, parts)), rel=1e-6)


def small_trainer(seed=11, selections=1, **changes):
    model, pairs, config = prepare("avg", WORD, **changes)
    return encoder_trainer(model, pairs, config, seed, None, selections)


@pytest.mark.parametrize(("schedule", "last"), [("linear", 0.02 / 30), ("constant", 0.02)])
def test_learning_rate_of_each_step(schedule, last):
    rates = small_trainer(schedule=schedule).learning_rates
    assert rates.tolist() == pytest.approx(np.linspace(0.02, last, 30).tolist())


@pytest.mark.parametrize(
    ("selections", "steps"), [(1, {5: 1.0}), (2, {3: 0.5, 5: 1.0}), (4, {2: 0.25, 3: 0.5, 4: 0.75, 5: 1.0})]
)
def test_part_of_an_epoch_is_done_at_the_first_step_that_completes_it(selections, steps):
    assert small_trainer(selections=selections).selection_steps == steps


def test_order_and_noise_depend_on_the_seed():
    first, same, other = (small_trainer(seed) for seed in (11, 11, 12))
    orders = [np.concatenate(trainer.batches(0)).tolist() for trainer in (first, same, other)]
    assert orders[0] == orders[1] != orders[2]
    draws = [trainer.random(training_loop.NOISE, 1).random() for trainer in (first, same, other)]
    assert draws[0] == draws[1] != draws[2]


def test_loss_of_an_encoder_is_that_of_its_options():
    rows, vectors = np.array([3, 0, 7]), torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    mask = negative_mask(torch.arange(6), torch.arange(3))
    expected = infonce.loss(vectors, mask, ALL, None, infonce.Config(temperature=0.3))
    assert float(small_trainer(temperature=0.3).loss_of(vectors, rows)) == pytest.approx(float(expected))
    trainer = small_trainer(margin=0.7, negatives="random")
    generator, options = small_trainer().random(training_loop.NEGATIVES), margin.Config(margin=0.7, negatives="random")
    expected = margin.loss(vectors, mask, ALL, generator, options)
    assert float(trainer.loss_of(vectors, rows)) == pytest.approx(float(expected))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"freeze_embeddings": True},
            r"^models\.yaml: avg\.freeze_embeddings = true: .*, or choose the model 'vectors'$",
        ),
        ({"lambda_c": 0.5}, r"^models\.yaml: avg\.lambda_c = 0\.5: .*; set it to 0\.0, or use lambda_w$"),
    ],
)
def test_options_without_meaning_for_an_average(changes, message):
    with pytest.raises(ParameterError, match=message):
        small_trainer(**changes)


def test_callbacks_of_a_training(tmp_path):
    calls, tables = [], {}

    class Recorder(Callback):
        def on_step(self, trainer):
            calls.append(("step", trainer.step))
            if trainer.step == 20:
                raise KeyboardInterrupt

        def on_selection(self, trainer):
            calls.append(("selection", trainer.step, trainer.curves.selection[-1][1]))
            tables[trainer.step] = trainer.model.embeddings.clone()

    class Ends(Callback):
        def on_end(self, trainer):
            calls.append(("end", trainer.step))
            assert torch.equal(trainer.model.embeddings, tables[5])  # the best, not the last

    scores = iter([9.0, 1.0, 2.0, 3.0])
    model, pairs, config = prepare("avg", WORD, epochs=4)
    trainer = encoder_trainer(model, pairs, config, 11, lambda _: next(scores))
    with pytest.raises(KeyboardInterrupt):
        trainer.run(Checkpoint(tmp_path), 0, Recorder(), Ends())
    resumed = encoder_trainer(model, pairs, config, 11, lambda _: next(scores))
    resumed.run(Checkpoint(tmp_path), 0, Ends())
    steps = [[("step", step) for step in range(first, first + 5)] for first in (1, 6, 11, 16)]
    selections = [("selection", step, score) for step, score in ((5, 9.0), (10, 1.0), (15, 2.0))]
    parts = [call for part, each in zip(steps, selections, strict=False) for call in (*part, each)]
    assert calls == [*parts, *steps[3], ("end", 20)]


def test_penalty_pulls_embeddings_toward_their_start(tmp_path):
    start = prepare("avg", WORD)[0].embeddings
    far, near = (train("avg", WORD, tmp_path / f"{w}", lambda_w=w)[0].embeddings for w in (0.0, 1000.0))
    assert (near - start).norm() < 0.02 * (far - start).norm()
    assert float(near.norm()) == pytest.approx(float(start.norm()), rel=0.01)


@pytest.mark.parametrize(("name", "to_start"), [("irnn", True), ("rnn", False), ("lstm", False)])
def test_penalty_of_parameters(tmp_path, name, to_start):
    block = next(block for key, block in VARIANTS if key == name)
    started, _, _ = prepare(name, block)
    trained, _ = train(name, block, tmp_path, lambda_c=1e4)
    start, end = (torch.cat([p.detach().ravel() for p in model.module.parameters()]) for model in (started, trained))
    assert float((end - start).norm() if to_start else end.norm()) < 0.1 * float(start.norm())


def test_best_quarter_of_an_epoch(tmp_path):
    model, pairs, config = prepare("avg", WORD, epochs=2, schedule="constant")
    tables, scores = [], iter([1.0, 2.0, 3.0, 1.0, 9.0, 1.0, 1.0, 1.0])

    def select(model):
        tables.append(model.embeddings.clone())
        return next(scores)

    trainer = encoder_trainer(model, pairs, config, 11, select, 4)
    curves = trainer.run(Checkpoint(tmp_path), 1e9)
    assert [epochs for epochs, _ in curves.selection] == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0]
    assert curves.best == 1.25
    assert torch.equal(model.embeddings, tables[4])


def test_best_epoch_of_six(tmp_path):
    scores = itertools.chain([1.0, 2.0, 9.0, 9.0], itertools.repeat(3.0))  # the third is the first of the best
    selected, curves = train("avg", WORD, tmp_path, select=lambda model: next(scores), schedule="constant")
    three_epochs, _ = train("avg", WORD, tmp_path, epochs=3, schedule="constant")
    assert curves.selection == [(1, 1.0), (2, 2.0), (3, 9.0), (4, 9.0), (5, 3.0), (6, 3.0)]
    assert curves.best == 3
    assert torch.equal(selected.embeddings, three_epochs.embeddings)


@pytest.mark.parametrize(
    "head", ["", "{", "[]", "3", "null", "{}", '{"file": 3, "sha256": ""}', '{"file": "state-3.pt", "sha256": ""}']
)
def test_state_of_a_checkpoint_and_damaged_head(tmp_path, head):
    checkpoint = Checkpoint(tmp_path)
    checkpoint.save({"step": 3, "weights": torch.arange(4.0)})
    state = checkpoint.load()
    assert (state["step"], state["weights"].tolist()) == (3, [0, 1, 2, 3])
    (tmp_path / "head.json").write_text(head)
    assert checkpoint.load() is None


def test_run_with_damaged_checkpoint(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train("avg", WORD, tmp_path, every=0, on_step=kill_at(23))
    (state,) = tmp_path.glob("state-*.pt")
    content = bytearray(state.read_bytes())
    content[len(content) // 2] ^= 1
    state.write_bytes(content)
    steps = []
    train("avg", WORD, tmp_path, on_step=steps.append)
    assert steps[0] == 1


@pytest.mark.parametrize(
    ("step", "remedy"),
    [
        (6, "lower `learning_rate`, or bound the gradient with `max_grad_norm`"),
        (1, "an option of the loss, or an initial vector, has too large or too small numbers"),
    ],
)
def test_first_step_with_a_loss_that_is_not_finite(tmp_path, monkeypatch, step, remedy):
    monkeypatch.setattr(training_loop, "_POINTS", 4)  # losses are read after 8 steps
    trainer = small_trainer()
    loss_of = trainer.loss_of
    trainer.loss_of = lambda *arguments: loss_of(*arguments) * (np.nan if trainer.step == step else 1)
    with pytest.raises(ModelError, match=f"^the loss is nan at step {step}: {remedy}"):
        trainer.run(Checkpoint(tmp_path), 1e9)


def test_weights_that_are_not_finite_after_the_last_step(tmp_path):
    model, pairs, config = prepare(
        "proj", WORD | {"out_dim": 8}, learning_rate=1e39, epochs=1, batch_size=len(SENTENCES)
    )
    with pytest.raises(ModelError, match=r"^a weight is not finite after \d+ steps: lower `learning_rate`"):
        encoder_trainer(model, pairs, config, 11, None).run(Checkpoint(tmp_path), 1e9)


def test_norm_of_clipped_gradients(tmp_path):
    model, pairs, config = prepare("lstmavg", LSTM, max_grad_norm=1e-3, epochs=1)
    trainer = encoder_trainer(model, pairs, config, 11, None)
    norms = []

    def record_norm(step):
        gradients = [p.grad.flatten() for p in (trainer.embedding_optimizer._leaf, *trainer.modules.parameters())]
        norms.append(float(torch.cat(gradients).norm()))

    trainer.embedding_optimizer.update = record_norm
    trainer.run(Checkpoint(tmp_path), 1e9)
    assert len(norms) == trainer.steps
    assert max(norms) <= 1.01e-3


def test_order_of_pairs_with_and_without_curriculum():
    orders = {}
    for curriculum in (True, False):
        trainer = encoder_trainer(*prepare("avg", WORD, curriculum=curriculum), 11, None)
        orders[curriculum] = [np.concatenate(trainer.batches(epoch)).tolist() for epoch in range(3)]
    assert orders[True][0] == list(range(20))
    assert orders[False][0] != list(range(20))
    assert orders[True][1:] == orders[False][1:]
    assert orders[True][1] != orders[True][2]


@pytest.mark.parametrize(("word", "is_trained"), [("again", False), ("unseen", True)])
@pytest.mark.parametrize(("name", "block"), [("avg", WORD), ("lstmavg", LSTM)])
def test_vector_of_unknown_words_after_training(name, block, word, is_trained, tmp_path):
    model, pairs, config = prepare(name, block)
    sentences = pc.replace_substring(SENTENCES, "again", word)
    pairs = dataclasses.replace(pairs, sentences=model.vocabulary.lookup(sentences))
    encoder_trainer(model, pairs, config, 11, None).run(Checkpoint(tmp_path), 1e9)
    assert bool(model.embeddings[0].any()) == is_trained  # it starts at zero


@pytest.fixture
def clock(monkeypatch):
    """Return an object whose `now` is the time."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(train_model, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
def trainer():
    return SimpleNamespace(step=0, steps=1000, curves=Curves([], []))


@pytest.fixture
def shown(clock):
    return Shown("avg", 100, progress(logged=False))


def test_line_for_each_selection(trainer, shown, clock, capsys):
    trainer.step = 1
    shown.on_step(trainer)
    clock.now += 10
    trainer.step = 101
    trainer.curves.loss.append((101, 0.25))
    shown.on_step(trainer)
    for point in ((1.0, 52.5), (2.0, 53.0)):
        trainer.curves.selection.append(point)
        shown.on_selection(trainer)
    shown.on_end(trainer)
    first, last = capsys.readouterr().err.splitlines()
    assert first == ("avg: step 101 of 1,000, loss 0.2500, score 52.50 at epoch 1, 1,000 pairs/s, 90 s left")
    assert "score 53.00 at epoch 2" in last


def test_line_every_minute_at_most(trainer, shown, clock, capsys):
    for trainer.step in range(1, 131):  # one each second
        shown.on_step(trainer)
        clock.now += 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"avg: step {step} of 1,000, 100 pairs/s, {left} min left" for step, left in ((62, 16), (123, 15))]


@pytest.mark.parametrize(("restored", "step"), [([], 1), ([(1.0, 52.5)], 500)])
def test_no_line_without_a_new_selection(trainer, shown, capsys, restored, step):
    trainer.curves.selection.extend(restored)  # from a checkpoint, before the first step
    trainer.step = step
    shown.on_step(trainer)
    shown.on_end(trainer)
    assert capsys.readouterr().err == ""
