"""Fixtures of the tests that download files."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paraphrastic.sources.fetching import fetch
from paraphrastic.sources.locations import DataLocations
from paraphrastic.sources.source import Source
from tests.helpers.faulty_server import Server, running_server


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def fetch_sources(tmp_path: Path) -> Callable[..., tuple[Source, ...]]:
    """`fetch` into tmp_path/raw with the cache tmp_path/cache; two retries without pause by default."""

    def fetch_sources(
        *sources: Source,
        mirror: Path | None = None,
        timeout: float = 5.0,
        pauses: tuple[float, ...] = (0.0, 0.0),
        **options: Any,
    ) -> tuple[Source, ...]:
        locations = DataLocations(tmp_path / "cache", mirror)
        return fetch(sources, tmp_path / "raw", locations, timeout=timeout, pauses=pauses, **options)

    return fetch_sources


@pytest.fixture
def content(tmp_path: Path) -> Callable[..., bytes]:
    """Returns the content of a fetched file of the source `texts`."""
    return lambda path="data.bin": (tmp_path / "raw/texts" / path).read_bytes()
