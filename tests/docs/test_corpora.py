"""The pages of corpora and metrics say what the catalogue says."""

import re

from paraphrastic.sources.catalogue import catalogue, corpus
from paraphrastic.sources.licences import GROUPS, KINDS
from tests.helpers.documented_corpora import number, table


def test_documented_sources():
    documented = table("source")
    members = {
        member.name: member for member in corpus(["open", "captions", "wide", "wide-captions", "permissive", "phrases"])
    }
    first = [member.name for member in corpus(["open", "captions"])]
    assert list(documented) == [*first, *(name for name in members if name not in first)]
    for name, row in documented.items():
        member = members[name]
        read = number(row["read"])
        assert (row["what it is"], row["licence"], read) == (member.title, member.licence, member.rows["pairs"])
        assert ("free" in row["corpus"]) == (member in corpus("free"))
        assert member in corpus(row["corpus"].split(",")[0])


def test_documented_corpora():
    kept, sizes = {name: number(row["kept"]) for name, row in table("source").items()}, table("corpus")
    assert sizes.keys() == catalogue().corpora.keys()
    for name in sizes.keys() - {"sample"}:
        assert number(sizes[name]["pairs"]) == sum(kept[member.name] for member in corpus(name)), name


def test_documented_suites():
    documented, known = table("suite", "metrics"), catalogue()
    assert list(documented) == list(known.suites)
    for name, row in documented.items():
        parts = re.findall(r"`([\w-]+)`", row["sources"])
        sources = [known.suites[part].sources if part in known.suites else (known.sources[part],) for part in parts]
        found = sum(sources, ()), row["selects the epoch"].strip("`").replace("–", "none")
        assert found == (known.suites[name].sources, known.suites[name].select), name


def test_documented_licences():
    documented = table("kind")
    assert list(documented) == list(KINDS)
    for name, members in GROUPS.items():
        assert tuple(kind for kind, row in documented.items() if row[name]) == members
