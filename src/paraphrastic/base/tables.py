"""The Arrow tables that stages exchange, and parquet files that are byte-identical for equal tables.

Readers return *raw* tables, with text as in the source. The stage `tokenize` turns them into *indexed* tables, in which
a text is a row number of one table of sentences: every distinct tokenized sentence is stored once.

A `source` is the origin of training pairs. A `set` is the unit of evaluation, for example `sts.2012.MSRpar`. A `split`
is `train`, `dev` or `test`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import DataError
from paraphrastic.base.files import atomic_write
from paraphrastic.base.reading import group_sizes, open_bounded, read_bounded

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
# kinds of evaluation sets of pairs: any scorer has scores of them
PAIR_KINDS = ("similarity", "ranking", "labelled_pairs")

_ROW = pa.int32()  # row number of a sentence
_COUNTS = [("count", pa.int64()), ("sentences", pa.int64())]  # occurrences; sentences that contain the entry

SENTENCES = pa.schema([("text", pa.string())])  # tokens joined by single spaces
PAIRS = pa.schema([("left", _ROW), ("right", _ROW), ("source", pa.string()), ("group", pa.int64())])
WORD_COUNTS = pa.schema([("text", pa.string()), *_COUNTS])
NGRAM_COUNTS = pa.schema([("text", pa.string()), ("order", pa.int8()), *_COUNTS])
VOCABULARY = pa.schema([("text", pa.string())])  # entries in row order of a model's embedding table
# the score of every evaluated pair, or whether the label of a row is found, from which metrics can be recomputed
SCORES = pa.schema(
    [
        ("set", pa.string()),
        ("kind", pa.string()),
        ("split", pa.string()),
        ("question", pa.int32()),  # −1 if the set has no questions
        ("left", _ROW),  # in data/benchmarks/sentences.parquet
        ("right", _ROW),  # that of `left` for single sentences
        ("gold", pa.float64()),
        ("score", pa.float32()),
    ]
)

PREDICTIONS = pa.schema(
    [
        ("kind", pa.string()),  # of the table of the task
        ("split", pa.string()),  # `dev` or `test`
        ("question", pa.int32()),  # −1 if the task has no questions
        ("gold", pa.float64()),  # score from 1 to 5, label, or number of a tag; −1 for a tag that is not learned
        ("predicted", pa.float32()),  # likewise; the probability of label 1 for candidates of questions
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


def write_table(table: pa.Table, path: Path, schema: pa.Schema) -> None:
    """Write `table` as parquet in `schema`, atomically; equal rows give equal bytes; errors as of `write_parts`."""
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
        return sum(group_sizes(self._metadata))

    def __iter__(self) -> Iterator[pa.StringArray]:
        """Yield the sentences in parts."""
        for i in range(self._metadata.num_row_groups):
            with _readable(self.path):
                group = self._file.read_row_group(i)
            yield from group["text"].chunks  # several if they have more than 2 GiB


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
