"""What the licences of sources allow: the table by which sources are chosen, and cards name the strictest licence."""

import re
from collections.abc import Iterable, Sequence

from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.sources.source import Source

KINDS = {  # the strictest first, and what stands in the words of a publisher
    "unstated": "unstated",
    "research": "(?i:research|agreement|licen[cs]e terms|shared source)",
    "own": "own",  # of a file of the user
    "NC": "NC|non-commercial",
    "GPL": "GPL",
    "CC BY-SA": "SA",
    "CC BY": "CC BY",
    "BSD": "BSD",
    "MIT": "MIT",
    "Apache-2.0": "Apache",
    "CC0": "CC0",
    "public domain": "public domain",
}
GROUPS = {
    "free": tuple(KINDS)[4:],  # that exclude no purpose
    "permissive": tuple(KINDS)[6:],  # that ask for attribution at most
}


def kind_of(licence: str) -> str:
    """Return the strictest of `KINDS` in the words of a publisher; words that none has count as unstated."""
    return next((kind for kind, rule in KINDS.items() if re.search(rf"\b({rule})\b", licence)), "unstated")


def strictest(licences: Iterable[str]) -> str | None:
    """Return the licence that allows least; None of no licence."""
    return min(licences, key=lambda licence: [*KINDS].index(kind_of(licence)), default=None)


def with_licences(sources: Sequence[Source], names: Sequence[str]) -> tuple[Source, ...]:
    """Return the sources that have one of several licences, and the files of the user.

    Args:
        sources: sources of training pairs.
        names: `KINDS`, `GROUPS` and the words of publishers; without any, all sources are returned.

    Raises:
        ParameterError: a name is unknown, or no source is left.
    """
    stated = sorted({source.licence for source in sources})
    known = {*KINDS, *GROUPS, *stated}
    for name in names:
        if name not in known:
            raise ParameterError(f"params.yaml: tokenize.licences: {unknown_name('licence', name, known)}")
    wanted = {each for name in names for each in GROUPS.get(name, (name,))} or known
    left = tuple(each for each in sources if "own" in each.options or {each.licence, kind_of(each.licence)} & wanted)
    if not left:
        remedy = f"its sources have {', '.join(stated)}; name one of them, or another corpus"
        raise ParameterError(f"params.yaml: tokenize.licences: no source of corpus has {', '.join(names)}; {remedy}")
    return left
