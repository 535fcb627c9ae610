"""Files of published numbers: their format, and what is read of them."""

import pandas as pd
import pytest

from paraphrastic.analysis import published as module
from paraphrastic.analysis.published import papers, published, value
from paraphrastic.base.errors import ParameterError
from paraphrastic.sources.catalogue import catalogue

HEADER = ["paper", "table", "row", "column", "value"]
SUFFIX = r"(\.(accuracy|f1|map|mrr|mse|pearson|spearman))?(/(train|dev|test))?$"
YEARS = {"sts.2012", "sts.2013", "sts.2014", "sts.2015"}


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads the value and the number of a line."""

    def read(field):
        (tmp_path / "acl2017.csv").write_text(f"{','.join(HEADER)}\nacl2017,T1,avg,mean,{field}\n", encoding="utf-8")
        return published("acl2017").loc[0, ["value", "number"]].tolist()

    monkeypatch.setattr(module, "_FOLDER", tmp_path)
    return read


def test_a_quoted_field_keeps_its_commas(read):
    assert read('"said, adding: ""living"""')[0] == 'said, adding: "living"'


@pytest.mark.parametrize(
    ("text", "number"),
    [("68.70", 68.7), ("52", 52), ("-0.45", -0.45), ("12,108", 12108), ("3,033,753", 3033753), ("1,234.5", 1234.5)],
)
def test_numbers(read, text, number):
    assert read(f'"{text}"') == [text, number]


@pytest.mark.parametrize("text", ["vehicles", "d_aw", "12,10", "1e3", "nan", "inf", "68.", "50%", "-"])
def test_texts_have_no_number(read, text):
    assert read(f'"{text}"') == [text, pytest.approx(float("nan"), nan_ok=True)]


@pytest.mark.parametrize("paper", papers())
def test_format_of_a_file(paper):
    lines = published(paper)
    assert lines.columns.tolist() == [*HEADER, "number"]
    assert (lines["paper"] == paper).all()
    assert lines[HEADER].map(lambda field: field == field.strip() != "").all(axis=None)
    assert not lines.duplicated(["table", "row", "column"]).any()


def test_an_unknown_paper_is_refused():
    for read in (published, lambda paper: value(paper, "T1", "avg", "mean")):
        with pytest.raises(ParameterError, match=r"unknown paper 'acl2016': did you mean '.*'\? known are acl2017"):
            read("acl2016")


def test_table_of_a_paper():
    table = published("acl2017")
    assert table.columns.tolist() == ["paper", "table", "row", "column", "value", "number"]
    assert table.iloc[0].tolist() == ["acl2017", "T1", "avg ppdb", "mean", "67.7", 67.7]
    assert pd.api.types.is_float_dtype(table["number"])
    assert table.loc[table["table"] == "T9", "number"].isna().all()


def test_changes_to_a_table_do_not_reach_the_next_reader():
    table = published("acl2017")
    table.loc[0, "value"] = "0"
    assert published("acl2017").loc[0, "value"] == "67.7"


def test_value():
    assert value("charagram2016", "T2", "charagram (large)", "words.simlex") == 70.6
    assert value("charagram2016", "T2", "charagram (large)", "words.wordsim") is None
    assert value("charagram2016", "T9", "charagram huge", "1") is None


@pytest.mark.parametrize("paper", papers())
def test_names_of_tables(paper):
    assert published(paper)["table"].str.fullmatch(r"[TF]\d+|S(\d+|[A-Z])(\.\d+)*").all()


@pytest.mark.parametrize("paper", papers())
def test_columns_that_begin_like_a_set_name_one(paper):
    """A misspelled set would never meet the results of this project."""
    sets = {key.split("/")[0] for source in catalogue().sources.values() for key in source.rows} | YEARS
    columns = published(paper)["column"].str.replace(SUFFIX, "", regex=True)
    assert set(columns[columns.str.match(r"(sts|sick|words|paraphrase|qa|tags)\.")]) <= sets
