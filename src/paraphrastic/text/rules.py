"""The rules of English text: Penn Treebank tokens, as regular expressions of RE2 and their replacements.

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
* Tokenized text does not change, except for quotation marks, which can be paired anew (3 texts in 10,000).
* Control characters become spaces, except for the quotes, dashes and ellipses of Windows text that was decoded as
  Latin-1. Soft hyphens, word joiners, direction marks and byte order marks are removed; zero-width joiners and
  variation selectors are kept. Scripts without spaces are not segmented.
* Characters are composed (NFC). Models in use read text in the form NFKC, in which compatibility characters are those
  that they stand for: ligatures of PDF files, full-width, superscript and mathematical letters.
"""

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
    (r"[\x{ad}\x{61c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}]", ""),
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
