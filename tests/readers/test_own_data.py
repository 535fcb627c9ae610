"""Training pairs and evaluation sets of the user: what the names of the columns mean."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.base.tables import RAW
from paraphrastic.readers import own_tables
from paraphrastic.readers.own_data import check_files, own_pairs, own_set
from paraphrastic.readers.reading import PairFilter
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import corpus, suite
from paraphrastic.sources.own_files import OwnFile


def file_of(folder, text, name=None, **options):
    name = name or ("mine.jsonl" if text.startswith("{") else "mine.tsv" if "\t" in text else "mine.csv")
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


ALONE = [("a", "b", 0), ("c", "d", -2), ("e", "f", -3)]  # the last two are in no group
GROUPS_OF_JSON = """{"text1": "a", "text2": "b", "group": 7}
{"text1": "c", "text2": "d", "group": null}
{"text1": "e", "text2": "f"}"""
NAMES = ["text1,text2", "sentence1,sentence2", "premise,hypothesis", "word1,word2"]


@pytest.mark.parametrize(
    ("text", "options", "rows", "bad"),
    [
        *((f"{names}\na,b\nc,d\n", {}, [("a", "b", 0), ("c", "d", 1)], []) for names in NAMES),
        ("id,q2,q1\n7,b,a\n", {"columns": ["q1", "q2"]}, [("a", "b", 0)], []),
        ("text1,text2,label\na,b,1\nc,d,0\ne,f,1.0\ng,h,2\ni,j,\n", {}, [("a", "b", 0), ("e", "f", 2)], [5, 6]),
        ("text1,text2,label\na,b,True\nc,d,False\n", {}, [("a", "b", 0)], []),  # 0: no paraphrase
        ("text1,text2,group\na,b,x\nc,d,y\ne,f,x\n", {}, [("a", "b", 0), ("c", "d", 1), ("e", "f", 0)], []),
        ("text1,text2,group\na,b,x\nc,d,\ne,f, \ng,h,x\n", {}, [*ALONE, ("g", "h", 0)], []),
        (GROUPS_OF_JSON, {}, ALONE, []),
    ],
)
def test_pairs(tmp_path, text, options, rows, bad):
    reason = "a label other than 0, 1"
    assert pairs_of(file_of(tmp_path, text, **options)) == (rows, [(line, reason) for line in bad])


def test_scores_have_the_limits_of_the_filter(tmp_path):
    own = file_of(tmp_path, "text1,text2,score\na,b,4\nc,d,0.5\ne,f,nan\n")
    bad = [(4, "not a number")]
    assert pairs_of(own) == ([("a", "b", 0), ("c", "d", 1)], bad)
    assert pairs_of(own, min_score=3.0) == ([("a", "b", 0)], bad)
    with pytest.raises(DataError, match=r"has no column `score`; empty tokenize\.min_score"):
        pairs_of(file_of(tmp_path, "text1,text2\na,b\n"), min_score=3.0)


def test_similarity_set(tmp_path):
    text, name = "text1\ttext2\tscore\tsplit\na\tb\t5\ttest\nc\td\t1\ttrain\ne\t \t2\tdev\n", "own.my-set-v2"
    own = file_of(tmp_path, text, "my set.v2.tsv")
    rows = [(name, "test", "a", "b", 5.0), (name, "train", "c", "d", 1.0)]
    assert set_of(own) == ("similarity", rows, [(4, "'text2' is empty")])


def test_name_of_the_sets_of_words(tmp_path):
    words = file_of(tmp_path, "word1,word2,score\nold,new,1\n", "words.csv")
    assert set_of(words)[1] == [("own.words.words", "test", "old", "new", 1.0)]
    with pytest.raises(DataError, match=r"words\.csv: is no set of words, .* rename the file$"):
        set_of(file_of(tmp_path, "text1,text2,score\na,b,1\n", "words.csv"))


@pytest.mark.parametrize(
    ("text", "kind", "rows"),
    [
        ("word1,word2,score\nold,new,1.5\n", "similarity", [("own.words.mine", "test", "old", "new", 1.5)]),
        ('{"sentence1": "a", "sentence2": "b", "label": true}', "labelled_pairs", [("own.mine", "test", "a", "b", 1)]),
        (
            "question,candidate,label\nwho?,a,1\nwhy?,b,0\nwho?,c,0\n",
            "ranking",
            [("own.mine", "test", *row) for row in ((0, "who?", "a", 1), (1, "why?", "b", 0), (0, "who?", "c", 0))],
        ),
    ],
)
def test_sets_of_words_paraphrases_and_candidates(tmp_path, text, kind, rows):
    assert set_of(file_of(tmp_path, text)) == (kind, rows, [])


@pytest.mark.parametrize(("meaning", "read_all"), [("label", pairs_of), ("group", pairs_of), ("split", set_of)])
def test_key_that_first_occurs_after_1000_rows(tmp_path, meaning, read_all):
    row = {"text1": "a", "text2": "b", "relatedness": 1}
    lines = "\n".join(map(json.dumps, [*[row] * 1000, row | {meaning: "dev"}]))
    own = file_of(tmp_path, lines, columns={"text1": "text1", "text2": "text2", "score": "relatedness"})
    with pytest.raises(DataError, match=rf"line 1001: '{meaning}' is in none of the first 1,000 rows; move this row"):
        read_all(own)
    sentences = own.model_copy(update={"columns": {"text": "text1"}})
    assert pairs_of(sentences)[0] == [("a", "a", 0)]


NAME_ONE = r"name one `score` \(a number\) or `label` \(0 or 1\); a ranking has question, candidate and label$"
NO_NAMES = "no columns text1/text2, sentence1/sentence2, premise/hypothesis, word1/word2; the columns are a, b"
JUDGED_LATER = '{"text1": "a", "text2": "b"}\n{"text1": "c", "text2": "d", "gold_label": "neutral"}'
NESTED = '{"annotator_labels": ["neutral"], "sentence1": "a", "sentence2": "b", "gold_label": "neutral"}'
NO_PAIR, NO_TEST = "text1,text2,label\na,b,0\n", "text1,text2,score,split\na,b,1,train\nc,d,2,dev\n"
OTHER_NAME = "text1,text2,relatedness\na,b,3\nc,d,1\n"
WORDS, NUMBERS = (f"text1,text2,label\na,b,{x}\nc,d,{y}\n" for x, y in (("entailment", "neutral"), ("3.8", "5.0")))
ROWS = ["5\ta dog\tthe dog", "A dog runs.\tA dog is running.\t4.5", "it rains now\tit pours"]
NO_HEADER = r"mine\.tsv: .*line 1 looks like a row: write the names of the columns before"


@pytest.mark.parametrize(
    ("read_all", "text", "message"),
    [
        (set_of, "a,b\nx,y\n", NO_NAMES),
        (set_of, "text1,text2\n", f"an evaluation set needs judgements, the columns are text1, text2; {NAME_ONE}"),
        (pairs_of, NO_PAIR, r"not one usable row; `paraphrastic data inspect .*mine\.csv` shows why"),
        (set_of, "text1,text2,score\n", "not one usable row; `paraphrastic data inspect"),
        (set_of, NO_TEST, r"mine\.csv: no row has the split `test`, which is evaluated"),
        (set_of, OTHER_NAME, r"or say which one it is, as `\{path: …, columns: \{score: relatedness\}\}`"),
        (pairs_of, JUDGED_LATER, "gold_label: looks like judgements"),
        (pairs_of, NESTED, r"gold_label, annotator_labels: looks like .* \{label: gold_label\}"),  # nested are last
        *((read_all, WORDS, r"'label' has the labels entailment, .*positive: \[") for read_all in (pairs_of, set_of)),
        *((read_all, NUMBERS, r"'label' has the labels 3\.8, .*positive: \[") for read_all in (pairs_of, set_of)),
        *((pairs_of, f"{row}\n{row}\n", NO_HEADER) for row in ROWS),
    ],
)
def test_file_that_is_refused(tmp_path, read_all, text, message):
    with pytest.raises(DataError, match=message):
        read_all(file_of(tmp_path, text))


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


def test_folder_in_place_of_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "sample"):
        (tmp_path / name).mkdir()
        file_of(tmp_path / name, "text1,text2,score\na,b,1\n", f"{name}.csv")
    for choose in (corpus, lambda entries: suite(entries).sources):
        assert [source.name for source in choose(["mine", "sample"])] == ["own.mine", "sample"]


def test_two_files_of_one_name(tmp_path):
    paths = [file_of(tmp_path, "text1,text2\n", name).path for name in ("a b.csv", "a.b.csv")]
    with pytest.raises(ParameterError, match=r"corpus: .*a b\.csv and .*a\.b\.csv have the same name; rename one"):
        corpus(paths)


TEXTS = [("a dog runs", "the dog is running"), ("a b", "c d"), ("e f", "g h"), ("i j", "k l")]
HEADS = {  # a column that judges the pairs → its values
    "gold_label": ["entailment", "contradiction", "neutral", "-"],
    "is_duplicate": [1, 0, 0, 1],
    "relatedness_score": [4.5, 1.0, 2.25, 3.0],
    "similarity": [88, 12, 40, 61],
    "stars": [5, 1, 2, 4],
    "entailmentJudgment": ["NEUTRAL", "ENTAILMENT", "NEUTRAL", "NEUTRAL"],
    "myLabelColumn": ["much", "none", "little", "some"],
    "befund": ["ja", "nein", "ja", "nein"],
    "same": [True, False, False, True],
    "z": [-0.3, 0.9, 0.1, 0.2],
    "ends": [-1, 10, 3.5, 0],
}


def write_columns(folder, ending, columns):
    """Write a table of the user in the format of an ending; without one, as the folder that `datasets` saves."""
    path, table = folder / f"mine{ending}", pa.table(columns)
    if ending == ".parquet":
        pq.write_table(table, path)
    elif not ending:
        path.mkdir()
        (path / "state.json").write_text("{}")
        with pa.ipc.new_stream(str(path / "data.arrow"), table.schema) as stream:
            stream.write_table(table)
    elif ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        rows = [table.column_names, *([*row.values()] for row in table.to_pylist())]
        path.write_text("\n".join(("," if ending == ".csv" else "\t").join(map(str, row)) for row in rows) + "\n")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet", ""])
@pytest.mark.parametrize("name", HEADS)
def test_judgements_are_not_passed_over(tmp_path, capsys, name, ending):
    columns = {"sentence1": [a for a, _ in TEXTS], name: HEADS[name], "sentence2": [b for _, b in TEXTS]}
    own = OwnFile(path=str(write_columns(tmp_path, ending, columns)))
    with pytest.raises(DataError, match=rf"mine\S*: {name}: looks like judgements of the pairs; say .*columns: "):
        pairs_of(own)
    chosen = own.model_copy(update={"columns": ("sentence1", "sentence2")})
    assert len(pairs_of(chosen)[0]) == 4
    assert f"mine{ending}: not used: {name}\n" in capsys.readouterr().err


def test_columns_that_judge_nothing(tmp_path, capsys):
    names = ["", "id", "genre", "text1", "text2", "comment", "year"]
    rows = [[str(n), str(n % 3), "fiction", *texts, f"note {n}", "3"] for n, texts in enumerate(TEXTS)]
    own = file_of(tmp_path, "\n".join(map(",".join, [names, *rows])))
    assert pairs_of(own) == ([(*texts, n) for n, texts in enumerate(TEXTS)], [])
    assert capsys.readouterr().err.endswith("not used: id, genre, comment, year\n")


def test_meanings_of_columns(tmp_path):
    text = "q1,q2,gold_label,sim\na,b,entailment,4\nc,d,neutral,5\ne,f,-,1\ng,h,Entailment,2\n"
    columns = {"text1": "q1", "text2": "q2", "label": "gold_label"}
    own = file_of(tmp_path, text, columns=columns, positive=["entailment"])
    assert pairs_of(own) == ([("a", "b", 0), ("g", "h", 3)], [])
    kind, rows, bad = set_of(own)
    assert (kind, [row[-1] for row in rows], bad) == ("labelled_pairs", [1, 0, 1], [])
    scored = own.model_copy(update={"columns": {"text1": "q1", "text2": "q2", "score": "sim"}, "positive": ()})
    assert pairs_of(scored, min_score=4.0)[0] == [("a", "b", 0), ("c", "d", 1)]
    assert [row[-1] for row in set_of(scored)[1]] == [4.0, 5.0, 1.0, 2.0]
    with pytest.raises(DataError, match="no column other for `label`; the columns are q1, q2, gold_label, sim"):
        pairs_of(own.model_copy(update={"columns": columns | {"label": "other"}}))


@pytest.mark.parametrize("text", ["true", '"true"', "1"])
@pytest.mark.parametrize("positive", [True, "true", "True"])
def test_truth_values_that_stand_for_1(tmp_path, text, positive):
    rows = f'{{"text1": "a", "text2": "b", "label": {text}}}\n{{"text1": "c", "text2": "d", "label": false}}\n'
    own = file_of(tmp_path, rows, columns={"label": "label"}, positive=[positive])
    assert pairs_of(own)[0] == [("a", "b", 0)]


@pytest.mark.parametrize("positive", ["3", "3.0", " 3.00 "])
def test_numbers_that_stand_for_1(tmp_path, positive):
    own = file_of(tmp_path, "text1,text2,label\na,b,3.0\nc,d,1.0\ne,f,3\n", positive=[positive])
    assert [row[-1] for row in set_of(own)[1]] == [1, 0, 1]


@pytest.mark.parametrize("ending", [".parquet", ""])
def test_names_of_classes(tmp_path, ending):
    names = ["entailment", "not_entailment"]  # 0 is the paraphrase
    table = {"premise": ["a", "c", "e"], "hypothesis": ["b", "d", "f"], "label": [0, 1, -1]}
    feature = {"names": names, "_type": "ClassLabel"}
    path = write_columns(tmp_path, ending, table)
    if ending:
        info = {"huggingface": json.dumps({"info": {"features": {"label": feature}}})}
        pq.write_table(pa.table(table).replace_schema_metadata(info), path)
    else:
        (path / "dataset_info.json").write_text(json.dumps({"features": {"label": feature, "premise": {}}}))
    own = OwnFile(path=str(path))
    with pytest.raises(DataError, match="has the labels entailment, not_entailment, not 0 and 1"):
        pairs_of(own)
    own = own.model_copy(update={"positive": ("entailment",)})
    assert pairs_of(own) == ([("a", "b", 0)], [])
    assert [row[-1] for row in set_of(own)[1]] == [1, 0]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_rows_without_a_score_are_not_judged(tmp_path, ending):
    table = {"text1": ["a", "c", "e"], "text2": ["b", "d", "f"], "score": [5.0, None, 0.0]}
    path = write_columns(tmp_path, ending, table)
    path.write_bytes(path.read_bytes().replace(b"None", b" "))
    (reading,) = own_set(None, {"own": OwnFile(path=str(path))})
    assert (reading.table["score"].to_pylist(), reading.bad, reading.unjudged) == ([5.0, 0.0], (), 1)
    limits = [PairFilter(), PairFilter(min_score=1.0)]
    both = [next(own_pairs(None, {"own": OwnFile(path=str(path)), "filter": wanted})) for wanted in limits]
    assert [(reading.table["text1"].to_pylist(), reading.bad, reading.unjudged) for reading in both] == [
        (["a", "c", "e"], (), 0),
        (["a"], (), 1),
    ]


def test_scores_as_spreadsheets_and_tables_write_them(tmp_path):
    rows = ["a,b;c;4,5", "d;e;0,667", "f;g;NaN", "h;i;2.5"]
    own = file_of(tmp_path, "\n".join(["text1;text2;score", *rows]))
    (reading,) = own_set(None, {"own": own})
    assert (reading.table["score"].to_pylist(), reading.bad, reading.unjudged) == ([4.5, 0.667, 2.5], (), 1)
    assert set_of(file_of(tmp_path, "text1;text2;score\na;b;1,000\nc;d;1\n"))[2] == [(2, "not a number")]
    bad = set_of(file_of(tmp_path, "text1,text2,score\na,b,1e999\nc,d,-1e999\ne,f,-1e300\n"))[2]
    assert [(line, reason.partition(" ")[0]) for line, reason in bad] == [(2, "a"), (3, "a")]


def test_pair_with_an_unknown_label_is_a_bad_row(tmp_path):
    rows, bad = pairs_of(file_of(tmp_path, "text1,text2,label\na,b,1\nc,d,7\ne,f,0\n"))
    assert (rows, [line for line, _ in bad]) == ([("a", "b", 0)], [3])


def test_last_part_without_a_known_label(tmp_path, monkeypatch):
    monkeypatch.setattr(own_tables, "PART", 2)
    rows, bad = pairs_of(file_of(tmp_path, "text1,text2,label\na,b,1\nc,d,0\ne,f,7\n"))
    assert (rows, [line for line, _ in bad]) == ([("a", "b", 0)], [4])


def test_first_part_without_a_usable_row(tmp_path, monkeypatch):
    monkeypatch.setattr(own_tables, "PART", 2)
    pairs = file_of(tmp_path, "text1,text2,label\na,b,0\nc,d,0\ne,f,1\n")
    assert pairs_of(pairs)[0] == [("e", "f", 2)]
    judged = file_of(tmp_path, "text1,text2,score\na,b,\nc,d,\ne,f,1\n")
    assert [len(reading.table) for reading in own_set(None, {"own": judged})] == [0, 1]


def test_scores_that_training_would_not_read(tmp_path):
    path = file_of(tmp_path, "text1,text2,score\na,b,0\nc,d,5\n").path
    with pytest.raises(DataError, match=r"mine\.csv: has scores, but tokenize\.min_score and max_score are empty; set"):
        check_files(corpus(path), limits_scores=False)
    check_files(corpus(path), limits_scores=True)
    check_files(corpus({"path": path, "columns": ["text1", "text2"]}), limits_scores=False)
    for columns in ({"score": "score"}, {"group": "text1"}, {}, {"text1": "text1", "text2": "text2", "score": "score"}):
        with pytest.raises(DataError, match="has scores, but"):
            check_files(corpus({"path": path, "columns": columns}), limits_scores=False)
    with pytest.raises(DataError, match="has no column `score`; empty tokenize"):
        check_files(corpus(file_of(tmp_path, "text1,text2\na,b\n").path), limits_scores=True)


def test_judgements_without_a_positive_one(tmp_path):
    rows = "text1,text2,label\na,b,yes\nc,d,no\n"
    assert len(list(own_set(None, {"own": file_of(tmp_path, rows, positive=["yes"])}))) == 1
    with pytest.raises(DataError, match=r"mine\.csv: no row has the label 1, as none of `positive` has$"):
        list(own_set(None, {"own": file_of(tmp_path, rows, positive=["Y"])}))
    with pytest.raises(DataError, match=r"mine\.csv: no row has the label 1$"):
        list(own_set(None, {"own": file_of(tmp_path, "text1,text2,label\na,b,0\n")}))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("text1,text2,score\na,b,good\nc,d,n/a\n", ("text1", "text2")),
        ("text1,text2,score,label\na,b,good,1\nc,d,n/a,1\n", None),
    ],
)
def test_scores_that_are_not_used_need_not_be_numbers(tmp_path, capsys, text, columns):
    assert pairs_of(file_of(tmp_path, text, columns=columns)) == ([("a", "b", 0), ("c", "d", 1)], [])
    assert capsys.readouterr().err.endswith("not used: score\n")
