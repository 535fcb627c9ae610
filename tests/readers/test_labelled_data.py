"""Readers of labelled and ranked data, on small files in the format of each source."""

from pathlib import Path

import pytest

from paraphrastic.base.errors import DataError
from tests.helpers.raw_files import bad_rows, read_files, rows, write_file

MSRP = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"


def test_msrp_with_byte_order_mark_and_quotes(tmp_path: Path):
    text = f'\ufeff{MSRP}\r\n1\t10\t11\tHe said "a.\t"b" she said.\r\n0\t12\t13\tc\td\r\n'
    write_file(tmp_path / "train.tsv", text)
    write_file(tmp_path / "val.tsv", f"{MSRP}\r\n2\t1\t2\tx\ty\r\n1\t1\t2\te\tf\r\n")
    readings = read_files("msrp", tmp_path, splits={"train.tsv": "train", "val.tsv": "train"})
    assert rows(readings) == [
        ("paraphrase.msrp", "train", 'He said "a.', '"b" she said.', 1),
        ("paraphrase.msrp", "train", "c", "d", 0),
        ("paraphrase.msrp", "train", "e", "f", 1),
    ]
    assert bad_rows(readings) == [("val.tsv", 2)]


def test_msrp_without_header(tmp_path: Path):
    write_file(tmp_path / "a", "1\tb\tc\t4\tNEUTRAL\n")
    with pytest.raises(DataError, match=r"/a: line 1 is not the header .*remove it and run `dvc repro`$"):
        read_files("msrp", tmp_path, splits={"a": "train"})


def test_sst(tmp_path: Path):
    write_file(tmp_path / "sentiment-dev", "it 's charming . \t1\nbleak \t0\nlost\n")
    readings = read_files("sst", tmp_path, splits={"sentiment-dev": "dev"})
    assert rows(readings) == [("sst", "dev", "it 's charming . ", 1), ("sst", "dev", "bleak ", 0)]
    assert bad_rows(readings) == [("sentiment-dev", 3)]


def test_wikiqa_with_questions_without_an_answer(tmp_path: Path):
    write_file(tmp_path / "dev.txt", "q one\ta\t0\nq one\tb\t1\nq two\tc\t0\nq two\td\t7\nq two\te\n")
    readings = read_files("wikiqa", tmp_path, splits={"dev.txt": "dev"})
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


@pytest.mark.parametrize(
    "text", [BOTH_LABELS + ONE_LABEL[:-40], BOTH_LABELS.replace("<QApairs id='1'>\n", ""), BOTH_LABELS[:-12]]
)
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


def test_trecqa_with_a_tag_on_the_last_line(tmp_path: Path):
    write_file(tmp_path / "a.xml", f"{BOTH_LABELS}</positive>\n<positive>\n")
    with pytest.raises(DataError, match=r"a\.xml: a tag is not closed.*remove it"):
        read_files("trecqa", tmp_path, splits={"a.xml": "train"})


@pytest.mark.parametrize("reader", ["sst", "wikiqa", "trecqa"])
def test_file_of_another_format(tmp_path: Path, reader: str):
    write_file(tmp_path / "a", "<html>\n<p>Not found</p>\n</html>\n")
    with pytest.raises(DataError, match=r"/a(, line 1: .*)?: not one usable row; is it the right file"):
        read_files(reader, tmp_path, splits={"a": "dev"})
