"""The published numbers of iclr2016 and ldc2016 agree with each other and with the sizes of the catalogue.

Numbers are exact decimals. Rounding bounds the differences: half a unit of the last printed digit of the result, and of
each number that it is computed from. Inconsistencies of the papers are exceptions by name.
"""

from decimal import Decimal

import pandas as pd
import pytest

from paraphrastic.analysis.published import published
from paraphrastic.sources.catalogue import catalogue, suite

YEARS = ("sts.2012", "sts.2013", "sts.2014", "sts.2015")
SYSTEMS = ["50%", "75%", "max"]  # of the shared tasks
LINES = {
    "iclr2016": {
        "T1": 6 * 2,
        "T2": 26 * 13,
        "T3": 3 * 10,
        "T4": 26 * 4,
        "T5": 3 * 7,
        "T6": 11,
        "T7": 7 * 4,
        "T8": 66,
        "S1": 5,
        "S4.1": 3,
        "S4.2.1": 1,
        "S4.2.2": 3,
        "S4.3": 3,
        "S4.4": 4,
        "S5": 8,
        "S5.1": 3,
        "S5.2.1": 3,
        "S6": 7,
    },
    "ldc2016": {"T1": 5, "T2": 12, "T3": 8, "T4": 8, "T5": 14, "S4.1": 6},
}


def exact(value: str) -> Decimal:
    return Decimal(value.replace(",", ""))


def half(number: Decimal) -> Decimal:
    """Return half a unit of the last printed digit."""
    return Decimal(5).scaleb(number.as_tuple().exponent - 1)


def mean(numbers: list[Decimal]) -> Decimal:
    return sum(numbers) / len(numbers)


def numbers(paper: str, name: str) -> pd.DataFrame:
    """Return a table of exact numbers: a row for each printed column, a column for each model."""
    lines = published(paper).query("table == @name")
    return lines.assign(value=lines["value"].map(exact)).pivot(index="column", columns="row", values="value")


def stated(name: str, row: str, column: str) -> Decimal:
    """Return a number that the text of iclr2016 states."""
    return numbers("iclr2016", name).loc[column, row]


def sets_of(year: str, table: pd.DataFrame) -> list[str]:
    return [name for name in table.index if name.startswith(f"{year}.")]


def similarity_sets(table: pd.DataFrame) -> list[str]:
    """Return the names of the 22 sets."""
    return [*(name for year in YEARS for name in sets_of(year, table)), "sick.relatedness", "pit2015"]


@pytest.fixture(scope="module")
def t2() -> pd.DataFrame:
    """Table 2 of iclr2016 without its misprint (see `test_table_4_repeats_the_shared_tasks_of_table_2`)."""
    table = numbers("iclr2016", "T2")
    table.loc["sts.2012.OnWN", "50%"] = Decimal("60.8")
    return table


@pytest.fixture(scope="module")
def t4() -> pd.DataFrame:
    return numbers("iclr2016", "T4")


@pytest.mark.parametrize("paper", LINES)
def test_number_of_lines_of_each_table(paper):
    assert published(paper)["table"].value_counts().to_dict() == LINES[paper]


@pytest.mark.parametrize("name", ["T2", "T4"])
def test_each_model_of_a_table_has_22_sets_and_4_means(name):
    table = numbers("iclr2016", name)
    assert sorted(table.index) == sorted([*YEARS, *similarity_sets(table)])
    assert [len(sets_of(year, table)) for year in YEARS] == [5, 4, 6, 5]
    assert table.notna().all(axis=None)


@pytest.mark.parametrize("name", ["t2", "t4"])
@pytest.mark.parametrize("year", YEARS)
def test_mean_of_a_year(request, name, year):
    """No exception: all 68 means of Tables 2 and 4 are the means of their sets."""
    table = request.getfixturevalue(name)
    for model in table:
        summands, printed = list(table.loc[sets_of(year, table), model]), table.loc[year, model]
        assert abs(mean(summands) - printed) <= half(printed) + half(summands[0]), model


def test_table_4_repeats_the_shared_tasks_of_table_2():
    """Exception: Table 2 prints the median of OnWN 2012 without its decimal point."""
    t2, t4 = numbers("iclr2016", "T2"), numbers("iclr2016", "T4")
    misprints = (t2[SYSTEMS] != t4[SYSTEMS]).stack()
    assert misprints[misprints].index.tolist() == [("sts.2012.OnWN", "50%")]
    assert (t2.loc["sts.2012.OnWN", "50%"], t4.loc["sts.2012.OnWN", "50%"]) == (608, Decimal("60.8"))


class TestMeansOver22Sets:
    """The text states differences and means; no table prints the mean over the 22 sets."""

    @pytest.fixture
    def means(self, t2, t4) -> dict[str, Decimal]:
        tables = t2, t4[["paragram-phrase-xxl"]]
        return {model: mean(list(table.loc[similarity_sets(table), model])) for table in tables for model in table}

    @pytest.mark.parametrize("baseline", ["glove", "paragram-sl999"])
    def test_improvement_of_paragram_phrase_xxl(self, means, baseline):
        printed = stated("S1", "paragram-phrase-xxl", f"mean minus {baseline}")
        difference = means["paragram-phrase-xxl"] - means[baseline]
        assert abs(difference - printed) <= half(printed) + 2 * Decimal("0.05")

    def test_improvement_over_the_lstm(self, means):
        """Exception: 16.5 is the difference from the LSTM with output gate, but the one without is the best LSTM."""
        printed = stated("S1", "avg", "mean minus best lstm")
        assert printed == means["avg"] - means["lstm o.g."]
        assert round(printed - (means["avg"] - means["lstm no o.g."]), 1) == Decimal("6.5")

    def test_initial_vectors(self, means):
        printed = stated("S6", "paragram-sl999", "mean")
        assert abs(means["paragram-sl999"] - printed) <= half(printed) + Decimal("0.05")

    def test_averages_of_the_analysis(self, means):
        """Exception: the model of Section 6 is another one than that of Table 2 (footnote 20)."""
        assert round(stated("S6", "avg", "mean") - means["avg"], 1) == Decimal("1.1")


def test_share_of_the_improvement_that_weights_explain():
    start, weighted, full = (
        stated("S6", row, "mean") for row in ("paragram-sl999", "paragram-sl999 weighted by norm", "avg")
    )
    share = stated("S6", "paragram-sl999 weighted by norm", "percent of improvement")
    assert round(100 * (weighted - start) / (full - start), 2) == share


class TestCountsOfSets:
    """The text states the number of sets on which one model is better than another."""

    @pytest.mark.parametrize("other", ["lstm o.g.", "paragram-sl999"])
    def test_lstm_without_output_gate(self, t2, other):
        better = t2.loc[similarity_sets(t2), "lstm no o.g."] > t2.loc[similarity_sets(t2), other]
        assert better.sum() == stated("S4.2.2", "lstm no o.g.", f"sets above {other}")

    def test_averages_and_projections(self, t2):
        models = t2.loc[similarity_sets(t2)].drop(columns=SYSTEMS)
        lost = models[["avg", "proj"]].max(axis=1) < models.max(axis=1)
        assert lost.sum() == stated("S4.2.2", "avg and proj", "sets not won")

    def test_best_systems(self, t4):
        below = t4.loc[similarity_sets(t4), "max"] - t4.loc[similarity_sets(t4), "paragram-phrase-xxl"]
        assert below.index[below <= 0].tolist() == [
            "sts.2012.SMTnews",
            "sts.2013.SMT",
            "sts.2014.deft-forum",
            "sts.2015.belief",
        ]
        for section in ("S1", "S4.3"):
            assert (below <= 0).sum() == stated(section, "paragram-phrase-xxl", "sets at or above max")
        assert (below <= 3).sum() == stated("S4.3", "paragram-phrase-xxl", "sets within 3 below max")

    def test_upper_quartile_of_each_year(self, t4):
        """§1: in the top quarter of the submissions in every year."""
        assert (t4.loc[[*YEARS], "paragram-phrase-xxl"] > t4.loc[[*YEARS], "75%"]).all()


def test_numbers_of_tables_that_the_text_repeats():
    t5 = numbers("iclr2016", "T5")
    assert stated("S1", "lstm o.g.", "sst.accuracy") == t5.loc["sst.accuracy", "lstm o.g."]
    assert stated("S5", "lstm no o.g.", "sick.relatedness") == t5.loc["sick.relatedness", "lstm no o.g."]


def test_baselines_have_one_number_in_table_3():
    """The oracle selects among trained models, so fixed vectors have the same number in both columns."""
    spearman = numbers("iclr2016", "T3").loc["paraphrase.ppdb.spearman"]
    models = [row for row in spearman.index if not row.endswith(" oracle")]
    assert all(spearman[f"{model} oracle"] >= spearman[model] for model in models)
    assert {model for model in models if spearman[f"{model} oracle"] == spearman[model]} == {
        "skip-thought",
        "glove",
        "paragram-sl999",
    }


def test_subsets_of_ppdb_are_halves_of_halves():
    """§5.2.1 trains on 92 and 5 pairs: 3,033,753 halved 15 and 19 times."""
    pairs = int(stated("S5.2.1", "ppdb-xl-phrasal", "pairs"))
    assert pairs == stated("S4.2.1", "ppdb-xl-phrasal", "pairs")
    assert (pairs >> 15, pairs >> 19) == (92, stated("S5.2.1", "ppdb-xl-phrasal", "pairs of the smallest subset"))


def test_neighbours_of_words():
    """Table 8 lists seven neighbours of each word in each space, and five of `disagree`."""
    neighbours = published("iclr2016").query("table == 'T8'").groupby("row")["column"].apply(list)
    models, words = ("avg", "paragram-sl999"), ("unlike", "2", "ladies", "lookin", "disagree")
    assert set(neighbours.index) == {f"{model} {word}" for model in models for word in words}
    for row, columns in neighbours.items():
        assert columns == [str(k) for k in range(1, 6 if row.endswith("disagree") else 8)]


class TestLdc:
    @pytest.mark.parametrize("name", ["T3", "T4"])
    def test_best_model_of_both_answer_sets(self, name):
        """§4.3: better than all other work on QASent and WikiQA."""
        assert (numbers("ldc2016", name).idxmax(axis=1) == "ldc").all()

    def test_best_model_of_paraphrases(self):
        """§4.3: the best performance on MSRP is that of Ji and Eisenstein."""
        table = numbers("ldc2016", "T5").map(float)
        assert (table.idxmax(axis=1) == "Ji and Eisenstein (2013)").all()


class TestSizes:
    """The catalogue's numbers of rows are those that the papers state."""

    @pytest.fixture
    def rows(self) -> dict[str, int]:
        return {name: rows for source in catalogue().sources.values() for name, rows in source.rows.items()}

    def test_similarity_sets(self, rows, t2):
        sts = [rows[f"{name}/test"] for name in similarity_sets(t2) if name.startswith("sts.")]
        assert (len(sts), sum(sts)) == (stated("S5", "sts", "sets"), stated("S5", "sts", "pairs"))

    def test_all_textual_similarity_sets(self, t2):
        """The 22 sets and the two of phrase pairs."""
        phrases = {"paraphrase.ppdb.spearman", "annotated-ppdb.spearman"}
        assert set(numbers("iclr2016", "T3").index) == phrases
        assert len(similarity_sets(t2)) + len(phrases) == stated("S4.1", "similarity", "sets")

    def test_judged_phrase_pairs(self, rows):
        assert rows["paraphrase.ppdb/test"] == stated("S4.1", "paraphrase.ppdb", "pairs")

    def test_candidate_answers(self):
        """The paper trains on all 53,417 pairs of QASent, the suite `open` on the 4,718 judged by hand."""
        pairs = numbers("ldc2016", "T2").loc["pairs"].to_dict()
        of_papers = {name: count for source in suite("papers").sources for name, count in source.rows.items()}
        assert pairs.items() <= of_papers.items()
        small = {name: count for source in suite("open").sources for name, count in source.rows.items()}
        assert {name: small[name] for name in pairs if small[name] != pairs[name]} == {"qa.qasent/train": 4718}

    def test_paraphrases(self, rows):
        """The development pairs are drawn from the training pairs."""
        pairs = numbers("ldc2016", "S4.1")[["paraphrase.msrp/train", "paraphrase.msrp/test"]].sum()
        assert pairs.to_dict() == {name: rows[name] for name in pairs.index}
