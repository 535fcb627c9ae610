"""The data that runs need."""

from dataclasses import replace

import pytest

from paraphrastic.base.errors import ParameterError
from paraphrastic.papers.project import DataNeeds
from paraphrastic.sources.catalogue import suite
from paraphrastic.sources.locations import DataLocations
from tests.helpers.recorded_results import RUN

SAMPLE = replace(RUN, settings={"corpus": "sample", "benchmarks": "sample"})
FULL = replace(RUN, settings={"corpus": ["sample"], "benchmarks": "full"})


@pytest.fixture
def locations(tmp_path):
    return DataLocations(tmp_path / "cache")


def test_generated_data_are_here(locations):
    needs = DataNeeds.of([SAMPLE, SAMPLE], locations)
    assert (needs.names, needs.absent, needs.manual) == (["sample", "suite sample"], [], [])
    needs.check(locations)


def test_sources_that_are_fetched_and_sources_to_bring(locations):
    needs = DataNeeds.of([SAMPLE, FULL], locations)
    assert needs.names == ["sample", "suite full", "suite sample"]
    assert {each.name for each in needs.sources} >= {each.name for each in suite("full").sources}
    assert len({each.name for each in needs.sources}) == len(needs.sources)
    assert {each.name for each in needs.absent} == {each.name for each in suite("full").sources if each.files}
    assert [each.name for each in needs.manual] == ["sts2013-smt"]
    with pytest.raises(
        ParameterError, match=r"sts2013-smt is not here: .* licensed by the LDC; .* Put it at "
    ) as caught:
        needs.check(locations)
    assert str(locations.manual / "sts2013-smt") in str(caught.value)


def test_source_that_was_brought(locations):
    (source,) = DataNeeds.of([FULL], locations).manual
    for file in source.files:
        path = locations.manual / source.name / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    needs = DataNeeds.of([FULL], locations)
    assert needs.manual == []
    needs.check(locations)
