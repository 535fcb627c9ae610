"""Read lines of a file or of standard input in blocks, so that memory stays constant; or texts of a table."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.compressed import COMPRESSED, report_damage, unpacked
from paraphrastic.base.console import STANDARD_STREAM, message
from paraphrastic.base.errors import DataError, ParameterError, unknown_name
from paraphrastic.base.reading import ENDINGS, format_of, is_dataset_folder, is_table, regular
from paraphrastic.readers.lines import PAIR_COLUMNS, SourceLines, SourceRows

if TYPE_CHECKING:  # reading tables needs pydantic, which the base package does not have with every version of typer
    from paraphrastic.readers.own_tables import OwnTable

FORMATS = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSON lines", "parquet": "parquet", "arrow": "a data set of `datasets`"}

_BYTES, _ROWS = 1 << 20, 1 << 14  # per block; rows bound the memory of the vectors if lines are short
_START = 512  # bytes from which a format is recognized
_TEXT = (("text",), ("sentence",))  # names of a column of which nothing must be said
_UNPACK = "compressed; unpack it first, or give a file"
_NO_TEXT = {  # patterns of the first bytes of files that are no text
    rb"PAR1": "parquet; give a file that ends in .parquet",
    rb"ARROW1|FEA1": "a file of Arrow; save it as .parquet",
    rb"PK\x03\x04": "a zip archive, or of Excel or Word; unpack it, or save it as .csv",
    rb"\xd0\xcf\x11\xe0": "of Excel or Word; save it as .csv",
    rb"%PDF-": "a PDF; save its text",
    rb"\x93NUMPY": "an array of NumPy; give a file of text",
    rb"\x89HDF": "HDF5; save it as .parquet",
    rb"SQLite format 3": "a database of SQLite; save a table of it as .csv",
    rb"\x80[\x02-\x05]": "a pickle of Python; save it as .parquet",
    rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff": "UTF-16 or UTF-32; save it as UTF-8",
    rb".{257}ustar": "a tar archive; unpack it",
    rb"7z\xbc\xaf|Rar!|\x04\x22M\x18": _UNPACK,
    **{pattern: _UNPACK for pattern, _ in COMPRESSED.values()},
}


def read_sentences(name: str, column: str | None = None) -> Iterator[pa.StringArray]:
    """Yield the lines of the file `name`, or the texts of a column of a table, some at a time.

    Args:
        name: file; `-` is standard input.
        column: of a table; None for `text` or `sentence`.

    Raises:
        DataError: a line is not UTF-8 or contains a NUL byte, the file is no text, or the table has no such column.
        ParameterError: a column is named, and the file is no table.
        OSError: the file cannot be read.
    """
    columns = [] if column is None else [column]
    if table := table_of(name):
        blocks = (text for (text,) in _table_blocks(name, table, columns, _TEXT))
    else:
        _refuse_columns(name, columns)
        blocks = (lines.text for lines in _blocks(name))
    for block in blocks:
        for start in range(0, len(block), _ROWS):
            yield block.slice(start, _ROWS)


def read_pairs(name: str, column: str | None = None) -> Iterator[Sequence[pa.StringArray]]:
    """Yield the two tab-separated columns of the file `name`, or two columns of a table, some rows at a time.

    A file whose name ends as TSV is a table if its first line has the names of the columns.

    Args:
        name: file; `-` is standard input.
        column: two columns of a table with a comma between them; None for the usual ones of pairs.

    Raises:
        DataError: a line does not have two columns, is not UTF-8 or contains a NUL byte, the file is no text, or the
            table has no such columns.
        ParameterError: columns are named, and the file is no table.
        OSError: the file cannot be read.
    """
    columns = column.split(",") if column else []
    if columns and len(columns) != 2:
        raise ParameterError(f"--column {column}: name two columns, such as --column text1,text2")
    table = table_of(name)
    if table and (columns or format_of(Path(name)) != "tsv" or _names_pairs(table)):
        yield from _table_blocks(name, table, columns, PAIR_COLUMNS)
        return
    _refuse_columns(name, columns)
    for lines in _blocks(name):
        if lines.first == 1 and lines.text[0].as_py() in map("\t".join, PAIR_COLUMNS):
            raise DataError(f"{name}, line 1: has names of columns; remove it, or give a file that ends in .tsv")
        wrong = pc.not_equal(pc.count_substring(lines.text, "\t"), 1)
        lines.reject(lines.text, wrong, "not two columns separated by a tab")
        _refuse_bad(lines)
        yield lines.fields(2)


def _names_pairs(table: "OwnTable") -> bool:
    """Return whether the first line names two columns; it can be a pair of texts, which are no names if equal."""
    with suppress(DataError):
        return any({*pair} <= {*table.names} for pair in PAIR_COLUMNS)
    return False


def table_of(name: str) -> "OwnTable | None":
    """Return the table in the file or folder `name`; None for lines of text, and for standard input."""
    path = Path(name)
    is_file = is_table(path) and (path.is_file() or not path.exists())  # a pipe has no second reading
    if name == STANDARD_STREAM or not (is_file or is_dataset_folder(path)):
        return None
    from paraphrastic.readers.own_tables import OwnTable
    from paraphrastic.sources.own_files import OwnFile

    return OwnTable(OwnFile(path=name))


def _table_blocks(
    name: str, table: "OwnTable", columns: Sequence[str], usual: Sequence[tuple[str, ...]]
) -> Iterator[list[pa.StringArray]]:
    if unknown := [column for column in columns if column not in table.names]:
        raise DataError(f"{name}: {unknown_name('column', unknown[0], table.names)}")
    known = (names for names in usual if {*names} <= {*table.names})
    if not (chosen := columns or next(known, ())):
        kind, names = FORMATS[format_of(Path(name))], shorten(", ".join(table.names), 200, placeholder=" …")
        raise DataError(f"{name}: {kind} with the columns {names}; name one of text with --column")
    for rows in table.parts(chosen):
        _refuse_bad(rows)
        yield [rows.columns[column] for column in chosen]


def _refuse_columns(name: str, columns: Sequence[str]) -> None:
    if columns:
        endings = ", ".join(ENDINGS)
        raise ParameterError(f"{name}: --column is for tables, which end in {endings}; this is read as lines")


def _blocks(name: str) -> Iterator[SourceLines]:
    first, place = 1, "standard input" if name == STANDARD_STREAM else name
    with _open(name) as file, report_damage(Path(place), own=True, streams=True):
        _refuse_other_formats(place, file.peek(_START))
        while block := file.readlines(_BYTES):
            data = b"".join(block)
            if first == 1 and b"\n" not in data:
                data = data.replace(b"\r", b"\n")  # of a file whose lines end in `\r` alone
            lines = SourceLines(place, data, first)
            if len(lines.bad) > 1 and any(b"\0" in line for line in block):
                raise DataError(f"{place}: is no text; give lines in UTF-8, or a table: {', '.join(ENDINGS)}")
            _refuse_bad(lines)
            yield lines
            first += len(block)


@contextmanager
def _open(name: str) -> Iterator[BufferedReader]:
    if name != STANDARD_STREAM:
        path = regular(Path(name), streams=True)
        with unpacked(path) if path.is_file() else path.open("rb") as file:
            yield file
        return
    if sys.stdin.isatty():
        message("reading lines from the terminal; Ctrl-D ends them")
    buffer: Any = sys.stdin.buffer
    yield buffer if isinstance(buffer, BufferedReader) else BufferedReader(buffer)


def _refuse_other_formats(place: str, start: bytes) -> None:
    if re.search(rf"\.(json|ndjson)({'|'.join(map(re.escape, COMPRESSED))})?$", place):
        raise DataError(f"{place}: is JSON; if each line is an object, rename it to end in .jsonl")
    for pattern, what in _NO_TEXT.items():
        if re.match(pattern, start, re.DOTALL):
            raise DataError(f"{place}: is no text but {what}")


def _refuse_bad(lines: SourceRows) -> None:
    """Raise for the first bad line: results correspond to lines, so that no line can be skipped."""
    if lines.bad:
        bad = min(lines.bad, key=lambda row: row.line)
        raise DataError(f"{bad.file}, line {bad.line}: {bad.why}; correct the line or remove it")
