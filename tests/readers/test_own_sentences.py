"""Single sentences of the user: lines of text, or a column of a table."""

import gzip

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers import own_tables
from paraphrastic.readers.own_data import check_files
from paraphrastic.sources.catalogue import corpus, suite
from paraphrastic.sources.own_files import OwnFile
from tests.readers.test_own_data import file_of, pairs_of, write_columns


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_single_sentences_in_lines(tmp_path, ending):
    text = b"A dog runs.\n\na DOG runs\nIt rains.\r\n\xff\nTwo men, talking\n"
    (tmp_path / f"mine.txt{ending}").write_bytes(gzip.compress(text) if ending else text)
    (source,) = corpus(f"{tmp_path}/mine.txt{ending}")
    assert (source.name, source.single, source.pairs) == ("own.mine", True, True)
    check_files([source], limits_scores=False)
    rows = [("A dog runs.", "It rains.", 0), ("Two men, talking", "A dog runs.", 1)]
    assert pairs_of(source.options["own"]) == (rows, [(5, "not UTF-8")])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines_of_sentences(tmp_path, end):
    text = end.encode().join([b"A dog runs.", b"", "It\u2028rains.".encode(), b"\xff", b""])
    (path := tmp_path / "mine.txt").write_bytes(text)
    assert pairs_of(OwnFile(path=str(path))) == ([("A dog runs.", "It\u2028rains.", 0)], [(4, "not UTF-8")])


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ""])
def test_single_sentences_in_a_column(tmp_path, ending):
    path = write_columns(tmp_path, ending, {"body": ["a", "b", " ", "c", "d"], "score": ["1", "2", "3", "4", "5"]})
    own = OwnFile(path=str(path), columns={"text": "body"})
    assert own.single
    assert pairs_of(own) == ([("a", "b", 0), ("c", "d", 1)], [])


def test_parts_of_single_sentences(tmp_path, monkeypatch):
    monkeypatch.setattr(own_tables, "PART", 3)
    rows, _ = pairs_of(file_of(tmp_path, "\n".join("abcdefg"), "mine.txt"))
    assert [row[:2] for row in rows] == [("a", "b"), ("c", "a"), ("d", "e"), ("f", "d"), ("g", "g")]
    assert len({group for *_, group in rows}) == len(rows)


def test_sentences_of_other_parts_are_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(own_tables, "PART", 3)
    rows, _ = pairs_of(file_of(tmp_path, "a dog\nb\nc\nA dog!\nb\nd\nc\nC", "mine.txt"))
    assert [row[:2] for row in rows] == [("a dog", "b"), ("c", "a dog"), ("d", "d")]


def test_single_sentences_that_are_refused(tmp_path):
    lines = file_of(tmp_path, "a\nb\n", "mine.txt")
    with pytest.raises(DataError, match=r"mine\.txt: has single sentences; an evaluation set needs"):
        check_files(suite(lines.path).sources)
    with pytest.raises(DataError, match=r"mine\.txt: has no column `score`; empty tokenize\.min_score"):
        pairs_of(lines, min_score=1.0)
    with pytest.raises(DataError, match=r"mine\.txt: not one usable row"):
        pairs_of(file_of(tmp_path, "\n", "mine.txt"))
    table = file_of(tmp_path, "body\na\n")
    remedy = (
        r"rename them, or name both with `{path: …, columns: \[A, B\]}`; single sentences with `columns: {text: A}`$"
    )
    with pytest.raises(DataError, match=rf"no columns text1/text2.*; {remedy}"):
        pairs_of(table)
    with pytest.raises(DataError, match=r"no column boddy for `text`; the columns are body"):
        pairs_of(OwnFile(path=table.path, columns={"text": "boddy"}))
    with pytest.raises(DataError, match=r"has single sentences; name no column beside `text`"):
        pairs_of(OwnFile(path=table.path, columns={"text": "body", "label": "other"}))
    with pytest.raises(DataError, match=r"has single sentences; name no column beside `text`, and no `positive`$"):
        pairs_of(OwnFile(path=table.path, columns={"text": "body"}, positive=["yes"]))
