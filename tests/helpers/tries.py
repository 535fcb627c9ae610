"""Counts of tries of the tests of faults, and functions that try much."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy, tuples

from paraphrastic.base.errors import ParaphrasticError


@dataclass
class Tries:
    """How much a test tries.

    Attributes:
        factor: of the option `--tries`. 1 tries the same each time; with any other factor, inputs differ between runs.
        record: notes what was tried for the summary that pytest prints.
    """

    factor: float
    record: Callable[[str, object], None]

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


def joined(parts: Iterable[bytes | str]) -> bytes:
    """Return parts as bytes; text may contain lone surrogates."""
    return b"".join(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts)
