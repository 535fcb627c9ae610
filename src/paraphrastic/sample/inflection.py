"""Inflection of English nouns and verbs, regular and irregular."""

import re
from functools import cache

# singular plural
_IRREGULAR_NOUNS = """
man men; woman women; gentleman gentlemen; watchman watchmen; child children; person people; thief thieves;
wolf wolves; sheep sheep; shelf shelves; scarf scarves; potato potatoes; tomato tomatoes
"""

# verb, past tense, past participle
_IRREGULAR_VERBS = """
catch caught caught; meet met met; feed fed fed; draw drew drawn; break broke broken; build built built; eat ate eaten;
drink drank drunk; read read read; write wrote written; find found found; lose lost lost; hide hid hidden;
give gave given; sell sold sold; lend lent lent; send sent sent; show showed shown; run ran run; swim swam swum;
flee fled fled; sleep slept slept; weep wept wept; get got gotten; buy bought bought
"""

_PLURALS = dict(entry.split() for entry in _IRREGULAR_NOUNS.split(";"))
_PAST_FORMS = {verb: (past, participle) for verb, past, participle in map(str.split, _IRREGULAR_VERBS.split(";"))}


def _add_s(word: str) -> str:
    """Return the regular plural of a noun, which has the same form as the regular third person of a verb."""
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", word) + "s"


def _stem(verb: str) -> str:
    """Return the part of a regular verb before -ed and -ing: `hopp` for hop, `bak` for bake."""
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprtvz]", verb):
        return verb + verb[-1]
    return re.sub(r"(?<=[^eoy])e$", "", verb)


@cache
def plural(noun: str) -> str:
    """Return the plural of a noun."""
    return _PLURALS.get(noun) or _add_s(noun)


@cache
def inflect(verb: str, tag: str) -> str:
    """Return the form of a verb that a Penn Treebank tag names: VB, VBP, VBZ, VBD, VBN or VBG."""
    if tag in ("VBD", "VBN"):
        regular = re.sub(r"(?<=[^aeiou])y$", "i", _stem(verb)) + "ed"
        past, participle = _PAST_FORMS.get(verb, (regular, regular))
        return past if tag == "VBD" else participle
    return {"VBZ": _add_s(verb), "VBG": _stem(verb) + "ing"}.get(tag, verb)
