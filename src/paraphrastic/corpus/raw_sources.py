"""Read the sources of a corpus and of benchmarks, and check that they are complete."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.errors import DataError
from paraphrastic.readers.lines import BadRow
from paraphrastic.readers.reading import Reading
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import Source


class RawPairs:
    """Iterates over the raw pairs of a source in parts.

    Args:
        source: a source of pairs.
        folder: where its files are.
        max_bad_rows: share of unusable rows above which the source is refused.
        on_bad_rows: called with one line if rows were left out.

    Attributes:
        read: pairs so far.
        bad: rows left out so far.
    """

    def __init__(self, source: Source, folder: Path, max_bad_rows: float, on_bad_rows: Callable[[str], object]) -> None:
        self._source, self._folder = source, folder
        self._max_bad_rows, self._on_bad_rows = max_bad_rows, on_bad_rows
        self.read, self.bad = 0, list[BadRow]()

    def __iter__(self) -> Iterator[pa.Table]:
        """Yield tables in schema `RAW["pairs"]`.

        Raises:
            DataError: more rows are unusable than allowed, or a file is damaged.
        """
        for reading in read(self._source, self._folder):
            if reading.kind == "pairs":
                self.read += len(reading.table)
                self.bad += reading.bad
                yield reading.table
        if self.bad:
            self._check_bad_rows()

    def _check_bad_rows(self) -> None:
        found = f"{_location(self.bad[0])} ({len(self.bad)} bad rows beside {self.read} pairs)"
        if len(self.bad) > self._max_bad_rows * self.read:
            limit = f"more than tokenize.max_bad_rows = {self._max_bad_rows} allows"
            raise DataError(f"{found}: {limit}; remove {self._folder} and run `dvc repro`")
        self._on_bad_rows(f"{found}: left out")


def read_evaluation(source: Source, folder: Path) -> list[Reading]:
    """Read the evaluation tables of a source.

    A part of a set is refused, because scores on it compare with no published ones.

    Raises:
        DataError: a row is unusable, or a set does not have the number of rows that the catalogue states.
    """
    readings = [each for each in read(source, folder) if each.kind != "pairs"]
    for bad in (bad for each in readings for bad in each.bad):
        raise DataError(f"{_location(bad)}; an evaluation set must be complete: remove the file and run `dvc repro`")
    found = sum((_count_rows(each.table) for each in readings), Counter[str]())
    for name in source.rows:
        if found[name] != source.rows[name]:
            wrong = f"{found[name]} rows of {name}, expected {source.rows[name]}"
            raise DataError(f"{folder}: {wrong}; remove the folder and run `dvc repro`")
    return readings


def _count_rows(table: pa.Table) -> Counter[str]:
    """Count rows by SET/SPLIT."""
    counts = pc.value_counts(pc.binary_join_element_wise(table["set"], table["split"], "/"))
    return Counter({each["values"]: each["counts"] for each in counts.to_pylist()})


def _location(bad: BadRow) -> str:
    return f"{bad.file}, line {bad.line}: {bad.why}"
