"""Readers of scored pairs, on small files in the format of each source."""

from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from tests.helpers.raw_files import bad_rows, read_files, rows, write_archive, write_file

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


def test_sts_archive_with_licensed_set(tmp_path: Path):
    write_archive(tmp_path / "sts.tgz", STS | {"test/STS.gs.SMT.txt": "3\n"}, "gztar")
    readings = read_files("sts-archive", tmp_path, year="2013", split="test")
    assert {row[0] for row in rows(readings)} == {"sts.2013.MSRpar", "sts.2013.OnWN"}


def test_sts_archive_without_sentences_of_a_set(tmp_path: Path):
    members = {name: data for name, data in STS.items() if name != "test/STS.input.MSRpar.txt"}
    write_archive(tmp_path / "sts.tgz", members, "gztar")
    with pytest.raises(DataError, match=r"sts\.tgz: the archive contains no STS\.input\.MSRpar\.txt"):
        read_files("sts-archive", tmp_path, year="2012", split="test")


def test_sts_archive_without_sets(tmp_path: Path):
    write_archive(tmp_path / "sts.tgz", {"README": "x"}, "gztar")
    with pytest.raises(DataError, match=r"sts\.tgz: the archive contains no STS\.gs\.SET\.txt"):
        read_files("sts-archive", tmp_path, year="2012", split="test")


def test_sts_archive_with_bad_rows_in_both_files(tmp_path: Path):
    texts, gold = b"a\tb\nc\nd\te\nf\tg\nh\ti\xff\nj\tk\n", "1\n2\nx\n6\n3\n4\n"
    write_archive(tmp_path / "sts.tgz", {"STS.input.MSRvid.txt": texts, "STS.gs.MSRvid.txt": gold}, "gztar")
    readings = read_files("sts-archive", tmp_path, year="2012", split="test")
    assert [row[2:] for row in rows(readings)] == [("a", "b", 1.0), ("j", "k", 4.0)]
    lines = {"gs": [3, 4], "input": [2, 5]}
    assert bad_rows(readings) == [(f"sts.tgz!STS.{kind}.MSRvid.txt", n) for kind in lines for n in lines[kind]]


def test_sts_archive_with_files_of_different_length(tmp_path: Path):
    write_archive(tmp_path / "sts.tgz", {"STS.input.X.txt": "a\tb\n", "STS.gs.X.txt": "1\n2\n"}, "gztar")
    with pytest.raises(DataError, match=r"STS\.input\.X\.txt has 1 lines and .*STS\.gs\.X\.txt has 2"):
        read_files("sts-archive", tmp_path, year="2012", split="test")


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
    readings = read_files("word-pairs", tmp_path, sets={"WS.txt": "words.wordsim"})
    assert rows(readings) == [
        ("words.wordsim", "test", "Jerusalem", "Israel", 8.46),
        ("words.wordsim", "test", "money", "cash", 9.15),
        ("words.wordsim", "test", "money", "cash", 9.08),
    ]
    assert bad_rows(readings) == [("WS.txt", 4)]


def test_ppdb_judgements(tmp_path: Path):
    text = "4.0\t[NP]\tthis video\tthe movie\t3.0,5.0\n0.5\t[NN]\ta\tb\t1.0\n2.2\t[NN]\teditor\thead\t1.0\n"
    write_file(tmp_path / "ppdb-sample.tsv", text)
    readings = read_files("ppdb-judgements", tmp_path)
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
    assert (
        bad_rows([scored])
        == bad_rows([decided])
        == [("pit.zip!test.data", 5), ("pit.zip!test.label", 4), ("pit.zip!test.label", 6)]
    )


def test_pit2015_without_labels(tmp_path: Path):
    write_archive(tmp_path / "pit.zip", {"data/test.data": "1\tT\ta\tb\n"}, "zip")
    with pytest.raises(DataError, match=r"pit\.zip: the archive contains no test\.label"):
        read_files("pit2015", tmp_path)


@pytest.mark.parametrize(
    ("reader", "name", "options"),
    [
        ("sts-tsv", "a.tsv", {"year": "2014", "split": "test"}),
        ("ppdb-judgements", "a.tsv", {}),
        ("word-pairs", "a", {"sets": {"a": "words.simlex"}}),
    ],
)
def test_file_of_another_format(tmp_path: Path, reader: str, name: str, options: dict):
    write_file(tmp_path / name, "<html>\n<p>Not found</p>\n</html>\n")
    with pytest.raises(DataError, match=rf"/{name}, line 1: .*: not one usable row; is it the right file"):
        read_files(reader, tmp_path, **options)
