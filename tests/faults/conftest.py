"""Fixtures of the tests of faults, which `pytest -m faults` runs: how much they try, and what commands read."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy, tuples

from paraphrastic.base.errors import ParaphrasticError
from tests.helpers.commands_that_write import EARLIER
from tests.helpers.hard_text import TOKENS
from tests.helpers.small_models import save_model
from tests.helpers.toy_training import SENTENCES


@dataclass
class Tries:
    """How much a test tries."""

    factor: float  # of the option `--tries`; 1 tries the same each time, with any other one inputs differ between runs
    record: Callable[[str, object], None]  # notes what was tried for the summary that pytest prints

    def count(self, default: int) -> int:
        """Return how often to try."""
        return max(1, round(self.factor * default))

    def generator(self, seed: int) -> random.Random:
        """Return random numbers, the same each time without the option."""
        return random.Random(seed if self.factor == 1 else None)

    def report(self, **counts: int) -> None:
        """Print counts in the summary of pytest."""
        self.record("tried", ", ".join(f"{name.replace('_', ' ')}: {count:,}" for name, count in counts.items()))

    def fuzz(self, examples: int, check: Callable[..., Any], *inputs: SearchStrategy[Any]) -> None:
        """Call `check` on generated inputs; it may return how many inputs a call stands for.

        The only errors that `check` may raise are ParaphrasticError and OSError.
        """
        tried = refused = 0

        @settings(
            max_examples=self.count(examples),
            derandomize=self.factor == 1,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(tuples(*inputs))
        def run(values: tuple[Any, ...]) -> None:
            nonlocal tried, refused
            done = None
            try:
                done = check(*values)
            except (ParaphrasticError, OSError):  # commands and stages print them as one line
                refused += 1
            tried += 1 if done is None else done

        run()
        self.report(inputs=tried, refused=refused, tracebacks=0)


@pytest.fixture
def tries(request: pytest.FixtureRequest, record_property) -> Tries:
    """How much a test tries."""
    return Tries(request.config.getoption("--tries"), record_property)


@pytest.fixture(scope="session")
def inputs(tmp_path_factory) -> Path:
    """A folder with what the commands read that write files, and with outputs of earlier ones."""
    folder = tmp_path_factory.mktemp("commands")
    for name in ("avg", "charagram"):
        save_model(folder / name, name)
    texts = SENTENCES.to_pylist()
    lines = [line.replace("\n", " ").replace("\0", " ") for line in [*texts, *TOKENS]]
    (folder / "lines.txt").write_text("\n".join(lines * 20))
    rows = (f"{left},{right}\n" for left, right in pairwise(texts))
    (folder / "pairs.csv").write_text("text1,text2\n" + "".join(rows))
    (folder / "out").mkdir()
    for name in EARLIER:
        (folder / "out" / name).write_text("1 2\nearlier 0 1\n")  # of word2vec, which export replaces
    return folder
