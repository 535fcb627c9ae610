"""The Arrow tables that stages exchange, and parquet files that are byte-identical for equal tables.

Readers return *raw* tables, with text as in the source. The stage `tokenize` turns them into *indexed* tables, in which
a text is a row number of one table of sentences: every distinct tokenized sentence is stored once.

A `source` is the origin of training pairs. A `set` is the unit of evaluation, for example `sts.2012.MSRpar`. A `split`
is `train`, `dev` or `test`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paraphrastic.base.errors import DataError
from paraphrastic.base.files import atomic_write
from paraphrastic.base.reading import Unpacker

PHRASE_SETS = r"^((own\.)?words\..*|paraphrase\.(annotated-)?ppdb|sample\.words)$"  # names of sets of words or phrases

SIDES = {"text1": "left", "text2": "right"}  # columns of raw tables → columns of indexed tables

_TEXTS = [(side, pa.string()) for side in SIDES]
_SET = [("set", pa.string()), ("split", pa.string())]
_TOKENS = [
    ("sentence", pa.int32()),  # number of the sentence within (set, split)
    ("token", pa.string()),  # as in the source: neither tokenized nor lower-cased
    ("tag", pa.string()),
    ("head", pa.int32()),  # 1-based position of the syntactic head, 0 for the root, null if the source has none
    ("relation", pa.string()),  # dependency label, null if the source has none
]

RAW: dict[str, pa.Schema] = {
    # pairs of one group come from one sentence or image and are never negatives of each other
    "pairs": pa.schema([*_TEXTS, ("group", pa.int64())]),
    "similarity": pa.schema([*_SET, *_TEXTS, ("score", pa.float64())]),
    # text1 is the question, text2 the candidate answer; label 1 marks a correct answer
    "ranking": pa.schema([*_SET, ("question", pa.int32()), *_TEXTS, ("label", pa.int8())]),
    "labelled_pairs": pa.schema([*_SET, *_TEXTS, ("label", pa.int8())]),
    "labelled_sentences": pa.schema([*_SET, ("text1", pa.string()), ("label", pa.int8())]),
    "tagged_tokens": pa.schema([*_SET, *_TOKENS]),
}

_ROW = pa.int32()  # row number of a sentence
_COUNTS = [("count", pa.int64()), ("sentences", pa.int64())]  # occurrences; sentences that contain the entry

SENTENCES = pa.schema([("text", pa.string())])  # tokens joined by single spaces
PAIRS = pa.schema([("left", _ROW), ("right", _ROW), ("source", pa.string()), ("group", pa.int64())])
WORD_COUNTS = pa.schema([("text", pa.string()), *_COUNTS])
NGRAM_COUNTS = pa.schema([("text", pa.string()), ("order", pa.int8()), *_COUNTS])
VOCABULARY = pa.schema([("text", pa.string())])  # entries in row order of a model's embedding table
# the score of every evaluated pair, from which all metrics can be recomputed
SCORES = pa.schema(
    [
        ("set", pa.string()),
        ("kind", pa.string()),
        ("split", pa.string()),
        ("question", pa.int32()),  # −1 if the set has no questions
        ("left", _ROW),  # in data/benchmarks/sentences.parquet
        ("right", _ROW),
        ("gold", pa.float64()),
        ("score", pa.float32()),
    ]
)

TEACHER_INFO = "teacher.json"  # in the folder of a teacher's vectors: its name, and their size; without a teacher null


def teacher_schema(kind: str, dim: int) -> pa.Schema:
    """Return the schema of the unit vectors that a teacher gave to `sentences`, in their order, or to `words`."""
    texts = [("text", pa.string())] if kind == "words" else []
    return pa.schema([*texts, ("vector", pa.list_(pa.float16(), dim))])


def indexed_schema(kind: str) -> pa.Schema:
    """Return the schema of an indexed table: columns `left` and `right` with row numbers replace `text1`, `text2`."""
    fields = [pa.field(SIDES[f.name], _ROW) if f.name in SIDES else f for f in RAW[kind]]
    return PAIRS if kind == "pairs" else pa.schema(fields)


_ROW_GROUP = 1 << 20  # rows
_LARGE_BATCHES = 4  # a batch of one text as long as its row group may take this many times what a file may unpack to


def write_table(table: pa.Table, path: Path, schema: pa.Schema) -> None:
    """Write `table` as parquet in `schema`, atomically; equal rows give equal bytes.

    Raises:
        DataError: a column is missing or cannot be cast to its type.
    """
    write_parts([table], path, schema)


def write_parts(tables: Iterable[pa.Table], path: Path, schema: pa.Schema) -> None:
    """Write tables, one after the other, as `write_table` writes one table of all rows; memory holds a row group.

    Raises:
        DataError: a column is missing or cannot be cast to its type.
    """
    with atomic_write(path) as part, pq.ParquetWriter(part, schema, compression="zstd") as writer:
        for group in _row_groups(_cast(table, path, schema) for table in tables):
            writer.write_table(group.combine_chunks(), _ROW_GROUP)


def _cast(table: pa.Table, path: Path, schema: pa.Schema) -> pa.Table:
    try:
        return table.select(schema.names).cast(schema).replace_schema_metadata(None)
    except (KeyError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path}: not a table of columns {', '.join(schema.names)}: {error}") from error


def _row_groups(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows of all tables in tables of `_ROW_GROUP` rows; the last one has fewer, and may have none."""
    rest: list[pa.Table] = []
    for table in tables:
        for start in range(0, len(table), _ROW_GROUP):
            rest.append(table.slice(start, _ROW_GROUP))
            if sum(map(len, rest)) >= _ROW_GROUP:
                rows = pa.concat_tables(rest)
                yield rows.slice(0, _ROW_GROUP)
                rest = [rows.slice(_ROW_GROUP)]
    if rest:
        yield pa.concat_tables(rest)


class StoredSentences:
    """The sentences of a corpus in a file that `write_parts` wrote, of which memory holds a row group.

    Args:
        path: table in schema `SENTENCES`.

    Attributes:
        path: of the file.

    Raises:
        DataError: the file is missing, damaged, or has other columns or types.
    """

    def __init__(self, path: Path) -> None:
        with _readable(path):
            self._file = open_bounded(path)
        _checked(self._file.schema_arrow.empty_table(), path, SENTENCES)
        self.path, self._metadata = path, self._file.metadata

    def __len__(self) -> int:
        return int(self._metadata.num_rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the text, about."""
        return sum(_group_sizes(self._metadata))

    def __iter__(self) -> Iterator[pa.StringArray]:
        """Yield the sentences in parts.

        Raises:
            DataError: the file is damaged.
        """
        for i in range(self._metadata.num_row_groups):
            with _readable(self.path):
                group = self._file.read_row_group(i)
            yield group["text"].combine_chunks()


TrainingSentences: TypeAlias = pa.StringArray | StoredSentences


def read_table(path: Path, schema: pa.Schema, encoded: Sequence[str] = ()) -> pa.Table:
    """Read a parquet file that `write_table` wrote.

    Args:
        path: the file.
        schema: of the table.
        encoded: columns of text with few different ones, which are read as dictionaries.

    Raises:
        DataError: the file is missing, damaged, or has other columns or types.
    """
    with _readable(path):
        file = open_bounded(path, encoded=encoded)
        _checked(pq.read_schema(path).empty_table(), path, schema)
        table = read_bounded(file, path)
    for name in encoded:
        at = schema.get_field_index(name)
        schema = schema.set(at, pa.field(name, pa.dictionary(pa.int32(), schema.field(at).type)))
    return _checked(table, path, schema)


def open_bounded(path: Path, content: bytes | None = None, encoded: Sequence[str] = ()) -> pq.ParquetFile:
    """Open a parquet file that may come from a stranger, after a check of its footer.

    Args:
        path: the file.
        content: its bytes, if they have been read.
        encoded: columns of text with few different ones, which are read as dictionaries.

    Raises:
        DataError: it is no regular file, or its footer says that it unpacks to more than `reading.Unpacker` lets it.
        ArrowException, OSError: it is damaged.
    """
    unpacker = Unpacker(path)
    file = pq.ParquetFile(path if content is None else pa.BufferReader(content), read_dictionary=list(encoded))
    unpacker.spend(max(sum(_group_sizes(file.metadata)), file.metadata.num_rows))
    return file


def read_bounded(file: pq.ParquetFile, path: Path) -> pa.Table:
    """Return all rows of a file from `open_bounded`; errors are those of `bounded_batches`."""
    return pa.Table.from_batches(bounded_batches(file, path), file.schema_arrow)


def bounded_batches(
    file: pq.ParquetFile, path: Path, columns: Sequence[str] | None = None, most: int = 1 << 16
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file from `open_bounded`, in batches.

    Compression and dictionaries let a file of a megabyte hold gigabytes, so that what rows take is counted as they are
    read. A batch has few rows if a single text could be large.

    Args:
        file: the file.
        path: its path.
        columns: those that are read; None for all.
        most: rows of a batch.

    Raises:
        DataError: it unpacks to more than `reading.Unpacker` lets it.
        ArrowException, OSError: it is damaged.
    """
    unpacker, largest = Unpacker(path), max(_group_sizes(file.metadata), default=0)
    rows = max(1, min(most, _LARGE_BATCHES * unpacker.limit // (largest + 1)))
    for batch in file.iter_batches(rows, columns=None if columns is None else list(columns)):
        unpacker.spend(sum(map(_decoded_size, batch.columns)))
        yield batch


def _decoded_size(column: pa.Array) -> int:
    """Return the bytes of a column; of a dictionary's text those that it has without the dictionary."""
    if not (pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type)):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices).cast(pa.int64())
    return 4 * len(column) + int(pc.sum(lengths).as_py() or 0)  # and offsets of int32


def _group_sizes(metadata: Any) -> list[int]:
    """Return the bytes of each row group without compression."""
    return [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise a DataError that names `path` if the block cannot read it."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; run `dvc repro` to create it") from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a readable parquet file; remove it and run `dvc repro`") from error


def _checked(table: pa.Table, path: Path, schema: pa.Schema) -> pa.Table:
    if table.schema.names != schema.names:
        raise DataError(f"{path}: columns {table.schema.names}, expected {schema.names}; run `dvc repro`")
    try:
        return table.cast(schema).combine_chunks()
    except (ValueError, pa.ArrowException) as error:
        raise DataError(f"{path}: a column has another type than expected: {error}; run `dvc repro`") from error
