"""Text → tokens, as the papers' tokenizer makes them: Penn Treebank tokens, lower-cased.

The papers ran Stanford CoreNLP, lower-cased its output and wrote `-LRB-` as `(`. The same tokens come here from
a list of regular-expression replacements (RE2) over many sentences at once: a slice of the column is joined to
one text, a line for each sentence, every rule goes over it, and the lines are split again.

What is CoreNLP's and perhaps unexpected: quotation marks become `` and '', dashes --, ellipses ...; British
spelling becomes American (`grey` → `gray`, `colour` → `color`); `cannot` is two tokens, `AT&T` one.

What is decided here, because CoreNLP needs capitals for it, changed it over the years, or made it worse:

* `#tag` becomes `# tag`, wherever it stands: the word is one that the vocabulary knows.
* An abbreviation at the end of a text keeps its period and gets no second one.
* A straight quotation mark opens before a word and closes after one. Of those that stand alone, as in text that
  is already tokenized, each first one opens and each second one closes.
* Web and e-mail addresses, @names and smileys are one token.
* Text that is tokenized stays as it is, but for quotation marks that lack their other half (2 texts in 100,000).
* Control characters are spaces, but for the quotes, dashes and dots of Windows text that was read as Latin-1;
  invisible marks are left out; characters are composed (NFC). Scripts without spaces are not segmented.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.text.columns import chunks

Rules = tuple[tuple[str, str], ...]

SLICE = 1 << 20  # bytes of text that the rules go over at a time

# Control characters that stand for something while the rules run; the text has none of its own.
END = "\n"  # before and after each sentence, with a space: every token has a space on both sides
WHOLE = "\x02"  # a token that no rule may touch
CLOSE = "\x03"  # a closing quotation mark
DOTS = "\x04"  # an ellipsis

# U+0080–U+009F are Windows punctuation that was read as Latin-1, or control characters.
UNICODE: Rules = (
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

# What web pages and treebanks write for a character. `&amp;quot;` is an escape that was escaped.
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

# Before abbreviations are looked for.
LETTERS: Rules = (
    (r"([ (\[\"-])([a-z])\.([ \"')\]]*\n)", r"\1\2 .\3"),  # at the end no initial
    (r"'t(is|was|were|will)\b", r"'t \1"),
)

_ABBREVIATIONS = (
    "mr|mrs|ms|messrs|dr|prof|rev|hon|st|sr|jr|gen|col|lt|sgt|capt|cmdr|maj|adm|gov|sen|rep|supt"
    "|inc|ltd|co|corp|bros|etc|vs|al|approx|dept|univ|assn|ave|blvd|mt|ft|esp|cf|viz"
    r"|jan|feb|apr|aug|sep|sept|oct|nov|dec|calif|conn|mass|mich|minn|penn|tenn|ph\.d"
)
# Addresses, @names, smileys, C#, abbreviations and initials, abbreviations before a number, rock 'n' roll, and what
# begins with an apostrophe and stands alone.
_NAMES = "|".join(
    (
        r"(?:https?://|www\.)[^ \n<>\"]*[^ \n<>\".,;:!?'()\[\]{}]",
        r"[a-z0-9][a-z0-9._%+-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)+",
        r"@[a-z0-9_]+",
        r"[:;]-?[()]",
        r"[cf]#\B",
        rf"(?:{_ABBREVIATIONS}|(?:[a-z]\.)+[a-z]|[a-hj-z])\.\B",
        r"(?:nos?|figs?|vol|pp|art|sec|ch|eq|mar)\. [0-9]+(?:[.,:][0-9]+)*",
        r"'n'\B",
        r"'(?:s|d|m|t|ll|re|ve|n|em|til|cause|bout|round|[0-9][0-9]s)\b",
    )
)
_NUMBER = r"\b[0-9]+(?:[,:][0-9]+)+"
_BEFORE = "[ -&(-/:-@[-`{-~]'??"  # what is ASCII, no letter, digit or apostrophe; then perhaps a single quote
HIDE: Rules = ((rf"({_BEFORE})({_NAMES})|({_NUMBER})", rf"\1{WHOLE}\2\3{WHOLE}"),)

SPLITS: Rules = (
    # Double quotes: before a word; after one; with the other half known; in pairs; at the start; anywhere.
    (r"([ (\[{<])\"([^ \n])", r"\1`` \2"),
    (r"([^ \n])\"([^a-z0-9])", rf"\1{CLOSE}\2"),
    (rf"\"([^`{CLOSE}\"\n]*){CLOSE}", rf"``\1{CLOSE}"),
    (rf"``([^`{CLOSE}\"\n]*)\"", rf"``\1{CLOSE}"),
    (r"\"([^\"\n]*)\"", rf"``\1{CLOSE}"),
    (r"\n +\"", "\n ``"),
    (r"\"", CLOSE),
    (r"``", " `` "),
    (CLOSE, f" {CLOSE} "),
    (r"[?!]+|\*+|[,:;()\[\]{}<>%|$#]", r" \0 "),
    (r"--+", " -- "),
    # Single quotes: opening, contractions, closing or possessive.
    (r" '([^ \n'`])", r" ` \1"),
    (r"`([^ \n'`])", r" ` \1"),
    (r"n't\b", r" \0"),
    (r"'(?:s|d|m|ll|re|ve)\b", r" \0"),
    (r"'([ .])", r" ' \1"),
    (r"\b(?:(can)(not)|(gon|wan)(na)|(got)(ta)|(gim|lem)(me))\b", r"\1\3\5\7 \2\4\6\8"),
    (CLOSE, "''"),
    # Periods.
    (r"\. \. \.(?: \.)*|\.\.+", f" {DOTS} "),
    (r"\. ", " . "),
    (DOTS, "..."),
)

_OUR = (
    "arbo|ardo|armo|behavio|cando|clamo|colo|demeano|enamo|endeavo|favo|fervo|flavo|harbo|hono|humo|labo"
    "|neighbo|odo|parlo|ranco|rigo|rumo|savo|savio|splendo|tumo|valo|vapo|vigo"
)
_ELL = (
    "cancel|channel|council|counsel|dial|duel|equal|fuel|initial|jewel|label|level|marvel|model|panel|pedal"
    "|quarrel|rival|shovel|signal|spiral|total|travel|tunnel"
)
_ISE = (
    "apolog|author|capital|categor|central|character|civil|critic|custom|democrat|emphas|final|formal|general"
    "|global|harmon|ideal|industrial|legal|liberal|local|material|maxim|memor|minim|mobil|modern|national"
    "|neutral|normal|optim|organ|polar|popular|priorit|privat|real|recogn|regular|scrutin|special|stabil"
    "|standard|subsid|summar|symbol|sympath|urban|util|victim|visual"
)
AMERICAN: Rules = (
    (r"grey(s|ed|er|est|ing|ish)?\b", r"gray\1"),
    (r"(cent|theat|met|lit|fib|calib|spect)re(s?)\b", r"\1er\2"),
    (r"(defen|offen|preten|licen)c(e|es|eless)\b", r"\1s\2"),
    (r"programme(s?)\b", r"program\1"),
    (
        rf"\b(?:((?:un|dis|multi|water)?(?:{_OUR}))u(r)|((?:un|mis)?(?:{_ELL}))l((?:ed|ing|ers?|ors?|ous)\b))",
        r"\1\2\3\4",
    ),
    (
        rf"\b(?:((?:re|dis|de|un)?(?:{_ISE})i)s((?:e|ed|es|ers?|ing|ations?)\b)"
        r"|((?:anal|paral|catal)y)s((?:e|ed|ing)\b))",
        r"\1\3z\2\4",
    ),
)


def tokenize(texts: pa.StringArray | pa.ChunkedArray) -> pa.StringArray:
    """Tokens of each text, lower-cased and joined by single spaces.

    Args:
        texts: (n,) text of any kind; null and text without a token become "".

    Returns:
        (n,) strings without nulls; no token holds white space, and no space stands at either end.
    """
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        return pa.concat_arrays(list(pool.map(_tokenize, chunks(texts, SLICE))))


def _tokenize(texts: pa.StringArray) -> pa.StringArray:
    texts = _printable(pc.utf8_lower(texts))
    edge = pa.array([""])
    text = _join(pa.concat_arrays([edge, texts, edge]), f" {END} ")
    text, whole = _hide(_apply(text, ESCAPES + LETTERS))
    text = _show(_apply(text, SPLITS + AMERICAN), whole)
    lines = _split(pc.replace_substring_regex(text, "  +", " "), END)
    return pc.ascii_trim(lines[1:-1], " ")


def _apply(texts: pa.StringArray, rules: Rules) -> pa.StringArray:
    for pattern, replacement in rules:
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts


def _printable(texts: pa.StringArray) -> pa.StringArray:
    """The texts without control characters, and with punctuation as PTB writes it."""
    rare = pc.match_substring_regex(texts, r"[^ -~]")
    return pc.replace_with_mask(texts, rare, _apply(pc.utf8_normalize(texts.filter(rare), "NFC"), UNICODE))


def _hide(text: pa.StringArray) -> tuple[pa.StringArray, pa.StringArray]:
    """The one text with `WHOLE` for each token that is not to be split, and those tokens."""
    parts = _split(_apply(text, HIDE), WHOLE)
    return _join(parts[0::2], WHOLE), parts[1::2]


def _show(text: pa.StringArray, whole: pa.StringArray) -> pa.StringArray:
    """The one text with the tokens `whole` in the places of `WHOLE`."""
    others = _split(text, WHOLE)
    order = np.argsort(np.concatenate([np.arange(len(others)), np.arange(len(whole)) + 0.5]))
    return _join(pa.concat_arrays([others, whole]).take(pa.array(order)), "")


def _split(text: pa.StringArray, separator: str) -> pa.StringArray:
    return pc.split_pattern(text, separator).flatten()


def _join(parts: pa.StringArray, separator: str) -> pa.StringArray:
    return pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(parts)], pa.int32()), parts), separator)
