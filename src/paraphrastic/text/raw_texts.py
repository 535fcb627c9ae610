"""Texts of users, in whatever sequence they come, as a column."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import ParameterError

RawTexts: TypeAlias = pa.Array | pa.ChunkedArray  # of strings, in any of Arrow's types for them
Texts: TypeAlias = Iterable[str] | RawTexts
_TEXT = pa.string(), pa.large_string()
_TEXT_OR_NULL = *_TEXT, pa.string_view(), pa.null()  # an empty array has the type null
_MISSING = "NoneType", "NAType", "NaTType"  # None, and what pandas has in its place


def text_column(sentences: Texts) -> pa.StringArray | pa.ChunkedArray:
    """Return texts of users as a column of type string.

    Args:
        sentences: a list, tuple, iterator or one-dimensional array of strings, a Series or Index of pandas, a Series of
            polars, or a column of `datasets` or Arrow. Tables, mappings and sets would be read as something else than
            their texts, or in no order, and are refused.

    Raises:
        ParameterError: `sentences` is a single string, no sequence of texts, or contains something other than valid
            strings.
    """
    if isinstance(sentences, pa.Array | pa.ChunkedArray):
        return _cast_to_string(sentences)
    if reason := _no_sequence(sentences):
        raise ParameterError(reason)
    texts = _listed(sentences)
    if set(map(type, texts)) - {str}:  # in C: 20 ms for a million texts
        _check_items(texts)
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise ParameterError(f"a sentence is not valid Unicode: {error.reason}; decode it as UTF-8") from error


def _listed(given: Any) -> list[Any]:
    """Return the elements of a sequence; of a million, single elements of a Series take 1 s, of a Dataset 10 s."""
    if hasattr(given, "tolist"):  # NumPy and pandas
        elements: list[Any] = given.tolist()
        return elements
    is_stored = isinstance(given, Sequence) and type(given).__module__.startswith("datasets.")
    return list(given[:] if is_stored else given)


def _no_sequence(given: Any) -> str:
    """Return why something is no sequence of texts, and what is one; an empty text if it may be one.

    Attributes are those of the type: `series.columns` may be an element of a Series.
    """
    kind = type(given)
    if isinstance(given, str):
        return "one string where a list of sentences is expected: put it in brackets, [sentence]"
    if isinstance(given, bytes | bytearray | memoryview):
        return f"{kind.__name__} where text is expected; decode it, such as data.decode()"
    is_structured = isinstance(given, np.ndarray) and given.dtype.names is not None
    if is_structured or hasattr(kind, "columns") or hasattr(kind, "column_names"):
        return f'a table, {kind.__name__}, where texts are expected; name one column, such as df["text"]'
    if hasattr(kind, "keys") and not hasattr(kind, "dtype"):
        return f'a mapping, {kind.__name__}, where texts are expected; name the key of the texts, such as d["text"]'
    if isinstance(given, set | frozenset):
        return f"texts of a {kind.__name__} have no order; make a list of them, such as sorted(texts)"
    if getattr(given, "ndim", 1) != 1:
        return f"an array of shape {tuple(given.shape)} where texts are expected; choose a column, such as array[:, 0]"
    if not hasattr(kind, "__iter__"):
        return f"a value of type {kind.__name__} where texts are expected; pass strings in a list"
    return ""


def _check_items(texts: list[Any]) -> None:
    """Refuse the first item that is no string; strings of NumPy are some."""
    for position, text in enumerate(texts):
        if isinstance(text, str):
            continue
        remedy = ""
        if type(text).__name__ in _MISSING or (isinstance(text, float) and text != text):
            remedy = "; fill missing texts or drop them"
        elif isinstance(text, bytes):
            remedy = "; decode it"
        elif hasattr(type(text), "keys"):
            remedy = '; take its text, such as [row["text"] for row in rows]'
        raise ParameterError(f"sentences[{position}] is of type {type(text).__name__}, expected str{remedy}")


def _cast_to_string(column: RawTexts) -> pa.StringArray | pa.ChunkedArray:
    is_dictionary = pa.types.is_dictionary(column.type)
    if (column.type.value_type if is_dictionary else column.type) not in (_TEXT if is_dictionary else _TEXT_OR_NULL):
        raise ParameterError(f"a column of type {column.type} where text is expected; cast it to pa.string()")
    try:
        strings = column.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise ParameterError("an array of more than 2 GB of text; pass a pa.ChunkedArray of smaller ones") from error
    if strings.null_count:
        raise ParameterError(f"sentences[{pc.index(strings.is_null(), True)}] is null; fill nulls or drop them")
    return strings
