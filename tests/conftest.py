"""Fixtures that several tests share."""

import os
import signal
from pathlib import Path

import pytest
import torch


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of real data, laid out as HOST/PATH."""
    folder = os.environ.get("PARAPHRASTIC_MIRROR")
    if not folder:
        pytest.skip("PARAPHRASTIC_MIRROR names no folder of real data")
    return Path(folder.removeprefix("file://")).resolve()


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Let processes that tests start heed Ctrl-C, which a shell has whatever it starts in the background ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Tensors of tests are tiny: threads that wait for each other take most of the time where cores are busy."""
    torch.set_num_threads(1)
