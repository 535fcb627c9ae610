"""Fixtures for all tests. tests/base runs without torch, so nothing here may need it."""

import os
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of real data, laid out as HOST/PATH; tests that need it are skipped without it."""
    folder = os.environ.get("PARAPHRASTIC_MIRROR")
    if not folder:
        pytest.skip("PARAPHRASTIC_MIRROR does not name a folder of real data")
    return Path(folder.removeprefix("file://")).resolve()


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Let processes that tests start react to SIGINT: a shell makes its background processes ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Run torch with one thread: the tensors of tests are small, and synchronising threads would take longer."""
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
