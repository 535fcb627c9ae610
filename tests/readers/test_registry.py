"""The table of readers, and sources that cannot be read."""

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers.registry import READERS, read
from paraphrastic.sources.catalogue import catalogue, source


def test_readers_of_the_catalogue():
    of_catalogue = {source.reader for source in catalogue().sources.values() if source.reader}
    assert of_catalogue | {"own-pairs", "own-set"} == set(READERS)


def test_source_without_tables(tmp_path):
    with pytest.raises(DataError, match="'sif-sick' has no tables to read"):
        list(read(source("sif-sick"), tmp_path))


def test_mistyped_reader(tmp_path):
    with pytest.raises(DataError, match=r"unknown reader 'aligne': did you mean 'aligned'\?.*\(source 'sample'\)"):
        list(read(source("sample").model_copy(update={"reader": "aligne"}), tmp_path))
