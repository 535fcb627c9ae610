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
  variation selectors are kept. Scripts without spaces are not segmented.
* Characters are composed (NFC). Models in use read text in the form NFKC, in which compatibility characters are those
  that they stand for: ligatures of PDF files, full-width, superscript and mathematical letters.
"""

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.tables import SIDES
from paraphrastic.text.columns import chunks, deduplicate

Form: TypeAlias = Literal["NFC", "NFKC"]  # of Unicode

CHUNK = 1 << 20  # bytes of text that the rules are applied to at once, at most
_LEAST = 1 << 18  # and at least, if there is so much text: Arrow compiles the rules at each call, in 3 ms
_SHORT = 6_000  # characters that Python's regular expressions are faster with: Arrow compiles each rule at each call
# But the time that they take is quadratic in the length of such a part of a text.
_LONG_PART = re.compile(r"[a-z0-9._%+'-]{200}")
_SEPARATOR = "\ud800"  # a surrogate, which no column of text contains
_NOT_PRINTABLE_ASCII = re.compile(f"[^ -~{_SEPARATOR}]")

# Words of these scripts are shorter, unless they are Katakana, in which Japanese has long names.
_MANY = 0.05  # share of texts
_CLAUSE = r"\p{Han}{5}|[\p{Han}\p{Hiragana}]{6}|[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{15}|\p{Tibetan}{15}"

# Regular expressions of RE2 and replacements, in which \0 is the match, applied in this order. `export.tokenizer_json`
# has the same rules for the package `tokenizers`; a test compares the tokens.
Rules = tuple[tuple[str, str], ...]

# Control characters that serve as placeholders while the rules run. The text contains none: they become spaces first.
SENTENCE_END = "\n"  # after each sentence, between spaces, so that every token has a space on both sides
PROTECTED = "\x02"  # a token that no rule may change
CLOSING_QUOTE = "\x03"
ELLIPSIS = "\x04"

# Characters that NFKC would replace by others than `CHARACTERS` does.
BEFORE_NFKC = (("…", " ... "), ("´", "'"))

# U+0080–U+009F are control characters, or Windows punctuation that was decoded as Latin-1.
CHARACTERS: Rules = (
    (r"[\x{ad}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}]", ""),
    (r"[\x{85}…]", " ... "),
    (r"[\x{91}\x{92}‘’‛′´ʼ]", "'"),
    (r"[\x{93}“„‟«]", " `` "),
    (r"[\x{94}”»]", " '' "),
    (r"[\x{96}\x{97}–—―]", " -- "),
    (r"[‐‑−]", "-"),
    (r"[\x00-\x1f\x{7f}-\x{a0}\x{1680}\x{2000}-\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]", " "),
    (r"[£€¥¢、。，！？：；（）「」『』،؛؟।]", r" \0 "),
)

# Escapes of web pages and treebanks. `&amp;quot;` was escaped twice.
ESCAPES: Rules = (
    (r"&(?:amp;)*(?:quot|ldquo|rdquo|#34);", '"'),
    (r"&(?:amp;)*(?:apos|squot|lsquo|rsquo|#39);", "'"),
    (r"&(?:amp;)*[mn]dash;", " -- "),
    (r"&(?:amp;)*hellip;", " ... "),
    (r"&(?:amp;)*nbsp;", " "),
    (r"&(?:amp;)*lt;", "<"),
    (r"&(?:amp;)*gt;", ">"),
    (r"&(?:amp;)+", "&"),
    (r"-lrb-", "("),
    (r"-rrb-", ")"),
    (r"-lsb-", "["),
    (r"-rsb-", "]"),
    (r"-lcb-", "{"),
    (r"-rcb-", "}"),
    (r"\\([/*])", r"\1"),
    (r"''", '"'),
)

# These rules must precede `PROTECTION`: they decide whether a period or an apostrophe belongs to a protected token.
BEFORE_PROTECTION: Rules = (
    (r"([ (\[\"-])([a-z])\.([ \"')\]]*\n)", r"\1\2 .\3"),  # a letter at the end of a sentence is not an initial
    (r"'t(is|was|were|will)\b", r"'t \1"),
)

_ABBREVIATIONS = (
    "mr|mrs|ms|messrs|dr|prof|rev|hon|st|sr|jr|gen|col|lt|sgt|capt|cmdr|maj|adm|gov|sen|rep|supt"
    "|inc|ltd|co|corp|bros|etc|vs|al|approx|dept|univ|assn|ave|blvd|mt|ft|esp|cf|viz"
    r"|jan|feb|apr|aug|sep|sept|oct|nov|dec|calif|conn|mass|mich|minn|penn|tenn|ph\.d"
)
# Tokens that the rules for punctuation would split.
PROTECTED_TOKENS = "|".join(
    (
        r"(?:https?://|www\.)[^ \n<>\"]*[^ \n<>\".,;:!?'()\[\]{}]",  # web addresses
        r"[a-z0-9][a-z0-9._%+-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)+",  # e-mail addresses
        r"@[a-z0-9_]+",
        r"[:;]-?[()]",  # smileys
        r"[cf]#\B",
        rf"(?:{_ABBREVIATIONS}|(?:[a-z]\.)+[a-z]|[a-hj-z])\.\B",  # abbreviations and initials
        r"(?:nos?|figs?|vol|pp|art|sec|ch|eq|mar)\. [0-9]+(?:[.,:][0-9]+)*",  # abbreviations only before a number
        r"'n'\B",  # rock 'n' roll
        r"'(?:s|d|m|t|ll|re|ve|n|em|til|cause|bout|round|[0-9][0-9]s)\b",  # tokens that begin with an apostrophe
    )
)
NUMBER = r"\b[0-9]+(?:[,:][0-9]+)+"
# An ASCII character that is no letter, digit or apostrophe; then an optional single quote.
BEFORE_TOKEN = r"[ -&(-/:-@\[-`{-~]'??"
PROTECTION: Rules = ((rf"({BEFORE_TOKEN})({PROTECTED_TOKENS})|({NUMBER})", rf"\1{PROTECTED}\2\3{PROTECTED}"),)

PUNCTUATION: Rules = (
    # Double quotes.
    (r"([ (\[{<])\"([^ \n])", r"\1`` \2"),  # after a space or an opening bracket
    (r"([^ \n])\"([^a-z0-9])", rf"\1{CLOSING_QUOTE}\2"),  # after another character
    (rf"\"([^`{CLOSING_QUOTE}\"\n]*){CLOSING_QUOTE}", rf"``\1{CLOSING_QUOTE}"),  # the closing quote is known
    (rf"``([^`{CLOSING_QUOTE}\"\n]*)\"", rf"``\1{CLOSING_QUOTE}"),  # the opening quote is known
    (r"\"([^\"\n]*)\"", rf"``\1{CLOSING_QUOTE}"),  # in pairs
    (r"\n +\"", "\n ``"),  # at the start of a sentence
    (r"\"", CLOSING_QUOTE),
    (r"``", " `` "),
    (CLOSING_QUOTE, f" {CLOSING_QUOTE} "),
    (r"[?!]+|\*+|[,:;()\[\]{}<>%|$#]", r" \0 "),
    (r"--+", " -- "),
    # Single quotes: opening, contractions, closing or possessive.
    (r" '([^ \n'`])", r" ` \1"),
    (r"`([^ \n'`])", r" ` \1"),
    (r"n't\b", r" \0"),
    (r"'(?:s|d|m|ll|re|ve)\b", r" \0"),
    (r"'([ .])", r" ' \1"),
    (r"\b(?:(can)(not)|(gon|wan)(na)|(got)(ta)|(gim|lem)(me))\b", r"\1\3\5\7 \2\4\6\8"),
    (CLOSING_QUOTE, "''"),
    # Periods.
    (r"\. \. \.(?: \.)*|\.\.+", f" {ELLIPSIS} "),
    (r"\. ", " . "),
    (ELLIPSIS, "..."),
)

# British words without their ending: -ur of -our, a doubled l with its suffix, -ise.
OUR_STEMS = (
    "arbo|ardo|armo|behavio|cando|clamo|colo|demeano|enamo|endeavo|favo|fervo|flavo|harbo|hono|humo|labo"
    "|neighbo|odo|parlo|ranco|rigo|rumo|savo|savio|splendo|tumo|valo|vapo|vigo"
)
DOUBLED_L_STEMS = (
    "cancel|channel|council|counsel|dial|duel|equal|fuel|initial|jewel|label|level|marvel|model|panel|pedal"
    "|quarrel|rival|shovel|signal|spiral|total|travel|tunnel"
)
ISE_STEMS = (
    "apolog|author|capital|categor|central|character|civil|critic|custom|democrat|emphas|final|formal|general"
    "|global|harmon|ideal|industrial|legal|liberal|local|material|maxim|memor|minim|mobil|modern|national"
    "|neutral|normal|optim|organ|polar|popular|priorit|privat|real|recogn|regular|scrutin|special|stabil"
    "|standard|subsid|summar|symbol|sympath|urban|util|victim|visual"
)
AMERICAN_SPELLING: Rules = (
    (r"grey(s|ed|er|est|ing|ish)?\b", r"gray\1"),
    (r"(cent|theat|met|lit|fib|calib|spect)re(s?)\b", r"\1er\2"),
    (r"(defen|offen|preten|licen)c(e|es|eless)\b", r"\1s\2"),
    (r"programme(s?)\b", r"program\1"),
    (
        rf"\b(?:((?:un|dis|multi|water)?(?:{OUR_STEMS}))u(r)"
        rf"|((?:un|mis)?(?:{DOUBLED_L_STEMS}))l((?:ed|ing|ers?|ors?|ous)\b))",
        r"\1\2\3\4",
    ),
    (
        rf"\b(?:((?:re|dis|de|un)?(?:{ISE_STEMS})i)s((?:e|ed|es|ers?|ing|ations?)\b)"
        r"|((?:anal|paral|catal)y)s((?:e|ed|ing)\b))",
        r"\1\3z\2\4",
    ),
)


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
        text = _fold_and_join(texts.fill_null(""), form)
        if len(text) <= _SHORT and not _LONG_PART.search(text):
            return pa.array(_tokenize_short(text), pa.string())
    threads = pa.cpu_count()
    size = min(CHUNK, max(texts.nbytes // threads, _LEAST))
    with ThreadPoolExecutor(threads) as pool:
        return pa.concat_arrays(list(pool.map(partial(tokenize_chunk, form=form), chunks(texts, size))))


def tokenize_chunk(texts: pa.StringArray, form: Form = "NFC") -> pa.StringArray:
    """Return `tokenize` of texts without nulls, about `CHUNK` bytes of them, computed by one thread."""
    texts = _replace_characters(texts, form)
    empty = pa.array([""])
    text = _join(pa.concat_arrays([empty, texts, empty]), f" {SENTENCE_END} ")  # a separator around every sentence
    text, protected = _protect(_apply(text, ESCAPES + BEFORE_PROTECTION))
    text = _restore(_apply(text, PUNCTUATION + AMERICAN_SPELLING), protected)
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


def _fold_and_join(texts: pa.StringArray | pa.ChunkedArray, form: Form) -> str:
    """Return texts as `_fold` does, with `_SEPARATOR` around each."""
    strings = texts.to_pylist()
    if all(map(str.isascii, strings)):  # which needs no call of Arrow
        return _SEPARATOR.join(["", *strings, ""]).lower()
    return _SEPARATOR.join(["", *_fold(texts, form).to_pylist(), ""])


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
    """Return rules for Python, in which letters and digits are those of ASCII, as in RE2."""
    return [(re.compile(_for_python(pattern), re.ASCII), new.replace(r"\0", r"\g<0>")) for pattern, new in rules]


def _for_python(pattern: str) -> str:
    r"""Return a pattern of RE2 with `\uADAD` in place of `\x{adad}`."""
    return re.sub(r"\\x\{(\w+)\}", lambda code: rf"\u{code[1]:>04}", pattern)


def _apply(texts: pa.StringArray, rules: Rules) -> pa.StringArray:
    for pattern, replacement in rules:
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts


def _replace_characters(texts: pa.StringArray, form: Form) -> pa.StringArray:
    """Return `_fold` without control characters, and with punctuation as in the Penn Treebank."""
    affected = pc.match_substring_regex(texts, r"[^ -~]")  # most texts are printable ASCII and only lower-cased
    return pc.replace_with_mask(pc.utf8_lower(texts), affected, _apply(_fold(texts.filter(affected), form), CHARACTERS))


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


def warning_without_spaces(texts: pa.StringArray | pa.ChunkedArray) -> list[str]:
    """Return a line for users of models of words if words of many texts are not divided by spaces, else none."""
    found = pc.sum(pc.match_substring_regex(texts, _CLAUSE)).as_py() or 0
    if found < max(1, _MANY * len(texts)):
        return []
    remedy = "models of words, such as avg, take a clause for one word; use charagram, or put spaces between words"
    return [f"{found} of {len(texts)} texts are in a script without spaces between words: {remedy}"]


def normalize(texts: pa.StringArray) -> pa.StringArray:
    """Return texts in the form in which they are compared: letters, digits and marks of any script, in lower case.

    Everything else becomes a single space.
    """
    words = pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\p{L}\p{M}\p{N} ]+", " ")
    return pc.ascii_trim(pc.replace_substring_regex(words, "  +", " "), " ")


def tokenize_tables(
    tables: Mapping[str, pa.Table], as_given: str | None = None
) -> tuple[pa.StringArray, dict[str, pa.Table]]:
    """Tokenize raw tables and replace their texts by row numbers.

    Args:
        tables: by kind, in the schemas `tables.RAW`.
        as_given: pattern of the names of sets whose texts are not tokenized.

    Returns:
        The distinct tokenized sentences of all tables, and the tables with columns `left` and `right`, rows of these
        sentences, in place of `text1` and `text2`.
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
