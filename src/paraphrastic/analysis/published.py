"""The numbers that a paper's tables, captions and text state, one line each: `published/PAPER.csv`.

* `table`: `T3` is Table 3, `F1` the caption of Figure 1, `S4.2` the text of Section 4.2 and its notes, `SB` of
  Appendix B.
* `row`: the model, by its name in this project if it has one, then qualifiers after spaces: `lstm dropout scrambling`.
  `select/SET` marks a model selected on SET, and `oracle` one selected on the sets that the number is a mean of.
* `column`: the set by its name in this project, a group of sets (`sts.2012`), `mean` over the sets of the table, or a
  quantity such as `pairs`. Lists, for example of neighbors, have the columns 1 to k.
* `value`: the text as printed. Numbers drawn in a figure, dashes and `N/A` have no line.

acl2017 has no lines for Tables 4, 5 and 11 and for examples 2 to 7 of Table 7, nor charagram2016 for neighbors 1 and 4
of `_2` in Table 10: the files are transcribed from a text of the papers that lacks these.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

import pandas as pd

from paraphrastic.base.errors import DataError, ParameterError, unknown_name

_FOLDER = Path(__file__).with_suffix("")
_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")


@dataclass(frozen=True)
class Published:
    """One number or text that a paper publishes; see the module for the fields."""

    paper: str
    table: str
    row: str
    column: str
    value: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The place in the paper: table, row and column."""
        return self.table, self.row, self.column

    @property
    def number(self) -> float | None:
        """The value as a number, `12,108` as 12108; None if it is text."""
        return float(self.value.replace(",", "")) if _NUMBER.fullmatch(self.value) else None


HEADER = [field.name for field in fields(Published)]


def papers() -> list[str]:
    """Return the short names of the papers in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("*.csv"))


def published(paper: str) -> pd.DataFrame:
    """Return all lines of a paper, in the order of the file.

    The columns are those of the file, and `number`: float64, NaN where the value is text.

    Raises:
        ParameterError: there is no such paper.
        DataError: the file is damaged.
    """
    lines = list(_lines(paper).values())
    table = pd.DataFrame([asdict(line) for line in lines], columns=HEADER)
    return table.assign(number=pd.Series([line.number for line in lines], dtype="float64"))


def value(paper: str, table: str, row: str, column: str) -> float | None:
    """Return a published number; None if the paper prints text or nothing there.

    Raises:
        ParameterError: there is no such paper.
        DataError: the file is damaged.
    """
    line = _lines(paper).get((table, row, column))
    return line.number if line else None


def read_published(path: Path) -> dict[tuple[str, str, str], Published]:
    """Read a file of published numbers, by table, row and column.

    Raises:
        DataError: the file is not UTF-8 or not CSV, has another header, or a line has a missing field, a field with
            spaces around it, the name of another paper, or the table, row and column of an earlier line.
    """
    lines: dict[tuple[str, str, str], Published] = {}
    for number, record in _records(path):
        line = _checked(path, number, record)
        if line.key in lines:
            raise DataError(f"{path}, line {number}: a second value for {', '.join(line.key)}; remove one of them")
        lines[line.key] = line
    return lines


@cache
def _lines(paper: str) -> dict[tuple[str, str, str], Published]:
    if paper not in papers():
        raise ParameterError(unknown_name("paper", paper, papers()))
    return read_published(_FOLDER / f"{paper}.csv")


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each record after the header."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        if next(reader, None) != HEADER:
            raise DataError(f"{path}, line 1: not the header; write {','.join(HEADER)}")
        for record in reader:
            yield reader.line_num, record
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: not CSV ({error}); correct its quotes") from error


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {number}: not UTF-8; convert the file to UTF-8") from error


def _checked(path: Path, number: int, record: list[str]) -> Published:
    """Return the record of a line; raise DataError if a field is missing or wrong."""
    place = f"{path}, line {number}"
    if len(record) != len(HEADER):
        raise DataError(f"{place}: {len(record)} fields; write {','.join(HEADER)}, and quotes around a comma")
    for name, field in zip(HEADER, record, strict=True):
        if not field or field != field.strip():
            raise DataError(f"{place}: {name} is '{field}'; write a text without spaces around it, or remove the line")
    line = Published(*record)
    if line.paper != path.stem:
        raise DataError(f"{place}: paper is '{line.paper}'; write '{path.stem}', or move the line to its paper's file")
    return line
