"""Strategies of Hypothesis for text and files that programs often read wrongly."""

from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.helpers.hard_text import TOKENS

WORDS = [
    *TOKENS,
    *("\ufeff", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\0", "\u200f", "\u202e", "\u0301"),
    *("\u200d", "שלום", "مرحبا", "हिन्दी", "İstanbul", "ıI", "ﬁ", "ǅ", "𝔘", "👨\u200d👩\u200d👧", "🇩🇪"),
    *("🏳\ufe0f\u200d🌈", "e" + "\u0301" * 50, "0", "1", "-1", "3.5", "5.0", "1e400", "-1e-400", "nan", "inf", "NaN"),
    *("0x10", "1_000", "٣", "１", "+.5", "1e5", "9" * 30, *",;|:=<>(){}[]/\\\"'`#&%@*+-_~^$!?.", "|||", '""', "</s>"),
    *("<s>", "-LRB-", "null", "true", "{}", "[]", "\\u0000", "'s", "n't"),
]
"""Valid text that is hard to split."""

_VALID = st.sampled_from([word.encode() for word in WORDS])
_BROKEN = st.sampled_from([b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\x80"])
_SEPARATORS = st.sampled_from([b" ", b" ", b"\t", b"\t", b",", b"|||", b" ||| ", b"  ", b"", b"\r"])
_LINE_ENDS = st.sampled_from([b"\n", b"\n", b"\n", b"\n", b"\r\n", b"\r", b"", b"\n\n"])


def texts() -> SearchStrategy[str]:
    """Return texts that are valid Unicode."""
    word = st.sampled_from(WORDS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    return st.builds("".join, st.lists(word | st.just(" "), max_size=12))


def files(words: Iterable[str] = ()) -> SearchStrategy[bytes]:
    """Return contents of files of lines: words that a format uses, hard text, and bytes that are not UTF-8."""
    known = list(words)
    valid = _VALID | (st.sampled_from([word.encode() for word in known]) if known else st.nothing())
    word = st.one_of(valid, valid, valid, _BROKEN)
    line = st.builds(
        lambda separator, words, end: separator.join(words) + end, _SEPARATORS, st.lists(word, max_size=9), _LINE_ENDS
    )
    text = st.lists(line, max_size=8).map(b"".join)
    return st.one_of(tables(known), tables(known), text, st.binary(max_size=40))


def tables(words: Iterable[str] = ()) -> SearchStrategy[bytes]:
    """Return contents of files of rows, most of which have the same number of cells, each column of one kind."""
    known = st.sampled_from(list(words)) if words else st.nothing()
    kinds = [st.sampled_from(["0", "1", "2", "3.5", "4"]), st.sampled_from(WORDS), texts()]
    kinds += [st.sampled_from(["a b c", "d e"]), *([known] if words else [])]
    headers = st.lists(known.map(str.encode), max_size=1) if words else st.just([])

    def rows(separator: str, columns: list[SearchStrategy[str]]) -> SearchStrategy[bytes]:
        row = st.tuples(*columns).map(separator.join).map(str.encode)
        lines = st.lists(st.one_of(row, row, row, row, row, _BROKEN | _VALID), min_size=1, max_size=6)
        return st.builds(lambda header, lines: b"\n".join([*header, *lines, b""]), headers, lines)

    separators = st.sampled_from(["\t", "\t", "\t", ",", " ", "|||", " ||| "])
    columns = st.lists(st.sampled_from(kinds), min_size=1, max_size=8)
    return st.tuples(separators, columns).flatmap(lambda layout: rows(*layout))


def damaged(content: bytes) -> SearchStrategy[bytes]:
    """Return a file with a few bytes changed, removed or inserted, or cut off."""
    if not content:
        return st.just(content)
    place = st.integers(0, len(content) - 1)
    edit = st.tuples(place, st.integers(0, 3), st.binary(max_size=3))

    def edited(edits: list[tuple[int, int, bytes]]) -> bytes:
        changed = content
        for start, length, new in edits:
            changed = changed[:start] + new + changed[start + length :]
        return changed

    return st.lists(edit, min_size=1, max_size=4).map(edited)
