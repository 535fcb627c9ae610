"""Readers of sentences with a class: reviews, questions, and what users ask a bank or a voice assistant."""

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import SourceLines, SourceRows
from paraphrastic.readers.listings import parse_file, read_records, text_column
from paraphrastic.readers.raw_files import read_bytes
from paraphrastic.readers.reading import ReaderOptions, Reading, make_reading

_MOST_CLASSES = 127  # a label is an int8
_HALVES = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")  # of an emoji: UTF-16 in UTF-8


def class_files(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read files with a sentence in each line, in Windows-1252; all lines of a file have one class.

    Empty lines are sentences too: published numbers of rows include them.

    Options: `set`; `labels` maps a file to its class.
    Yields: One reading per file, of the split `test`.
    """
    for name, label in options["labels"].items():
        lines = _windows_lines(folder / name)
        labels = pa.repeat(label, len(lines))
        yield _reading(lines, options["set"], "test", lines.text, labels)


def trec(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read lines `CLASS:subclass question`, in Windows-1252.

    Options: `set`; `classes`; `splits` maps a file to its split.
    Yields: One reading per file.
    """
    for name, split in options["splits"].items():
        lines = _windows_lines(folder / name)
        label, text = pc.extract_regex(lines.text, r"^(?P<label>[A-Z]+):\S+ (?P<text>.*)$").flatten()
        text = lines.reject(text, pc.and_(lines.text.is_valid(), text.is_null()), "no CLASS:subclass before a text")
        yield _reading(lines, options["set"], split, text, lines.labels(label, options["classes"]))


def banking(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read CSV with the columns `text` and `category`; classes are numbered in the order of their names.

    Options: `set`; `splits` maps a file to its split. The first file has all classes.
    Yields: One reading per file.
    """
    classes: list[str] = []
    for name, split in options["splits"].items():
        listing = {"format": "csv", "files": [name], "columns": ["text", "category"]}
        for records in read_records(folder, listing):
            (rows,), (text, category) = records.files, records.texts.columns
            classes = classes or sorted({*category.drop_null().to_pylist()})[:_MOST_CLASSES]
            yield _reading(rows, options["set"], split, text, rows.labels(category, classes))


def snips(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read JSON `{CLASS: [{"data": [{"text": …}, …]}, …]}`; the texts of a query are joined.

    Options: `set`; `labels` maps a file to its class.
    Yields: One reading per file, of the split `train`.
    """
    for name, label in options["labels"].items():
        content = parse_file(folder / name, _HALVES.sub(_joined, read_bytes(folder / name)))
        try:
            (queries,) = content.values()
            texts = ["".join(part["text"] for part in query["data"]) for query in queries]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{folder / name}: no list of queries with `data` of `text`; {REMEDY}") from error
        rows = SourceRows(folder / name, range(1, len(texts) + 1), "query")
        yield _reading(rows, options["set"], "train", text_column(rows, "text", texts), pa.repeat(label, len(texts)))


def _joined(halves: re.Match[bytes]) -> bytes:
    """Return a character in UTF-8."""
    return halves[0].decode(errors="surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16").encode()


def _windows_lines(path: Path) -> SourceLines:
    """Return the lines of a file; a byte that Windows-1252 lacks makes a bad row."""
    return SourceLines(path, read_bytes(path).decode("cp1252", "surrogateescape").encode(errors="surrogateescape"))


def _reading(rows: SourceRows, name: str, split: str, text: pa.StringArray, label: pa.Array) -> Reading:
    return make_reading("labelled_sentences", [rows], set=name, split=split, text1=text, label=label)
