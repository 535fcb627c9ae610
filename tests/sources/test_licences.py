"""What licences allow: the strictest one, the corpora that are named after it, and sources chosen by it."""

import pytest

from paraphrastic.base.errors import ParameterError
from paraphrastic.sources.catalogue import catalogue, corpus
from paraphrastic.sources.licences import GROUPS, KINDS, kind_of, strictest


@pytest.mark.parametrize(
    ("licences", "wanted"),
    [
        (["MIT", "CC BY 4.0"], "CC BY 4.0"),
        (["CC BY-SA 4.0", "CC BY 4.0"], "CC BY-SA 4.0"),
        (["GPL-3.0", "CC BY-NC-SA 3.0"], "CC BY-NC-SA 3.0"),
        (["CC0", "MIT, of text under CC BY-NC-SA 3.0"], "MIT, of text under CC BY-NC-SA 3.0"),
        (["CC BY-NC-SA 3.0", "research terms of WMT"], "research terms of WMT"),
        (["research terms of Quora", "unstated (made from PPDB 1.0)"], "unstated (made from PPDB 1.0)"),
        (["MIT", "a licence that no rule knows"], "a licence that no rule knows"),
        ([], None),
    ],
)
def test_strictest_licence(licences, wanted):
    assert strictest(licences) == wanted
    assert strictest(licences[::-1]) == wanted


def test_every_licence_of_the_catalogue_has_a_kind():
    stated = {source.licence: kind_of(source.licence) for source in catalogue().sources.values()}
    assert {kind for licence, kind in stated.items() if "unstated" not in licence} <= {*KINDS} - {"unstated", "own"}
    assert {kind for licence, kind in stated.items() if "unstated" in licence} == {"unstated"}


def test_corpora_and_groups_agree():
    members = corpus(["wide", "wide-captions", "permissive"])
    of_group = {name: {each.name for each in members if kind_of(each.licence) in GROUPS[name]} for name in GROUPS}
    single = {each.name for each in corpus("permissive")}
    assert of_group["free"] - single == {each.name for each in corpus("free")}
    assert single == {each.name for each in members if each.single} <= of_group["permissive"]
    assert not {"unstated", "research", "own", "NC"} & {*GROUPS["free"]}
    assert not {"GPL", "CC BY-SA"} & {*GROUPS["permissive"]}


@pytest.mark.parametrize(
    ("allowed", "left"),
    [
        (["CC BY"], ["tatoeba", "coco"]),
        (["CC0", "CC BY 4.0"], ["mlqe-pe", "coco"]),
        (["permissive"], ["mlqe-pe", "tatoeba", "coco"]),
        (["CC BY-SA"], ["wikisplit", "onestop", "perspectrum", "mqr"]),
        (["CC BY-SA 4.0"], ["wikisplit", "onestop"]),
        (["free"], [each.name for each in corpus("free")]),
    ],
)
def test_sources_chosen_by_licence(allowed, left):
    assert [each.name for each in corpus("free", allowed)] == left
    assert {each.name for each in corpus(["wide", "wide-captions"], allowed)} == {*left}


def test_files_of_the_user_stay(tmp_path):
    (tmp_path / "mine.csv").write_text("text1,text2\na,b\n")
    entries = [str(tmp_path / "mine.csv"), "open"]
    assert [each.name for each in corpus(entries, ["CC0"])] == ["own.mine"]
    assert [each.name for each in corpus(entries, ["GPL"])] == ["own.mine", "turkcorpus"]


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        (["CC-BY"], r"unknown licence 'CC-BY': did you mean 'CC BY'\?.* known are .*CC BY-SA 4.0, .*permissive"),
        (
            ["CC BY", "Quora"],
            "unknown licence 'Quora'.*known are Apache-2.0, BSD, CC BY, CC BY-SA, CC BY-SA 4.0, CC0, GPL, ",
        ),
        (["CC0"], "no source of corpus has CC0; its sources have CC BY-SA 4.0, GPL-3.0; name one of them"),
    ],
)
def test_licences_that_are_refused(allowed, message):
    with pytest.raises(ParameterError, match=rf"^params\.yaml: tokenize\.licences: {message}"):
        corpus(["turkcorpus", "onestop"], allowed)
