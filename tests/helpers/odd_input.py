"""Strategies of Hypothesis for text and files that programs often read wrongly."""

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.helpers.hard_text import TOKENS
from tests.helpers.tries import joined

_MARKS = [
    *("\ufeff", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\0", "\u200f", "\u202e", "\u0301"),
    "\u200d",
]
_WRITING = [
    *("שלום", "مرحبا", "हिन्दी", "İstanbul", "ıI", "ﬁ", "ǅ", "𝔘", "👨\u200d👩\u200d👧", "🇩🇪", "🏳\ufe0f\u200d🌈"),
    "e" + "\u0301" * 50,
]
_NUMBERS = [
    *("0", "1", "-1", "3.5", "5.0", "1e400", "-1e-400", "nan", "inf", "NaN", "0x10", "1_000", "٣", "１", "+.5"),
    *("1e5", "9" * 30),
]
_SYNTAX = [
    *(*",;|:=<>(){}[]/\\\"'`#&%@*+-_~^$!?.", "|||", '""', "</s>", "<s>", "-LRB-", "null", "true", "{}", "[]"),
    *("\\u0000", "'s", "n't"),
]
WORDS = [*TOKENS, *_MARKS, *_WRITING, *_NUMBERS, *_SYNTAX]
"""Valid text that is hard to split."""

_BROKEN = [b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\x80"]  # not UTF-8
_SEPARATORS = [" ", " ", "\t", "\t", ",", "|||", " ||| ", "  ", "", "\r"]
_LINE_ENDS = ["\n", "\n", "\n", "\n", "\r\n", "\r", "", "\n\n"]


def texts() -> SearchStrategy[str]:
    """Return texts that are valid Unicode."""
    word = st.sampled_from(WORDS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    return st.builds("".join, st.lists(word | st.just(" "), max_size=12))


def files(words: Iterable[str] = (), lines: int = 8) -> SearchStrategy[bytes]:
    """Return contents of files of lines: words that a format uses, hard text, and bytes that are not UTF-8."""
    known = list(words)
    valid = st.sampled_from(WORDS) | (st.sampled_from(known) if known else st.nothing())
    word = st.one_of(valid, valid, valid, st.sampled_from(_BROKEN))
    line = st.tuples(st.sampled_from(_SEPARATORS), st.lists(word, max_size=9), st.sampled_from(_LINE_ENDS))
    text = st.lists(line, max_size=lines).map(lambda rows: joined(_pieces(rows)))
    return st.one_of(tables(known), tables(known), text, st.binary(max_size=40))


def tables(words: Sequence[str] = ()) -> SearchStrategy[bytes]:
    """Return contents of files of rows, most of which have the same number of cells, each column of one kind."""
    kinds = [
        st.sampled_from(["0", "1", "2", "3.5", "4"]),
        st.sampled_from(WORDS),
        texts(),
        st.sampled_from(["a b c", "d e"]),
    ]
    kinds += [st.sampled_from(words)] if words else []
    header = st.sampled_from(words) if words else st.just("")

    def rows(layout: tuple[str, list[SearchStrategy[str]]]) -> SearchStrategy[bytes]:
        separator, columns = layout
        row = st.tuples(*columns).map(separator.join)
        broken = st.sampled_from(_BROKEN) | st.sampled_from(WORDS)
        lines = st.lists(st.one_of(row, row, row, row, row, broken), min_size=1, max_size=6)
        named = st.tuples(header | st.just(""), lines).map(lambda each: [*([each[0]] if each[0] else []), *each[1]])
        return named.map(lambda each: joined(part for line in each for part in (line, "\n")))

    separators = st.sampled_from(["\t", "\t", "\t", ",", " ", "|||", " ||| "])
    return st.tuples(separators, st.lists(st.sampled_from(kinds), min_size=1, max_size=8)).flatmap(rows)


def _pieces(rows: list[tuple[str, list[bytes | str], str]]) -> Iterable[bytes | str]:
    for separator, words, end in rows:
        for number, word in enumerate(words):
            yield separator if number else ""
            yield word
        yield end


def damaged(content: bytes) -> SearchStrategy[bytes]:
    """Return a file with a few bytes changed, removed or inserted, or cut off."""
    if not content:
        return st.just(content)
    place = st.integers(0, len(content) - 1)
    edit = st.tuples(place, st.integers(0, 3), st.binary(max_size=3))
    return st.lists(edit, min_size=1, max_size=4).map(lambda edits: _edited(content, edits))


def _edited(content: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for start, length, new in edits:
        content = content[:start] + new + content[start + length :]
    return content
