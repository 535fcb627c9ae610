"""Where an interrupted training goes on: the same bits as if it had not been interrupted."""

import json
from pathlib import Path
from typing import Any

import torch

from paraphrastic.tables import file_hash, replacing


class Checkpoint:
    """The last saved state of one run, in a folder of its own.

    The state is written beside the old one and verified by its hash when it is read, so neither a kill while
    saving nor a damaged disk can make a run go on from something else.

    Args:
        folder: named after all that determines the run; removed when the run is done.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._head = folder / "head.json"

    def save(self, state: dict[str, Any]) -> None:
        """Keep `state`: tensors, numbers, strings, lists and dicts of them."""
        name = f"state-{state['step']}.pt"
        with replacing(self.folder / name) as part:
            torch.save(state, part)
        digest = file_hash(self.folder / name)
        with replacing(self._head) as part:
            part.write_text(json.dumps({"file": name, "sha256": digest}), encoding="utf-8")
        for old in self.folder.glob("state-*.pt"):
            if old.name != name:
                old.unlink()

    def load(self) -> dict[str, Any] | None:
        """The last state, or None where there is none or it is damaged."""
        try:
            head = json.loads(self._head.read_text(encoding="utf-8"))
            path = self.folder / head["file"]
            if file_hash(path) == head["sha256"]:
                return torch.load(path, "cpu", weights_only=True)  # a GPU that is gone is no reason to stop
        except (OSError, ValueError, KeyError):
            pass
        return None

    def remove(self) -> None:
        """Forget the run."""
        for file in self.folder.glob("*"):
            file.unlink()
        if self.folder.is_dir():
            self.folder.rmdir()
