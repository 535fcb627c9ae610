"""Readers of evaluation sets, on small files in the format of each source."""

import bz2
import gzip
import io
import tarfile
from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source
from tests.helpers.raw_files import bad_rows, read_files, read_like, rows, write_archive, write_file

STS = {
    "test/STS.input.MSRpar.txt": 'He said "no\tShe said "no"\nsecond\t2nd\n',
    "test/STS.gs.MSRpar.txt": "4.5\n0\n",
    "test/STS.input.surprise.OnWN.txt": "a\tb\nc\td\n",
    "test/STS.gs.surprise.OnWN.txt": "5\n\n",
    "test/STS.gs.ALL.txt": "4.5\n0\n5\n",
    "test/STS.output.MSRpar.txt": "1\n1\n",
    "test/00-readme.txt": "",
}


def test_sts_archive(tmp_path: Path):
    write_archive(tmp_path / "sts.tgz", STS, "gztar")
    readings = read_files("sts-archive", tmp_path, year="2012", split="train")
    assert rows(readings) == [
        ("sts.2012.MSRpar", "train", 'He said "no', 'She said "no"', 4.5),
        ("sts.2012.MSRpar", "train", "second", "2nd", 0.0),
        ("sts.2012.OnWN", "train", "a", "b", 5.0),
    ]
    assert bad_rows(readings) == []


UNEQUAL = {"STS.input.X.txt": "a\tb\n", "STS.gs.X.txt": "1\n2\n"}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({**STS, "test/STS.gs.X.txt": "1\n"}, r"sts\.tgz: the archive contains no STS\.input\.X\.txt"),
        ({"README": "x"}, r"sts\.tgz: the archive contains no STS\.gs\.SET\.txt"),
        (UNEQUAL, r"STS\.input\.X\.txt has 1 lines and .*STS\.gs\.X\.txt has 2"),
    ],
)
def test_sts_archive_without_pairs_of_files(tmp_path: Path, members: dict, message: str):
    write_archive(tmp_path / "sts.tgz", members, "gztar")
    with pytest.raises(DataError, match=message):
        read_files("sts-archive", tmp_path, year="2012", split="test")


def test_sts_archive_with_bad_rows_in_both_files(tmp_path: Path):
    texts, gold = b"a\tb\nc\nd\te\nf\tg\nh\ti\xff\nj\tk\n", "1\n2\nx\n6\n3\n4\n"
    write_archive(tmp_path / "sts.tgz", {"STS.input.MSRvid.txt": texts, "STS.gs.MSRvid.txt": gold}, "gztar")
    readings = read_files("sts-archive", tmp_path, year="2012", split="test")
    assert [row[2:] for row in rows(readings)] == [("a", "b", 1.0), ("j", "k", 4.0)]
    lines = {"gs": [3, 4], "input": [2, 5]}
    assert bad_rows(readings) == [(f"sts.tgz!STS.{kind}.MSRvid.txt", n) for kind in lines for n in lines[kind]]


def test_sts_tsv_with_blank_scores(tmp_path: Path):
    write_file(tmp_path / "deft-news.test.tsv", '3.00\t"a\tb\xa0\n\tc\td\n \te\tf\n0\tg\th"\n')
    write_file(tmp_path / "belief.test.tsv", "5\tx\ty")
    readings = read_files("sts-tsv", tmp_path, year="2014", split="test")
    assert rows(readings) == [
        ("sts.2014.belief", "test", "x", "y", 5.0),
        ("sts.2014.deft-news", "test", '"a', "b\xa0", 3.0),
        ("sts.2014.deft-news", "test", "g", 'h"', 0.0),
    ]
    assert bad_rows(readings) == []


def test_sts_tsv_with_malformed_scores(tmp_path: Path):
    write_file(tmp_path / "X.test.tsv", "nan\ta\tb\n5.5\ta\tb\n-1\ta\tb\n1\ta\nhigh\ta\tb\n2\ta\tb\n")
    readings = read_files("sts-tsv", tmp_path, year="2014", split="test")
    assert [row[-1] for row in rows(readings)] == [2.0]
    assert bad_rows(readings) == [("X.test.tsv", line) for line in (1, 2, 3, 4, 5)]


SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"


def test_sick(tmp_path: Path):
    write_file(tmp_path / "train.txt", f"{SICK}\n1\tA kid\tA boy\t4.5\tNEUTRAL\n2\tYes\tNo\t1\tCONTRADICTION\n")
    write_file(tmp_path / "test.txt", f"{SICK}\t\r\n6\tA cat\tAn animal\t4\tENTAILMENT\r\n")
    readings = read_files("sick", tmp_path, splits={"train.txt": "train", "test.txt": "test"})
    assert [reading.kind for reading in readings] == ["similarity", "labelled_pairs"] * 2
    assert rows(readings) == [
        ("sick.relatedness", "train", "A kid", "A boy", 4.5),
        ("sick.relatedness", "train", "Yes", "No", 1.0),
        ("sick.entailment", "train", "A kid", "A boy", 1),
        ("sick.entailment", "train", "Yes", "No", 0),
        ("sick.relatedness", "test", "A cat", "An animal", 4.0),
        ("sick.entailment", "test", "A cat", "An animal", 2),
    ]


def test_sick_with_two_errors_in_a_row(tmp_path: Path):
    write_file(tmp_path / "a", f"{SICK}\n1\ta\tb\t0.5\tMAYBE\n2\tc\td\t5\tENTAILMENT\n3\te\tf\t5\n")
    readings = read_files("sick", tmp_path, splits={"a": "dev"})
    assert bad_rows(readings[:1]) == [("a", 2), ("a", 4)]
    assert [row[2:] for row in rows(readings)] == [("c", "d", 5.0), ("c", "d", 2)]


def test_sick_without_header(tmp_path: Path):
    write_file(tmp_path / "a", "1\tb\tc\t4\tNEUTRAL\n")
    with pytest.raises(DataError, match=r"/a: line 1 is not the header .*remove it and run `dvc repro`$"):
        read_files("sick", tmp_path, splits={"a": "train"})


def test_word_pairs(tmp_path: Path):
    text = "Jerusalem\tIsrael\t8.46\r\nmoney\tcash\t9.15\r\nmoney\tcash\t9.08\r\na\tb\t10.5\r\n"
    write_file(tmp_path / "WS.txt", text)
    readings = read_like("wordsim", tmp_path, sets={"WS.txt": "words.wordsim"})
    assert rows(readings) == [
        ("words.wordsim", "test", "Jerusalem", "Israel", 8.46),
        ("words.wordsim", "test", "money", "cash", 9.15),
        ("words.wordsim", "test", "money", "cash", 9.08),
    ]
    assert bad_rows(readings) == [("WS.txt", 4)]


def test_ppdb_judgements(tmp_path: Path):
    text = "4.0\t[NP]\tthis video\tthe movie\t3.0,5.0\n0.5\t[NN]\ta\tb\t1.0\n2.2\t[NN]\teditor\thead\t1.0\n"
    write_file(tmp_path / "ppdb-sample.tsv", text)
    readings = read_like("ppdb-judgements", tmp_path, sets={"ppdb-sample.tsv": "paraphrase.ppdb"})
    assert [row[2:] for row in rows(readings)] == [("this video", "the movie", 4.0), ("editor", "head", 2.2)]
    assert {row[:2] for row in rows(readings)} == {("paraphrase.ppdb", "test")}
    assert bad_rows(readings) == [("ppdb-sample.tsv", 2)]


def test_pit2015_with_undecided_pairs_and_bad_rows(tmp_path: Path):
    data = "1\tTopic\ta b\tc d\t4\tx/O\ty/O\n1\tTopic\te\tf\tg/O\th/O\n2\tT\ti\tj\n2\tT\tk\tl\n2\tT\tm\n2\tT\to\tp\n"
    label = "true\t0.8000\n----\t0.6000\nfalse\t0.0000\nfalse\t1.2\nfalse\t0.2\nperhaps\t0.2\n"
    members = {"P/data/test.data": data, "P/data/test.label": label, "__MACOSX/P/data/._test.data": b"\0\xff"}
    write_archive(tmp_path / "pit.zip", members, "zip")
    scored, decided = read_files("pit2015", tmp_path)
    assert rows([scored]) == [
        ("pit2015", "test", "a b", "c d", 0.8),
        ("pit2015", "test", "e", "f", 0.6),
        ("pit2015", "test", "i", "j", 0.0),
    ]
    assert decided.kind == "labelled_pairs"
    assert rows([decided]) == [
        ("paraphrase.pit2015", "test", "a b", "c d", 1),
        ("paraphrase.pit2015", "test", "i", "j", 0),
    ]
    bad = [("pit.zip!test.data", 5), ("pit.zip!test.label", 4), ("pit.zip!test.label", 6)]
    assert bad_rows([scored]) == bad_rows([decided]) == bad


def test_pit2015_without_labels(tmp_path: Path):
    write_archive(tmp_path / "pit.zip", {"data/test.data": "1\tT\ta\tb\n"}, "zip")
    with pytest.raises(DataError, match=r"pit\.zip: the archive contains no test\.label"):
        read_files("pit2015", tmp_path)


@pytest.mark.parametrize(
    ("source", "name", "options"),
    [
        ("sts2014", "a.tsv", {}),
        ("ppdb-judgements", "a.tsv", {"sets": {"a.tsv": "paraphrase.ppdb"}}),
        ("simlex", "a", {"sets": {"a": "words.simlex"}}),
        ("sst", "a", {"splits": {"a": "dev"}}),
        ("wikiqa", "a", {"splits": {"a": "dev"}}),
        ("trecqa", "a", {"splits": {"a": "dev"}}),
    ],
)
def test_file_of_another_format(tmp_path: Path, source: str, name: str, options: dict):
    write_file(tmp_path / name, "<html>\n<p>Not found</p>\n</html>\n")
    with pytest.raises(DataError, match=rf"/{name}(, line 1: .*)?: not one usable row; is it the right file"):
        read_like(source, tmp_path, **options)


MSRP = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"


def test_msrp_with_byte_order_mark_and_quotes(tmp_path: Path):
    text = f'\ufeff{MSRP}\r\n1\t10\t11\tHe said "a.\t"b" she said.\r\n0\t12\t13\tc\td\r\n'
    write_file(tmp_path / "train.tsv", text)
    write_file(tmp_path / "val.tsv", f"{MSRP}\r\n2\t1\t2\tx\ty\r\n1\t1\t2\te\tf\r\n")
    readings = read_like("msrp", tmp_path, splits={"train.tsv": "train", "val.tsv": "train"})
    assert rows(readings) == [
        ("paraphrase.msrp", "train", 'He said "a.', '"b" she said.', 1),
        ("paraphrase.msrp", "train", "c", "d", 0),
        ("paraphrase.msrp", "train", "e", "f", 1),
    ]
    assert bad_rows(readings) == [("val.tsv", 2)]


def test_sst(tmp_path: Path):
    write_file(tmp_path / "sentiment-dev", "it 's charming . \t1\nbleak \t0\nlost\n")
    readings = read_like("sst", tmp_path, splits={"sentiment-dev": "dev"})
    assert rows(readings) == [("sst", "dev", "it 's charming . ", 1), ("sst", "dev", "bleak ", 0)]
    assert bad_rows(readings) == [("sentiment-dev", 3)]


def test_wikiqa_with_questions_without_an_answer(tmp_path: Path):
    write_file(tmp_path / "dev.txt", "q one\ta\t0\nq one\tb\t1\nq two\tc\t0\nq two\td\t7\nq two\te\n")
    readings = read_like("wikiqa", tmp_path, splits={"dev.txt": "dev"})
    assert rows(readings) == [
        ("qa.wikiqa", "dev", 0, "q one", "a", 0),
        ("qa.wikiqa", "dev", 0, "q one", "b", 1),
        ("qa.wikiqa", "dev", 1, "q two", "c", 0),
    ]
    assert bad_rows(readings) == [("dev.txt", 4), ("dev.txt", 5)]


def trecqa_element(number: str, question: str, *candidates: tuple[str, str]) -> str:
    """Return a <QApairs> with a question and its candidates, given as (tag, tokens)."""

    def block(tag: str, tokens: str) -> str:
        return f"<{tag}>\n{tokens}\nNN\tVB\n2\t0\n</{tag}>\n"

    blocks = "".join(block(*candidate) for candidate in candidates)
    return f"<QApairs id='{number}'>\n{block('question', question)}{blocks}</QApairs>\n"


BOTH_LABELS = trecqa_element("1", "Who\tis\t?", ("positive", "R&D\t<b>"), ("negative", "He\t."), ("negative", "She"))
ONE_LABEL = trecqa_element("2", "What\t?", ("positive", "It"))
NO_CANDIDATE = trecqa_element("3", "When\t?")
NEGATIVE_FIRST = trecqa_element("4.1", "Why\t?", ("negative", "So"), ("positive", "Thus"))


def test_trecqa_train(tmp_path: Path):
    write_file(tmp_path / "TRAIN.xml", ONE_LABEL + NO_CANDIDATE + BOTH_LABELS)
    readings = read_files("trecqa", tmp_path, splits={"TRAIN.xml": "train"})
    assert rows(readings) == [
        ("qa.qasent", "train", 0, "What ?", "It", 1),
        ("qa.qasent", "train", 2, "Who is ?", "R&D <b>", 1),
        ("qa.qasent", "train", 2, "Who is ?", "He .", 0),
        ("qa.qasent", "train", 2, "Who is ?", "She", 0),
    ]


@pytest.mark.parametrize("split", ["dev", "test"])
def test_trecqa_dev_and_test(tmp_path: Path, split: str):
    write_file(tmp_path / "a.xml", BOTH_LABELS + ONE_LABEL + NO_CANDIDATE + NEGATIVE_FIRST)
    readings = read_files("trecqa", tmp_path, splits={"a.xml": split})
    assert [(row[2], row[-1]) for row in rows(readings)] == [(0, 1), (0, 0), (0, 0), (3, 0), (3, 1)]


def test_trecqa_candidates_without_usable_tokens(tmp_path: Path):
    element = trecqa_element("5", "Where\t?", ("positive", "here"), ("negative", "gone"))
    without_tokens = element.replace("gone\nNN\tVB\n2\t0\n", "")
    write_file(tmp_path / "a.xml", BOTH_LABELS.encode().replace(b"She", b"Sh\xff") + without_tokens.encode())
    readings = read_files("trecqa", tmp_path, splits={"a.xml": "train"})
    assert [row[-2] for row in rows(readings)] == ["R&D <b>", "He .", "here"]
    assert bad_rows(readings) == [("a.xml", 18), ("a.xml", 35)]


UNBALANCED = [BOTH_LABELS + ONE_LABEL[:-40], BOTH_LABELS.replace("<QApairs id='1'>\n", ""), BOTH_LABELS[:-12]]


@pytest.mark.parametrize("text", [*UNBALANCED, f"{BOTH_LABELS}</positive>\n<positive>\n"])
def test_trecqa_with_unbalanced_tags(tmp_path: Path, text: str):
    write_file(tmp_path / "a.xml", text)
    with pytest.raises(DataError, match=r"a\.xml: a tag is not closed.*remove it"):
        read_files("trecqa", tmp_path, splits={"a.xml": "test"})


def test_trecqa_candidate_before_its_question(tmp_path: Path):
    opening, candidates = BOTH_LABELS.split("<positive>", 1)
    opening, question = opening.split("\n", 1)
    candidates = candidates.removesuffix("</QApairs>\n")
    write_file(tmp_path / "a.xml", f"{opening}\n<positive>{candidates}{question}</QApairs>\n")
    with pytest.raises(DataError, match=r"a\.xml: a candidate precedes its question; remove it"):
        read_files("trecqa", tmp_path, splits={"a.xml": "test"})


def test_trecqa_with_two_questions_in_one_element_and_none_in_the_next(tmp_path: Path):
    _, question, candidates = NEGATIVE_FIRST.partition("<question>\nWhy\t?\nNN\tVB\n2\t0\n</question>\n")
    two_questions = BOTH_LABELS.replace("</QApairs>", f"{question}</QApairs>")
    write_file(tmp_path / "a.xml", f"{two_questions}<QApairs id='4.1'>\n{candidates}")
    with pytest.raises(DataError, match=r"a\.xml: a candidate precedes its question; remove it"):
        read_files("trecqa", tmp_path, splits={"a.xml": "train"})
    write_file(tmp_path / "a.xml", f"{two_questions}<QApairs id='4.1'>\n</QApairs>\n")
    with pytest.raises(DataError, match=r"a\.xml: a tag .* or a <QApairs> does not contain one question; remove it"):
        read_files("trecqa", tmp_path, splits={"a.xml": "train"})


def scored(name: str, folder: Path) -> list[tuple]:
    """Return set, split, texts and score of the rows of a source."""
    readings = list(read(source(name), folder))
    assert bad_rows(readings) == []
    return rows(readings)


def test_sts_2013_without_the_sentences_of_smt(tmp_path: Path):
    members = {"STS.input.FNWN.txt": "a\tb\n", "STS.gs.FNWN.txt": "1\n", "STS.gs.SMT.txt": "2\n"}
    write_archive(tmp_path / "STS2013-en-test.zip", members, "zip")
    assert scored("sts2013-official", tmp_path) == [("sts.2013.FNWN", "test", "a", "b", 1.0)]


def test_smt_as_the_ldc_delivers_it(tmp_path: Path):
    write_file(tmp_path / "STS.input.SMT.txt", "a b\tc\nd\te\n")
    write_file(tmp_path / "STS.gs.SMT.txt", "4.444\n0\n")
    expected = [("sts.2013.SMT", "test", "a b", "c", 4.444), ("sts.2013.SMT", "test", "d", "e", 0.0)]
    assert scored("sts2013-smt", tmp_path) == expected
    write_file(tmp_path / "STS.gs.SMT.txt", "4.444\n")
    with pytest.raises(DataError, match=r"SMT\.txt has 2 lines and .*SMT\.txt has 1"):
        scored("sts2013-smt", tmp_path)


def test_sts_2016_with_other_names_and_origins(tmp_path: Path):
    members = {
        "sts2016-english-with-gs-v1.0/STS2016.input.answer-answer.txt": "a\tb\tforum\tforum\nc\td\tx\ty\n",
        "sts2016-english-with-gs-v1.0/STS2016.gs.answer-answer.txt": "\n2\n",
    }
    write_archive(tmp_path / "STS2016-en-test.zip", members, "zip")
    assert scored("sts2016-official", tmp_path) == [("sts.2016.answer-answer", "test", "c", "d", 2.0)]


def test_sts_benchmark_with_quotes_and_origins(tmp_path: Path):
    line = 'main-news\theadlines\t2015\t{}\t{}\tHe said "no.\tYes\n'
    members = {
        f"stsbenchmark/sts-{split}.csv": line.format("0001", score)
        for split, score in (("train", "5.000"), ("dev", "0"))
    }
    members["stsbenchmark/sts-test.csv"] = line.format("2", "3.2").rstrip() + "\thttp://a\thttp://b\n"
    write_archive(tmp_path / "Stsbenchmark.tar.gz", members, "gztar")
    assert scored("stsbenchmark", tmp_path) == [
        ("stsbenchmark", "train", 'He said "no.', "Yes", 5.0),
        ("stsbenchmark", "dev", 'He said "no.', "Yes", 0.0),
        ("stsbenchmark", "test", 'He said "no.', "Yes", 3.2),
    ]


SICK_ARCHIVE = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tentailment_BA"
    "\tsentence_A_original\tsentence_B_original\tsentence_A_dataset\tsentence_B_dataset\tSemEval_set\r\n"
)


def test_sick_with_its_splits_in_the_last_column(tmp_path: Path):
    rest = "A_neutral_B\tB_neutral_A\to\to\tFLICKR\tFLICKR"
    text = SICK_ARCHIVE + f"1\ta\tb\tNEUTRAL\t4.5\t{rest}\tTRAIN\r\n2\tc\td\tENTAILMENT\t5\t{rest}\tTEST\r\n"
    write_archive(tmp_path / "SICK.zip", {"SICK.txt": text, "readme.txt": "x"}, "zip")
    assert scored("sick-official", tmp_path) == [
        ("sick.relatedness", "train", "a", "b", 4.5),
        ("sick.relatedness", "test", "c", "d", 5.0),
        ("sick.entailment", "train", "a", "b", 1),
        ("sick.entailment", "test", "c", "d", 2),
    ]


WIKIQA = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\r\n"


def test_questions_of_wikiqa_by_id(tmp_path: Path):
    lines = 'Q1\twho\tD1\tT\tD1-0\ta\t0\r\nQ1\twho\tD1\tT\tD1-1\t"b\t1\r\nQ2\twho\tD2\tT\tD2-0\tc\t0\r\n'
    members = {f"WikiQACorpus/WikiQA-{split}.tsv": WIKIQA + lines for split in ("train", "dev", "test")}
    write_archive(tmp_path / "WikiQACorpus.zip", members, "zip")
    read_rows = scored("wikiqa-official", tmp_path)
    assert read_rows[:3] == [
        ("qa.wikiqa", "train", 0, "who", "a", 0),
        ("qa.wikiqa", "train", 0, "who", '"b', 1),
        ("qa.wikiqa", "train", 1, "who", "c", 0),  # the same text, another question
    ]
    assert [row[1] for row in read_rows[::3]] == ["train", "dev", "test"]


def test_qasent_train_all(tmp_path: Path):
    both = trecqa_element("1", "who\t& <x", ("positive", "a\tb"), ("negative", "c"))
    train = both + trecqa_element("2", "who", ("negative", "d"))
    members = {
        "r/train2393.cleanup.xml.gz": gzip.compress(train.encode()),
        "r/dev-less-than-40.manual-edit.xml": (both + trecqa_element("3", "who", ("positive", "e"))).encode(),
        "r/test-less-than-40.manual-edit.xml": both.encode(),
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    path = tmp_path / "jacana-qa-naacl2013-data-results.tar.bz2"
    path.write_bytes(bz2.compress(buffer.getvalue()))
    splits = [row[1] for row in scored("trecqa-all", tmp_path)]
    assert splits == ["train"] * 3 + ["dev"] * 2 + ["test"] * 2  # only train has one-sided questions
    assert scored("trecqa-all", tmp_path)[0] == ("qa.qasent", "train", 0, "who & <x", "a b", 1)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"tar\.bz2: damaged or truncated"):
        scored("trecqa-all", tmp_path)


def test_annotated_ppdb_of_both_releases(tmp_path: Path):
    members = {"c/annotated-ppdb-dev": "a b\tc\t1.5\n", "c/annotated-ppdb-test": "d\te\t5\n", "c/x.pickle": b"\x80"}
    write_archive(tmp_path / "charagram-demo.zip", members, "zip")
    write_file(tmp_path / "ppdb_dev.txt", "a b ||| c ||| 1.5\n")
    write_file(tmp_path / "ppdb_test.txt", "d ||| e ||| 5\n")
    expected = [("dev", "a b", "c", 1.5), ("test", "d", "e", 5.0)]
    assert [row[1:] for row in scored("annotated-ppdb", tmp_path)] == expected
    assert [row[1:] for row in scored("annotated-ppdb-original", tmp_path)] == expected
