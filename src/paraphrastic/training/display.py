"""What a person sees of a training: a bar on a terminal, lines in a log."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paraphrastic.base.console import message, progress
from paraphrastic.training.trainer import Trainer

_SECONDS = 60.0  # between two lines of a log without a selection
_LONG = 120.0  # seconds from which on the time left is in minutes


@contextmanager
def shown(name: str, trainer: Trainer, batch_size: int) -> Iterator[Callable[[int], None]]:
    """Yield a function to be called after each step; it shows loss, score, speed and the time left.

    A log gets a line for each selection, and one at most every minute.

    Args:
        name: of the model.
        trainer: what is trained.
        batch_size: pairs in a step.
    """
    state = _State(name, trainer, batch_size)
    with progress() as bar:
        task = bar.add_task(name, total=trainer.steps)

        def on_step(step: int) -> None:
            state.update(step)
            if bar.disable:
                state.log()
            else:
                bar.update(task, completed=step, description=f"{name}: {state}")

        yield on_step
        if bar.disable:
            state.log()


class _State:
    def __init__(self, name: str, trainer: Trainer, batch_size: int) -> None:
        self._name, self._trainer, self._batch_size = name, trainer, batch_size
        self._step = self._first = self._shown = 0
        self._start = self._last = time.monotonic()

    def update(self, step: int) -> None:
        if not self._first:  # a checkpoint may have been restored before the first step
            self._first, self._shown = step, len(self._trainer.curves.selection)
        self._step = step

    def log(self) -> None:
        selection = self._trainer.curves.selection
        due = time.monotonic() - self._last > _SECONDS
        if self._step and (len(selection) > self._shown or due):
            message(f"{self._name}: step {self._step:,} of {self._trainer.steps:,}, {self}")
            self._last, self._shown = time.monotonic(), len(selection)

    def __str__(self) -> str:
        """Return loss, score and speed; what is not known yet is left out."""
        curves = self._trainer.curves
        loss = [f"loss {value:.4f}" for _, value in curves.loss[-1:]]
        score = [f"score {value:.2f} at epoch {epoch:g}" for epoch, value in curves.selection[-1:]]
        return ", ".join([*loss, *score, *self._speed()])

    def _speed(self) -> list[str]:
        steps, seconds = self._step - self._first, time.monotonic() - self._start
        if steps <= 0 or seconds <= 0:
            return []
        left = (self._trainer.steps - self._step) * seconds / steps
        pairs = steps * self._batch_size / seconds
        return [f"{pairs:,.0f} pairs/s", f"{left:.0f} s left" if left < _LONG else f"{left / 60:.0f} min left"]
