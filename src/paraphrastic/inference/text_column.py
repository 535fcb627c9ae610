"""Texts of users as a column."""

from collections.abc import Iterable
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import ParameterError

Texts: TypeAlias = pa.Array | pa.ChunkedArray  # of strings, in any of Arrow's types for them

_TEXT = pa.string(), pa.large_string()
_TEXT_OR_NULL = *_TEXT, pa.string_view(), pa.null()  # an empty array has the type null


def text_column(sentences: Iterable[str] | Texts) -> pa.StringArray | pa.ChunkedArray:
    """Return texts as a column of type string.

    Raises:
        ParameterError: `sentences` is a single string, or contains something other than valid strings.
    """
    if isinstance(sentences, str | bytes):
        raise ParameterError("one string where a list of sentences is expected: put it in brackets, [sentence]")
    if isinstance(sentences, pa.Array | pa.ChunkedArray):
        return _cast_to_string(sentences)
    texts = list(sentences)
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise ParameterError(f"sentences[{position}] is of type {type(text).__name__}, expected str")
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise ParameterError(f"a sentence is not valid Unicode: {error.reason}; decode it as UTF-8") from error


def _cast_to_string(column: Texts) -> pa.StringArray | pa.ChunkedArray:
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
