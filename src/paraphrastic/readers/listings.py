"""Records of CSV, JSON and `tf.Example` files, and of parallel lines, as columns of text.

A listing is a table of the catalogue that says which files are read, and how:

* `files`: names or patterns; with `archive`, of members of that archive.
* `format`: `csv`, `json`, `tf-examples`, `nli-paraphrases`, `reuters`; or `lines`, where the files are the columns.
* `columns`: names of the columns; positions from 0 if the file has no header.
* `delimiter` of `csv`: a comma unless stated. Cells can be quoted as in RFC 4180, unless `quotes` is false.
* `records` of `json`: key of the list of records; without it, the file is the list. A value that is a list stands for
  a record each.
* `keep`: a column and the value that it must have.
"""

import csv
import html
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from paraphrastic.base import reading
from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import SourceRows, csv_rows, is_utf8, read_parallel
from paraphrastic.readers.raw_files import read_files

Listing = Mapping[str, Any]
Cells = Sequence[object]


class Records(NamedTuple):
    """Some columns of one file, or of parallel files: the files, and n texts of each column, null in bad rows."""

    files: Sequence[SourceRows]
    texts: pa.RecordBatch


def text_column(rows: SourceRows, name: object, values: Iterable[object]) -> pa.StringArray:
    """Return the values (n,) of `rows` as text; one that is neither text nor a whole number makes a bad row."""
    cells = [str(value) if type(value) is int else value for value in values]
    texts = [cell if isinstance(cell, str) and "\0" not in cell and is_utf8(cell) else None for cell in cells]
    column = pa.array(texts, pa.string())
    return rows.reject(column, column.is_null(), f"'{name}' is no text in UTF-8")


def read_records(folder: Path, listing: Listing) -> Iterator[Records]:
    """Yield the records of each file of a listing; of `lines`, of all files together.

    Args:
        folder: contains the files of the source.
        listing: of the catalogue.

    Raises:
        SourceError: a file is missing.
        DataError: a file is damaged, empty or of another format.
    """
    files, archive = listing["files"], listing.get("archive")
    if listing["format"] == "lines":
        lines = read_parallel(folder, *files, archive=archive)
        yield Records(lines, _batch(each.text for each in lines))
    else:
        yield from (_records(name, data, listing) for name, data in read_files(folder, files, archive))


def _records(name: str, data: bytes, listing: Listing) -> Records:
    keep: Sequence[str | int] = listing.get("keep", ())
    names = [*listing["columns"], *keep[:1]]
    rows = list(enumerate(_FORMATS[listing["format"]](name, data, names, listing), 1))
    if keep:
        rows = [(number, row[:-1]) for number, row in rows if row[-1] == keep[1]]
    if not rows:
        raise DataError(f"{name}: not one record; is it the right file? {REMEDY}")
    numbers, cells = zip(*rows, strict=True)
    records = SourceRows(name, numbers, "record")
    columns = zip(listing["columns"], zip(*cells, strict=True), strict=True)
    return Records([records], _batch(text_column(records, *column) for column in columns))


def _batch(columns: Iterable[pa.StringArray]) -> pa.RecordBatch:
    arrays = list(columns)
    return pa.record_batch(arrays, list(map(str, range(len(arrays)))))


def _csv(name: str, data: bytes, columns: Sequence[str | int], listing: Listing) -> Iterator[Cells]:
    """Yield the cells of CSV rows; columns that are numbers are positions in a file without header."""
    text = io.StringIO(_decode(data), newline="")
    reader = csv_rows(text, listing.get("delimiter", ","), listing.get("quotes", True))
    try:
        header: Sequence[object] = range(sys.maxsize) if isinstance(columns[0], int) else next(reader, [])
        if missing := [column for column in columns if column not in header]:
            raise DataError(f"{name}: line 1 has no column '{missing[0]}'; {REMEDY}")
        places = [header.index(column) for column in columns]
        for row in reader:
            if len(row) <= max(places):
                raise DataError(f"{name}, line {reader.line_num}: {len(row)} cells, too few; {REMEDY}")
            yield [row[place] for place in places]
    except csv.Error as error:
        raise DataError(f"{name}, line {reader.line_num}: not CSV ({error}); {REMEDY}") from error


def _json(name: str, data: bytes, columns: Sequence[str], listing: Listing) -> Iterator[Cells]:
    """Yield the values of each record; missing ones are None."""
    content = parse_file(name, data)
    key = listing.get("records")
    records = content if key is None else content.get(key) if isinstance(content, dict) else None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        place = f"under '{key}'" if key else "at the top"
        raise DataError(f"{name}: no list of JSON objects {place}; {REMEDY}")
    for record in records:
        values = (record.get(column) for column in columns)
        yield from product(*(value if isinstance(value, list) else [value] for value in values))


def parse_file(name: object, data: bytes) -> Any:
    """Return the content of a JSON file.

    Raises:
        DataError: it is not JSON, as when it is truncated.
    """
    try:
        return reading.parse_json(_decode(data))
    except ValueError as error:
        raise DataError(f"{name}: not JSON, or truncated ({error}); {REMEDY}") from error


def _decode(data: bytes) -> str:
    """Return a text; bytes that are not UTF-8 become lone surrogates, so that other records can be used."""
    return data.decode("utf-8-sig", errors="surrogateescape")


def _tf_examples(name: str, data: bytes, columns: Sequence[str], listing: Listing) -> Iterator[Cells]:
    """Yield features of serialized `tf.Example` records, each after its length in 8 bytes, little-endian."""
    start = 0
    try:
        while start < len(data):
            end = start + 8 + int.from_bytes(data[start : start + 8], "little")
            if end > len(data):
                raise IndexError
            features = _features(data[start + 8 : end])
            yield [features.get(column) for column in columns]
            start = end
    except (IndexError, ValueError) as error:
        raise DataError(f"{name}: no tf.Example record at byte {start}, or truncated; {REMEDY}") from error


def _features(record: bytes) -> dict[str, str]:
    """Return the first value of each feature of bytes: Example.features.feature{key: bytes_list.value}."""
    features = {}
    for container in _fields(record):
        for entry in _fields(container):
            key, value = _fields(entry)
            (values,) = _fields(value)
            first, *_ = _fields(values)
            features[key.decode()] = first.decode()
    return features


def _fields(message: bytes) -> Iterator[bytes]:
    """Yield the fields of a protocol-buffer message whose fields all have a length."""
    position = 0
    while position < len(message):
        if message[position] & 7 != 2:
            raise ValueError
        length, position = _varint(message, position + 1)
        if position + length > len(message):
            raise ValueError
        yield message[position : position + length]
        position += length


def _varint(message: bytes, position: int) -> tuple[int, int]:
    """Return a number in groups of 7 bits, lowest first, and the position after it."""
    value = shift = 0
    while message[position] & 128:
        value |= (message[position] & 127) << shift
        position, shift = position + 1, shift + 7
    return value | message[position] << shift, position + 1


def _nli_paraphrases(name: str, data: bytes, columns: Sequence[str], listing: Listing) -> Iterator[Cells]:
    """Yield originals and paraphrases of JSON lists of annotations: `X` of `original_example`, and `X_paraphrase`."""
    content = parse_file(name, data)
    try:
        for annotation in (annotation for annotations in content.values() for annotation in annotations):
            for key, value in annotation.items():
                if key.endswith("_paraphrase") and value:
                    yield annotation["original_example"].get(key.removesuffix("_paraphrase")), value
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(f"{name}: an annotation without `original_example`; {REMEDY}") from error


_DOCUMENT = re.compile(r"<REUTERS.*?</REUTERS>", re.DOTALL)
_TITLE, _BODY = (re.compile(f"<{tag}>(.*?)</{tag}>", re.DOTALL) for tag in ("TITLE", "BODY"))
_SENTENCE_END = re.compile(r"(?<=[a-z\d)]\.)\s+(?=[A-Z\"])")


def _reuters(name: str, data: bytes, columns: Sequence[str], listing: Listing) -> Iterator[Cells]:
    """Yield title and first sentence of the SGML documents that have both; a paragraph begins with four spaces."""
    text = data.decode("latin-1")
    if text.count("<REUTERS") != text.count("</REUTERS>"):
        raise DataError(f"{name}: a <REUTERS> is not closed, the file is truncated; {REMEDY}")
    for document in _DOCUMENT.findall(text):
        title, body = _TITLE.search(document), _BODY.search(document)
        if title and body:
            paragraph = " ".join(html.unescape(body[1]).split("\n    ")[0].split())
            yield " ".join(html.unescape(title[1]).split()), _SENTENCE_END.split(paragraph)[0]


_FORMATS: dict[str, Callable[[str, bytes, Any, Listing], Iterator[Cells]]] = {
    "csv": _csv,
    "json": _json,
    "nli-paraphrases": _nli_paraphrases,
    "reuters": _reuters,
    "tf-examples": _tf_examples,
}


def concat(records: Iterable[Records]) -> Records:
    """Return all records; there must be some."""
    files, texts = zip(*records, strict=True)
    return Records([file for several in files for file in several], pa.concat_batches(texts))
