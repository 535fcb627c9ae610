r"""The tokenizer as a `tokenizer.json`, which the package `tokenizers` reads.

The rules of `text.tokenizer` are written for RE2, and their replacements refer to groups of the match. `tokenizers` has
the regular expressions of Oniguruma and replaces a match by a constant. A rule that changes a part of its match is
therefore written `before\Kpart(?=after)`: \K sets the start of the match, and the lookahead is not part of it.

A protected token cannot be put aside while the rules run. It stays in the text with `_MARK` before each of its
characters and `_PROTECTED_END` after the last one, so that rules for several characters do not match in it. Rules for
a single character demand that no `_MARK` precedes it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import pyarrow as pa

from paraphrastic.text import rules
from paraphrastic.vocabulary.kinds import END, START, BoundaryTokens

_MARK, _PROTECTED_END, _QUOTED = "\x02", "\x05", "\x06"  # control characters, which the text does not contain
_NO_LETTER_BEFORE, _NO_LETTER_AFTER = "(?<![0-9A-Za-z_])", "(?![0-9A-Za-z_])"  # \b next to an ASCII letter, as in RE2
_UNPROTECTED = f"(?<!{_MARK})"

Json = dict[str, Any]
Step = tuple[str, str]  # a regular expression and what replaces its matches
Steps = Iterator[Step]


def tokenizer_json(
    model: Json, last_steps: Iterable[Step] = (), splits: Literal["words", "characters"] = "words"
) -> Json:
    """Return the content of a `tokenizer.json` that makes the tokens of `text.tokenizer`.

    The tokens are equal on any text of up to 100,000 characters; Oniguruma gives up on some longer ones. The exception
    is letters that recent versions of Unicode added: their lower case, order and NFKC are those of the library.

    Args:
        model: looks tokens up, see the documentation of `tokenizers`.
        last_steps: regular expressions and what replaces their matches, when the tokens are separated by spaces.
        splits: what the model looks up: words, or the characters of the text with a space at each end.
    """
    lower_case = {"type": "Lowercase"}
    folded = [_replace("İ", "i"), lower_case]  # Rust maps İ to two characters
    folded += [*(_replace(*step) for step in rules.BEFORE_NFKC), {"type": "NFKC"}, lower_case]
    steps = [*_characters(), *_escapes(), *_protection(), *_quotes(), *_punctuation(), *_spelling()]
    steps += [(f"[{_MARK}{_PROTECTED_END}]", ""), *last_steps]
    steps += [(r"[ \n]+", " "), (r"\A \z", "")]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [*folded, *(_replace(*step) for step in steps)]},
        "pre_tokenizer": _split(" ", "Removed") if splits == "words" else _split(r"[\s\S]", "Isolated"),
        "post_processor": None,
        "decoder": None,
        "model": model,
    }


def boundary_steps(boundary_tokens: BoundaryTokens) -> Steps:
    """Yield the steps that enclose a text in boundary tokens; one without words stays as it is."""
    if boundary_tokens in ("start", "both"):
        yield r"\A[ \n]*(?=[^ \n])", f" {START} "
    if boundary_tokens in ("end", "both"):
        yield r"(?<=[^ \n])[ \n]*\z", f" {END} "


def word_level(texts: pa.StringArray) -> Json:
    """Return a model of `tokenizers` that looks whole tokens up: the i-th text has id i + 1, unknown ones id 0."""
    unknown, known = "[UNK]", {text: row for row, text in enumerate(texts.to_pylist(), 1)}
    while unknown in known:
        unknown = f"[{unknown}]"
    return {"type": "WordLevel", "vocab": {unknown: 0} | known, "unk_token": unknown}


def _replace(pattern: str, content: str) -> Json:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def _split(pattern: str, behavior: str) -> Json:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}


def _characters() -> Steps:
    """Yield the steps of `rules.CHARACTERS`, and those that enclose the text in `SENTENCE_END`."""
    *others, (spaced, _) = rules.CHARACTERS
    yield from others
    yield f"(?={spaced})", " "
    yield f"(?<={spaced})", " "
    yield r"\A", f" {rules.SENTENCE_END} "
    yield r"\z", f" {rules.SENTENCE_END} "


def _escapes() -> Steps:
    """Yield the steps of `rules.ESCAPES` and `rules.BEFORE_PROTECTION`."""
    for pattern, replacement in rules.ESCAPES:
        yield (r"\\(?=[/*])", "") if replacement == r"\1" else (pattern, replacement)
    yield r"[ (\[\"-][a-z]\K(?=\.[ \"')\]]*\n)", " "
    yield rf"'t\K(?=(?:is|was|were|will){_NO_LETTER_AFTER})", " "


def _protection() -> Steps:
    """Yield the steps that put `_MARK` before each character of the tokens of `rules.PROTECTION`, and an end."""
    end = _PROTECTED_END
    tokens = rules.PROTECTED_TOKENS.replace(r"\b", _NO_LETTER_AFTER).replace(r"\B", _NO_LETTER_AFTER)
    tokens = f"(?:{tokens.replace('[^ ', f'[^{end} ')})"
    number = rules.NUMBER.replace(r"\b", _NO_LETTER_BEFORE)
    yield rf"(?:{rules.BEFORE_TOKEN}{tokens}|{number})\K", end
    first = rf"(?:{rules.BEFORE_TOKEN}\K(?={tokens}{end})|\K(?={number}{end}))"
    yield rf"\G(?:\A|[^{end}]*{end})[^{end}]*?{first}", _MARK
    yield rf"(?:{_MARK}|(?!\A)\G)[^{end}]\K(?=[^{end}])", _MARK


def _quotes() -> Steps:
    """Yield the steps of `rules.PUNCTUATION` for double quotes."""
    close = rules.CLOSING_QUOTE
    protected = f"{_MARK}[^{_PROTECTED_END}]*{_PROTECTED_END}"
    inner = rf"(?:{protected}|[^`{close}{_MARK}\"\n])*"
    # In the rules, a match includes the character after the quote, which the next match cannot use.
    yield rf"\G(?>\A|{protected}|[^ \n])[\s\S]*?[ (\[{{<]\K\"(?=[^ \n])", "`` "
    yield rf"\G(?>\A|{protected}|[^a-z0-9])[\s\S]*?[^ \n]\K\"(?=[^a-z0-9])", close
    yield rf"\"(?={inner}{close})", "``"
    yield rf"``{inner}\K\"", close
    yield r"\"[^\"\n]*\K\"", _QUOTED  # in pairs
    yield rf"\"(?=[^\"\n]*{_QUOTED})", "``"
    yield _QUOTED, close
    yield r"\n +\"", "\n ``"
    yield r"\"", close
    yield "``", " `` "
    yield close, f" {close} "


def _punctuation() -> Steps:
    """Yield the steps of `rules.PUNCTUATION` after those for double quotes."""
    yield rf"{_UNPROTECTED}(?:[?!]+|\*+|[,:;()\[\]{{}}<>%|$#])\K", " "
    yield rf"{_UNPROTECTED}(?:(?<![?!])(?=[?!])|(?<!\*)(?=\*)|(?=[,:;()\[\]{{}}<>%|$#]))", " "
    yield "--+", " -- "
    yield r" '(?=[^ \n'`])", " ` "
    yield rf"{_UNPROTECTED}`(?=[^ \n'`])", " ` "
    yield rf"(?=n't{_NO_LETTER_AFTER})", " "
    yield rf"(?='(?:s|d|m|ll|re|ve){_NO_LETTER_AFTER})", " "
    yield "'(?=[ .])", " ' "
    parts = (("can", "not"), ("gon|wan", "na"), ("got", "ta"), ("gim|lem", "me"))
    words = "|".join(rf"(?:{first})\K(?={second}{_NO_LETTER_AFTER})" for first, second in parts)
    yield f"{_NO_LETTER_BEFORE}(?:{words})", " "
    yield rules.CLOSING_QUOTE, "''"
    yield r"\. \. \.(?: \.)*|\.\.+", f" {rules.ELLIPSIS} "
    yield r"\. ", " . "
    yield rules.ELLIPSIS, "..."


def _spelling() -> Steps:
    """Yield the steps of `rules.AMERICAN_SPELLING`."""
    end = _NO_LETTER_AFTER
    yield rf"gr\Ke(?=y(?:s|ed|er|est|ing|ish)?{end})", "a"
    yield rf"(?:cent|theat|met|lit|fib|calib|spect)\Kre(?=s?{end})", "er"
    yield rf"(?:defen|offen|preten|licen)\Kc(?=(?:e|es|eless){end})", "s"
    yield rf"program\Kme(?=s?{end})", ""
    our = rf"(?:un|dis|multi|water)?(?:{rules.OUR_STEMS})\Ku(?=r)"
    doubled = rf"(?:un|mis)?(?:{rules.DOUBLED_L_STEMS})\Kl(?=(?:ed|ing|ers?|ors?|ous){end})"
    yield f"{_NO_LETTER_BEFORE}(?:{our}|{doubled})", ""
    ise = rf"(?:re|dis|de|un)?(?:{rules.ISE_STEMS})i\Ks(?=(?:e|ed|es|ers?|ing|ations?){end})"
    yse = rf"(?:anal|paral|catal)y\Ks(?=(?:e|ed|ing){end})"
    yield f"{_NO_LETTER_BEFORE}(?:{ise}|{yse})", "z"
