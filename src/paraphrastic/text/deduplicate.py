"""Store every distinct sentence once, and replace texts by row numbers."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.tables import SIDES
from paraphrastic.text.tokenizer import tokenize


def deduplicate(columns: Sequence[pa.StringArray | pa.ChunkedArray]) -> tuple[pa.StringArray, list[NDArray[np.int32]]]:
    """Return the distinct texts of all columns, in order of first occurrence, and each column as their row numbers."""
    chunks = [column.chunks if isinstance(column, pa.ChunkedArray) else [column] for column in columns]
    texts = pa.chunked_array([chunk for column in chunks for chunk in column], pa.string())
    codes = texts.dictionary_encode().chunks  # every chunk has the whole dictionary
    rows = np.concatenate([np.empty(0, np.int32), *(chunk.indices for chunk in codes)])
    ends = np.cumsum([len(column) for column in columns], dtype=np.int64)
    return codes[0].dictionary if codes else pa.array([], pa.string()), np.split(rows, ends)[:-1]


def tokenize_tables(tables: Mapping[str, pa.Table]) -> tuple[pa.StringArray, dict[str, pa.Table]]:
    """Tokenize raw tables and replace their texts by row numbers.

    Args:
        tables: by kind, in the schemas `tables.RAW`.

    Returns:
        The distinct tokenized sentences of all tables, and the tables with columns `left` and `right`, rows of these
        sentences, in place of `text1` and `text2`.
    """
    columns = [(kind, side) for kind, table in tables.items() for side in SIDES if side in table.column_names]
    sentences, rows = deduplicate([tokenize(tables[kind][side]) for kind, side in columns])
    indexed = dict(tables)
    for (kind, side), column in zip(columns, rows, strict=True):
        position = indexed[kind].column_names.index(side)
        indexed[kind] = indexed[kind].set_column(position, SIDES[side], pa.array(column))
    return sentences, indexed
