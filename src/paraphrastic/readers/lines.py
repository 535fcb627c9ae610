"""Lines of a text file as an Arrow column, without a Python object per line.

A line that cannot be used is recorded as a bad row and becomes null. The positions of the other lines do not change, so
that fields and the lines of parallel files stay aligned.
"""

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.readers.raw_files import read_files

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
PAIR_COLUMNS = (("text1", "text2"), ("sentence1", "sentence2"), ("premise", "hypothesis"), ("word1", "word2"))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_BYTES = (1 << 31) - 1  # offsets of an Arrow column of text are int32

csv.field_size_limit(_MAX_BYTES)  # the default of 128 KB refuses long texts


@dataclass(frozen=True)
class BadRow:
    """A row that cannot be used."""

    file: str  # path of the file; `ARCHIVE!MEMBER` for a member of an archive
    line: int  # line number, from 1; number of the record if the file has no lines
    why: str  # description of the error
    unit: str = "line"  # `line`, or what is counted in its place

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.line}: {self.why}"


class SourceRows:
    """Rows of a file, or of a block of it, whose columns are arrays (n,) with null in rows that cannot be used.

    Args:
        file: name of the file for messages.
        numbers: number of each row, from 1, such as of the line at which it starts.
        unit: what is numbered, for messages.

    Attributes:
        bad: the rows rejected so far.
    """

    def __init__(self, file: object, numbers: Sequence[int] | NDArray[np.integer], unit: str = "line") -> None:
        self.file, self._numbers, self._unit = str(file), numbers, unit
        self.bad: list[BadRow] = []

    def reject(self, column: pa.Array, wrong: pa.BooleanArray, why: str) -> pa.Array:
        """Record the rows where `wrong` is true as bad, and return `column` with null there.

        Args:
            column: (n,) values, one per row.
            wrong: (n,) mask. Null, which results from a comparison with a row rejected before, counts as false.
            why: description of the error.
        """
        wrong = pc.fill_null(wrong, False)
        rows = np.flatnonzero(wrong)
        self.bad += [BadRow(self.file, int(self._numbers[row]), why, self._unit) for row in rows.tolist()]
        return pc.if_else(wrong, pa.scalar(None, column.type), column)

    def numbers(self, column: pa.StringArray, low: float, high: float, may_be_blank: bool = False) -> pa.DoubleArray:
        """Return `column` (n,) as numbers; a value that is not a number in [low, high] makes a bad row.

        A blank value is null and, if `may_be_blank`, makes no bad row.
        """
        text = pc.utf8_trim_whitespace(column)
        if may_be_blank:
            text = pc.if_else(pc.equal(text, ""), None, text)
        text = self.reject(text, pc.invert(pc.match_substring_regex(text, NUMBER)), "not a number")
        number = text.cast(pa.float64())
        outside = pc.or_(pc.less(number, low), pc.greater(number, high))
        return self.reject(number, outside, f"a number outside {low} to {high}")

    def labels(self, column: pa.StringArray, names: Sequence[str]) -> pa.Int8Array:
        """Return for each value of `column` (n,) its index in `names`; an unknown value makes a bad row."""
        label = pc.index_in(pc.utf8_trim_whitespace(column), pa.array(names, pa.string())).cast(pa.int8())
        unknown = pc.and_(pc.is_null(label), pc.is_valid(column))
        return self.reject(label, unknown, f"a label other than {', '.join(names)}")


class SourceLines(SourceRows):
    r"""The lines of a text, split at `\n` only; a `\r` before the `\n` and a byte order mark are removed.

    Args:
        file: name of the file for messages.
        data: content of the file, or a block of its lines.
        first: line number of the first line.

    Attributes:
        text: (n,) lines; null if a line is not UTF-8 or contains a NUL byte.
        bad: the rows rejected so far.

    Raises:
        DataError: `data` is empty or larger than 2 GiB.
    """

    def __init__(self, file: object, data: bytes, first: int = 1) -> None:
        if not data:
            raise DataError(f"{file}: the file is empty; {REMEDY}")
        super().__init__(file, range(first, sys.maxsize))
        self.first = first
        self.text = self._decode(data.removeprefix(_BYTE_ORDER_MARK) if first == 1 else data)

    def __len__(self) -> int:
        return len(self.text)

    def _decode(self, data: bytes) -> pa.StringArray:
        raw = self._split(data)
        try:
            text = raw.cast(pa.string())
        except pa.ArrowInvalid:
            text = self._split(data.decode(errors="replace").encode()).cast(pa.string())
            text = self.reject(text, pc.not_equal(raw, text.cast(pa.binary())), "not UTF-8")
        return self.reject(text, pc.match_substring(text, "\0"), "a NUL byte") if b"\0" in data else text

    def _split(self, data: bytes) -> pa.BinaryArray:
        r"""Return the lines of `data`, (n,), without `\n` and `\r\n`."""
        if len(data) > _MAX_BYTES:
            raise DataError(f"{self.file}: larger than 2 GiB; split it into several files")
        ended = data if data.endswith(b"\n") else data + b"\n"
        return pc.split_pattern(pa.array([ended.replace(b"\r\n", b"\n")[:-1]], pa.binary()), "\n").flatten()

    def fields(self, count: int, separator: str = "\t") -> list[pa.StringArray]:
        """Return the first `count` fields as columns (n,); quotes have no special meaning.

        A line with fewer fields is a bad row.
        """
        fields = pc.split_pattern(self.text, separator)
        short = pc.less(pc.list_value_length(fields), count)
        fields = self.reject(fields, short, f"fewer than {count} fields")
        return [pc.list_element(fields, i) for i in range(count)]

    def skip(self, lines: pa.BooleanArray) -> None:
        """Replace the lines where the mask `lines` (n,) is true by null, without recording bad rows."""
        self.text = pc.if_else(pc.fill_null(lines, False), None, self.text)

    def skip_header(self, *names: str) -> None:
        """Skip the first line, or raise a DataError if it does not start with the fields `names`."""
        if not (self.text[0].as_py() or "").startswith("\t".join(names)):
            raise DataError(f"{self.file}: line 1 is not the header {' | '.join(names)}; {REMEDY}")
        self.skip(pa.array(np.arange(len(self)) == 0))


def read_lines(folder: Path, *files: str, archive: str | None = None) -> list[SourceLines]:
    """Return the lines of the files that `raw_files.read_files` finds."""
    return [SourceLines(name, data) for name, data in read_files(folder, files, archive)]


def read_parallel(folder: Path, *files: str, archive: str | None = None) -> list[SourceLines]:
    """Return the lines of parallel files, or raise a DataError if they have different numbers of lines."""
    first, *others = lines = read_lines(folder, *files, archive=archive)
    for other in others:
        if len(other) != len(first):
            counts = f"{first.file} has {len(first)} lines and {other.file} has {len(other)}"
            raise DataError(f"{counts}, but their lines should correspond; remove both and run `dvc repro`")
    return lines


def read_splits(
    folder: Path, splits: Mapping[str, str], archive: str | None = None
) -> Iterator[tuple[SourceLines, str]]:
    """Return the lines of each of several files, with the value that `splits` has for it."""
    return zip(read_lines(folder, *splits, archive=archive), splits.values(), strict=True)


def csv_rows(file: Iterable[str], delimiter: str, quoted: bool) -> Any:
    """Return the reader of the standard library; cells can be quoted as in RFC 4180 if `quoted`."""
    return csv.reader(file, delimiter=delimiter, strict=True, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)


def is_utf8(text: str) -> bool:
    """Return whether a text can be written in UTF-8, which lone surrogates cannot."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
