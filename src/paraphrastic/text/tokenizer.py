"""Tokenize English text as in the papers: Penn Treebank tokens, lower-cased.

The papers ran Stanford CoreNLP, lower-cased its output and replaced `-LRB-` by `(`. This module gets the same tokens
from a list of regular-expression replacements (RE2), `text.rules`. A chunk of a column is joined into one text with one
line per sentence, every rule is applied to the whole text, and the lines are split again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.tables import SIDES
from paraphrastic.text.columns import chunks, deduplicate
from paraphrastic.text.rules import (
    AMERICAN_SPELLING,
    BEFORE_NFKC,
    BEFORE_PROTECTION,
    CHARACTERS,
    ESCAPES,
    PROTECTED,
    PROTECTION,
    PUNCTUATION,
    SENTENCE_END,
    Rules,
)

RawTexts: TypeAlias = pa.Array | pa.ChunkedArray  # of strings, in any of Arrow's types for them
Texts: TypeAlias = Iterable[str] | RawTexts
Form: TypeAlias = Literal["NFC", "NFKC"]  # of Unicode

_TEXT = pa.string(), pa.large_string()
_TEXT_OR_NULL = *_TEXT, pa.string_view(), pa.null()  # an empty array has the type null
_MISSING = "NoneType", "NAType", "NaTType"  # None, and what pandas has in its place

CHUNK = 1 << 20  # bytes of text that the rules are applied to at once, at most
_LEAST = 1 << 18  # and at least, if there is so much text: Arrow compiles the rules at each call, in 3 ms
_SHORT = 6_000  # characters that Python's regular expressions are faster with: Arrow compiles each rule at each call
# But the time that they take is quadratic in the length of such a part of a text.
_LONG_PART = re.compile(r"[a-z0-9._%+'-]{200}")
_SEPARATOR = "\ud800"  # a surrogate, which no column of text contains
_NOT_PRINTABLE_ASCII = re.compile(f"[^ -~{_SEPARATOR}]")


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
    given: Any = sentences  # elements of a Series, one by one, would take 1 s for a million, of a Dataset 10 s
    if hasattr(given, "tolist"):  # NumPy and pandas
        texts = given.tolist()
    else:
        is_stored = isinstance(given, Sequence) and type(given).__module__.startswith("datasets.")
        texts = list(given[:] if is_stored else given)
    if set(map(type, texts)) - {str}:  # in C: 20 ms for a million texts
        _check_items(texts)
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise ParameterError(f"a sentence is not valid Unicode: {error.reason}; decode it as UTF-8") from error


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
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid as error:
        raise ParameterError("the column has text that is not UTF-8; decode it before") from error
    return strings


def tokenize(texts: pa.StringArray | pa.ChunkedArray, form: Form = "NFC") -> pa.StringArray:
    """Return the tokens of each text, lower-cased and joined by single spaces.

    Args:
        texts: (n,), any text. Null, and text without a token, becomes the empty string.
        form: of Unicode; with NFKC, in which models in use read text, compatibility characters are those that they
            stand for.

    Returns:
        (n,), without nulls. No token contains white space, and no text starts or ends with a space.
    """
    if texts.nbytes <= 4 * _SHORT:  # a character takes at most four bytes
        texts = texts.fill_null("")
        strings = texts.to_pylist()
        is_ascii = all(map(str.isascii, strings))  # which needs no call of Arrow
        folded = map(str.lower, strings) if is_ascii else _fold(texts, form).to_pylist()
        text = _SEPARATOR.join(["", *folded, ""])
        if len(text) <= _SHORT and not _LONG_PART.search(text):
            return pa.array(_tokenize_short(text), pa.string())
    threads = pa.cpu_count()
    size = min(CHUNK, max(texts.nbytes // threads, _LEAST))
    with ThreadPoolExecutor(threads) as pool:
        return pa.concat_arrays(list(pool.map(partial(tokenize_chunk, form=form), chunks(texts, size))))


def tokenize_chunk(texts: pa.StringArray, form: Form = "NFC") -> pa.StringArray:
    """Return `tokenize` of texts without nulls, about `CHUNK` bytes of them, computed by one thread."""
    affected = pc.match_substring_regex(texts, r"[^ -~]")  # most texts are printable ASCII and only lower-cased
    replaced = _apply(_fold(texts.filter(affected), form), CHARACTERS)
    texts, empty = pc.replace_with_mask(pc.utf8_lower(texts), affected, replaced), pa.array([""])
    text = _join(pa.concat_arrays([empty, texts, empty]), f" {SENTENCE_END} ")  # a separator around every sentence
    parts = _split(_apply(text, ESCAPES + BEFORE_PROTECTION + PROTECTION), PROTECTED)  # every second part is a token
    text = _apply(_join(parts[0::2], PROTECTED), PUNCTUATION + AMERICAN_SPELLING)
    rest, tokens = _split(text, PROTECTED), parts[1::2]
    order = np.argsort(np.concatenate([np.arange(len(rest)), np.arange(len(tokens)) + 0.5]))  # alternating
    text = _join(pa.concat_arrays([rest, tokens]).take(order), "")
    lines = _split(pc.replace_substring_regex(text, "  +", " "), SENTENCE_END)
    return pc.ascii_trim(lines[1:-1], " ")


def _fold(texts: pa.StringArray | pa.ChunkedArray, form: Form) -> pa.StringArray | pa.ChunkedArray:
    """Return texts in lower case and in a form of Unicode, by the version of Unicode of Arrow, not of Python."""
    texts = pc.utf8_lower(texts)
    if form == "NFC":
        return pc.utf8_normalize(texts, form)
    for character, replacement in BEFORE_NFKC:
        texts = pc.replace_substring(texts, character, replacement)
    return pc.utf8_lower(pc.utf8_normalize(texts, form))  # of a letter such as ℝ, only this form has a lower case


def _tokenize_short(text: str) -> list[str]:
    """Return the tokens of texts with `_SEPARATOR` around each; the steps are those of `tokenize_chunk`."""
    if _NOT_PRINTABLE_ASCII.search(text):
        text = _substitute(text, CHARACTERS)
    text = text.replace(_SEPARATOR, f" {SENTENCE_END} ")
    parts = _substitute(text, ESCAPES + BEFORE_PROTECTION + PROTECTION).split(PROTECTED)
    text = _substitute(PROTECTED.join(parts[0::2]), PUNCTUATION + AMERICAN_SPELLING)
    rest = text.split(PROTECTED)
    text = "".join(part for pair in zip(rest, [*parts[1::2], ""], strict=True) for part in pair)
    return [line.strip(" ") for line in re.sub("  +", " ", text).split(SENTENCE_END)[1:-1]]


def _substitute(text: str, rules: Rules) -> str:
    for pattern, replacement in _compiled(rules):
        text = pattern.sub(replacement, text)
    return text


@cache
def _compiled(rules: Rules) -> list[tuple[re.Pattern[str], str]]:
    r"""Return rules for Python: letters and digits are those of ASCII, as in RE2, and `\x{adad}` is `\uADAD`."""
    patterns = [re.sub(r"\\x\{(\w+)\}", lambda code: rf"\u{code[1]:>04}", pattern) for pattern, _ in rules]
    replacements = [replacement.replace(r"\0", r"\g<0>") for _, replacement in rules]
    return [(re.compile(pattern, re.ASCII), new) for pattern, new in zip(patterns, replacements, strict=True)]


def _apply(texts: pa.StringArray, rules: Rules) -> pa.StringArray:
    for pattern, replacement in rules:
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts


def _split(text: pa.StringArray, separator: str) -> pa.StringArray:
    return pc.split_pattern(text, separator).flatten()


def _join(parts: pa.StringArray, separator: str) -> pa.StringArray:
    """Return the parts as one text, (1,)."""
    return pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(parts)], pa.int32()), parts), separator)


def normalize(texts: pa.StringArray) -> pa.StringArray:
    """Return texts in the form in which they are compared: letters, digits and marks of any script, in lower case.

    Everything else becomes a single space.
    """
    words = pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\p{L}\p{M}\p{N} ]+", " ")
    return pc.ascii_trim(pc.replace_substring_regex(words, "  +", " "), " ")


def tokenize_tables(
    tables: Mapping[str, pa.Table], as_given: str | None = None
) -> tuple[pa.StringArray, dict[str, pa.Table]]:
    """Return the distinct tokenized sentences of raw tables by kind, and the tables with their row numbers.

    Columns `left` and `right` take the place of `text1` and `text2`. Texts of sets whose names match the pattern
    `as_given` are not tokenized.
    """
    columns = [(kind, side) for kind, table in tables.items() for side in SIDES if side in table.column_names]
    texts = [tokenize(tables[kind][side]) for kind, side in columns]
    if as_given:
        given = {kind: pc.match_substring_regex(table["set"], as_given) for kind, table in tables.items()}
        raw = [tables[kind][side] for kind, side in columns]
        texts = [pc.if_else(given[kind], *each) for (kind, _), *each in zip(columns, raw, texts, strict=True)]
    sentences, rows = deduplicate(texts)
    indexed = dict(tables)
    for (kind, side), column in zip(columns, rows, strict=True):
        position = indexed[kind].column_names.index(side)
        indexed[kind] = indexed[kind].set_column(position, SIDES[side], pa.array(column))
    return sentences, indexed
