"""The catalogue of the package, and errors in a catalogue."""

import re

import pytest

from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.files import sha256_of
from paraphrastic.base.parameters import load_params
from paraphrastic.sources.catalogue import (
    catalogue,
    check_choice,
    check_select,
    corpus,
    load,
    source,
    sources_of,
    suite,
)
from tests.helpers.raw_files import write_file
from tests.helpers.repository import ROOT

SOURCES = catalogue().sources.values()
GLOVE = "glove-6b-50d"  # of the package index, of which there is no mirror

ENTRY = """
[corpora]
open = ["texts"]
[benchmarks.open]
sources = ["texts"]
select = "sts"
[sources.texts]
title = "Texts"
licence = "unstated"
citation = "Nobody, 2020"
url = "https://example.org/texts"
pairs = true
files = { "a/b.txt" = "" }
"""


def names(sources):
    return [source.name for source in sources]


def test_sources_of_a_corpus_and_a_suite():
    both = sources_of(["open"])
    assert set(names(both)) == {*names(corpus("open")), *names(suite("open").sources)}
    assert names(sources_of(["simlex", "open"]))[1:] == [name for name in names(both) if name != "simlex"]
    with pytest.raises(
        ParameterError,
        match=r"^unknown source 'opne': did you mean 'open'\? `paraphrastic data list` prints all sources$",
    ):
        sources_of(["opne"])


def test_pinned_files():
    unpinned = {source.name for source in SOURCES for file in source.files if not file.sha256}
    assert sum(file.sha256 is not None for source in SOURCES for file in source.files) == 1141
    corpora = corpus(["open", "captions", "wide", "wide-captions", "permissive", "phrases"])
    evaluated = {each.name for each in suite("open").sources} | {each.name for each in corpora}
    assert not unpinned & evaluated


@pytest.mark.real_data
def test_pinned_files_of_the_mirror(mirror):
    sums = dict(reversed(line.split()) for line in (mirror / "SHA256SUMS").read_text().splitlines())
    files = [file for source in SOURCES for file in source.files if file.sha256 and file.url and source.name != GLOVE]
    pinned = {file.url.removeprefix("https://"): file.sha256 for file in files}
    assert pinned.items() <= sums.items()
    assert {path: sha256_of(mirror / path) for path in pinned} == pinned


def test_distinct_addresses_and_paths():
    again = {
        *names(suite("mteb-sts").sources),
        *names(corpus("phrases")),
        "features-sst",
        "features-msrp",
        "ppdb-word-judgements",
    }  # files of other sources, as other sets or pairs
    urls = [file.url for source in SOURCES for file in source.files if file.url and source.name not in again]
    paths = [(source.name, file.path) for source in SOURCES for file in source.files]
    shared = {url for url in urls if urls.count(url) > 1}
    single = {file.url for each in corpus("permissive") for file in each.files}  # of which others have the pairs
    # vectors, pairs and an evaluation set
    assert shared - single == {"http://ttic.uchicago.edu/~wieting/charagram-demo.zip"}
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("ppdb-xl-phrasal", "http://www.cis.upenn.edu/~ccb/ppdb/release-1.0/ppdb-1.0-xl-phrasal.gz"),
        ("ppdb2-s-lexical", "http://nlpgrid.seas.upenn.edu/PPDB/eng/ppdb-2.0-s-lexical.gz"),
        ("simpwiki", "https://cs.pomona.edu/~dkauchak/simplification/data.v2/sentence-aligned.v2.tar.gz"),
        ("pit2015", "https://raw.githubusercontent.com/cocoxu/SemEval-PIT2015/master/data/SemEval-PIT2015-github.zip"),
    ],
)
def test_address_of_an_official_source(name, url):
    assert [file.url for file in source(name).files] == [url]


def test_sizes_and_kinds_of_ppdb():
    ppdb = [name for name in catalogue().sources if re.fullmatch(r"ppdb2?-x{0,3}[sml]-(lexical|phrasal)", name)]
    assert len(ppdb) == 2 * 6 * 2
    assert {name for name in ppdb if source(name).words} == {name for name in ppdb if "lexical" in name}


def test_members_of_the_corpus_open():
    pinned = {source.name for source in SOURCES if source.pairs and source.files and source.files[0].sha256}
    assert set(names(corpus(["open", "captions", "wide", "wide-captions", "permissive", "phrases"]))) == pinned
    assert len(corpus("open")) == 9
    assert names(corpus("open"))[-1] == "ppdb-lexicon"
    assert names(corpus("captions")) == ["multi30k"]


def test_members_of_the_wide_corpora():
    wide, captions = corpus("wide"), corpus("wide-captions")
    assert wide[:9] == corpus("open")
    assert len(wide) == 9 + 15
    assert names(captions) == ["multi30k", "msrvtt", "coco"]
    assert all(member.near_copies for member in (*wide[9:], *captions))
    limits = {member.name: member.max_group_pairs for member in (*wide, *captions) if member.max_group_pairs}
    by_many = dict.fromkeys(["wmt21", "wmt22", "wmt23", "msrvtt"], 4)
    assert limits == by_many | {"quora": 100, "twitterurl-large": 100}


def test_single_sentences_of_the_corpus_permissive():
    members = corpus("permissive")
    assert all(member.single for member in members)
    assert [member for member in catalogue().sources.values() if member.single] == list(members)
    assert {member.licence for member in members} == {"CC BY 4.0", "CC BY 2.0 FR", "CC0", "public domain (PDDL 1.0)"}


def test_names_without_a_dot():  # a name with one is a file
    known = catalogue()
    assert not [name for name in (*known.sources, *known.corpora, *known.suites) if "." in name]


def test_corpus_of_several_names():
    members = names(corpus(["captions", "onestop", "open", "ppdb-s-lexical"]))
    assert members[:2] == ["multi30k", "onestop"]
    assert members[-1] == "ppdb-s-lexical"
    assert len(members) == len(set(members)) == len(corpus("open")) + 2


def test_kinds_of_data_of_corpora_and_suites():
    assert all(source.title.strip() and source.licence.strip() and source.citation.strip() for source in SOURCES)
    assert all(member.pairs for members in catalogue().corpora.values() for member in members)
    evaluated = suite("full").sources
    assert all(source.rows and not source.pairs for source in evaluated)
    assert all(re.fullmatch(r"[\w.-]+/(train|dev|test)", key) for source in evaluated for key in source.rows)


def test_sources_of_the_suite_full_that_are_not_in_open():
    extras = set(names(suite("full").sources)) - set(names(suite("open").sources))
    assert extras == {"pit2015", "sts2013-smt"}
    assert source("sts2013-smt").manual
    assert suite("full").select == suite("open").select == "sts.2016"
    assert suite("features").select == "none"
    assert suite(["features", "mteb-sts", "open"]).select == "mteb.STS16"


def test_suites_of_the_papers():
    papers, official = suite("papers"), suite("official")
    assert {"trecqa-all", "wsj", "annotated-ppdb", "pit2015", "sts2013-smt"} <= set(names(papers.sources))
    assert {"trecqa", "wsj-sample"}.isdisjoint(names(papers.sources))
    both = (*papers.sources, *official.sources)
    unpinned = {each.name for each in both if not (each.files[0].sha256 or each.optional)}
    assert unpinned == {"sts2013-smt"}
    rows, same = ({key: n for each in one.sources for key, n in each.rows.items()} for one in (papers, official))
    assert rows.items() <= same.items()
    assert same.keys() - rows.keys() == {f"stsbenchmark/{split}" for split in ("train", "dev", "test")}


def test_22_evaluation_sets_of_the_papers():
    rows = {key: count for source in suite("full").sources for key, count in source.rows.items()}
    assert len([key for key in rows if re.fullmatch(r"sts\.201[2-5]\..*/test", key)]) == 20
    assert rows["sick.relatedness/test"] == 4927
    assert rows["pit2015/test"] == 972
    sets = ("answers-forums", "answers-students", "belief")
    assert [rows[f"sts.2015.{name}/test"] for name in sets] == [375, 750, 375]


@pytest.mark.parametrize("reader", ["aligned", "sick", "columns", "conllu"])
def test_files_named_in_options(reader):
    for member in (member for member in SOURCES if member.reader == reader):
        patterns = {re.sub(r"\.\d$", ".*", file.path) for file in member.files}
        assert [path for path in patterns if f"'{path}'" not in str(member.options)] == []


def test_mistyped_names():
    known = "open, captions, wide, wide-captions, free, permissive, simplifications, phrases, sample"
    with pytest.raises(ParameterError, match=rf"^unknown corpus 'opn': did you mean 'open'\? known are {known}, "):
        corpus("opn")
    with pytest.raises(
        ParameterError, match=r"^unknown corpus .*: did you mean 'ppdb-xl-lexical'\? known are .* prints all sources$"
    ):
        corpus(["open", "ppdb-xl-lexial"])
    with pytest.raises(ParameterError, match=r"unknown suite of benchmarks 'ful': did you mean 'full'\?"):
        suite("ful")
    with pytest.raises(ParameterError, match=r"unknown source 'wikqa': did you mean 'wikiqa'\?"):
        source("wikqa")
    with pytest.raises(ParameterError, match=r"^unknown corpus 'sick': "):  # a source without pairs
        corpus("sick")


def test_known_corpora_in_the_error_message():
    with pytest.raises(ParameterError) as error:
        corpus("nothing like it")
    assert str(error.value).endswith(
        ", simplifications, phrases, sample, and sources of pairs: `paraphrastic data list` prints all sources"
    )
    assert "ppdb-xl-phrasal" not in str(error.value)
    assert "sick" not in str(error.value)


LEFT_OUT = "set `pairs = true` there, or leave the source out$"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('licence = "unstated"\n', "", r"sources\.texts\.licence: Field required"),
        ('title = "Texts"', "title = 3", r"sources\.texts\.title: Input should be a valid string"),
        ('title = "Texts"', 'titel = "Texts"', r"sources\.texts\."),
        ('"a/b.txt" = ""', '"../b.txt" = ""', r"'\.\./b\.txt' should be a path relative to"),
        ('"a/b.txt" = ""', '"a/b.txt" = "12ab"', r"sources\.texts\.files\.a/b\.txt: "),
        (
            'url = "https://example.org/texts"\n',
            "",
            r"catalogue\.toml: sources\.texts: files need either `url` or `manual`",
        ),
        ('open = ["texts"]', 'open = ["text"]', r"unknown source 'text': did you mean 'texts'\?"),
        ('select = "sts"', 'select = "sts"\nextends = ["opne"]', r"unknown suite of benchmarks 'opne'"),
        ('sources = ["texts"]', 'sources = ["text"]', r"unknown source 'text': did you mean 'texts'\?"),
        ('"a/b.txt"', '"{size}.txt"', r"a template uses 'size'; add it to `expand`"),
        ('title = "Texts"', 'title = "t {"', r"'t \{' is malformed \(.*\); write \{KEY\} .* \{\{ or \}\} for a brace$"),
        ("[sources.texts]", '[sources."a{}"]', r"the template 'a\{\}' is malformed"),
        ('"a/b.txt"', '"{size.x}.txt"', r"a template uses 'size'"),
        ("files =", 'expand = { size = ["s"] }\nfiles = { "{size.x}" = "" }\n#', r"'\{size\.x\}' is malformed"),
        ("pairs = true\n", "", rf"corpora\.open: the source 'texts' has no training pairs; {LEFT_OUT}"),
        ("[corpora]", "[corpora", r"catalogue\.toml: "),
    ],
)
def test_catalogue_with_an_error(tmp_path, old, new, message):
    path = tmp_path / "catalogue.toml"
    path.write_text(ENTRY)
    assert load(path).sources["texts"].files[0].url == "https://example.org/texts/a/b.txt"
    path.write_text(ENTRY.replace(old, new))
    with pytest.raises(DataError, match=message) as error:
        load(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["ppdb-xl-phrasal", "authors-ppdb-xl", "paranmt", "parabank2", "own.csv"])
def test_relations_of_sources_that_have_none(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "own.csv", "text1,text2\na,b\n")
    options = load_params(ROOT / "params.yaml").tokenize.model_copy(update={"relations": ["Equivalence"]})
    check_choice(corpus(["ppdb2-s-lexical", "ppdb2-xl-phrasal", "coco"]), options)
    known = name.replace("own.csv", "own.own")
    remedy = "empty tokenize.relations, or leave it out of corpus"
    reason = f"{known} has no entailment relations, only PPDB 2.0 has; {remedy}"
    with pytest.raises(ParameterError) as error:
        check_choice(corpus(["ppdb2-s-lexical", name]), options)
    assert str(error.value) == f"params.yaml: corpus: {reason}"


@pytest.mark.parametrize(
    ("suites", "wrong", "near", "right"),
    [
        ("sample", "sample.rolse", "sample.roles", ["sample", "sample.dev", "sample.words", "test", "oracle", "none"]),
        (["open", "sample"], "sts.2061", "sts.2016", ["sts", "sts.2016", "words.simlex", "sample.dev"]),
        ("mteb-sts", "mteb.sts16", "mteb.STS16", ["mteb", "mteb.STS12"]),
        (["sample", "sets/"], "own.pet", "own.pets", ["own", "own.pets", "own.words", "own.words.pets", "sample.dev"]),
    ],
)
def test_sets_that_select_the_epoch(tmp_path, monkeypatch, suites, wrong, near, right):
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "sets/pets.csv", "text1,text2,score\n")
    for select in right:
        check_select(select, suite(suites))
    with pytest.raises(ParameterError, match=rf"^params\.yaml: train\.select: unknown .*: did you mean '{near}'\?"):
        check_select(wrong, suite(suites))


def test_source_like_another(tmp_path):
    path = tmp_path / "catalogue.toml"
    path.write_text(ENTRY + '[sources.same]\nlike = "texts"\ntitle = "The same"\n')
    texts, same = (load(path).sources[name] for name in ("texts", "same"))
    assert same == texts.model_copy(update={"name": "same", "title": "The same"})
    path.write_text(ENTRY + '[sources.same]\nlike = "text"\n')
    with pytest.raises(DataError, match="unknown source 'text': did you mean 'texts'"):
        load(path)
