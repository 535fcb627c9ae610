"""The published numbers of charagram2016 and acl2017 agree with each other, and with the numbers of pairs of the sets.

A printed number p stands for a true one within h(p), half a unit of its last digit. The mean m of n printed numbers
p_1 … p_n is therefore within (h(p_1) + … + h(p_n)) / n of the mean of the true ones, and the printed mean within h of
that. So |printed − m| ≤ h(printed) + mean h(p_i): 0.1 where all have one decimal. Arithmetic is exact.
"""

from fractions import Fraction
from functools import cache

import pytest

from paraphrastic.analysis.bins import LENGTHS, UNKNOWN_WORDS
from paraphrastic.analysis.published import published
from paraphrastic.sources.catalogue import catalogue

YEARS = ("sts.2012", "sts.2013", "sts.2014", "sts.2015")
MODELS = ("50%", "75%", "max", "charcnn", "charlstm", "avg", "charagram")  # columns of charagram2016 Tables 3 and 11


@cache
def texts(paper: str, table: str) -> dict[tuple[str, str], str]:
    """Return the printed values of a table by row and column."""
    lines = published(paper).query("table == @table")
    return dict(zip(zip(lines["row"], lines["column"], strict=True), lines["value"], strict=True))


def numbers(paper: str, table: str) -> dict[tuple[str, str], Fraction]:
    return {key: Fraction(text.replace(",", "")) for key, text in texts(paper, table).items()}


def half_unit(text: str) -> Fraction:
    return Fraction(1, 2 * 10 ** len(text.partition(".")[2]))


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


def excess(printed: str, summands: list[str]) -> Fraction:
    """Return by how much a printed mean differs from that of printed summands, beyond half a unit of its last digit."""
    return abs(Fraction(printed) - mean([*map(Fraction, summands)])) - half_unit(printed)


def possible(printed: str, summands: list[str]) -> bool:
    """Return whether numbers that are rounded to `summands` can have a mean that is rounded to `printed`."""
    return excess(printed, summands) <= mean([*map(half_unit, summands)])


def rows_of(name: str) -> int:
    """Return the number of pairs of a set, as the catalogue pins it."""
    return next(source.rows[name] for source in catalogue().sources.values() if name in source.rows)


def sts_sizes() -> list[int]:
    names = {name for source in catalogue().sources.values() for name in source.rows}
    return [rows_of(name) for name in names if name.startswith(YEARS) and name.endswith("/test")]


def test_number_of_lines_of_each_table():
    """acl2017 Tables 4, 5 and 11 are missing, and of Table 7 all but example 1."""
    counts = {paper: published(paper)["table"].value_counts().to_dict() for paper in ("charagram2016", "acl2017")}
    assert counts["charagram2016"] == {
        "T1": 7 * 2,
        "T2": 5 + 2,  # two numbers of n-grams in the caption
        "T3": 7 * 7,
        "T4": 4,
        "T5": 9 * 5,
        "T6": 5 * 3,
        "T7": 10 * 3,
        "T8": 5 * 2 * 3,
        "T9": 8 + 7 + 5 + 9 + 10 + 9 + 8 + 8 + 14 + 13 + 15,
        "T10": 9 + 10 + 9 + 9 + 9 + 8,  # two of the last row are illegible
        "T11": 27 * 7,
        "S4.1.3": 6,
        "S4.1.4": 9,
        "S4.2": 1,
        "S4.3": 1,
        "S4.4": 5,
        "S5.1": 2,
        "S5.2": 3,
        "SB": 1,
    }
    assert counts["acl2017"] == {
        "T1": 3 * 2,
        "T2": 12 * 2,
        "T3": 7 * 2,
        "T6": 5 * 3,
        "T7": 5,
        "T8": 6 * 2,
        "T9": 4 * 10,
        "T10": 5,
        "S4.1.2": 9,
        "S4.1.3": 1,
        "S4.3": 6,
        "S5.2": 1,
    }


class TestMeans:
    @pytest.mark.parametrize("year", YEARS)
    @pytest.mark.parametrize("model", MODELS)
    def test_means_of_the_sets_of_a_year(self, model, year):
        sets = self.sets_of(model, year)
        assert len(sets) == {"sts.2012": 5, "sts.2013": 4, "sts.2014": 6, "sts.2015": 5}[year]
        assert possible(texts("charagram2016", "T11")[model, year], sets)

    def test_one_mean_of_a_year_needs_the_rounding_of_its_summands(self):
        """The printed numbers of charagram in 2014 have the mean 74.617; 74.7 is 0.083 more, others at most 0.05."""
        table = texts("charagram2016", "T11")
        by_year = {
            (model, year): excess(table[model, year], self.sets_of(model, year)) for model in MODELS for year in YEARS
        }
        assert {key: value for key, value in by_year.items() if value > 0} == {
            ("charagram", "sts.2014"): Fraction(1, 30)
        }

    @staticmethod
    def sets_of(model: str, year: str) -> list[str]:
        table = texts("charagram2016", "T11")
        return [text for (row, column), text in table.items() if row == model and column.startswith(f"{year}.")]

    @pytest.mark.parametrize("model", MODELS)
    def test_means_of_the_22_sets(self, model):
        table = texts("charagram2016", "T11")
        sets = [text for (row, c), text in table.items() if row == model and c not in (*YEARS, "mean")]
        assert len(sets) == 22
        assert excess(table[model, "mean"], sets) <= 0

    @pytest.mark.parametrize("model", ["gran", "gran-2", "gran-3", "gran-4", "gran-5"])
    def test_means_of_the_two_supervised_tasks(self, model):
        table = texts("acl2017", "T6")
        assert excess(table[model, "mean"], [table[model, "sts"], table[model, "sick.relatedness"]]) <= 0


class TestTotals:
    def test_pairs_by_length(self):
        table = numbers("charagram2016", "T7")
        assert sum(count for (row, _), count in table.items() if row == "pairs") == 12108

    def test_pairs_by_the_number_of_unknown_words(self):
        """Pairs with three and more have no line of their own."""
        table = numbers("charagram2016", "T6")
        assert table["pairs", "0"] + table["pairs", "≥ 1"] == table["pairs", "≥ 0"] == 12108
        assert table["pairs", "≥ 1"] - table["pairs", "1"] - table["pairs", "2"] == 88

    def test_pairs_of_all_sts_sets(self):
        assert sum(sts_sizes()) == 12108
        for paper, section in (("charagram2016", "S5.1"), ("iclr2016", "S5")):
            assert numbers(paper, section)["sts", "pairs"] == 12108

    @pytest.mark.parametrize("split", ["train", "dev", "test"])
    def test_pairs_of_sick(self, split):
        name = f"sick.relatedness/{split}"
        assert numbers("acl2017", "S4.3")[name, "pairs"] == rows_of(name)

    def test_the_supervised_sts_task_lacks_360_training_pairs(self):
        """acl2017 §4.3 prints 4,481 where 40 % of each set are 4,841: two digits are swapped."""
        printed = numbers("acl2017", "S4.3")
        sizes = {split: printed[f"sts/{split}", "pairs"] for split in ("train", "dev", "test")}
        train, dev = (sum(n * tenths // 10 for n in sts_sizes()) for tenths in (4, 1))
        assert (train, dev, 12108 - train - dev) == (4841, sizes["dev"], sizes["test"])
        assert train - sizes["train"] == 12108 - sum(sizes.values()) == 360

    def test_pairs_of_simple_wikipedia(self):
        assert numbers("acl2017", "S4.1.2")["simpwiki", "pairs"] == catalogue().sources["simpwiki"].rows["pairs"]

    def test_the_words_of_the_neighbors_are_4208_more_than_their_vocabulary(self):
        """charagram2016 §5.2: the words in PPDB XXL and those outside it exceed the vocabulary that they are of."""
        words = numbers("charagram2016", "S5.2")
        parts = words["vocabulary", "words in ppdb-xxl"] + words["vocabulary", "words not in ppdb-xxl"]
        assert parts - words["vocabulary", "words"] == 4208

    def test_a_quarter_epoch_is_1750_pairs_more_than_a_quarter_of_the_pairs(self):
        """charagram2016 §4.3 says 194,252; a quarter of the 770,007 pairs of §4.1.3 are 192,502."""
        pairs = numbers("charagram2016", "S4.1.3")["ppdb-xxl-lexical", "pairs"]
        quarter = numbers("charagram2016", "S4.3")["ppdb-xxl-lexical", "pairs per quarter epoch"]
        assert round(quarter - pairs / 4) == 1750

    def test_parameters_of_charcnn(self):
        """134 characters, the filters of Kim et al. (2015), and a layer from 525 features to 300 dimensions."""
        filters = {1: 25, 2: 50, 3: 75, 4: 100, 5: 125, 6: 150}
        convolution = sum(count * (width * 300 + 1) for width, count in filters.items())
        printed = numbers("charagram2016", "S4.4")
        assert printed["charcnn", "parameters"] == printed["charcnn", "characters"] * 300 + convolution + 526 * 300

    def test_parameters_of_charlstm_are_300_more_than_those_of_its_layers(self):
        """Four gates with biases, peepholes of three of them, and the two initial states; 300 are unexplained."""
        printed = numbers("charagram2016", "S4.4")
        layers = printed["charlstm", "characters"] * 300 + 4 * (600 + 1) * 300 + 3 * 300 + 2 * 300
        assert printed["charlstm", "parameters"] - layers == 300

    def test_active_parameters_of_100_characters(self):
        """300 dimensions of each bigram, trigram and 4-gram."""
        assert numbers("charagram2016", "S4.4")["charagram", "parameters of 100 characters"] == 300 * 3 * 100


class TestStatementsOfTheText:
    def test_sets_on_which_a_model_is_better(self):
        printed, table = numbers("charagram2016", "S4.1.4"), numbers("charagram2016", "T11")
        sets = {column for _, column in table} - {*YEARS, "mean"}

        def count(model: str, other: str, low: Fraction, high: Fraction = Fraction(100)) -> int:
            return sum(low <= table[model, name] - table[other, name] <= high for name in sets)

        tenth = Fraction(1, 10)  # the smallest difference of printed numbers; 0.003 of r is 0.3 of the table's unit
        assert printed["charagram", "sets above avg"] == count("charagram", "avg", tenth)
        assert printed["charcnn", "sets above avg"] == count("charcnn", "avg", tenth)
        assert printed["charagram", "sets at or above max"] == count("charagram", "max", Fraction())
        assert printed["charagram", "sets within 0.003 below max"] == count("charagram", "max", -3 * tenth, -tenth)
        assert count("charagram", "charcnn", tenth) == count("charagram", "charlstm", tenth) == 22

    def test_charagram_is_better_than_averaging_in_every_bin(self):
        """charagram2016 §5.1."""
        for name in ("T6", "T7"):
            table = numbers("charagram2016", name)
            assert all(table["charagram", column] > value for (row, column), value in table.items() if row == "avg")

    def test_gaps_between_averaging_and_the_lstm(self):
        """acl2017 §4.1.2 and §4.1.3: more than 13 points, about 9, and 10."""
        table = numbers("acl2017", "T1")
        leads = {name: numbers("acl2017", name) for name in ("S4.1.2", "S4.1.3")}
        for section, row, source in (
            ("S4.1.2", "avg ppdb", "ppdb"),
            ("S4.1.2", "avg simpwiki", "simpwiki"),
            ("S4.1.3", "lstmavg ppdb", "ppdb"),
        ):
            lead = table[row, "mean"] - table[f"lstm {source}", "mean"]
            assert 0 <= lead - leads[section][row, "mean minus lstm"] <= Fraction(1, 2)

    def test_selection_on_the_evaluated_sets_is_never_worse(self):
        for name in ("T2", "T3"):
            table = numbers("acl2017", name)
            chosen = [row for row, _ in table if not row.endswith(" oracle")]
            assert all(table[f"{row} oracle", "mean"] >= table[row, "mean"] for row in chosen)

    def test_weights_of_adjectives_fall_from_first_to_last(self):
        weights = [*numbers("acl2017", "T10").values()]
        assert weights == sorted(weights, reverse=True)

    @pytest.mark.parametrize("kind", ["tags", "relations"])
    def test_no_tag_has_both_high_and_low_weights(self, kind):
        table = texts("acl2017", "T9")
        ends = [[table[f"gran {kind} {end}", str(k)] for k in range(1, 11)] for end in ("highest", "lowest")]
        assert len({*ends[0], *ends[1]}) == 20

    def test_averaging_overestimates_where_the_lstm_does_less(self):
        """acl2017 §5.1 says so of example 1; by its caption, which orders the columns differently, 3.42 were gold."""
        table = texts("acl2017", "T7")
        assert Fraction(table["1", "gold"]) < Fraction(table["1", "lstmavg"]) < Fraction(table["1", "avg"])


def test_bins_have_the_names_that_the_analyses_give_them():
    bins = {name: {column for _, column in texts("charagram2016", name)} for name in ("T6", "T7")}
    assert bins["T6"] == set(UNKNOWN_WORDS)
    assert bins["T7"] == set(LENGTHS) - {"≥ 10"}  # of iclr2016


class TestSameNumberTwice:
    def test_short_and_full_table_of_similarity(self):
        full = texts("charagram2016", "T11")
        assert texts("charagram2016", "T3").items() <= full.items()

    @pytest.mark.parametrize(
        ("one", "other", "row", "column"),
        [
            ("T2", "S4.1.3", "charagram (large)", "ngrams"),
            ("T2", "S4.1.3", "charagram (large)", "words.simlex"),
            ("T2", "SB", "charagram", "ngrams"),
            ("T3", "S4.1.4", "charagram", "sts.2014"),
        ],
    )
    def test_tables_and_text_of_charagram2016(self, one, other, row, column):
        assert texts("charagram2016", one)[row, column] == texts("charagram2016", other)[row, column]

    @pytest.mark.parametrize("model", ["avg", "lstm", "lstmavg"])
    def test_models_without_regularization_are_those_trained_on_simple_wikipedia(self, model):
        assert texts("acl2017", "T2")[f"{model} none", "mean"] == texts("acl2017", "T1")[f"{model} simpwiki", "mean"]

    def test_the_supervised_gran_has_two_results_on_sick(self):
        """acl2017 prints 85.3 in Table 6, which its mean confirms, and 85.1 in Table 8; STS is 81.6 in both."""
        architectures, starts = texts("acl2017", "T6"), texts("acl2017", "T8")
        differing = {
            column: (architectures["gran", column], starts["gran dropout scrambling", column])
            for column in ("sts", "sick.relatedness")
            if architectures["gran", column] != starts["gran dropout scrambling", column]
        }
        assert differing == {"sick.relatedness": ("85.3", "85.1")}

    @pytest.mark.parametrize("table", ["T2", "T4"])
    def test_systems_of_the_shared_tasks_are_those_of_iclr2016(self, table):
        """iclr2016 Table 2 lacks the decimal point of one number."""
        here, there = texts("charagram2016", "T11"), texts("iclr2016", table)
        systems = {key: text for key, text in there.items() if key[0] in ("50%", "75%", "max") and key in here}
        assert len(systems) == 3 * 26
        differing = {key: (text, here[key]) for key, text in systems.items() if text != here[key]}
        assert differing == ({("50%", "sts.2012.OnWN"): ("608", "60.8")} if table == "T2" else {})

    def test_pairs_of_ppdb_are_those_of_iclr2016(self):
        here = texts("charagram2016", "S4.1.4")
        for section, source in (("S4.2.1", "ppdb-xl-phrasal"), ("S4.3", "ppdb-xxl-phrasal")):
            assert here[source, "pairs"] == texts("iclr2016", section)[source, "pairs"]

    def test_the_correlation_with_unknown_words_has_another_name_in_iclr2016(self):
        """charagram2016 §5.1 cites −0.45 as Pearson's r; iclr2016 §5.1 says Spearman's ρ, −45.1, with the deviation."""
        cited = numbers("charagram2016", "S5.1")["avg", "pearson of OOV rate and score"]
        source = numbers("iclr2016", "S5.1")["avg", "spearman of OOV rate and deviation from 75%"]
        assert round(source / 100, 2) == cited
