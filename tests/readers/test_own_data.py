"""Training pairs and evaluation sets of the user: what the names of the columns mean."""

import pytest

from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.tables import RAW
from paraphrastic.readers.own_data import own_pairs, own_set
from paraphrastic.readers.reading import PairFilter
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import corpus, suite
from paraphrastic.sources.own_files import OwnFile


def file_of(folder, text, name="mine.csv", **options):
    (folder / name).write_text(text, encoding="utf-8")
    return OwnFile(path=str(folder / name), **options)


def pairs_of(own, **limits):
    readings = list(own_pairs(None, {"own": own, "filter": PairFilter(**limits)}))
    assert all(reading.table.schema == RAW["pairs"] for reading in readings)
    rows = [tuple(row.values()) for reading in readings for row in reading.table.to_pylist()]
    return rows, [(bad.line, bad.why) for reading in readings for bad in reading.bad]


def set_of(own):
    (reading,) = own_set(None, {"own": own})
    assert reading.table.schema == RAW[reading.kind]
    rows = [tuple(row.values()) for row in reading.table.to_pylist()]
    return reading.kind, rows, [(bad.line, bad.why) for bad in reading.bad]


@pytest.mark.parametrize("names", ["text1,text2", "sentence1,sentence2", "premise,hypothesis", "word1,word2"])
def test_pairs_by_the_usual_names(tmp_path, names):
    assert pairs_of(file_of(tmp_path, f"{names}\na,b\nc,d\n")) == ([("a", "b", 0), ("c", "d", 1)], [])


def test_pairs_by_named_columns(tmp_path):
    own = file_of(tmp_path, "id,q2,q1\n7,b,a\n", columns=["q1", "q2"])
    assert pairs_of(own) == ([("a", "b", 0)], [])


def test_pairs_with_label_0_are_no_paraphrases(tmp_path):
    own = file_of(tmp_path, "text1,text2,label\na,b,1\nc,d,0\ne,f,1.0\ng,h,2\ni,j,\n")
    bad = [(5, "a label other than 0, 1"), (6, "a label other than 0, 1")]
    assert pairs_of(own) == ([("a", "b", 0), ("e", "f", 2)], bad)


def test_scores_have_the_limits_of_the_filter(tmp_path):
    own = file_of(tmp_path, "text1,text2,score\na,b,4\nc,d,0.5\ne,f,nan\n")
    bad = [(4, "not a number")]
    assert pairs_of(own) == ([("a", "b", 0), ("c", "d", 1)], bad)
    assert pairs_of(own, min_score=3.0) == ([("a", "b", 0)], bad)
    with pytest.raises(DataError, match=r"has no column `score`; empty tokenize\.min_score"):
        pairs_of(file_of(tmp_path, "text1,text2\na,b\n"), min_score=3.0)


def test_groups_by_name(tmp_path):
    own = file_of(tmp_path, "text1,text2,group\na,b,x\nc,d,y\ne,f,x\n")
    assert pairs_of(own)[0] == [("a", "b", 0), ("c", "d", 1), ("e", "f", 0)]


def test_similarity_set(tmp_path):
    text, name = "text1\ttext2\tscore\tsplit\na\tb\t5\ttest\nc\td\t1\ttrain\ne\t \t2\tdev\n", "own.my-set-v2"
    own = file_of(tmp_path, text, "my set.v2.tsv")
    rows = [(name, "test", "a", "b", 5.0), (name, "train", "c", "d", 1.0)]
    assert set_of(own) == ("similarity", rows, [(4, "'text2' is empty")])


def test_set_of_words(tmp_path):
    own = file_of(tmp_path, "word1,word2,score\nold,new,1.5\n")
    assert set_of(own) == ("similarity", [("own.words.mine", "test", "old", "new", 1.5)], [])


def test_paraphrase_set(tmp_path):
    own = file_of(tmp_path, '{"sentence1": "a", "sentence2": "b", "label": true}\n', "mine.jsonl")
    assert set_of(own) == ("labelled_pairs", [("own.mine", "test", "a", "b", 1)], [])


def test_ranking_numbers_questions_by_their_text(tmp_path):
    own = file_of(tmp_path, "question,candidate,label\nwho?,a,1\nwhy?,b,0\nwho?,c,0\n")
    rows = [(0, "who?", "a", 1), (1, "why?", "b", 0), (0, "who?", "c", 0)]
    assert set_of(own) == ("ranking", [("own.mine", "test", *row) for row in rows], [])


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a,b", "no columns text1/text2, sentence1/sentence2, premise/hypothesis, word1/word2; the columns are a, b"),
        ("text1,text2", "an evaluation set needs judgements, the columns are text1, text2; name one `score`"),
    ],
)
def test_file_that_is_no_set(tmp_path, header, message):
    with pytest.raises(DataError, match=message):
        set_of(file_of(tmp_path, f"{header}\nx,y\n"))


def test_file_without_a_usable_row(tmp_path):
    with pytest.raises(DataError, match=r"not one usable row; `paraphrastic data inspect .*mine\.csv` shows why"):
        pairs_of(file_of(tmp_path, "text1,text2,label\na,b,0\n"))
    with pytest.raises(DataError, match=r"not one usable row; `paraphrastic data inspect"):
        list(own_set(None, {"own": file_of(tmp_path, "text1,text2,score\n")}))


def test_set_without_rows_to_test(tmp_path):
    with pytest.raises(DataError, match=r"mine\.csv: no row has the split `test`, which is evaluated"):
        set_of(file_of(tmp_path, "text1,text2,score,split\na,b,1,train\nc,d,2,dev\n"))


def test_paths_among_names(tmp_path):
    own = file_of(tmp_path, "text1,text2\na,b\n")
    sources = corpus(["sample", own.path, {"path": own.path}])
    assert [source.name for source in sources] == ["sample", "own.mine"]
    assert [len(reading.table) for reading in read(sources[1], tmp_path)] == [1]


def test_suites_and_sets_together(tmp_path):
    own = file_of(tmp_path, "text1,text2,score\na,b,1\n")
    both = suite(["sample", f"{tmp_path}/"])
    assert ([source.name for source in both.sources], both.select) == (["sample", "own.mine"], "sample.dev")
    assert suite(own.path).select == "own"


def test_two_files_of_one_name(tmp_path):
    paths = [file_of(tmp_path, "text1,text2\n", name).path for name in ("a b.csv", "a.b.csv")]
    with pytest.raises(ParameterError, match=r"corpus: .*a b\.csv and .*a\.b\.csv have the same name; rename one"):
        corpus(paths)
