"""Readers of large corpora of pairs, on small files in the format of each source."""

import gzip

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers import large_corpora
from paraphrastic.readers.reading import PairFilter
from tests.helpers.raw_files import bad_rows, content, read_files, read_source, rows

PARANMT = {
    "para-nmt-50m.txt": 'so , "what"\tso what ?\t0.91\na\x85b\tc\t-0.05\nd\te\nf\tg\tnan\nlast\tone\t1.0'
}  # without a last newline


def test_paranmt_with_damaged_lines_and_scores(tmp_path):
    expected = [('so , "what"', "so what ?", 0), ("a\x85b", "c", 1), ("last", "one", 4)]
    bad = [("para-nmt-50m.txt", 3), ("para-nmt-50m.txt", 4)]
    assert content(read_source("paranmt", tmp_path, PARANMT)) == (expected, bad)
    assert rows(read_source("paranmt", tmp_path, wanted=PairFilter(min_score=0.0, max_score=0.95))) == expected[:1]


def test_parabank_with_zero_to_several_paraphrases(tmp_path, monkeypatch):
    members = {"p/parabank2.tsv": "0.03\tone\tuno\tan one\n0.04\talone\n0.05\ttwo\tduo\n", "p/README": "x\ty\n"}
    expected = [("one", "uno", 0), ("one", "an one", 0), ("two", "duo", 2)]
    assert rows(read_source("parabank2", tmp_path, {"parabank-2.0.zip": members})) == expected
    monkeypatch.setattr(large_corpora, "CHUNK", 7)
    assert rows(read_source("parabank2", tmp_path)) == expected
    assert rows(read_source("parabank2", tmp_path, wanted=PairFilter(min_score=0.04))) == expected[2:]


def test_pairs_in_the_demo_archive(tmp_path):
    members = {"d/ppdb-xl-phrasal-preprocessed.txt": "can not\tcannot\nthe car\tthe auto\n", "d/x.txt": "1"}
    readings = read_source("authors-ppdb-xl", tmp_path, {"charagram-demo.zip": members})
    assert rows(readings) == [("can not", "cannot", 0), ("the car", "the auto", 1)]
    with pytest.raises(DataError, match=r"charagram-demo\.zip: 0 members of the archive match ppdb-xl-lexical"):
        read_source("authors-ppdb-xl-lexical", tmp_path)


def test_truncated_archive(tmp_path):
    read_source("parabank2", tmp_path, {"parabank-2.0.zip": {"parabank2.tsv": "0.1\ta\tb\n" * 999}})
    path = tmp_path / "parabank-2.0.zip"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"parabank-2\.0\.zip: damaged or truncated"):
        read_source("parabank2", tmp_path)


FIRST_VERSION = "[NP] ||| the car ||| the automobile ||| Abstract=0 p(e|f)=NA ||| 0-0 1-1\n"
SECOND_VERSION = "[NN] ||| car ||| auto ||| PPDB2.0Score=5.2 MVLSASim=NA ||| 0-0 ||| Equivalence\n"
NONTERMINALS = (
    "[NP/NN] ||| the [NP,1] car ||| [NP,1] 's car ||| x=1 ||| 0-0\n[S] ||| [VP\\NP,2] it ||| it ||| x=1 ||| 0-0\n"
)
BRACKETS = "[SYM] ||| [ 1 ] ||| [sic] , 2 ||| NA ||| 0-0\n"


def test_phrases_of_both_versions_of_ppdb(tmp_path):
    readings = read_files("ppdb", tmp_path, {"p.gz": FIRST_VERSION + NONTERMINALS + SECOND_VERSION + BRACKETS})
    assert [reading.kind for reading in readings] == ["pairs"]
    expected = [("the car", "the automobile", 0), ("car", "auto", 3), ("[ 1 ]", "[sic] , 2", 4)]
    assert content(readings) == (expected, [])


def test_small_chunks_of_ppdb(tmp_path, monkeypatch):
    text = (FIRST_VERSION + NONTERMINALS + "[NN] ||| cut\n" + SECOND_VERSION).encode()
    text += b"\xff ||| a ||| b ||| c\n" + BRACKETS.encode().rstrip()
    one_chunk = read_files("ppdb", tmp_path, {"p.gz": gzip.compress(text)})
    monkeypatch.setattr(large_corpora, "CHUNK", 50)
    small_chunks = read_files("ppdb", tmp_path)
    assert len(small_chunks) > len(one_chunk)
    assert content(small_chunks) == content(one_chunk)
    assert (len(rows(one_chunk)), bad_rows(one_chunk)) == (3, [("p.gz", 4), ("p.gz", 6)])


RELATIONS = "".join(
    f"[NN] ||| a{n} ||| b{n} ||| PPDB2.0Score={score} PPDB1.0Score=2.5 ||| 0-0 ||| {relation}\n"
    for n, (score, relation) in enumerate(
        [("5.25", "Equivalence"), ("NA", "Equivalence"), ("3.0", "ForwardEntailment"), ("-1e-1", "Equivalence")]
    )
)


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"min_score": 3.0}, ["a0", "a2"]),
        ({"max_score": 3.0}, ["a2", "a3"]),
        ({"relations": ("Equivalence", "Independent")}, ["a0", "a1", "a3"]),
        ({"min_score": 0.0, "relations": ("Equivalence",)}, ["a0"]),
        ({"feature": "PPDB1.0Score", "min_score": 2.5}, ["a0", "a1", "a2", "a3"]),
        ({}, ["a0", "a1", "a2", "a3"]),
    ],
)
def test_filter_by_feature_and_relation(tmp_path, limits, kept):
    files = {"p.gz": "[NN] ||| cut\n" + RELATIONS}
    found, bad = content(read_files("ppdb", tmp_path, files, filter=PairFilter(**limits)))
    assert [row[0] for row in found] == kept
    assert [row[2] for row in found] == [1 + int(name[1]) for name in kept]  # the number of the line, from 0
    assert bad == [("p.gz", 1)]


def test_chunk_in_which_no_line_has_the_feature(tmp_path, monkeypatch):
    monkeypatch.setattr(large_corpora, "CHUNK", 50)
    lines = RELATIONS + "[NN] ||| a9 ||| b9 ||| Abstract=1 ||| 0-0\n" * 3
    found, _ = content(read_files("ppdb", tmp_path, {"p.gz": lines}, filter=PairFilter(min_score=3.0)))
    assert [row[0] for row in found] == ["a0", "a2"]


def test_limits_of_scores_do_not_concern_a_source_without(tmp_path):
    found, _ = content(read_files("tab-pairs", tmp_path, {"p.gz": "a\tb\n"}, filter=PairFilter(min_score=3.0)))
    assert [row[:2] for row in found] == [("a", "b")]


NO_FEATURE = r"has no feature PPDB2\.0Score; set tokenize\.feature to .*Abstract, p"


@pytest.mark.parametrize(
    ("reader", "text", "limits", "message"),
    [
        ("tab-pairs", "a\tb\n", {"relations": ("Equivalence",)}, "has no entailment relations.* empty tokenize"),
        ("paranmt", "<html>\n", {}, "not one usable pair"),
        ("ppdb", "", {}, "not one usable pair; .*remove it"),
        ("ppdb", "one\ttwo\n" * 9, {}, "not one usable pair; .*remove it"),
        ("ppdb", NONTERMINALS, {}, "not one usable pair; .*remove it"),
        (
            "ppdb",
            FIRST_VERSION,
            {"min_score": 3.0},
            r"has no feature PPDB2\.0Score; set tokenize\.feat.* to .*Abstract, p",
        ),
        ("ppdb", "X ||| a ||| b\n", {"min_score": 3.0}, r"has no feature .*; set tokenize\.feature to one of $"),
        ("ppdb", FIRST_VERSION, {"relations": ("Equivalence",)}, r"has no entailment relations, only PPDB 2\.0 has"),
        ("ppdb", RELATIONS, {"min_score": 9.0}, r"not one .* score or relation; see tokenize\.min_score, [^:]*$"),
        ("paranmt", "a\tb\t0.5\n", {"max_score": 0.4}, "not one usable pair of such a score"),
        ("ppdb", gzip.compress(FIRST_VERSION.encode() * 1000)[:-20], {}, "damaged or truncated"),
    ],
)
def test_file_without_what_is_asked_for(tmp_path, monkeypatch, reader, text, limits, message):
    monkeypatch.setattr(large_corpora, "CHUNK", 1000)
    with pytest.raises(DataError, match=rf"/p\.gz: {message}"):
        read_files(reader, tmp_path, {"p.gz": text}, file="p.gz", filter=PairFilter(**limits))
