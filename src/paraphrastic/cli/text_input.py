"""Read lines of a file or of standard input in blocks, so that memory stays constant."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.console import STANDARD_STREAM, message
from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import SourceLines

_BYTES, _ROWS = 1 << 20, 1 << 14  # per block; rows bound the memory of the vectors if lines are short


def read_sentences(name: str) -> Iterator[pa.StringArray]:
    """Yield the lines of the file `name`, some at a time; `-` is standard input.

    Raises:
        DataError: a line is not UTF-8 or contains a NUL byte.
        OSError: the file cannot be read.
    """
    for lines in _blocks(name):
        for start in range(0, len(lines), _ROWS):
            yield lines.text.slice(start, _ROWS)


def read_pairs(name: str) -> Iterator[tuple[pa.StringArray, pa.StringArray]]:
    """Yield the two tab-separated columns of the file `name`, some lines at a time; `-` is standard input.

    Raises:
        DataError: a line does not have two columns, is not UTF-8 or contains a NUL byte.
        OSError: the file cannot be read.
    """
    for lines in _blocks(name):
        wrong = pc.not_equal(pc.count_substring(lines.text, "\t"), 1)
        lines.reject(lines.text, wrong, "not two columns separated by a tab")
        _refuse_bad(lines)
        left, right = lines.fields(2)
        yield left, right


def _blocks(name: str) -> Iterator[SourceLines]:
    first = 1
    with _open(name) as file:
        while block := file.readlines(_BYTES):
            lines = SourceLines("standard input" if name == STANDARD_STREAM else name, b"".join(block), first)
            _refuse_bad(lines)
            yield lines
            first += len(block)


def _open(name: str) -> AbstractContextManager[BinaryIO]:
    if name != STANDARD_STREAM:
        return Path(name).open("rb")
    if sys.stdin.isatty():
        message("reading lines from the terminal; Ctrl-D ends them")
    return nullcontext(sys.stdin.buffer)


def _refuse_bad(lines: SourceLines) -> None:
    """Raise for the first bad line: results correspond to lines, so that no line can be skipped."""
    if lines.bad:
        bad = min(lines.bad, key=lambda row: row.line)
        raise DataError(f"{bad.file}, line {bad.line}: {bad.why}; correct the line or remove it")
