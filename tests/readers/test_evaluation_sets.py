"""Readers of evaluation sets, on small files in the format of each source."""

import gzip

import pytest

from paraphrastic.base.errors import DataError
from tests.helpers.raw_files import bad_rows, content, packed, read_files, read_like, read_source, rows

STS = {
    "test/STS.input.MSRpar.txt": 'He said "no\tShe said "no"\nsecond\t2nd\n',
    "test/STS.gs.MSRpar.txt": "4.5\n0\n",
    "test/STS.input.surprise.OnWN.txt": "a\tb\nc\td\n",
    "test/STS.gs.surprise.OnWN.txt": "5\n\n",
    "test/STS.gs.ALL.txt": "4.5\n0\n5\n",
    "test/STS.output.MSRpar.txt": "1\n1\n",
    "test/00-readme.txt": "",
}


def test_sts_archive(tmp_path):
    assert content(read_files("sts-archive", tmp_path, {"sts.tgz": STS}, year="2012", split="train")) == (
        [
            ("sts.2012.MSRpar", "train", 'He said "no', 'She said "no"', 4.5),
            ("sts.2012.MSRpar", "train", "second", "2nd", 0.0),
            ("sts.2012.OnWN", "train", "a", "b", 5.0),
        ],
        [],
    )


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({**STS, "test/STS.gs.X.txt": "1\n"}, r"sts\.tgz: the archive contains no STS\.input\.X\.txt"),
        ({"README": "x"}, r"sts\.tgz: the archive contains no STS\.gs\.SET\.txt"),
        ({"STS.input.X.txt": "a\tb\n", "STS.gs.X.txt": "1\n2\n"}, r"input\.X\.txt has 1 lines and .*gs\.X\.txt has 2"),
    ],
)
def test_sts_archive_without_pairs_of_files(tmp_path, members, message):
    with pytest.raises(DataError, match=message):
        read_files("sts-archive", tmp_path, {"sts.tgz": members}, year="2012", split="test")


def test_sts_archive_with_bad_rows_in_both_files(tmp_path):
    texts, gold = b"a\tb\nc\nd\te\nf\tg\nh\ti\xff\nj\tk\n", "1\n2\nx\n6\n3\n4\n"
    files = {"sts.tgz": {"STS.input.MSRvid.txt": texts, "STS.gs.MSRvid.txt": gold}}
    found, bad = content(read_files("sts-archive", tmp_path, files, year="2012", split="test"))
    assert [row[2:] for row in found] == [("a", "b", 1.0), ("j", "k", 4.0)]
    lines = {"gs": [3, 4], "input": [2, 5]}
    assert bad == [(f"sts.tgz!STS.{kind}.MSRvid.txt", n) for kind in lines for n in lines[kind]]


def test_sts_tsv_with_blank_and_malformed_scores(tmp_path):
    files = {
        "deft-news.test.tsv": '3.00\t"a\tb\xa0\n\tc\td\n \te\tf\n0\tg\th"\n',
        "belief.test.tsv": "5\tx\ty",
        "X.test.tsv": "nan\ta\tb\n5.5\ta\tb\n-1\ta\tb\n1\ta\nhigh\ta\tb\n2\ta\tb\n",
    }
    assert content(read_files("sts-tsv", tmp_path, files, year="2014", split="test")) == (
        [
            ("sts.2014.X", "test", "a", "b", 2.0),
            ("sts.2014.belief", "test", "x", "y", 5.0),
            ("sts.2014.deft-news", "test", '"a', "b\xa0", 3.0),
            ("sts.2014.deft-news", "test", "g", 'h"', 0.0),
        ],
        [("X.test.tsv", line) for line in (1, 2, 3, 4, 5)],
    )


SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"


def test_sick_with_two_errors_in_a_row(tmp_path):
    files = {
        "train.txt": f"{SICK}\n1\tA kid\tA boy\t4.5\tNEUTRAL\n2\tYes\tNo\t1\tCONTRADICTION\n",
        "test.txt": f"{SICK}\t\r\n6\tA cat\tAn animal\t4\tENTAILMENT\r\n",
        "dev.txt": f"{SICK}\n1\ta\tb\t0.5\tMAYBE\n2\tc\td\t5\tENTAILMENT\n3\te\tf\t5\n",
    }
    readings = read_files("sick", tmp_path, files, splits={name: name[:-4] for name in files})
    assert [reading.kind for reading in readings] == ["similarity", "labelled_pairs"] * 3
    assert rows(readings) == [
        ("sick.relatedness", "train", "A kid", "A boy", 4.5),
        ("sick.relatedness", "train", "Yes", "No", 1.0),
        ("sick.entailment", "train", "A kid", "A boy", 1),
        ("sick.entailment", "train", "Yes", "No", 0),
        ("sick.relatedness", "test", "A cat", "An animal", 4.0),
        ("sick.entailment", "test", "A cat", "An animal", 2),
        ("sick.relatedness", "dev", "c", "d", 5.0),
        ("sick.entailment", "dev", "c", "d", 2),
    ]
    assert bad_rows(readings[::2]) == [("dev.txt", 2), ("dev.txt", 4)]


def test_sick_without_header(tmp_path):
    with pytest.raises(DataError, match=r"/a: line 1 is not the header .*remove it and run `dvc repro`$"):
        read_files("sick", tmp_path, {"a": "1\tb\tc\t4\tNEUTRAL\n"}, splits={"a": "train"})


def test_word_pairs(tmp_path):
    text = "Jerusalem\tIsrael\t8.46\r\nmoney\tcash\t9.15\r\nmoney\tcash\t9.08\r\na\tb\t10.5\r\n"
    readings = read_like("wordsim", tmp_path, {"WS.txt": text}, sets={"WS.txt": "words.wordsim"})
    pairs = [("Jerusalem", "Israel", 8.46), ("money", "cash", 9.15), ("money", "cash", 9.08)]
    assert content(readings) == ([("words.wordsim", "test", *pair) for pair in pairs], [("WS.txt", 4)])


def test_ppdb_judgements(tmp_path):
    text = "4.0\t[NP]\tthis video\tthe movie\t3.0,5.0\n0.5\t[NN]\ta\tb\t1.0\n2.2\t[NN]\teditor\thead\t1.0\n"
    readings = read_like("ppdb-judgements", tmp_path, {"a.tsv": text}, sets={"a.tsv": "paraphrase.ppdb"})
    pairs = [("this video", "the movie", 4.0), ("editor", "head", 2.2)]
    assert content(readings) == ([("paraphrase.ppdb", "test", *pair) for pair in pairs], [("a.tsv", 2)])


def test_ppdb_judgements_of_words(tmp_path):
    text = "4.0\t[NP]\tvideo\tthe movie\t3.0\n3.0\t[NP]\tthe movie\tvideo\t3.0\n2.2\t[NN]\teditor\thead\t1.0\n"
    readings = read_like("ppdb-word-judgements", tmp_path, {"a.tsv": text}, sets={"a.tsv": "words.ppdb"})
    assert content(readings) == ([("words.ppdb", "test", "editor", "head", 2.2)], [])


def test_pit2015_with_undecided_pairs_and_bad_rows(tmp_path):
    data = "1\tTopic\ta b\tc d\t4\tx/O\ty/O\n1\tTopic\te\tf\tg/O\th/O\n2\tT\ti\tj\n2\tT\tk\tl\n2\tT\tm\n2\tT\to\tp\n"
    label = "true\t0.8000\n----\t0.6000\nfalse\t0.0000\nfalse\t1.2\nfalse\t0.2\nperhaps\t0.2\n"
    members = {"P/data/test.data": data, "P/data/test.label": label, "__MACOSX/P/data/._test.data": b"\0\xff"}
    scored, decided = read_files("pit2015", tmp_path, {"pit.zip": members})
    bad = [("pit.zip!test.data", 5), ("pit.zip!test.label", 4), ("pit.zip!test.label", 6)]
    scores = [("a b", "c d", 0.8), ("e", "f", 0.6), ("i", "j", 0.0)]
    assert content([scored]) == ([("pit2015", "test", *row) for row in scores], bad)
    assert decided.kind == "labelled_pairs"
    labels = [("a b", "c d", 1), ("i", "j", 0)]
    assert content([decided]) == ([("paraphrase.pit2015", "test", *row) for row in labels], bad)


def test_pit2015_without_labels(tmp_path):
    with pytest.raises(DataError, match=r"pit\.zip: the archive contains no test\.label"):
        read_files("pit2015", tmp_path, {"pit.zip": {"data/test.data": "1\tT\ta\tb\n"}})


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("sts2014", {}),
        ("ppdb-judgements", {"sets": {"a.tsv": "paraphrase.ppdb"}}),
        ("simlex", {"sets": {"a.tsv": "words.simlex"}}),
        *((source, {"splits": {"a.tsv": "dev"}}) for source in ("sst", "wikiqa", "trecqa")),
    ],
)
def test_file_of_another_format(tmp_path, source, options):
    with pytest.raises(DataError, match=r"/a\.tsv(, line 1: .*)?: not one usable row; is it the right file"):
        read_like(source, tmp_path, {"a.tsv": "<html>\n<p>Not found</p>\n</html>\n"}, **options)


MSRP = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"


def test_msrp_with_byte_order_mark_and_quotes(tmp_path):
    files = {
        "train.tsv": f'\ufeff{MSRP}\r\n1\t10\t11\tHe said "a.\t"b" she said.\r\n0\t12\t13\tc\td\r\n',
        "val.tsv": f"{MSRP}\r\n2\t1\t2\tx\ty\r\n1\t1\t2\te\tf\r\n",
    }
    pairs = [('He said "a.', '"b" she said.', 1), ("c", "d", 0), ("e", "f", 1)]
    readings = read_like("msrp", tmp_path, files, splits={"train.tsv": "train", "val.tsv": "train"})
    assert content(readings) == ([("paraphrase.msrp", "train", *pair) for pair in pairs], [("val.tsv", 2)])


def test_sst(tmp_path):
    readings = read_like("sst", tmp_path, {"a": "it 's charming . \t1\nbleak \t0\nlost\n"}, splits={"a": "dev"})
    assert content(readings) == ([("sst", "dev", "it 's charming . ", 1), ("sst", "dev", "bleak ", 0)], [("a", 3)])


def test_wikiqa_with_questions_without_an_answer(tmp_path):
    text = "q one\ta\t0\nq one\tb\t1\nq two\tc\t0\nq two\td\t7\nq two\te\n"
    readings = read_like("wikiqa", tmp_path, {"a": text}, splits={"a": "dev"})
    candidates = [(0, "q one", "a", 0), (0, "q one", "b", 1), (1, "q two", "c", 0)]
    assert content(readings) == ([("qa.wikiqa", "dev", *row) for row in candidates], [("a", 4), ("a", 5)])


def trecqa_element(number, question, *candidates):
    """Return a <QApairs> with a question and its candidates, given as (tag, tokens)."""

    def block(tag, tokens):
        return f"<{tag}>\n{tokens}\nNN\tVB\n2\t0\n</{tag}>\n"

    blocks = "".join(block(*candidate) for candidate in candidates)
    return f"<QApairs id='{number}'>\n{block('question', question)}{blocks}</QApairs>\n"


BOTH_LABELS = trecqa_element("1", "Who\tis\t?", ("positive", "R&D\t<b>"), ("negative", "He\t."), ("negative", "She"))
ONE_LABEL = trecqa_element("2", "What\t?", ("positive", "It"))
NO_CANDIDATE = trecqa_element("3", "When\t?")
NEGATIVE_FIRST = trecqa_element("4.1", "Why\t?", ("negative", "So"), ("positive", "Thus"))


def test_trecqa_train(tmp_path):
    files = {"TRAIN.xml": ONE_LABEL + NO_CANDIDATE + BOTH_LABELS}
    assert rows(read_files("trecqa", tmp_path, files, splits={"TRAIN.xml": "train"})) == [
        ("qa.qasent", "train", 0, "What ?", "It", 1),
        ("qa.qasent", "train", 2, "Who is ?", "R&D <b>", 1),
        ("qa.qasent", "train", 2, "Who is ?", "He .", 0),
        ("qa.qasent", "train", 2, "Who is ?", "She", 0),
    ]


@pytest.mark.parametrize("split", ["dev", "test"])
def test_trecqa_dev_and_test(tmp_path, split):
    files = {"a.xml": BOTH_LABELS + ONE_LABEL + NO_CANDIDATE + NEGATIVE_FIRST}
    readings = read_files("trecqa", tmp_path, files, splits={"a.xml": split})
    assert [(row[2], row[-1]) for row in rows(readings)] == [(0, 1), (0, 0), (0, 0), (3, 0), (3, 1)]


def test_trecqa_candidates_without_usable_tokens(tmp_path):
    element = trecqa_element("5", "Where\t?", ("positive", "here"), ("negative", "gone"))
    without_tokens = element.replace("gone\nNN\tVB\n2\t0\n", "")
    files = {"a.xml": BOTH_LABELS.encode().replace(b"She", b"Sh\xff") + without_tokens.encode()}
    found, bad = content(read_files("trecqa", tmp_path, files, splits={"a.xml": "train"}))
    assert [row[-2] for row in found] == ["R&D <b>", "He .", "here"]
    assert bad == [("a.xml", 18), ("a.xml", 35)]


UNBALANCED = [BOTH_LABELS + ONE_LABEL[:-40], BOTH_LABELS.replace("<QApairs id='1'>\n", ""), BOTH_LABELS[:-12]]
UNBALANCED += [f"{BOTH_LABELS}</positive>\n<positive>\n"]
_, QUESTION, CANDIDATES = NEGATIVE_FIRST.partition("<question>\nWhy\t?\nNN\tVB\n2\t0\n</question>\n")
QUESTION_LAST = f"<QApairs id='4.1'>\n{CANDIDATES}".replace("</QApairs>", f"{QUESTION}</QApairs>")
TWO_QUESTIONS = BOTH_LABELS.replace("</QApairs>", f"{QUESTION}</QApairs>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "a tag is not closed") for text in UNBALANCED),
        (QUESTION_LAST, "a candidate precedes its question"),
        (f"{TWO_QUESTIONS}<QApairs id='4.1'>\n{CANDIDATES}", "a candidate precedes its question"),
        (f"{TWO_QUESTIONS}<QApairs id='4.1'>\n</QApairs>\n", "a tag .* or a <QApairs> does not contain one question"),
    ],
)
@pytest.mark.parametrize("split", ["train", "test"])
def test_trecqa_of_another_structure(tmp_path, text, message, split):
    with pytest.raises(DataError, match=rf"a\.xml: {message}.*; remove it"):
        read_files("trecqa", tmp_path, {"a.xml": text}, splits={"a.xml": split})


def test_sts_2013_without_the_sentences_of_smt(tmp_path):
    members = {"STS.input.FNWN.txt": "a\tb\n", "STS.gs.FNWN.txt": "1\n", "STS.gs.SMT.txt": "2\n"}
    readings = read_source("sts2013-official", tmp_path, {"STS2013-en-test.zip": members})
    assert content(readings) == ([("sts.2013.FNWN", "test", "a", "b", 1.0)], [])


def test_smt_as_the_ldc_delivers_it(tmp_path):
    files = {"STS.input.SMT.txt": "a b\tc\nd\te\n", "STS.gs.SMT.txt": "4.444\n0\n"}
    expected = [("sts.2013.SMT", "test", "a b", "c", 4.444), ("sts.2013.SMT", "test", "d", "e", 0.0)]
    assert content(read_source("sts2013-smt", tmp_path, files)) == (expected, [])
    with pytest.raises(DataError, match=r"SMT\.txt has 2 lines and .*SMT\.txt has 1"):
        read_source("sts2013-smt", tmp_path, {"STS.gs.SMT.txt": "4.444\n"})


def test_sts_2016_with_other_names_and_origins(tmp_path):
    texts = {"input": "a\tb\tforum\tforum\nc\td\tx\ty\n", "gs": "\n2\n"}
    folder = "sts2016-english-with-gs-v1.0"
    members = {f"{folder}/STS2016.{kind}.answer-answer.txt": text for kind, text in texts.items()}
    readings = read_source("sts2016-official", tmp_path, {"STS2016-en-test.zip": members})
    assert content(readings) == ([("sts.2016.answer-answer", "test", "c", "d", 2.0)], [])


def test_sts_benchmark_with_quotes_and_origins(tmp_path):
    numbers = {"train": ("0001", "5.000"), "dev": ("0001", "0"), "test": ("2", "3.2")}
    line = 'main-news\theadlines\t2015\t{}\t{}\tHe said "no.\tYes\n'
    members = {f"stsbenchmark/sts-{split}.csv": line.format(*each) for split, each in numbers.items()}
    members["stsbenchmark/sts-test.csv"] = members["stsbenchmark/sts-test.csv"].rstrip() + "\thttp://a\thttp://b\n"
    found, bad = content(read_source("stsbenchmark", tmp_path, {"Stsbenchmark.tar.gz": members}))
    assert found == [("stsbenchmark", split, 'He said "no.', "Yes", float(each[1])) for split, each in numbers.items()]
    assert bad == []


SICK_ARCHIVE = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tentailment_BA"
    "\tsentence_A_original\tsentence_B_original\tsentence_A_dataset\tsentence_B_dataset\tSemEval_set\r\n"
)


def test_sick_with_its_splits_in_the_last_column(tmp_path):
    rest = "A_neutral_B\tB_neutral_A\to\to\tFLICKR\tFLICKR"
    text = SICK_ARCHIVE + f"1\ta\tb\tNEUTRAL\t4.5\t{rest}\tTRAIN\r\n2\tc\td\tENTAILMENT\t5\t{rest}\tTEST\r\n"
    expected = [
        ("sick.relatedness", "train", "a", "b", 4.5),
        ("sick.relatedness", "test", "c", "d", 5.0),
        ("sick.entailment", "train", "a", "b", 1),
        ("sick.entailment", "test", "c", "d", 2),
    ]
    readings = read_source("sick-official", tmp_path, {"SICK.zip": {"SICK.txt": text, "readme.txt": "x"}})
    assert content(readings) == (expected, [])


WIKIQA = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\r\n"


def test_questions_of_wikiqa_by_id(tmp_path):
    lines = 'Q1\twho\tD1\tT\tD1-0\ta\t0\r\nQ1\twho\tD1\tT\tD1-1\t"b\t1\r\nQ2\twho\tD2\tT\tD2-0\tc\t0\r\n'
    members = {f"WikiQACorpus/WikiQA-{split}.tsv": WIKIQA + lines for split in ("train", "dev", "test")}
    found, bad = content(read_source("wikiqa-official", tmp_path, {"WikiQACorpus.zip": members}))
    candidates = [(0, "who", "a", 0), (0, "who", '"b', 1), (1, "who", "c", 0)]  # the same text, another question
    assert found == [("qa.wikiqa", split, *row) for split in ("train", "dev", "test") for row in candidates]
    assert bad == []


def test_qasent_train_all(tmp_path):
    both = trecqa_element("1", "who\t& <x", ("positive", "a\tb"), ("negative", "c"))
    train = both + trecqa_element("2", "who", ("negative", "d"))
    members = {
        "r/train2393.cleanup.xml.gz": gzip.compress(train.encode()),
        "r/dev-less-than-40.manual-edit.xml": (both + trecqa_element("3", "who", ("positive", "e"))).encode(),
        "r/test-less-than-40.manual-edit.xml": both.encode(),
    }
    name, data = "jacana-qa-naacl2013-data-results.tar.bz2", packed(members, "bz2")
    found, bad = content(read_source("trecqa-all", tmp_path, {name: data}))
    assert [row[1] for row in found] == ["train"] * 3 + ["dev"] * 2 + ["test"] * 2  # only train has one-sided questions
    assert (found[0], bad) == (("qa.qasent", "train", 0, "who & <x", "a b", 1), [])
    with pytest.raises(DataError, match=r"tar\.bz2: damaged or truncated"):
        read_source("trecqa-all", tmp_path, {name: data[:-20]})


def test_annotated_ppdb_of_both_releases(tmp_path):
    members = {"c/annotated-ppdb-dev": "a b\tc\t1.5\n", "c/annotated-ppdb-test": "d\te\t5\n", "c/x.pickle": b"\x80"}
    files = {"ppdb_dev.txt": "a b ||| c ||| 1.5\n", "ppdb_test.txt": "d ||| e ||| 5\n"}
    for name in ("annotated-ppdb", "annotated-ppdb-original"):
        found, bad = content(read_source(name, tmp_path, {"charagram-demo.zip": members, **files}))
        assert [row[1:] for row in found] == [("dev", "a b", "c", 1.5), ("test", "d", "e", 5.0)]
        assert bad == []
