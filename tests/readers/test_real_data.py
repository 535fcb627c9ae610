"""Every real source: first and last row, the numbers of rows that the catalogue states, published statistics."""

import hashlib
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paraphrastic.readers.paraphrase_groups import normal_forms
from paraphrastic.readers.reading import Reading
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source

pytestmark = pytest.mark.real_data
ReadSource = Callable[[str], list[Reading]]


@pytest.fixture(scope="module")
def read_source(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> ReadSource:
    """Returns the readings of a source; its files are links to the mirror."""

    @cache
    def read_links(name: str) -> list[Reading]:
        folder = tmp_path_factory.mktemp(name)
        for file in source(name).files:
            link = folder / file.path
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(mirror / file.url.split("://")[1])
        return list(read(source(name), folder))

    return read_links


def column(readings: list[Reading], name: str) -> pa.ChunkedArray:
    return pa.chunked_array([chunk for reading in readings for chunk in reading.table[name].chunks])


def split(reading: Reading) -> str:
    (name,) = pc.unique(reading.table["split"]).to_pylist()
    return name


def row_hash(row: pa.Table) -> str:
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
def test_first_and_last_row_and_numbers(read_source: ReadSource, name: str, first: str, last: str, groups: str):
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


def test_tweets_of_one_address_are_a_group(read_source: ReadSource):
    readings = read_source("twitterurl")
    groups, texts = (pc.count_distinct(column(readings, name)).as_py() for name in ("group", "text1"))
    assert groups == texts


def test_lexicon_rows_with_control_characters(read_source: ReadSource):
    (reading,) = read_source("ppdb-lexicon")
    assert [row.line for row in reading.bad] == [19503, 22319, 28645, 91186]
    assert reading.table.slice(0, 2).to_pydict() == {
        "text1": ["fawn", "reallocations"],
        "text2": ["crawl", "re-allocations"],
        "group": [0, 1],
    }


def test_questions_with_half_a_character(read_source: ReadSource):
    (reading,) = read_source("quora")
    assert {Path(row.file).name for row in reading.bad} == {"dev.tsv", "test.tsv"}
    assert len(reading.bad) == 47


def test_duplicate_questions_of_both_forms(read_source: ReadSource):
    (reading,) = read_source("quora")
    first, second = (column([reading], side).combine_chunks() for side in ("text1", "text2"))
    a, b = (normal_forms(side) for side in (first, second))
    a, b = (side.cast(pa.string()) for side in (a, b))
    low, high = pc.min_element_wise(a, b), pc.max_element_wise(a, b)
    distinct = set(zip(low.to_pylist(), high.to_pylist(), strict=True))
    assert len({pair for pair in distinct if pair[0] != pair[1]}) == 119992  # at least 117,455 of Quora's 149,263


def test_largest_group_of_tweets(read_source: ReadSource):
    (reading,) = read_source("twitterurl-large")
    assert max(pc.value_counts(reading.table["group"]).field("counts").to_pylist()) == 1763


def test_pairs_of_a_translated_sentence(read_source: ReadSource):
    for year in ("21", "22", "23"):
        counts = pc.value_counts(column(read_source(f"wmt{year}"), "group")).field("counts").to_pylist()
        assert max(counts) == 20


def test_images_of_coco_that_two_files_hold(read_source: ReadSource):
    counts = Counter(pc.value_counts(column(read_source("coco"), "group")).field("counts").to_pylist())
    assert counts[10] > 13_700  # five captions


def test_non_breaking_spaces_of_shakespeare(read_source: ReadSource):
    readings = read_source("shakespeare")
    assert pc.sum(pc.count_substring(column(readings, "text1"), "\xa0")).as_py() == 488


SCORE_RANGES = [(f"sts{year}", 0, 5) for year in ("2012", "2012-train", "2013", "2014", "2015", "2016")]
SCORE_RANGES += [("sick", 1, 5), ("simlex", 0.23, 9.8), ("wordsim", 0.23, 10), ("rarewords", 0, 10)]
SCORE_RANGES += [("ppdb-judgements", 1, 5)]


@pytest.mark.parametrize(("name", "low", "high"), SCORE_RANGES)
def test_range_of_scores(read_source: ReadSource, name: str, low: float, high: float):
    scores = column([reading for reading in read_source(name) if reading.kind == "similarity"], "score")
    assert pc.min_max(scores).as_py() == {"min": low, "max": high}


def test_sick_entailment_labels(read_source: ReadSource):
    readings = [reading for reading in read_source("sick") if reading.kind == "labelled_pairs"]
    counts = {split(reading): np.bincount(reading.table["label"]).tolist() for reading in readings}
    assert counts == {"train": [665, 2536, 1299], "dev": [74, 282, 144], "test": [720, 2793, 1414]}


@pytest.mark.parametrize(
    ("name", "positive"), [("msrp", {"train": 2753, "test": 1147}), ("sst", {"train": 37569, "dev": 444, "test": 909})]
)
def test_positive_labels(read_source: ReadSource, name: str, positive: dict[str, int]):
    counts: Counter[str] = Counter()
    for reading in read_source(name):
        counts[split(reading)] += pc.sum(reading.table["label"]).as_py()
    assert counts == positive


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("mr", {"test": [5331, 5331]}),
        ("cr", {"test": [1368, 2407]}),
        ("subj", {"test": [5000, 5000]}),
        ("mpqa", {"test": [7294, 3312]}),
        ("trec", {"train": [86, 1162, 1250, 1223, 835, 896], "test": [9, 138, 94, 65, 81, 113]}),
        ("banking77", {"test": [40] * 77}),
    ],
)
def test_sentences_of_each_class(read_source: ReadSource, name: str, counts: dict[str, list[int]]):
    readings = read_source(f"features-{name}")
    for part, expected in counts.items():
        labels = column([reading for reading in readings if split(reading) == part], "label")
        assert np.bincount(labels.to_numpy()).tolist() == expected


def test_dots_of_windows_1252(read_source: ReadSource):
    assert pc.sum(pc.count_substring(column(read_source("features-mr"), "text1"), "…")).as_py() == 23


@pytest.mark.parametrize(
    ("name", "questions", "answered"),
    [
        ("trecqa", {"train": 93, "dev": 65, "test": 68}, {"train": 83, "dev": 65, "test": 68}),
        ("wikiqa", {"train": 2118, "dev": 296, "test": 633}, {"train": 873, "dev": 126, "test": 243}),
    ],
)
def test_questions_with_and_without_an_answer(
    read_source: ReadSource, name: str, questions: dict[str, int], answered: dict[str, int]
):
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
def test_tagged_sentences(read_source: ReadSource, name: str, sentences: dict[str, int], tags: int):
    readings = read_source(name)
    assert {split(reading): pc.max(reading.table["sentence"]).as_py() + 1 for reading in readings} == sentences
    assert pc.count_distinct(column(readings, "tag")).as_py() == tags


def test_roots_of_ewt_sentences(read_source: ReadSource):
    for reading in read_source("ewt"):
        roots = reading.table.filter(pc.equal(reading.table["head"], 0))
        assert roots["sentence"].to_pylist() == list(range(len(roots)))
        assert set(roots["relation"].to_pylist()) == {"root"}


def test_heads_and_escapes_of_the_wsj_sample(read_source: ReadSource):
    readings = read_source("wsj-sample")
    assert all(reading.table["head"].null_count == len(reading.table) for reading in readings)
    token = column(readings, "token")
    assert not pc.any(pc.match_substring_regex(token, r"\\|^-[LR][CR]B-$")).as_py()
    assert pc.sum(pc.equal(token, "1/2")).as_py() == 27


def test_repeated_pair_of_wordsim(read_source: ReadSource):
    first, *_ = read_source("wordsim")
    repeated = pc.and_(pc.equal(first.table["text1"], "money"), pc.equal(first.table["text2"], "cash"))
    assert pc.sum(repeated).as_py() == 2
