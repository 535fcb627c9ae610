"""Files of published numbers: their format, and the errors of damaged ones."""

import re

import pandas as pd
import pytest

from paraphrastic.analysis.published import papers, published, read_published, value
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.sources.catalogue import catalogue

HEADER = "paper,table,row,column,value\n"
LINE = "acl2017,T1,avg ppdb,mean,67.7\n"
SUFFIX = r"(\.(accuracy|f1|map|mrr|mse|pearson|spearman))?(/(train|dev|test))?$"
YEARS = {"sts.2012", "sts.2013", "sts.2014", "sts.2015"}


def refuse(folder, content: str | bytes) -> str:
    """Return the message that refuses a file acl2017.csv with this content."""
    path = folder / "acl2017.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as error:
        read_published(path)
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(str(path))


def write(folder, lines: str):
    path = folder / "acl2017.csv"
    path.write_text(HEADER + lines, encoding="utf-8")
    return list(read_published(path).values())


class TestReading:
    def test_fields_of_a_line(self, tmp_path):
        (line,) = write(tmp_path, LINE)
        assert (line.paper, line.table, line.row, line.column) == ("acl2017", "T1", "avg ppdb", "mean")
        assert line.value == "67.7"
        assert line.key == ("T1", "avg ppdb", "mean")

    def test_a_quoted_field_keeps_its_commas(self, tmp_path):
        (line,) = write(tmp_path, 'acl2017,T7,2,sentence,"said, adding: ""living"""\n')
        assert line.value == 'said, adding: "living"'

    @pytest.mark.parametrize(
        ("text", "number"),
        [("68.70", 68.7), ("52", 52), ("-0.45", -0.45), ("12,108", 12108), ("3,033,753", 3033753), ("1,234.5", 1234.5)],
    )
    def test_numbers(self, tmp_path, text, number):
        (line,) = write(tmp_path, f'acl2017,T1,avg,mean,"{text}"\n')
        assert (line.value, line.number) == (text, number)

    @pytest.mark.parametrize("text", ["vehicles", "d_aw", "12,10", "1e3", "nan", "inf", "68.", "50%", "-"])
    def test_texts_have_no_number(self, tmp_path, text):
        (line,) = write(tmp_path, f'acl2017,T1,avg,mean,"{text}"\n')
        assert line.number is None

    def test_a_file_without_lines_is_empty(self, tmp_path):
        assert write(tmp_path, "") == []


class TestDamagedFile:
    def test_wrong_header(self, tmp_path):
        message = refuse(tmp_path, LINE)
        assert message == ", line 1: not the header; write paper,table,row,column,value"

    def test_empty_file(self, tmp_path):
        assert "line 1: not the header" in refuse(tmp_path, "")

    @pytest.mark.parametrize("line", ["acl2017,T1,avg,67.7\n", "acl2017,T1,avg,mean,12,108\n", "\n"])
    def test_a_line_with_another_number_of_fields(self, tmp_path, line):
        message = refuse(tmp_path, HEADER + LINE + line)
        assert re.match(r", line 3: [046] fields; write paper,table,row,column,value, and quotes", message)

    @pytest.mark.parametrize("line", ["acl2017,T1,,mean,67.7\n", "acl2017,T1,avg,mean,\n", "acl2017,T1,avg ,mean,1\n"])
    def test_a_field_that_is_empty_or_has_spaces_around_it(self, tmp_path, line):
        message = refuse(tmp_path, HEADER + line)
        assert re.match(r", line 2: (row|value) is '.*'; write a text without spaces around", message)

    def test_the_same_place_twice(self, tmp_path):
        message = refuse(tmp_path, HEADER + LINE + LINE.replace("67.7", "67.8"))
        assert message == ", line 3: a second value for T1, avg ppdb, mean; remove one of them"

    def test_a_line_of_another_paper(self, tmp_path):
        message = refuse(tmp_path, HEADER + LINE.replace("acl2017", "iclr2016"))
        assert message.startswith(", line 2: paper is 'iclr2016'; write 'acl2017', or move the line")

    def test_another_encoding(self, tmp_path):
        message = refuse(tmp_path, (HEADER + LINE + "acl2017,T1,Şutskever,mean,1\n").encode("iso8859_9"))
        assert message == ", line 3: not UTF-8; convert the file to UTF-8"

    def test_a_quote_that_is_not_closed(self, tmp_path):
        message = refuse(tmp_path, HEADER + LINE + 'acl2017,T1,"avg,mean,1\n')
        assert re.match(r", line 3: not CSV \(.*\); correct its quotes", message)


class TestPapers:
    def test_an_unknown_paper_is_refused(self):
        for read in (published, lambda paper: value(paper, "T1", "avg", "mean")):
            with pytest.raises(ParameterError, match=r"unknown paper 'acl2016': did you mean '.*'\? known are acl2017"):
                read("acl2016")

    def test_table_of_a_paper(self):
        table = published("acl2017")
        assert table.columns.tolist() == ["paper", "table", "row", "column", "value", "number"]
        assert table.iloc[0].tolist() == ["acl2017", "T1", "avg ppdb", "mean", "67.7", 67.7]
        assert pd.api.types.is_float_dtype(table["number"])
        assert table.loc[table["table"] == "T9", "number"].isna().all()

    def test_changes_to_a_table_do_not_reach_the_next_reader(self):
        table = published("acl2017")
        table.loc[0, "value"] = "0"
        assert published("acl2017").loc[0, "value"] == "67.7"

    def test_value(self):
        assert value("charagram2016", "T2", "charagram (large)", "words.simlex") == 70.6
        assert value("charagram2016", "T2", "charagram (large)", "words.wordsim") is None
        assert value("charagram2016", "T9", "charagram huge", "1") is None

    @pytest.mark.parametrize("paper", papers())
    def test_names_of_tables(self, paper):
        assert published(paper)["table"].str.fullmatch(r"[TF]\d+|S(\d+|[A-Z])(\.\d+)*").all()

    @pytest.mark.parametrize("paper", papers())
    def test_columns_that_begin_like_a_set_name_one(self, paper):
        """A misspelled set would never meet the results of this project."""
        sets = {key.split("/")[0] for source in catalogue().sources.values() for key in source.rows} | YEARS
        columns = published(paper)["column"].str.replace(SUFFIX, "", regex=True)
        assert set(columns[columns.str.match(r"(sts|sick|words|paraphrase|qa|tags)\.")]) <= sets
