"""Fixtures for all tests. tests/without_extras runs without torch, so nothing here may need it."""

import os
import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that scales tests/faults."""
    parser.addoption("--tries", type=float, default=1.0, metavar="FACTOR", help="factor of the tries of tests/faults")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print how much the tests of faults tried."""
    reports = [report for state in ("passed", "failed") for report in terminalreporter.getreports(state)]
    for report in sorted(reports, key=lambda report: report.nodeid):
        for _, counts in (each for each in report.user_properties if each[0] == "tried"):
            terminalreporter.write_line(f"{report.nodeid}: {counts}")


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of real data, laid out as HOST/PATH; tests that need it are skipped without it."""
    folder = os.environ.get("PARAPHRASTIC_MIRROR")
    if not folder:
        pytest.skip("PARAPHRASTIC_MIRROR does not name a folder of real data")
    return Path(folder.removeprefix("file://")).resolve()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[tuple[Any, ...]]]:
    """Return a function that returns the tasks of all progress displays: description, how much is done, total."""
    from rich.progress import Progress

    tasks, add_task = [], Progress.add_task

    def add(bar: Progress, *arguments: Any, **options: Any) -> Any:
        number = add_task(bar, *arguments, **options)
        tasks.append(bar.tasks[-1])
        return number

    monkeypatch.setattr(Progress, "add_task", add)
    return lambda: [(task.description, task.completed, task.total) for task in tasks]


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
