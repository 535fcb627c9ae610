"""What a training run records, and its state, from which an interrupted run continues with bit-identical results."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import torch

from paraphrastic.base.files import atomic_write, sha256_of, unwritable
from paraphrastic.base.reading import read_json
from paraphrastic.training.processes import Processes, State

CHECKPOINT_SECONDS = 60.0  # between two checkpoints of a run


@dataclass
class Curves:
    """The course of a run.

    Attributes:
        loss: (step, mean loss since the previous point).
        selection: (epochs so far, score on the selection sets).
    """

    loss: list[tuple[int, float]] = field(default_factory=list)
    selection: list[tuple[float, float]] = field(default_factory=list)

    @property
    def best(self) -> float | None:
        """The first point with the highest selection score, in epochs; None without selection."""
        return max(self.selection, key=lambda point: point[1])[0] if self.selection else None


class Checkpoint:
    """The latest state of one run, in a folder of its own.

    A state is written next to the previous one and its hash is verified when it is loaded, so that neither a kill
    during saving nor a damaged file can make a run continue from a wrong state.

    Args:
        folder: its name must be derived from everything that determines the run.
        processes: those that train. The first one saves and removes the state; each may have a folder of its own.
    """

    def __init__(self, folder: Path, processes: Processes | None = None) -> None:
        self.folder, self._processes = folder, processes or Processes()
        self._head = folder / "head.json"

    def save(self, state: State) -> None:
        """Save `state`: tensors, numbers, strings, and lists and dicts of them; it must have a key `step`.

        Raises:
            OSError: the file cannot be written, for example because the disk is full.
        """
        if self._processes.rank > 0:
            return
        name = f"state-{state['step']}.pt"
        with atomic_write(self.folder / name) as part:
            try:
                torch.save(state, part)
            except RuntimeError as error:  # raised by torch for errors of the file system
                raise unwritable(self.folder / name) from error
        digest = sha256_of(self.folder / name)
        with atomic_write(self._head) as part:
            part.write_text(json.dumps({"file": name, "sha256": digest}), encoding="utf-8")
        for old in self.folder.glob("state-*.pt"):
            if old.name != name:
                old.unlink()

    def load(self) -> State | None:
        """Return the latest state of all processes, on the CPU; None if there is none or it is damaged."""
        return self._processes.newest(*self._read())

    def _read(self) -> tuple[State | None, str]:
        """Return the state in the folder and its hash."""
        try:
            head = read_json(self._head)
            path = self.folder / head["file"]
            if sha256_of(path) == head["sha256"]:
                state = torch.load(path, "cpu", weights_only=True)
                return (state, head["sha256"]) if isinstance(state, dict) and "step" in state else (None, "")
        except MemoryError:
            raise
        except Exception:
            pass
        return None, ""

    def remove(self) -> None:
        """Delete the folder."""
        if self._processes.rank > 0:
            return
        for file in self.folder.glob("*"):
            file.unlink()
        if self.folder.is_dir():
            self.folder.rmdir()
