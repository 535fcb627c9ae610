"""The few tables that everything else is written in, and parquet files with the same bytes every time.

Readers yield *raw* tables, whose text is as in the source. The `tokenize` stage turns them into *indexed*
tables, where a text is a row number of one `sentences` table: every distinct tokenized sentence stands once.
A `source` is where training pairs come from, a `set` is what one evaluation number is about, for example
`sts.2012.MSRpar`; a `split` is `train`, `dev` or `test`.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.errors import DataError

_TEXTS = [("text1", pa.string()), ("text2", pa.string())]
_SET = [("set", pa.string()), ("split", pa.string())]
_TOKENS = [
    ("sentence", pa.int32()),  # running number within (set, split)
    ("token", pa.string()),  # as in the source: not tokenized, not lower-cased
    ("tag", pa.string()),
    ("head", pa.int32()),  # 1-based position of the governor, 0 for the root, null where the source has none
    ("relation", pa.string()),  # dependency label, null where the source has none
]

RAW: dict[str, pa.Schema] = {
    # group: what comes from one sentence or image; never each other's negatives
    "pairs": pa.schema([*_TEXTS, ("group", pa.int64())]),
    "similarity": pa.schema([*_SET, *_TEXTS, ("score", pa.float64())]),
    # text1 is the question, text2 the candidate; label 1 marks an answer
    "ranking": pa.schema([*_SET, ("question", pa.int32()), *_TEXTS, ("label", pa.int8())]),
    "labelled_pairs": pa.schema([*_SET, *_TEXTS, ("label", pa.int8())]),
    "labelled_sentences": pa.schema([*_SET, ("text1", pa.string()), ("label", pa.int8())]),
    "tagged_tokens": pa.schema([*_SET, *_TOKENS]),
}

_ROW = pa.int32()

SENTENCES = pa.schema([("text", pa.string())])  # tokens joined by single spaces
VOCABULARY = pa.schema([("text", pa.string())])  # words or n-grams in the order of a model's rows
# what a model says of every pair that a figure rests on; question: −1 where there is none
SCORES = pa.schema(
    [
        ("set", pa.string()),
        ("kind", pa.string()),
        ("split", pa.string()),
        ("question", pa.int32()),
        ("gold", pa.float64()),
        ("score", pa.float32()),
    ]
)
PAIRS = pa.schema([("left", _ROW), ("right", _ROW), ("source", pa.string()), ("group", pa.int64())])


def indexed_schema(kind: str) -> pa.Schema:
    """Schema of a table of `kind` once its texts are row numbers: `text1` → `left`, `text2` → `right`."""
    names = {"text1": "left", "text2": "right"}
    fields = [pa.field(names[f.name], _ROW) if f.name in names else f for f in RAW[kind]]
    return PAIRS if kind == "pairs" else pa.schema(fields)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to, moved into place when the block ends well and removed when not.

    Raises:
        OSError: of a failure such as a full disk, naming `path` where the system names no file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A new folder beside `path` to fill, which takes its place when the block ends well and is removed when not."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.mkdir(parents=True, exist_ok=True)
        yield part
        rmtree(path, ignore_errors=True)
        part.replace(path)
    finally:
        rmtree(part, ignore_errors=True)


def write_table(table: pa.Table, path: Path, schema: pa.Schema) -> None:
    """Write `table` as parquet in `schema`: same rows, same bytes; nothing half-written.

    Raises:
        DataError: a column is missing or cannot be cast to its type.
    """
    try:
        table = table.select(schema.names).cast(schema).replace_schema_metadata(None)
    except (KeyError, pa.ArrowInvalid, ValueError) as error:
        raise DataError(f"{path}: not a table of columns {', '.join(schema.names)}: {error}") from error
    with replacing(path) as part:
        pq.write_table(table.combine_chunks(), part, compression="zstd", row_group_size=1 << 20)


def read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """Read a parquet file that `write_table` wrote.

    Raises:
        DataError: the file is missing, damaged, or holds other columns.
    """
    try:
        table = pq.read_table(path, memory_map=False)
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; run `dvc repro` to make it") from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a readable parquet file; remove it and run `dvc repro`") from error
    if table.schema.names != schema.names:
        raise DataError(f"{path}: columns {table.schema.names}, expected {schema.names}; run `dvc repro`")
    return table.cast(schema).combine_chunks()


def file_hash(path: Path) -> str:
    """The sha256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
