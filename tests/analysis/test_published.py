"""Files of published numbers: their format, what is read of them, and that tables and sizes are whole."""

from decimal import Decimal
from typing import get_args

import pandas as pd
import pytest

from paraphrastic.analysis import published as module
from paraphrastic.analysis.bins import LENGTHS, UNKNOWN_WORDS
from paraphrastic.analysis.published import parsed, printed, published
from paraphrastic.papers.experiments import PaperName
from paraphrastic.sources.catalogue import catalogue, suite

HEADER = ["paper", "table", "row", "column", "value"]
YEARS = ("sts.2012", "sts.2013", "sts.2014", "sts.2015")
LINES = {  # of each table; those of acl2017 that are missing are named in published.py
    "iclr2016": "T1 12 T2 338 T3 30 T4 104 T5 21 T6 11 T7 28 T8 66 "
    "S1 5 S4.1 3 S4.2.1 1 S4.2.2 3 S4.3 3 S4.4 4 S5 8 S5.1 3 S5.2.1 3 S6 7",
    "charagram2016": "T1 14 T2 7 T3 49 T4 4 T5 45 T6 15 T7 30 T8 30 T9 106 T10 54 T11 189 "
    "S4.1.3 6 S4.1.4 9 S4.2 1 S4.3 1 S4.4 5 S5.1 2 S5.2 3 SB 1",
    "acl2017": "T1 6 T2 24 T3 14 T6 15 T7 5 T8 12 T9 40 T10 5 S4.1.2 9 S4.1.3 1 S4.3 6 S5.2 1",
    "ldc2016": "T1 5 T2 12 T3 8 T4 8 T5 14 S4.1 6",
}
ROWS = {name: rows for source in catalogue().sources.values() for name, rows in source.rows.items()}
SUFFIX = r"(\.(accuracy|f1|map|mrr|mse|pearson|spearman))?(/(train|dev|test))?$"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads the value of a line."""

    def read(field):
        (tmp_path / "acl2017.csv").write_text(f"{','.join(HEADER)}\nacl2017,T1,avg,mean,{field}\n", encoding="utf-8")
        return printed("acl2017", "T1")["avg", "mean"]

    monkeypatch.setattr(module, "_FOLDER", tmp_path)
    return read


def test_a_quoted_field_keeps_its_commas(read):
    assert read('"said, adding: ""living"""') == 'said, adding: "living"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [("68.70", 68.7), ("52", 52), ("-0.45", -0.45), ("12,108", 12108), ("3,033,753", 3033753), ("1,234.5", 1234.5)],
)
def test_numbers(read, text, expected):
    assert read(f'"{text}"') == text
    assert parsed(text) == expected


@pytest.mark.parametrize("text", ["vehicles", "d_aw", "12,10", "1e3", "nan", "inf", "68.", "50%", "-"])
def test_texts_have_no_number(read, text):
    assert read(f'"{text}"') == text
    assert parsed(text) is None


@pytest.mark.parametrize("paper", get_args(PaperName))
def test_format_of_a_file(paper):
    lines = published(paper)
    assert lines.columns.tolist() == HEADER
    assert (lines["paper"] == paper).all()
    assert lines[HEADER].map(lambda field: field == field.strip() != "").all(axis=None)
    assert not lines.duplicated(["table", "row", "column"]).any()
    assert lines["table"].str.fullmatch(r"[TF]\d+|S(\d+|[A-Z])(\.\d+)*").all()


def test_table_of_a_paper():
    table = published("acl2017")
    assert table.iloc[0].tolist() == ["acl2017", "T1", "avg ppdb", "mean", "67.7"]
    assert not any(parsed(value) for value in printed("acl2017", "T9").values())
    assert printed("charagram2016", "T2")["charagram (large)", "words.simlex"] == "70.6"
    assert ("charagram (large)", "words.wordsim") not in printed("charagram2016", "T2")
    assert parsed(printed("charagram2016", "T9")["charagram huge", "1"]) is None


@pytest.mark.parametrize("paper", get_args(PaperName))
def test_columns_that_begin_like_a_set_name_one(paper):
    """A misspelled set would never meet the results of this project."""
    sets = {name.split("/")[0] for name in ROWS} | {*YEARS}
    columns = published(paper)["column"].str.replace(SUFFIX, "", regex=True)
    assert set(columns[columns.str.match(r"(sts|sick|words|paraphrase|qa|tags)\.")]) <= sets


def table(paper: str, name: str) -> pd.DataFrame:
    """Return a table of exact numbers: a row for each printed column, a column for each model."""
    lines = published(paper).query("table == @name")
    exact = lines["value"].str.replace(",", "").map(Decimal)
    return lines.assign(value=exact).pivot(index="column", columns="row", values="value")


@pytest.mark.parametrize("paper", LINES)
def test_number_of_lines_of_each_table(paper):
    words = LINES[paper].split()
    assert published(paper)["table"].value_counts().to_dict() == dict(
        zip(words[::2], map(int, words[1::2]), strict=True)
    )


def test_pairs_of_sets_and_sources():
    sizes = [rows for name, rows in ROWS.items() if name.startswith(YEARS) and name.endswith("/test")]
    by_length, by_unknown = table("charagram2016", "T7")["pairs"], table("charagram2016", "T6")["pairs"]
    assert (len(sizes), sum(sizes), by_length.sum()) == (20, 12108, 12108)
    assert by_unknown["0"] + by_unknown["≥ 1"] == by_unknown["≥ 0"] == 12108
    for paper, section in (("iclr2016", "S5"), ("charagram2016", "S5.1")):
        assert table(paper, section).loc["pairs", "sts"] == 12108
    sick = {name: count for name, count in table("acl2017", "S4.3").loc["pairs"].items() if name.startswith("sick.")}
    paraphrases = table("ldc2016", "S4.1")[["paraphrase.msrp/train", "paraphrase.msrp/test"]].sum().to_dict()
    assert len(sick) == 3
    assert sick.items() | paraphrases.items() <= ROWS.items()
    assert table("acl2017", "S4.1.2").loc["pairs", "simpwiki"] == catalogue().sources["simpwiki"].rows["pairs"]
    assert table("iclr2016", "S4.1").loc["pairs", "paraphrase.ppdb"] == ROWS["paraphrase.ppdb/test"]


def test_candidate_answers():
    """The paper trains on all 53,417 pairs of QASent, the suite `open` on the 4,718 judged by hand."""
    pairs = table("ldc2016", "T2").loc["pairs"].to_dict()
    of_papers, small = (
        {name: count for source in suite(of).sources for name, count in source.rows.items()}
        for of in ("papers", "open")
    )
    assert pairs.items() <= of_papers.items()
    assert {name: small[name] for name in pairs if small[name] != pairs[name]} == {"qa.qasent/train": 4718}
    assert set(table("charagram2016", "T6").index) == set(UNKNOWN_WORDS)
    assert set(table("charagram2016", "T7").index) == set(LENGTHS) - {"≥ 10"}  # of iclr2016
