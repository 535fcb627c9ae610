"""Rows of a user's file: CSV, TSV, JSON lines, parquet or lines of text, plain or packed; or a folder of `datasets`.

CSV has quoted cells as in RFC 4180; in TSV, quotes have no special meaning. Another separator than that of the ending
is found if the first lines leave no doubt. Columns may have no name, as an index that pandas writes, or what follows a
last separator.
"""

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paraphrastic.base.compressed import report_damage, unpacked
from paraphrastic.base.errors import DataError
from paraphrastic.base.reading import bounded_batches, format_of, is_dataset_folder, open_bounded, parse_json, read_json
from paraphrastic.readers.lines import BadRow, csv_rows, is_utf8
from paraphrastic.readers.own_rows import NO_LABEL, OwnRows
from paraphrastic.sources.own_files import OwnFile

PART = 100_000  # rows that are read at a time
_LEFT_BY_MAP = ("cache-", "tmp")  # files that `map` and `filter` of `datasets` leave beside those of the data set
_HEAD = 1000  # JSON lines whose keys are the columns
_MEANT = {"label", "score", "group", "split"}  # columns that are read wherever a file has them
_SNIFFED = 5  # lines that tell the separator


_NumberedCells = tuple[int, list[str | None] | list[str] | str]  # line; cells, or what is wrong
_Part = tuple[Path, NDArray[np.int64], Mapping[str, pa.Array], Sequence[BadRow]]  # arguments of `OwnRows`


class OwnTable:
    """A file of rows with named columns.

    Attributes:
        own: the file.

    Raises:
        SourceError: it does not exist or cannot be read.
        DataError: it is damaged, empty, not UTF-8, or no column has a name, or two have the same one.
    """

    def __init__(self, own: OwnFile) -> None:
        self.own, self._path = own, Path(own.path)

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns; of JSON lines those of the first 1,000 lines."""
        with report_damage(self._path, own=True):
            match self._format:
                case "csv" | "tsv":
                    names = [name.strip() for name in self._header()]
                case "jsonl":
                    names = self._keys()
                case "txt":
                    names = ["text"]
                case _:
                    names = list(self._schema().names)
        if repeated := [name for name, count in Counter(filter(None, names)).items() if count > 1]:
            raise DataError(f"{self._path}: several columns have the name '{repeated[0]}'; rename all but one")
        return names

    @cached_property
    def classes(self) -> dict[str, list[str]]:
        """The names of the classes of each column that `datasets` calls a `ClassLabel`."""
        if self._format not in ("arrow", "parquet"):
            return {}
        with report_damage(self._path, own=True):
            info = parse_json((self._schema().metadata or {}).get(b"huggingface", b"{}"))
            features = _mapping(_mapping(info).get("info")).get("features")
            if features is None and (stored := self._path / "dataset_info.json").is_file():
                features = _mapping(read_json(stored)).get("features")
            of_type = {name: each for name, each in _mapping(features).items() if isinstance(each, dict)}
            names = {name: each.get("names") for name, each in of_type.items() if each.get("_type") == "ClassLabel"}
            return {
                name: each for name, each in names.items() if isinstance(each, list) and set(map(type, each)) <= {str}
            }

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
                    rows = self._objects(file, columns)
                elif self._format == "txt":
                    rows = ((line, [text.strip()]) for line, text in enumerate(file, 1) if text.strip())
                else:
                    rows = self._cells(self._reader(file), [self.names.index(name) for name in columns])
                yield from _in_parts(self._path, columns, rows, size)

    @property
    def _format(self) -> str:
        return format_of(self._path)

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
                    row = parse_json(line)
                except ValueError:
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

    def _objects(self, file: Iterable[str], columns: Sequence[str]) -> "Iterator[_NumberedCells]":
        """Yield rows of JSON lines; a key of `_MEANT` must be among `names`."""
        unknown = set() if self.own.single else _MEANT - {*self.names, *self.own.meanings}
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                row = parse_json(text)
            except ValueError:
                yield line, "not JSON"
                continue
            if isinstance(row, dict) and (late := unknown & row.keys()):
                first = f"'{min(late)}' is in none of the first {_HEAD:,} rows"
                raise DataError(f"{self._path}, line {line}: {first}; move this row to the top")
            yield line, _json_cells(row, columns)

    def _cells(self, reader: Any, places: Sequence[int]) -> "Iterator[_NumberedCells]":
        """Yield rows of CSV or TSV; one with more or fewer cells than the header is bad."""
        width = len(next(reader))
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if "end of data" in str(error):
                    remedy = "close it, or say `quotes: false` for this file"
                    raise DataError(f"{self._path}, line {line}: a quoted cell does not end; {remedy}") from error
                yield from ((swallowed, f"not CSV: {error}") for swallowed in range(line, reader.line_num + 1))
                continue
            if len(row) == width:
                yield line, [row[place] for place in places]
            elif row:  # a blank line is none
                yield line, f"{len(row)} cells, where line 1 has {width}"

    def _reader(self, lines: Iterable[str], delimiter: str | None = None) -> Any:
        delimiter = delimiter or self._delimiter
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
            widths.extend(len(row) for row in self._reader(lines, delimiter) if row)
        return widths

    def _arrow(self, columns: Sequence[str], size: int) -> "Iterator[_Part]":
        first = 1
        for batch in self._batches(columns, size):
            cells = {name: self._as_text(name, batch.column(name)) for name in columns}
            yield self._path, np.arange(first, first + len(batch)), cells, []
            first += len(batch)

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        if self._format == "parquet":
            yield from bounded_batches(open_bounded(self._path), self._path, columns, size)
        else:
            for path in _arrow_files(self._path):
                with pa.memory_map(str(path)) as file:
                    yield from pa.ipc.open_stream(file)

    def _as_text(self, name: str, column: pa.Array) -> pa.StringArray:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.int8())
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)  # as pandas writes a missing number
        if name in self.classes and pa.types.is_integer(column.type):
            classes = pa.array([*self.classes[name], NO_LABEL[-1]])  # -1 stands for no label
            is_class = pc.and_(pc.greater_equal(column, 0), pc.less(column, len(classes) - 1))
            column = classes.take(pc.if_else(is_class, column, len(classes) - 1))
        try:
            texts = column.cast(pa.string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
            kind = f"has the type {column.type}, which is neither text nor numbers"
            raise DataError(f"{self._path}: '{name}' {kind}") from error
        try:
            texts.validate(full=True)
        except pa.ArrowInvalid as error:
            raise DataError(f"{self._path}: '{name}' has text that is not UTF-8; write it again as UTF-8") from error
        return texts

    @contextmanager
    def _open(self) -> Iterator[IO[str]]:
        """Open the text; bytes that are not UTF-8 become lone surrogates, so that other rows can be used."""
        newline = {"jsonl": "\n", "txt": None}.get(self._format, "")  # a line of sentences may end in `\r` alone
        with unpacked(self._path) as stream:
            yield io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline=newline)

    def copy(self, kept: NDArray[np.bool_], out: IO[bytes]) -> None:
        """Write the rows for which `kept`, (n,), is true as they are, with all columns.

        The format is that of the file; a folder of `datasets` becomes parquet.
        """
        with report_damage(self._path, own=True):
            if self._format in ("arrow", "parquet"):
                self._copy_batches(kept, out)
                return
            with self._open() as file:
                header = 0 if self._format == "jsonl" else 1
                for row, text in enumerate(self._records(file), -header):
                    if row < 0 or kept[row]:
                        out.write(text.encode("utf-8", "surrogateescape"))

    def _copy_batches(self, kept: NDArray[np.bool_], out: IO[bytes]) -> None:
        start, schema = 0, self._schema()
        with pq.ParquetWriter(out, schema, compression="zstd") as writer:
            for batch in self._batches(schema.names, PART):
                mask = kept[start : start + len(batch)].astype(np.int8)
                bounds = np.flatnonzero(np.diff(mask, prepend=0, append=0)).reshape(-1, 2).tolist()
                # `filter` has no kernel for the view types of Arrow
                runs = [batch.slice(first, end - first) for first, end in bounds]
                writer.write_table(pa.Table.from_batches(runs, schema))
                start += len(batch)

    def _records(self, file: IO[str]) -> Iterator[str]:
        """Yield the text of the header and of each row, with its line end."""
        if self._format == "jsonl":
            yield from (line for line in file if line.strip())
            return
        lines: list[str] = []

        def noted() -> Iterator[str]:
            for line in file:
                lines.append(line)
                yield line

        for row in self._reader(noted()):
            if row:  # a blank line is none
                yield "".join(lines)
            lines.clear()


def _in_parts(path: Path, columns: Sequence[str], rows: Iterator[_NumberedCells], size: int) -> "Iterator[_Part]":
    while part := list(islice(rows, size)):
        good, bad = list[tuple[int, list[str | None] | list[str]]](), list[BadRow]()
        for line, row in part:
            if isinstance(row, str):
                bad.append(BadRow(str(path), line, row))
            elif all(cell is None or is_utf8(cell) for cell in row):
                good.append((line, row))
            else:
                bad.append(BadRow(str(path), line, "not UTF-8"))
        lines = np.array([line for line, _ in good], np.int64)
        cells = {name: pa.array([row[i] for _, row in good], pa.string()) for i, name in enumerate(columns)}
        yield path, lines, cells, bad


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _json_cells(row: object, columns: Sequence[str]) -> list[str | None] | str:
    if not isinstance(row, dict):
        return "not a JSON object"
    if nested := [name for name in columns if isinstance(row.get(name), dict | list)]:
        return f"'{nested[0]}' is neither text nor a number"
    values = ((value if value == value else None) for value in map(row.get, columns))  # NaN, of pandas, is none
    return [None if value is None else str(int(value) if isinstance(value, bool) else value) for value in values]


def _arrow_files(folder: Path) -> list[Path]:
    if not is_dataset_folder(folder):
        raise DataError(f"{folder}: no folder of `datasets`; it has no state.json or dataset_info.json")
    found = sorted(path.name for path in folder.glob("*.arrow"))
    names = [name for name in found if not name.startswith(_LEFT_BY_MAP)]
    with suppress(FileNotFoundError, KeyError, TypeError):  # files of an earlier `save_to_disk` are not in the list
        names = [str(each["filename"]) for each in read_json(folder / "state.json")["_data_files"]]
    missing = [name for name in names if name not in found]
    if missing or not names:
        raise DataError(f"{folder}: has no {missing[0] if missing else '.arrow file'}; save the data set again")
    return [folder / name for name in names]
