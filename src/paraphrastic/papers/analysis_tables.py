"""The tables of analyses that an experiment shows whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paraphrastic.papers.comparison import Comparison


@dataclass(frozen=True)
class AnalysisTable:
    """The table of an analysis of one run.

    Attributes:
        title: the row of the experiment and the name of the analysis.
        columns: names of the columns.
        rows: texts of the cells.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def analysis_tables(comparison: Comparison) -> Iterator[AnalysisTable]:
    """Yield the tables that an experiment shows, each of the first run that has it; one without rows is a gap."""
    for name in comparison.experiment.shows:
        found = [
            (line.label, tables[0])
            for line in comparison.lines
            if (tables := [result.tables[name] for result in line.results.values() if name in result.tables])
        ]
        for label, (columns, *rows) in found:
            yield AnalysisTable(f"{label}: {name}", columns, [list(map(str, row)) for row in rows])
        if not found:
            yield AnalysisTable(name, [], [])
