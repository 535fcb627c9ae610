"""The lines that a training writes to a log."""

from types import SimpleNamespace

import pytest

from paraphrastic.training import trainer as training_loop
from paraphrastic.training.checkpoint import Curves
from paraphrastic.training.trainer import shown


@pytest.fixture
def clock(monkeypatch):
    """Return an object whose `now` is the time."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(training_loop, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
def trainer():
    return SimpleNamespace(steps=1000, curves=Curves([], []))


def test_line_for_each_selection(trainer, clock, capsys):
    with shown("avg", trainer, 100) as on_step:
        on_step(1)
        clock.now += 10
        trainer.curves.loss.append((101, 0.25))
        trainer.curves.selection.append((1.0, 52.5))
        on_step(101)
        on_step(102)
        trainer.curves.selection.append((2.0, 53.0))  # after the last step
    first, last = capsys.readouterr().err.splitlines()
    assert first == ("avg: step 101 of 1,000, loss 0.2500, score 52.50 at epoch 1, 1,000 pairs/s, 90 s left")
    assert "score 53.00 at epoch 2" in last


def test_line_every_minute_at_most(trainer, clock, capsys):
    with shown("avg", trainer, 100) as on_step:
        for step in range(1, 131):  # one each second
            on_step(step)
            clock.now += 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"avg: step {step} of 1,000, 100 pairs/s, {left} min left" for step, left in ((62, 16), (123, 15))]


def test_short_training_without_selection_is_quiet(trainer, clock, capsys):
    with shown("avg", trainer, 100) as on_step:
        on_step(1)
    assert capsys.readouterr().err == ""


def test_selections_of_a_checkpoint_are_not_repeated(trainer, clock, capsys):
    with shown("avg", trainer, 100) as on_step:
        trainer.curves.selection.append((1.0, 52.5))  # restored before the first step
        on_step(500)
    assert capsys.readouterr().err == ""
