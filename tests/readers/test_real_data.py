"""Every real source: first and last row, the numbers of rows that the catalogue states, published statistics."""

import hashlib
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paraphrastic.readers.paraphrase_groups import normal_forms
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def read_source(mirror, tmp_path_factory):
    """Returns the readings of a source; its files are links to the mirror."""

    @cache
    def read_links(name):
        folder = tmp_path_factory.mktemp(name)
        for file in source(name).files:
            link = folder / file.path
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(mirror / file.url.split("://")[1])
        return list(read(source(name), folder))

    return read_links


def column(readings, name):
    return pa.chunked_array([chunk for reading in readings for chunk in reading.table[name].chunks])


def split(reading):
    (name,) = pc.unique(reading.table["split"]).to_pylist()
    return name


def row_hash(row):
    """Return a short hash of a table of one row."""
    (values,) = row.to_pylist()
    return hashlib.sha256("\t".join(map(str, values.values())).encode()).hexdigest()[:8]


SOURCES = """
turkcorpus b38a309c 6f6f8063 2359
asset 8cdd7a60 280281f3 2359
twitterurl 4ab5b315 137ba72c -
wikisplit 2ab98544 4d91c455 15000
parasci 33bb56e6 cafec2de 33981
onestop 8b2e8f29 c04cb17b 3168
googlecomp ace8c6f2 b63b82cc 2000
shakespeare d44eba82 317af7d5 28239
ppdb-lexicon b4d47942 944d6e42 187276
multi30k 2cb3a2e0 32d394df 30014
quora ae6a7852 cdd26ed2 51314
twitterurl-large 690a475b 1233efbe 5361
wmt21 fd2bde29 edfc3b4f 7939
wmt22 12de879d 96c3d983 11731
wmt23 99669f7b 10feb4b2 9953
human-parity 24775b54 18adc0b4 2000
mlqe-pe d2fcffa0 8707bb1c 20750
tatoeba de18049f 4015da8e 35609
parabank2-sample 546461d1 8a215e72 1202
wikianswers-sample 88f628b0 c8ca154f 3061
nli-paraphrases 1226a3cb 4a9e8ac0 1394
perspectrum 05832722 f25f275a 3045
mqr cdd7b77b 7b0d83b1 4222
claims 48083e3a be82d24f 8233
reuters 98354fa0 b82f3a59 11701
msrvtt 773a8452 c127306d 9787
coco a2095160 379734f5 13799
sts2012 7ff03470 d609d94f -
sts2012-train ed1d9765 71527434 -
sts2013 c7fad922 f3af3c55 -
sts2014 32c80291 51ed570f -
sts2015 6d9f52d6 e74ad80e -
sts2016 5a6550df 41705067 -
sick c7755d7b dacd206b -
msrp fb673f81 d49c285b -
trecqa 7ac5e97e ae0a946f -
wikiqa 1621979d 0b09ec49 -
simlex 00ece3bf fdd87690 -
wordsim bd38dafe 2540e13b -
rarewords 8ef65763 bcdfc198 -
ppdb-judgements fa3d92c2 4945193b -
ppdb-word-judgements a19897d0 89729a61 -
sst fa2f8ae7 3f2e1b53 -
ewt 7414df37 63268f32 -
mteb-sts12 f715af3a c2edbb79 -
mteb-sts13 8169cf77 8437a0b8 -
mteb-sts14 4b55e558 8de2f109 -
mteb-sts15 060a87d3 203ed949 -
mteb-sts16 8ef37a54 cde4706a -
mteb-sick-r 7c4bb71b a13ff9af -
features-mr e1ee0095 176658db -
features-cr a51a3c93 c7bb6367 -
features-subj c3eea2f6 8b5fc717 -
features-mpqa 73e73d74 53011838 -
features-trec c54e9cda 71d29a00 -
features-sst 73606909 ca884712 -
features-msrp 36d96ee1 9694dc71 -
features-banking77 60f179a9 64fcb3fb -
snips 04c89e61 eeb35e7a -
wsj-sample f7843177 0640c1e7 -
"""  # hashes of the first and the last row, and the number of sentences, images or clusters that are groups


@pytest.mark.parametrize(("name", "first", "last", "groups"), [line.split() for line in SOURCES.split("\n")[1:-1]])
def test_first_and_last_row_and_numbers(read_source, name, first, last, groups):
    readings = read_source(name)
    end = readings[-1].table
    assert (row_hash(readings[0].table.slice(0, 1)), row_hash(end.slice(len(end) - 1))) == (first, last)
    assert name in ("ppdb-lexicon", "quora") or not any(reading.bad for reading in readings)
    counts = Counter[str]()
    for table in (reading.table for reading in readings):
        is_set = "set" in table.column_names
        names = pc.binary_join_element_wise(table["set"], table["split"], "/").to_pylist() if is_set else []
        counts.update(names or {"pairs": len(table)})
    assert counts == source(name).rows
    assert groups == "-" or pc.count_distinct(column(readings, "group")).as_py() == int(groups)


def test_sizes_of_groups(read_source):
    def sizes(name):
        return pc.value_counts(column(read_source(name), "group")).field("counts").to_pylist()

    tweets = read_source("twitterurl")  # those of one address are a group
    assert pc.count_distinct(column(tweets, "group")).as_py() == pc.count_distinct(column(tweets, "text1")).as_py()
    assert max(sizes("twitterurl-large")) == 1763
    assert [max(sizes(f"wmt{year}")) for year in ("21", "22", "23")] == [20, 20, 20]
    assert Counter(sizes("coco"))[10] > 13_700  # five captions, of images that two files hold


def test_lexicon_rows_with_control_characters(read_source):
    (reading,) = read_source("ppdb-lexicon")
    assert [row.line for row in reading.bad] == [19503, 22319, 28645, 91186]
    assert reading.table.slice(0, 2).to_pydict() == {
        "text1": ["fawn", "reallocations"],
        "text2": ["crawl", "re-allocations"],
        "group": [0, 1],
    }


def test_duplicate_questions_of_both_forms(read_source):
    (reading,) = read_source("quora")
    assert {Path(row.file).name for row in reading.bad} == {"dev.tsv", "test.tsv"}  # half a character
    assert len(reading.bad) == 47
    a, b = (normal_forms(column([reading], side).combine_chunks()).cast(pa.string()) for side in ("text1", "text2"))
    low, high = pc.min_element_wise(a, b), pc.max_element_wise(a, b)
    distinct = set(zip(low.to_pylist(), high.to_pylist(), strict=True))
    assert len({pair for pair in distinct if pair[0] != pair[1]}) == 119992  # at least 117,455 of Quora's 149,263


@pytest.mark.parametrize(("name", "text", "count"), [("shakespeare", "\xa0", 488), ("features-mr", "…", 23)])
def test_texts_of_another_encoding(read_source, name, text, count):
    assert pc.sum(pc.count_substring(column(read_source(name), "text1"), text)).as_py() == count


SCORE_RANGES = [(f"sts{year}", 0, 5) for year in ("2012", "2012-train", "2013", "2014", "2015", "2016")]
SCORE_RANGES += [("sick", 1, 5), ("simlex", 0.23, 9.8), ("wordsim", 0.23, 10), ("rarewords", 0, 10)]
SCORE_RANGES += [("ppdb-judgements", 1, 5)]


@pytest.mark.parametrize(("name", "low", "high"), SCORE_RANGES)
def test_range_of_scores(read_source, name, low, high):
    scores = column([reading for reading in read_source(name) if reading.kind == "similarity"], "score")
    assert pc.min_max(scores).as_py() == {"min": low, "max": high}


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("sick", {"train": [665, 2536, 1299], "dev": [74, 282, 144], "test": [720, 2793, 1414]}),
        ("msrp", {"train": [1323, 2753], "test": [578, 1147]}),
        ("sst", {"train": [29780, 37569], "dev": [428, 444], "test": [912, 909]}),
        ("features-mr", {"test": [5331, 5331]}),
        ("features-cr", {"test": [1368, 2407]}),
        ("features-subj", {"test": [5000, 5000]}),
        ("features-mpqa", {"test": [7294, 3312]}),
        ("features-trec", {"train": [86, 1162, 1250, 1223, 835, 896], "test": [9, 138, 94, 65, 81, 113]}),
        ("features-banking77", {"test": [40] * 77}),
    ],
)
def test_rows_of_each_label(read_source, name, counts):
    labelled = [reading for reading in read_source(name) if "label" in reading.table.column_names]
    for part, expected in counts.items():
        labels = column([reading for reading in labelled if split(reading) == part], "label")
        assert np.bincount(labels.to_numpy()).tolist() == expected


@pytest.mark.parametrize(
    ("name", "questions", "answered"),
    [
        ("trecqa", {"train": 93, "dev": 65, "test": 68}, {"train": 83, "dev": 65, "test": 68}),
        ("wikiqa", {"train": 2118, "dev": 296, "test": 633}, {"train": 873, "dev": 126, "test": 243}),
    ],
)
def test_questions_with_and_without_an_answer(read_source, name, questions, answered):
    tables = {split(reading): reading.table for reading in read_source(name)}
    correct = {split: table.filter(pc.equal(table["label"], 1)) for split, table in tables.items()}
    assert {split: pc.count_distinct(table["question"]).as_py() for split, table in tables.items()} == questions
    assert {split: pc.count_distinct(table["question"]).as_py() for split, table in correct.items()} == answered


@pytest.mark.parametrize(
    ("name", "sentences", "tags"),
    [
        ("ewt", {"train": 12544, "dev": 2001, "test": 2077}, 49),
        ("wsj-sample", {"train": 3396, "dev": 273, "test": 245}, 45),
    ],
)
def test_tagged_sentences(read_source, name, sentences, tags):
    readings = read_source(name)
    assert {split(reading): pc.max(reading.table["sentence"]).as_py() + 1 for reading in readings} == sentences
    assert pc.count_distinct(column(readings, "tag")).as_py() == tags


def test_roots_of_ewt_sentences(read_source):
    for reading in read_source("ewt"):
        roots = reading.table.filter(pc.equal(reading.table["head"], 0))
        assert roots["sentence"].to_pylist() == list(range(len(roots)))
        assert set(roots["relation"].to_pylist()) == {"root"}


def test_heads_and_escapes_of_the_wsj_sample(read_source):
    readings = read_source("wsj-sample")
    assert all(reading.table["head"].null_count == len(reading.table) for reading in readings)
    token = column(readings, "token")
    assert not pc.any(pc.match_substring_regex(token, r"\\|^-[LR][CR]B-$")).as_py()
    assert pc.sum(pc.equal(token, "1/2")).as_py() == 27


def test_repeated_pair_of_wordsim(read_source):
    first, *_ = read_source("wordsim")
    repeated = pc.and_(pc.equal(first.table["text1"], "money"), pc.equal(first.table["text2"], "cash"))
    assert pc.sum(repeated).as_py() == 2
