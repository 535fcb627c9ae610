"""A stand-in for sentence-transformers, and the folder of an encoder that it seems to have written."""

import os
import signal
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np

DIM = 6
FATAL = "sentence very very 17"


def vector_of(text: str) -> np.ndarray:
    """Return the vector of a text, (DIM,): the sum of vectors that belong to its words."""
    return sum((np.random.default_rng([*word.encode()]).normal(size=DIM) for word in text.split()), np.zeros(DIM))


class StubTeacher:
    """Encodes with `vector_of`; `texts` has what all instances encoded, `limit` how much that may be, and
    `precisions` those that they were given."""

    texts: ClassVar[list[str]] = []
    precisions: ClassVar[list[str]] = []
    limit = 10**9

    def __init__(self, path: str, device: str | None = None) -> None:
        self.device = device

    def bfloat16(self) -> "StubTeacher":
        self.precisions.append("bfloat16")
        return self

    def encode(self, texts: list[str], batch_size: int, show_progress_bar: bool) -> np.ndarray:
        if len(self.texts) + len(texts) > self.limit:
            raise KeyboardInterrupt
        self.texts.extend(texts)
        return np.array([vector_of(text) for text in texts])


class MortalTeacher(StubTeacher):
    """Its process is killed once, when it reads the text `FATAL`, if a file of that name lies beside its folder.

    The kill waits for the vectors of another process in the folder `work` beside it.
    """

    def __init__(self, path: str, device: str | None = None) -> None:
        super().__init__(path, device)
        self.mark = Path(path).with_name(FATAL)

    def encode(self, texts: list[str], batch_size: int, show_progress_bar: bool) -> np.ndarray:
        if FATAL in texts and self.mark.exists():
            written, deadline = self.mark.with_name("work"), time.monotonic() + 60
            while not any(written.rglob("words/*.parquet")) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.mark.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(texts, batch_size, show_progress_bar)


def install_everywhere(monkeypatch, folder: Path) -> None:
    """Write a package in place of sentence-transformers to `folder`, for processes that the test starts."""
    modules = {
        "sentence_transformers": f"from {__name__} import MortalTeacher as SentenceTransformer",
        "transformers/utils/logging": "def disable_progress_bar(): pass",
    }
    for name, code in modules.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{code}\n")
    monkeypatch.syspath_prepend(folder)
    for name in [each for each in sys.modules if each.startswith(("sentence_transformers", "transformers"))]:
        monkeypatch.delitem(sys.modules, name)


def install(monkeypatch, folder: Path) -> Path:
    """Replace sentence-transformers until the end of the test; return the folder of an encoder."""
    package = ModuleType("sentence_transformers")
    package.SentenceTransformer, package.disable_progress_bar = StubTeacher, lambda: None
    for name in ("sentence_transformers", "transformers.utils.logging"):
        monkeypatch.setitem(sys.modules, name, package)
    monkeypatch.setattr(StubTeacher, "texts", [])
    monkeypatch.setattr(StubTeacher, "precisions", [])
    folder.mkdir(parents=True)
    (folder / "modules.json").write_text("[]")
    return folder
