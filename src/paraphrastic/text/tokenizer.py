"""Tokenize English text as in the papers: Penn Treebank tokens, lower-cased.

The papers ran Stanford CoreNLP, lower-cased its output and replaced `-LRB-` by `(`. This module gets the same tokens
from a list of regular-expression replacements (RE2). A chunk of a column is joined into one text with one line per
sentence, every rule is applied to the whole text, and the lines are split again.

Some behaviour of CoreNLP may be unexpected: quotation marks become `` and '', dashes --, ellipses ...; British spelling
becomes American (`grey` → `gray`, `colour` → `color`); `cannot` is two tokens, `AT&T` is one.

The following rules differ from CoreNLP, because CoreNLP needs capital letters, changed between versions, or gave worse
tokens:

* `#tag` always becomes `# tag`, so that the word is in the vocabulary.
* An abbreviation at the end of a text keeps its period and gets no second one.
* A straight quotation mark opens after a space or an opening bracket, if no space follows. It closes after any other
  character, if no ASCII letter or digit follows. Another mark, as in text that is already tokenized, opens if the next
  mark closes, and closes if the mark before opens. The remaining ones form pairs; a single one opens at the start of a
  text and closes elsewhere.
* Web and e-mail addresses, @names and smileys are one token.
* Tokenized text does not change, except for quotation marks without a counterpart (2 texts in 100,000).
* Control characters become spaces, except for the quotes, dashes and ellipses of Windows text that was decoded as
  Latin-1. Soft hyphens, word joiners, direction marks and byte order marks are removed; zero-width joiners and
  variation selectors are kept. Characters are composed (NFC). Scripts without spaces are not segmented.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.text.columns import chunks
from paraphrastic.text.rules import (
    AMERICAN_SPELLING,
    BEFORE_PROTECTION,
    CHARACTERS,
    ESCAPES,
    PROTECTED,
    PROTECTION,
    PUNCTUATION,
    SENTENCE_END,
    Rules,
)

CHUNK = 1 << 20  # bytes of text that the rules are applied to at once, at most
_LEAST = 1 << 18  # and at least, if there is so much text: Arrow compiles the rules at each call, in 3 ms
_SHORT = 2_000  # bytes of text that Python's regular expressions are faster with: Arrow compiles each rule at each call


def tokenize(texts: pa.StringArray | pa.ChunkedArray) -> pa.StringArray:
    """Return the tokens of each text, lower-cased and joined by single spaces.

    Args:
        texts: (n,), any text. Null, and text without a token, becomes the empty string.

    Returns:
        (n,), without nulls. No token contains white space, and no text starts or ends with a space.
    """
    if texts.nbytes <= _SHORT:
        strings = texts.fill_null("").to_pylist()
        if all(text.isascii() and text.isprintable() for text in strings):
            return pa.array(_tokenize_short(strings), pa.string())
    threads = pa.cpu_count()
    size = min(CHUNK, max(texts.nbytes // threads, _LEAST))
    with ThreadPoolExecutor(threads) as pool:
        return pa.concat_arrays(list(pool.map(tokenize_chunk, chunks(texts, size))))


def tokenize_chunk(texts: pa.StringArray) -> pa.StringArray:
    """Return `tokenize` of texts without nulls, about `CHUNK` bytes of them, computed by one thread."""
    texts = _replace_characters(pc.utf8_lower(texts))
    empty = pa.array([""])
    text = _join(pa.concat_arrays([empty, texts, empty]), f" {SENTENCE_END} ")  # a separator around every sentence
    text, protected = _protect(_apply(text, ESCAPES + BEFORE_PROTECTION))
    text = _restore(_apply(text, PUNCTUATION + AMERICAN_SPELLING), protected)
    lines = _split(pc.replace_substring_regex(text, "  +", " "), SENTENCE_END)
    return pc.ascii_trim(lines[1:-1], " ")


def _tokenize_short(texts: list[str]) -> list[str]:
    """Return the tokens of printable ASCII text; the steps are those of `tokenize_chunk`."""
    end = f" {SENTENCE_END} "
    text = end.join(["", *texts, ""]).lower()
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
    """Return rules for Python, in which letters and digits are those of ASCII, as in RE2."""
    return [(re.compile(pattern, re.ASCII), replacement.replace(r"\0", r"\g<0>")) for pattern, replacement in rules]


def _apply(texts: pa.StringArray, rules: Rules) -> pa.StringArray:
    for pattern, replacement in rules:
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts


def _replace_characters(texts: pa.StringArray) -> pa.StringArray:
    """Compose characters, replace control characters, and write punctuation as the Penn Treebank does."""
    affected = pc.match_substring_regex(texts, r"[^ -~]")  # most texts are printable ASCII and need no change
    replaced = _apply(pc.utf8_normalize(texts.filter(affected), "NFC"), CHARACTERS)
    return pc.replace_with_mask(texts, affected, replaced)


def _protect(text: pa.StringArray) -> tuple[pa.StringArray, pa.StringArray]:
    """Return the text, (1,), with `PROTECTED` in place of each token that must not be split, and these tokens."""
    parts = _split(_apply(text, PROTECTION), PROTECTED)  # every second part is a token
    return _join(parts[0::2], PROTECTED), parts[1::2]


def _restore(text: pa.StringArray, protected: pa.StringArray) -> pa.StringArray:
    """Return the text, (1,), with the protected tokens in place of `PROTECTED`."""
    parts = _split(text, PROTECTED)
    order = np.argsort(np.concatenate([np.arange(len(parts)), np.arange(len(protected)) + 0.5]))  # alternating
    return _join(pa.concat_arrays([parts, protected]).take(pa.array(order)), "")


def _split(text: pa.StringArray, separator: str) -> pa.StringArray:
    return pc.split_pattern(text, separator).flatten()


def _join(parts: pa.StringArray, separator: str) -> pa.StringArray:
    """Return the parts as one text, (1,)."""
    return pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(parts)], pa.int32()), parts), separator)
