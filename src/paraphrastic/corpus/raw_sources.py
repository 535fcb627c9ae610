"""Read the sources of a corpus and of benchmarks, and check that evaluation sets are complete."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.console import message
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import SIDES
from paraphrastic.readers.lines import BadRow
from paraphrastic.readers.reading import PASS_ALL, PairFilter, Reading
from paraphrastic.readers.registry import read
from paraphrastic.sources.source import Source
from paraphrastic.text.columns import Hashes, hash_texts


class RawPairs:
    """Iterates over the raw pairs of a source in parts.

    Args:
        source: a source of pairs.
        folder: where its files are.
        max_bad_rows: number of unusable rows per pair read above which the source is refused.
        on_message: called with one line if rows were left out, and with the number of distinct pairs if the papers
            count those of the source.
        wanted: limits of pairs; with limits, pairs are not counted.

    Attributes:
        read: pairs that the current iteration has read.
        bad: rows that it has left out.
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        max_bad_rows: float,
        on_message: Callable[[str], object],
        wanted: PairFilter = PASS_ALL,
    ) -> None:
        self._source, self._folder, self._wanted = source, folder, wanted
        self._max_bad_rows, self._on_message = max_bad_rows, on_message
        self.read, self.bad = 0, list[BadRow]()
        self._unjudged = 0

    def __iter__(self) -> Iterator[pa.Table]:
        """Yield tables in schema `RAW["pairs"]`.

        Raises:
            DataError: more rows are unusable than allowed, a file is damaged, or the source does not have the number of
                pairs that the catalogue states.
        """
        self.read, self.bad, self._unjudged = 0, [], 0
        distinct = DistinctPairs() if "distinct" in self._source.rows and not self._wanted.is_active else None
        for reading in read(self._source, self._folder, self._wanted):
            if reading.kind == "pairs":
                self.read += len(reading.table)
                self.bad += reading.bad
                self._unjudged += reading.unjudged
                if distinct is not None:
                    distinct.add(reading.table)
                yield reading.table
        if self.bad:
            self._check_bad_rows()
        if self._unjudged:
            self._on_message(f"{self._source.name}: {self._unjudged} rows are not judged: left out")
        if not self._wanted.is_active:
            expected = self._source.rows.get("pairs", self.read)
            if not self.read <= expected <= self.read + len(self.bad):  # a bad row can be one pair that is missing
                mismatch = f"{self.read} pairs, expected {expected}"
                raise DataError(f"{self._folder}: {mismatch}; remove the folder and run `dvc repro`")
        if distinct is not None:
            count, published = distinct.count(), self._source.rows["distinct"]
            self._on_message(f"{self._source.name}: {count} distinct pairs; the papers count {published}")

    def _check_bad_rows(self) -> None:
        summary = f"{self.bad[0]} ({len(self.bad)} bad rows beside {self.read} pairs)"
        if len(self.bad) > self._max_bad_rows * self.read:
            limit = f"more than tokenize.max_bad_rows = {self._max_bad_rows} allows"
            raise DataError(f"{summary}: {limit}; {_remedy(self._source, self._folder)}")
        self._on_message(f"{summary}: left out")


class DistinctPairs:
    """Counts distinct unordered pairs of tables that come one after the other, with 8 bytes per pair.

    The papers count "unique" phrase pairs of PPDB so (iclr2016 §4.2). Two pairs are equal if both texts are, as strings
    without surrounding spaces, in either order. This differs from what training leaves out, because `corpus.filtering`
    compares tokens in lower case without punctuation.
    """

    def __init__(self) -> None:
        self._keys: list[Hashes] = []

    def add(self, pairs: pa.Table) -> None:
        """Add the pairs of a table with the columns `text1` and `text2`."""
        texts = (pc.utf8_trim_whitespace(pairs[side]).combine_chunks() for side in SIDES)
        left, right = map(hash_texts, texts)
        low, high = np.minimum(left, right), np.maximum(left, right)
        self._keys.append(low * np.uint64(0x9E3779B97F4A7C15) ^ high)  # unsigned arithmetic wraps around

    def count(self) -> int:
        """Return the number of distinct pairs; two of 10 million distinct ones are taken for equal with p < 10⁻⁵."""
        return int(pc.count_distinct(pa.chunked_array(self._keys, pa.uint64())).as_py())


def read_evaluation(source: Source, folder: Path) -> list[Reading]:
    """Read the evaluation tables of a source.

    An incomplete set is refused, because its scores cannot be compared with published scores.

    Raises:
        DataError: a row is unusable, or a set does not have the number of rows that the catalogue states.
    """
    readings = [reading for reading in read(source, folder) if reading.kind != "pairs"]
    if unjudged := sum(reading.unjudged for reading in readings):
        message(f"{source.name}: {unjudged} rows are not judged: left out")
    for bad in (bad for reading in readings for bad in reading.bad):
        raise DataError(f"{bad}; an evaluation set must be complete: {_remedy(source, folder)}")
    rows = Counter[str]()
    for table in (reading.table for reading in readings):
        counts = pc.value_counts(pc.binary_join_element_wise(table["set"], table["split"], "/")).to_pylist()
        rows.update({count["values"]: count["counts"] for count in counts})
    for name, expected in source.rows.items():
        if rows[name] != expected:
            mismatch = f"{rows[name]} rows of {name}, expected {expected}"
            raise DataError(f"{folder}: {mismatch}; remove the folder and run `dvc repro`")
    return readings


def _remedy(source: Source, folder: Path) -> str:
    own = source.options.get("own")
    return f"`paraphrastic data inspect {own.path}` lists them" if own else f"remove {folder} and run `dvc repro`"
