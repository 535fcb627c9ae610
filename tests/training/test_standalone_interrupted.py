"""Training on files of the user that is interrupted, or done twice at the same time."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import paraphrastic
from paraphrastic.training import standalone
from paraphrastic.training import train_model as training
from paraphrastic.training.trainer import Callback
from tests.helpers import stub_teacher
from tests.helpers.own_training import SMALL, weights, working_folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return working_folder(tmp_path, monkeypatch)


class ProcessInterruptedAfter(Callback):
    """Interrupts the first training after some steps; records the first step of each training."""

    def __init__(self, steps):
        self._left, self._last, self.first_steps = steps, None, []

    def on_step(self, trainer):
        self.first_steps += [] if trainer is self._last else [trainer.step]
        self._last = trainer
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt


def test_two_trainings_at_once(folder, monkeypatch, capsys):
    barrier, work_folder = Barrier(2), standalone._work_folder

    def same(*arguments):
        barrier.wait(60)
        return work_folder(*arguments)

    monkeypatch.setattr(standalone, "_work_folder", same)
    with ThreadPoolExecutor(2) as pool:
        models = list(pool.map(lambda out: paraphrastic.train("pairs.csv", out, settings=SMALL), ["one", "two"]))
    assert np.array_equal(*map(weights, models))
    assert "trains with the same options on the same data already; waiting until it ends" in capsys.readouterr().err
    assert not [*(folder / "cache/work").iterdir()]


def test_interrupted_training_goes_on(folder, monkeypatch):
    whole = weights(paraphrastic.train("pairs.csv", "whole", settings=SMALL))
    interrupted = ProcessInterruptedAfter(5)
    monkeypatch.setattr("paraphrastic.training.train_model.CHECKPOINT_SECONDS", 0.0)
    with pytest.raises(KeyboardInterrupt):
        paraphrastic.train("pairs.csv", "out", settings=SMALL, callbacks=[interrupted])
    assert not (folder / "out").exists()
    first = [*(folder / "cache/work").rglob("*.parquet")]
    resumed = paraphrastic.train("pairs.csv", "out", settings=SMALL, callbacks=[interrupted])
    assert np.array_equal(weights(resumed), whole)
    assert first
    assert interrupted.first_steps == [1, 5]  # the step of the interruption was not saved
    assert not [*(folder / "cache/work").iterdir()]


def test_teacher_encodes_once_for_a_training_that_goes_on(folder, monkeypatch, capsys):
    mini, encoded = stub_teacher.install(monkeypatch, folder / "mini"), []
    for content, steps in (("[]", 5), ("[]", 5), ("[ ]", 10**6)):
        (mini / "modules.json").write_text(content)
        with nullcontext() if steps > 5 else pytest.raises(KeyboardInterrupt):
            callbacks = [ProcessInterruptedAfter(steps)]
            paraphrastic.train("pairs.csv", "out", settings=SMALL | {"teacher.path": str(mini)}, callbacks=callbacks)
        encoded.append(capsys.readouterr().err.count("mini: encodes 600 sentences"))
    assert encoded == [1, 0, 1]


def test_interruption_while_the_tables_are_removed(folder, monkeypatch):
    whole = weights(paraphrastic.train("pairs.csv", "out", settings=SMALL))

    def rmdir(name, *, rmdir=os.rmdir, **options):
        if Path(name).name in ("corpus", "vocabulary"):
            raise KeyboardInterrupt
        rmdir(name, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", rmdir)
        with pytest.raises(KeyboardInterrupt):
            paraphrastic.train("pairs.csv", "out", settings=SMALL)
    assert np.array_equal(weights(paraphrastic.train("pairs.csv", "out", settings=SMALL)), whole)
    assert not [*(folder / "cache/work").iterdir()]


def test_full_disk_after_the_last_step(folder, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    runs = ProcessInterruptedAfter(10**6)
    monkeypatch.setattr("paraphrastic.training.train_model.CHECKPOINT_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(training, "write_model", full)
        with pytest.raises(OSError, match="No space left"):
            paraphrastic.train("pairs.csv", "out", settings=SMALL, callbacks=[runs])
    model = paraphrastic.train("pairs.csv", "out", settings=SMALL, callbacks=[runs])
    assert runs.first_steps == [1]  # the second run had no step to take
    assert np.array_equal(weights(paraphrastic.train("pairs.csv", "whole", settings=SMALL)), weights(model))
