"""Rows of a user's file: CSV, TSV, JSON lines or parquet, plain or compressed, or a folder of Hugging Face `datasets`.

CSV has quoted cells as in RFC 4180; in TSV, quotes have no special meaning.
"""

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.base.files import Unpacker, parse_json
from paraphrastic.base.tables import bounded_batches, open_bounded
from paraphrastic.readers.lines import BadRow, SourceRows, csv_rows, is_utf8
from paraphrastic.readers.raw_files import report_damage
from paraphrastic.sources.own_files import COMPRESSIONS, OwnFile, is_dataset_folder

PART = 100_000  # rows that are read at a time


class OwnRows(SourceRows):
    """Rows with the columns that were asked for.

    Args:
        file: name of the file for messages.
        lines: (n,) number of the line at which each row starts; of the row itself if the file has no lines.
        cells: (n,) values of each column by name, as text; null if the row has no value.
        bad: rows before, after or between these that have no values at all.

    Attributes:
        columns: (n,) texts by name; null if a cell is not valid text or contains a NUL byte.
    """

    def __init__(
        self, file: object, lines: NDArray[np.int64], cells: Mapping[str, pa.Array], bad: Sequence[BadRow] = ()
    ) -> None:
        super().__init__(file, lines)
        self.bad += bad
        self.columns: dict[str, pa.StringArray] = {}
        for name, column in cells.items():
            self.reject(column, pc.is_null(column), f"no value of '{name}'")
            self.columns[name] = self.reject(column, pc.match_substring(column, "\0"), f"a NUL byte in '{name}'")

    def __len__(self) -> int:
        return len(self._numbers)

    def zeros_and_ones(self, name: str) -> pa.Int8Array:
        """Return a column of 0 and 1, which some tools write as 0.0 and 1.0; other values make bad rows."""
        return self.labels(pc.replace_substring_regex(self.columns[name], r"^\s*([01])\.0*\s*$", r"\1"), ("0", "1"))


class OwnTable:
    """A file of rows with named columns.

    Args:
        own: the file.

    Raises:
        SourceError: it does not exist or cannot be read.
        DataError: it is damaged, empty, not UTF-8, or its columns have no names or one name twice.
    """

    def __init__(self, own: OwnFile) -> None:
        self._own, self._path = own, Path(own.path)

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns; of JSON lines those of the first line."""
        with report_damage(self._path, own=True):
            names = self._names()
        if len(set(names)) < len(names) or not all(names):
            raise DataError(f"{self._path}: columns without a name or with the same one: {', '.join(names)}")
        return names

    def parts(self, columns: Sequence[str]) -> Iterator[OwnRows]:
        """Yield the rows in parts, with these columns."""
        with report_damage(self._path, own=True):
            if self._format in ("arrow", "parquet"):
                yield from self._arrow(columns)
                return
            with self._open() as file:
                rows: Iterator[_NumberedCells]
                if self._format == "jsonl":
                    rows = ((line, _json_cells(text, columns)) for line, text in enumerate(file, 1) if text.strip())
                else:
                    rows = self._cells(self._reader(file), [self.names.index(name) for name in columns])
                yield from _in_parts(self._path, columns, rows)

    @property
    def _format(self) -> str:
        path = self._path
        if path.is_dir():
            return "arrow"
        return (path.with_suffix("") if path.suffix in COMPRESSIONS else path).suffix.removeprefix(".")

    def _names(self) -> list[str]:
        match self._format:
            case "csv" | "tsv":
                return [name.strip() for name in self._header()]
            case "jsonl":
                return self._keys()
            case "parquet":
                return list(pq.read_schema(self._path).names)
        with pa.memory_map(str(_arrow_files(self._path)[0])) as file:
            return list(pa.ipc.open_stream(file).schema.names)

    def _header(self) -> list[str]:
        with self._open() as file:
            header: list[str] = next(self._reader(file), [])
        text = "".join(header)
        if not text.strip():
            raise DataError(f"{self._path}: line 1 has no names of columns")
        if "\0" in text or not is_utf8(text):
            raise DataError(f"{self._path}: line 1 is not UTF-8; save the file as UTF-8")
        return header

    def _keys(self) -> list[str]:
        with self._open() as file:
            found = (parse_json(line) for line in file if line.strip())
            first = next(found, None)
        if not isinstance(first, dict):
            raise DataError(f"{self._path}: line 1 is not a JSON object")
        return list(first)

    def _cells(self, reader: Any, places: Sequence[int]) -> "Iterator[_NumberedCells]":
        """Yield rows of CSV or TSV; one with more or fewer cells than the header is bad."""
        width, rows = len(self.names), self._numbered(reader)
        next(rows)  # the header
        for line, row in rows:
            if isinstance(row, str):
                yield line, row
            elif len(row) == width:
                yield line, [row[place] for place in places]
            elif row:  # a blank line is none
                yield line, f"{len(row)} cells, where line 1 has {width}"

    def _numbered(self, reader: Any) -> Iterator[tuple[int, list[str] | str]]:
        """Yield the line at which each row starts, and the row or what is wrong with it."""
        while True:
            line = reader.line_num + 1
            try:
                yield line, next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if "end of data" in str(error):
                    remedy = "close it, or say `quotes: false` for this file"
                    raise DataError(f"{self._path}, line {line}: a quoted cell does not end; {remedy}") from error
                yield line, f"not CSV: {error}"

    def _reader(self, file: IO[str]) -> Any:
        is_csv = self._format == "csv"
        return csv_rows(file, "," if is_csv else "\t", is_csv if self._own.quotes is None else self._own.quotes)

    def _arrow(self, columns: Sequence[str]) -> Iterator[OwnRows]:
        first = 1
        for batch in self._batches(columns):
            cells = {name: _as_text(self._path, name, batch.column(name)) for name in columns}
            yield OwnRows(self._path, np.arange(first, first + len(batch)), cells)
            first += len(batch)

    def _batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        if self._format == "parquet":
            yield from bounded_batches(open_bounded(self._path), self._path, columns, PART)
        else:
            for path in _arrow_files(self._path):
                with pa.memory_map(str(path)) as file:
                    yield from pa.ipc.open_stream(file)

    @contextmanager
    def _open(self) -> Iterator[IO[str]]:
        """Open the text; bytes that are not UTF-8 become lone surrogates, so that other rows can be used."""
        newline = "\n" if self._format == "jsonl" else ""
        with self._bytes() as stream:
            yield io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline=newline)

    def _bytes(self) -> IO[bytes]:
        match self._path.suffix:
            case ".gz":
                return Unpacker(self._path).stream(cast(IO[bytes], gzip.open(self._path)))
            case ".zst":
                return Unpacker(self._path).stream(cast(IO[bytes], pa.input_stream(str(self._path))))
        return self._path.open("rb")


_NumberedCells = tuple[int, list[str | None] | list[str] | str]  # line; cells, or what is wrong


def _in_parts(path: Path, columns: Sequence[str], rows: Iterator[_NumberedCells]) -> Iterator[OwnRows]:
    while part := list(islice(rows, PART)):
        bad = [BadRow(str(path), line, row) for line, row in part if isinstance(row, str)]
        good = []
        for line, row in part:
            if isinstance(row, str):
                continue
            if all(cell is None or is_utf8(cell) for cell in row):
                good.append((line, row))
            else:
                bad.append(BadRow(str(path), line, "not UTF-8"))
        lines = np.array([line for line, _ in good], np.int64)
        cells = {name: pa.array([row[i] for _, row in good], pa.string()) for i, name in enumerate(columns)}
        yield OwnRows(path, lines, cells, bad)


def _json_cells(text: str, columns: Sequence[str]) -> list[str | None] | str:
    try:
        row = parse_json(text)
    except ValueError:
        return "not JSON"
    if not isinstance(row, dict):
        return "not a JSON object"
    if nested := [name for name in columns if isinstance(row.get(name), dict | list)]:
        return f"'{nested[0]}' is neither text nor a number"
    values = (row.get(name) for name in columns)
    return [None if value is None else str(int(value) if isinstance(value, bool) else value) for value in values]


def _as_text(path: Path, name: str, column: pa.Array) -> pa.StringArray:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    try:
        return column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise DataError(f"{path}: '{name}' has the type {column.type}, which is neither text nor numbers") from error


def _arrow_files(folder: Path) -> list[Path]:
    if not is_dataset_folder(folder):
        raise DataError(f"{folder}: no folder of `datasets`; it has no state.json or dataset_info.json")
    if not (paths := sorted(folder.glob("*.arrow"))):
        raise DataError(f"{folder}: has no .arrow file; save the data set again")
    return paths
