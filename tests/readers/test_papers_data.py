"""Evaluation data in the form of their publishers, with the oddities of each format."""

import bz2
import gzip
import io
import tarfile
from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source
from tests.helpers.raw_files import bad_rows, rows, write_archive, write_file


def scored(name: str, folder: Path) -> list[tuple]:
    """Return set, split, texts and score of the rows of a source."""
    readings = list(read(source(name), folder))
    assert bad_rows(readings) == []
    return rows(readings)


def test_sts_2012_with_a_surprise_set(tmp_path: Path):
    members = {
        "test-gold/STS.input.surprise.OnWN.txt": 'a "quote\tb\n',
        "test-gold/STS.gs.surprise.OnWN.txt": "4.75\n",
        "test-gold/STS.gs.ALL.txt": "4.75\n",
        "__MACOSX/test-gold/._STS.gs.ALL.txt": b"\x00\x05",
    }
    write_archive(tmp_path / "STS2012-en-test.zip", members, "zip")
    assert scored("sts2012-official", tmp_path) == [("sts.2012.OnWN", "test", 'a "quote', "b", 4.75)]


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


def test_sts_2015_with_pairs_that_are_not_scored(tmp_path: Path):
    members = {"t/STS.input.belief.txt": "a\tb\nc\td\ne\tf\n", "t/STS.gs.belief.txt": "1.0\n\n5\n"}
    write_archive(tmp_path / "STS2015-en-test.zip", members, "zip")
    assert [row[2:] for row in scored("sts2015-official", tmp_path)] == [("a", "b", 1.0), ("e", "f", 5.0)]


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


SICK = (
    "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tentailment_BA"
    "\tsentence_A_original\tsentence_B_original\tsentence_A_dataset\tsentence_B_dataset\tSemEval_set\r\n"
)


def test_sick_with_its_splits_in_the_last_column(tmp_path: Path):
    rest = "A_neutral_B\tB_neutral_A\to\to\tFLICKR\tFLICKR"
    text = SICK + f"1\ta\tb\tNEUTRAL\t4.5\t{rest}\tTRAIN\r\n2\tc\td\tENTAILMENT\t5\t{rest}\tTEST\r\n"
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


def test_wikiqa_with_a_sentence_of_another_document(tmp_path: Path):
    good, wrong = "Q1\tq\tD1\tT\tD1-0\ta\t0\r\n", "Q1\tq\tD1\tT\tD7-1\tb\t1\r\n"
    members = {f"WikiQA-{split}.tsv": WIKIQA + good + wrong for split in ("train", "dev", "test")}
    write_archive(tmp_path / "WikiQACorpus.zip", members, "zip")
    assert bad_rows(read(source("wikiqa-official"), tmp_path))[0] == ("WikiQACorpus.zip!WikiQA-train.tsv", 3)


def element(number: str, *candidates: tuple[str, str]) -> str:
    """Return a <QApairs> with a question and candidates, given as (tag, tokens)."""
    blocks = "".join(f"<{tag}>\n{tokens}\nNN\tVB\n2\t0\n</{tag}>\n" for tag, tokens in candidates)
    return f"<QApairs id='{number}'>\n<question>\nwho\t& <x\nWP\tX\n</question>\n{blocks}</QApairs>\n"


def test_qasent_train_all(tmp_path: Path):
    both = element("1", ("positive", "a\tb"), ("negative", "c"))
    train = both + element("2", ("negative", "d"))
    members = {
        "r/train2393.cleanup.xml.gz": gzip.compress(train.encode()),
        "r/dev-less-than-40.manual-edit.xml": (both + element("3", ("positive", "e"))).encode(),
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
    counts = [row[1] for row in scored("trecqa-all", tmp_path)]
    assert [counts.count(split) for split in ("train", "dev", "test")] == [
        3,
        2,
        2,
    ]  # only train has one-sided questions
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


POS = r"""

[ Mr./NNP Roe/NNP ]
owes/VBZ 1\/2/CD
[ cent/NN|NNS ]
./. ''/''
[ No/DT ]
</SYM ./.
======================================

[ Headline/NN ]
======================================

(/( See/VB )/) !/.
"""


def wsj(tmp_path: Path, text: str, sections: range) -> Path:
    members = {f"wsj/{section:02}/wsj_{section:02}{file:02}.pos": text for section in sections for file in (0, 1)}
    return write_archive(tmp_path / "wsj-tagged.zip", members, "zip")


def test_tagged_wall_street_journal(tmp_path: Path):
    wsj(tmp_path, POS, range(25))
    train, dev, test = read(source("wsj"), tmp_path)
    assert [row[2:5] for row in rows([dev])][:14] == [
        (0, "Mr.", "NNP"),
        (0, "Roe", "NNP"),
        (0, "owes", "VBZ"),
        (0, "1/2", "CD"),
        (0, "cent", "NN"),
        (0, ".", "."),
        (0, "''", "''"),
        (1, "No", "DT"),
        (1, "<", "SYM"),
        (1, ".", "."),
        (2, "Headline", "NN"),
        (3, "(", "("),
        (3, "See", "VB"),
        (3, ")", ")"),
    ]
    assert [len(set(each.table["sentence"].to_pylist())) for each in (train, dev, test)] == [4 * 36, 4 * 6, 4 * 6]
    assert {each.table["set"][0].as_py() for each in (train, dev, test)} == {"tags.wsj"}


def test_tagged_wall_street_journal_without_a_section(tmp_path: Path):
    wsj(tmp_path, POS, range(24))
    with pytest.raises(DataError, match=r"wsj-tagged\.zip: the archive contains no wsj_24\*\.pos"):
        list(read(source("wsj"), tmp_path))


def test_tagged_word_without_a_tag(tmp_path: Path):
    wsj(tmp_path, POS.replace("owes/VBZ", "owes"), range(25))
    assert ("wsj-tagged.zip!wsj_1900.pos", 4) in bad_rows(read(source("wsj"), tmp_path))
