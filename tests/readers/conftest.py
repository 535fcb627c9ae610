"""Readings of real sources."""

from functools import cache
from pathlib import Path

import pytest

from paraphrastic.readers.reading import Reading
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source
from tests.helpers.real_readings import ReadSource


@pytest.fixture(scope="module")
def read_source(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> ReadSource:
    """Returns the readings of a source; its files are links to the mirror."""

    @cache
    def read_links(name: str) -> list[Reading]:
        folder = tmp_path_factory.mktemp(name)
        for file in source(name).files:
            link = folder / file.path
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(mirror / file.url.split("://")[1])
        return list(read(source(name), folder))

    return read_links
