"""The data that runs need, and how much of them is here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from paraphrastic.base.errors import ParameterError
from paraphrastic.papers.plan import Run
from paraphrastic.sources.catalogue import corpus, suite
from paraphrastic.sources.locations import DataLocations
from paraphrastic.sources.source import Source


@dataclass(frozen=True)
class DataNeeds:
    """Sources that runs need.

    Attributes:
        names: corpora of training pairs, and suites of evaluation sets as `suite NAME`.
        sources: their sources.
        absent: the sources of which files are not here; `download` fetches those that have addresses.
    """

    names: Sequence[str]
    sources: Sequence[Source]
    absent: Sequence[Source]

    @classmethod
    def of(cls, runs: Sequence[Run], locations: DataLocations) -> Self:
        """Return the needs of runs.

        Raises:
            ParameterError: there is no such corpus or suite.
        """
        corpora = sorted({name for run in runs for name in run.corpora})
        suites = sorted({run.settings["benchmarks"] for run in runs})
        sources = [*corpus(corpora), *(each for name in suites for each in suite(name).sources)]
        distinct = list({each.name: each for each in sources}.values())
        names = [*corpora, *(f"suite {name}" for name in suites)]
        return cls(names, distinct, [each for each in distinct if not locations.has(each)])

    @property
    def manual(self) -> list[Source]:
        """The absent sources that a person has to bring, without optional ones."""
        return [each for each in self.absent if each.manual and not each.optional]

    def check(self, locations: DataLocations) -> None:
        """Check that nobody has to bring anything.

        Raises:
            ParameterError: a source is absent and has no address.
        """
        for each in self.manual[:1]:
            raise ParameterError(f"{each.name} is not here: {locations.how_to_provide(each)}")
