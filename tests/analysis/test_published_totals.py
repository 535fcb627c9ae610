"""The published tables are whole, their means are those of their sets, and their sizes those of the catalogue.

Numbers are exact. A printed mean of rounded numbers differs from their mean by at most half a unit of its last digit
and half a unit of theirs. The few that differ more are misprints or notes of the papers, which are named here.
"""

from decimal import Decimal

import pandas as pd
import pytest

from paraphrastic.analysis.bins import LENGTHS, UNKNOWN_WORDS
from paraphrastic.analysis.published import published
from paraphrastic.sources.catalogue import catalogue, suite

YEARS = {"sts.2012": 5, "sts.2013": 4, "sts.2014": 6, "sts.2015": 5}  # number of sets
LINES = {  # of each table; those of acl2017 that are missing are named in published.py
    "iclr2016": "T1 12 T2 338 T3 30 T4 104 T5 21 T6 11 T7 28 T8 66 "
    "S1 5 S4.1 3 S4.2.1 1 S4.2.2 3 S4.3 3 S4.4 4 S5 8 S5.1 3 S5.2.1 3 S6 7",
    "charagram2016": "T1 14 T2 7 T3 49 T4 4 T5 45 T6 15 T7 30 T8 30 T9 106 T10 54 T11 189 "
    "S4.1.3 6 S4.1.4 9 S4.2 1 S4.3 1 S4.4 5 S5.1 2 S5.2 3 SB 1",
    "acl2017": "T1 6 T2 24 T3 14 T6 15 T7 5 T8 12 T9 40 T10 5 S4.1.2 9 S4.1.3 1 S4.3 6 S5.2 1",
    "ldc2016": "T1 5 T2 12 T3 8 T4 8 T5 14 S4.1 6",
}
ROWS = {name: rows for source in catalogue().sources.values() for name, rows in source.rows.items()}


def table(paper: str, name: str) -> pd.DataFrame:
    """Return a table of exact numbers: a row for each printed column, a column for each model."""
    lines = published(paper).query("table == @name")
    exact = lines["value"].str.replace(",", "").map(Decimal)
    return lines.assign(value=exact).pivot(index="column", columns="row", values="value")


def mean(numbers) -> Decimal:
    return sum(numbers) / len(numbers)


@pytest.mark.parametrize("paper", LINES)
def test_number_of_lines_of_each_table(paper):
    words = LINES[paper].split()
    assert published(paper)["table"].value_counts().to_dict() == dict(
        zip(words[::2], map(int, words[1::2]), strict=True)
    )


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize(("paper", "name"), [("iclr2016", "T2"), ("iclr2016", "T4"), ("charagram2016", "T11")])
def test_means_of_the_sets_of_a_year(paper, name, year):
    numbers = table(paper, name)
    if name == "T2":
        numbers.loc["sts.2012.OnWN", "50%"] = Decimal("60.8")  # printed without its decimal point; Table 4 has it
    sets = [column for column in numbers.index if column.startswith(f"{year}.")]
    assert len(sets) == YEARS[year]
    for model in numbers:
        assert abs(mean(numbers.loc[sets, model]) - numbers.loc[year, model]) <= Decimal("0.1"), model


def test_means_of_all_sets_and_of_both_tasks():
    sets, tasks = table("charagram2016", "T11"), table("acl2017", "T6")
    single = sets.drop(index=[*YEARS, "mean"])
    assert len(single) == 22
    for model in sets:
        assert abs(mean(single[model]) - sets.loc["mean", model]) <= Decimal("0.05"), model
    for model in tasks:
        assert abs(mean(tasks.loc[["sts", "sick.relatedness"], model]) - tasks.loc["mean", model]) <= Decimal("0.05")


def test_tables_of_several_papers_repeat_the_shared_tasks():
    systems, full = ["50%", "75%", "max"], table("charagram2016", "T11")
    short = table("charagram2016", "T3")
    assert (full.loc[short.index, short.columns] == short).all(axis=None)
    for name, misprints in (("T2", [("sts.2012.OnWN", "50%")]), ("T4", [])):
        here = table("iclr2016", name)[systems]
        different = (here != full.loc[here.index, systems]).stack()
        assert different[different].index.tolist() == misprints


def test_pairs_of_the_similarity_sets():
    sizes = [rows for name, rows in ROWS.items() if name.startswith(tuple(YEARS)) and name.endswith("/test")]
    by_length, by_unknown = table("charagram2016", "T7")["pairs"], table("charagram2016", "T6")["pairs"]
    assert (len(sizes), sum(sizes), by_length.sum()) == (20, 12108, 12108)
    assert by_unknown["0"] + by_unknown["≥ 1"] == by_unknown["≥ 0"] == 12108
    for paper, section in (("iclr2016", "S5"), ("charagram2016", "S5.1")):
        assert table(paper, section).loc["pairs", "sts"] == 12108


def test_pairs_of_other_sources():
    sick = {name: count for name, count in table("acl2017", "S4.3").loc["pairs"].items() if name.startswith("sick.")}
    paraphrases = table("ldc2016", "S4.1")[["paraphrase.msrp/train", "paraphrase.msrp/test"]].sum().to_dict()
    assert len(sick) == 3
    assert sick.items() | paraphrases.items() <= ROWS.items()
    assert table("acl2017", "S4.1.2").loc["pairs", "simpwiki"] == catalogue().sources["simpwiki"].rows["pairs"]
    assert table("iclr2016", "S4.1").loc["pairs", "paraphrase.ppdb"] == ROWS["paraphrase.ppdb/test"]


def test_candidate_answers():
    """The paper trains on all 53,417 pairs of QASent, the suite `open` on the 4,718 judged by hand."""
    pairs = table("ldc2016", "T2").loc["pairs"].to_dict()
    of_papers = {name: count for source in suite("papers").sources for name, count in source.rows.items()}
    small = {name: count for source in suite("open").sources for name, count in source.rows.items()}
    assert pairs.items() <= of_papers.items()
    assert {name: small[name] for name in pairs if small[name] != pairs[name]} == {"qa.qasent/train": 4718}


def test_bins_have_the_names_that_the_analyses_give_them():
    assert set(table("charagram2016", "T6").index) == set(UNKNOWN_WORDS)
    assert set(table("charagram2016", "T7").index) == set(LENGTHS) - {"≥ 10"}  # of iclr2016
