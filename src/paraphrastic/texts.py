"""Lines of a file or of standard input, as the shell hands them over: in blocks, so that memory stays constant."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.errors import DataError
from paraphrastic.readers.lines import Lines

STANDARD = "-"  # the name that stands for standard input and output

_BYTES, _ROWS = 1 << 20, 1 << 14  # of a block: rows bound the vectors, where lines are short


def sentences(name: str) -> Iterator[pa.StringArray]:
    """The lines of the file `name`, some at a time.

    Raises:
        DataError: a line is not UTF-8 or holds a NUL byte.
        OSError: the file cannot be read.
    """
    for lines in _blocks(name):
        for start in range(0, len(lines), _ROWS):
            yield lines.text.slice(start, _ROWS)


def pairs(name: str) -> Iterator[tuple[pa.StringArray, pa.StringArray]]:
    """The two columns of the file `name`, which a tab separates, some lines at a time.

    Raises:
        DataError: a line has not two columns, is not UTF-8 or holds a NUL byte.
        OSError: the file cannot be read.
    """
    for lines in _blocks(name):
        others = pc.not_equal(pc.count_substring(lines.text, "\t"), 1)
        lines.reject(lines.text, others, "not two columns with a tab between them")
        _refuse(lines)
        left, right = lines.fields(2)
        yield left, right


def _blocks(name: str) -> Iterator[Lines]:
    first = 1
    with _opened(name) as file:
        while block := file.readlines(_BYTES):
            lines = Lines("standard input" if name == STANDARD else name, b"".join(block), first)
            _refuse(lines)
            yield lines
            first += len(block)


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if name == STANDARD else Path(name).open("rb")


def _refuse(lines: Lines) -> None:
    """Lines correspond to what comes out, so that none can be left out."""
    if lines.bad:
        bad = min(lines.bad, key=lambda row: row.line)
        raise DataError(f"{bad.file}, line {bad.line}: {bad.why}; correct the line or remove it")
