"""Rows of a user's file: CSV, TSV, JSON lines or parquet, plain or compressed, or a folder of Hugging Face `datasets`.

CSV has quoted cells as in RFC 4180; in TSV, quotes have no special meaning. Another separator than that of the ending
is found if the first lines leave no doubt. Leading columns may have no name, as those of an index that pandas writes.
"""

import csv
import gzip
import io
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import dropwhile, islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paraphrastic.base.errors import DataError
from paraphrastic.base.files import Unpacker
from paraphrastic.readers.lines import BadRow, SourceRows, csv_rows, is_utf8
from paraphrastic.readers.raw_files import report_damage
from paraphrastic.sources.own_files import COMPRESSIONS, OwnFile, is_dataset_folder

PART = 100_000  # rows that are read at a time
_HEAD = 1000  # JSON lines whose keys are the columns
_SNIFFED = 5  # lines that tell the separator
_POSITIVE = ("1", "true", "yes", "duplicate", "equivalent", "paraphrase")
_NEGATIVE = ("0", "false", "no", "not_duplicate", "not_equivalent", "not_paraphrase")
_SHOWN = 5  # labels in a message
NO_LABEL = ("", "-")  # as SNLI writes where annotators do not agree


_NumberedCells = tuple[int, list[str | None] | list[str] | str]  # line; cells, or what is wrong
_Part = tuple[Path, NDArray[np.int64], Mapping[str, pa.Array], Sequence[BadRow]]  # arguments of `OwnRows`


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

    def zeros_and_ones(self, name: str, positive: Collection[str] = ()) -> pa.Int8Array:
        """Return a column of 0 and 1, which some tools write as 0.0 and 1.0 or as words; other values make bad rows.

        Args:
            name: of the column.
            positive: the values that stand for 1, all others standing for 0; empty for the usual ones.

        Raises:
            DataError: not one value has a meaning.
        """
        text = pc.utf8_lower(pc.utf8_trim_whitespace(self.columns[name]))
        text = pc.replace_substring_regex(text, r"^(-?\d+)\.0*$", r"\1")
        if positive:
            is_positive = pc.is_in(text, pa.array([each.strip().lower() for each in positive]))
            return pc.if_else(pc.is_valid(text), is_positive, None).cast(pa.int8())
        for number, words in (("1", _POSITIVE), ("0", _NEGATIVE)):
            text = pc.if_else(pc.is_in(text, pa.array(words)), number, text)
        values = set(text.unique().to_pylist()) - {None, *NO_LABEL}
        if values and not values & {"0", "1"}:
            shown = ", ".join(sorted(values)[:_SHOWN])
            remedy = (
                f"say which stand for 1, as `{{path: …, positive: [{min(values)}]}}`, or `columns: {{score: {name}}}`"
            )
            raise DataError(f"{self.file}: '{name}' has the labels {shown}, not 0 and 1; {remedy} for numbers")
        return self.labels(text, ("0", "1"))


class OwnTable:
    """A file of rows with named columns.

    Attributes:
        own: the file.

    Raises:
        SourceError: it does not exist or cannot be read.
        DataError: it is damaged, empty, not UTF-8, or its columns have no names or one name twice.
    """

    def __init__(self, own: OwnFile) -> None:
        self.own, self._path = own, Path(own.path)

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns; of JSON lines those of the first line."""
        with report_damage(self._path, own=True):
            names = self._names()
        named = list(dropwhile(lambda name: not name, names))
        if len(set(named)) < len(named) or not all(named):
            raise DataError(f"{self._path}: columns without a name or with the same one: {', '.join(names)}")
        return names

    @cached_property
    def classes(self) -> dict[str, list[str]]:
        """The names of the classes of each column that `datasets` calls a `ClassLabel`."""
        if self._format not in ("arrow", "parquet"):
            return {}
        with report_damage(self._path, own=True):
            info = json.loads((self._schema().metadata or {}).get(b"huggingface", b"{}"))
            features = info.get("info", {}).get("features")
            if features is None and (stored := self._path / "dataset_info.json").is_file():
                features = json.loads(stored.read_text(encoding="utf-8")).get("features")
            of_type = {name: each for name, each in (features or {}).items() if isinstance(each, dict)}
            return {name: each["names"] for name, each in of_type.items() if each.get("_type") == "ClassLabel"}

    def is_flat(self, name: str) -> bool:
        """Return whether a column can hold texts and numbers; in JSON lines, each row can."""
        if self._format not in ("arrow", "parquet"):
            return True
        kind = self._schema().field(name).type
        return not pa.types.is_nested(kind) and not pa.types.is_binary(kind)

    def parts(
        self, columns: Sequence[str], may_be_blank: Collection[str] = (), size: int | None = None
    ) -> Iterator[OwnRows]:
        """Yield the rows in parts, with these columns.

        Args:
            columns: names.
            may_be_blank: those of them in which a row without a value has an empty text, and is not refused.
            size: rows of a part; None for 100,000.
        """
        for path, lines, cells, bad in self._parts(columns, size or PART):
            filled = {name: pc.fill_null(cells[name], "") if name in may_be_blank else cells[name] for name in columns}
            yield OwnRows(path, lines, filled, bad)

    def _parts(self, columns: Sequence[str], size: int) -> Iterator[_Part]:
        with report_damage(self._path, own=True):
            if self._format in ("arrow", "parquet"):
                yield from self._arrow(columns, size)
                return
            with self._open() as file:
                rows: Iterator[_NumberedCells]
                if self._format == "jsonl":
                    rows = ((line, _json_cells(text, columns)) for line, text in enumerate(file, 1) if text.strip())
                else:
                    rows = self._cells(self._reader(file), [self.names.index(name) for name in columns])
                yield from _in_parts(self._path, columns, rows, size)

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
        return list(self._schema().names)

    def _schema(self) -> pa.Schema:
        if self._format == "parquet":
            return pq.read_schema(self._path)
        with pa.memory_map(str(_arrow_files(self._path)[0])) as file:
            return pa.ipc.open_stream(file).schema

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
        """Return the keys of the first lines, of which each can have its own."""
        keys: dict[str, None] = {}
        with self._open() as file:
            for number, line in enumerate(islice((line for line in file if line.strip()), _HEAD)):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    if not number:
                        raise
                    continue
                if isinstance(row, dict):
                    keys |= dict.fromkeys(row)
                elif not number:
                    break
        if not keys:
            raise DataError(f"{self._path}: line 1 is not a JSON object")
        return list(keys)

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
        return self._rows_of(file, self._delimiter)

    def _rows_of(self, lines: Iterable[str], delimiter: str) -> Any:
        quotes = (self._format == "csv" or delimiter != "\t") if self.own.quotes is None else self.own.quotes
        return csv_rows(lines, delimiter, quotes)

    @cached_property
    def _delimiter(self) -> str:
        """The separator of the ending, or the only one that divides all first lines alike if it leaves line 1 whole."""
        usual = "," if self._format == "csv" else "\t"
        with self._open() as file:
            lines = list(islice(file, _SNIFFED))
        widths = {each: self._widths(lines, each) for each in {usual, *",;\t|"}}
        others = [each for each, found in widths.items() if len(set(found)) == 1 and found[0] > 1]
        return others[0] if widths[usual][:1] == [1] and len(others) == 1 else usual

    def _widths(self, lines: Sequence[str], delimiter: str) -> list[int]:
        """Return how many cells each row of these lines has, up to one that is not valid or not whole."""
        widths: list[int] = []
        with suppress(csv.Error):
            widths.extend(len(row) for row in self._rows_of(lines, delimiter) if row)
        return widths

    def _arrow(self, columns: Sequence[str], size: int) -> "Iterator[_Part]":
        first = 1
        for batch in self._batches(columns, size):
            cells = {name: self._as_text(name, batch.column(name)) for name in columns}
            yield self._path, np.arange(first, first + len(batch)), cells, []
            first += len(batch)

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        if self._format == "parquet":
            yield from pq.ParquetFile(self._path).iter_batches(size, columns=list(columns))
        else:
            for path in _arrow_files(self._path):
                with pa.memory_map(str(path)) as file:
                    yield from pa.ipc.open_stream(file)

    def _as_text(self, name: str, column: pa.Array) -> pa.StringArray:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.int8())
        if name in self.classes and pa.types.is_integer(column.type):
            classes = pa.array([*self.classes[name], NO_LABEL[-1]])  # -1 stands for no label
            is_class = pc.and_(pc.greater_equal(column, 0), pc.less(column, len(classes) - 1))
            column = classes.take(pc.if_else(is_class, column, len(classes) - 1))
        try:
            return column.cast(pa.string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
            kind = f"has the type {column.type}, which is neither text nor numbers"
            raise DataError(f"{self._path}: '{name}' {kind}") from error

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


def _in_parts(path: Path, columns: Sequence[str], rows: Iterator[_NumberedCells], size: int) -> "Iterator[_Part]":
    while part := list(islice(rows, size)):
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
        yield path, lines, cells, bad


def _json_cells(text: str, columns: Sequence[str]) -> list[str | None] | str:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return "not JSON"
    if not isinstance(row, dict):
        return "not a JSON object"
    if nested := [name for name in columns if isinstance(row.get(name), dict | list)]:
        return f"'{nested[0]}' is neither text nor a number"
    values = (row.get(name) for name in columns)
    return [None if value is None else str(int(value) if isinstance(value, bool) else value) for value in values]


def _arrow_files(folder: Path) -> list[Path]:
    if not is_dataset_folder(folder):
        raise DataError(f"{folder}: no folder of `datasets`; it has no state.json or dataset_info.json")
    if not (paths := sorted(folder.glob("*.arrow"))):
        raise DataError(f"{folder}: has no .arrow file; save the data set again")
    return paths
