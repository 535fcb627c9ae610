"""The headline numbers of an evaluation."""

import pytest

from paraphrastic.evaluation.headline import headline, headline_sets, pooled_sets

PAPERS = [
    *(f"sts.2012.{name}" for name in ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews")),
    *(f"sts.2013.{name}" for name in ("headlines", "OnWN", "FNWN", "SMT")),
    *(f"sts.2014.{name}" for name in ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news")),
    *(f"sts.2015.{name}" for name in ("answers-forums", "answers-students", "belief", "headlines", "images")),
    "sick.relatedness",
    "pit2015",
]
OTHERS = ["sts.2016.headlines", "words.simlex", "paraphrase.ppdb", "sample.images", "sts.2017.x"]


def correlations(names, start=0.0):
    """Return metrics of sets: Pearson's r rises by 0.01 from set to set, Spearman's ρ falls by 0.01 from 0."""
    return {name: {"pearson": start + n / 100, "spearman": -n / 100} for n, name in enumerate(names)}


@pytest.mark.parametrize(
    ("missing", "transfer", "of_2013"),
    [
        ((), {"mean": 10.5, "sets": 22, "mean22": 10.5, "mean21": 10.62}, 4),  # SMT has 8
        (("sts.2013.SMT",), {"mean": 10.0, "sets": 21, "mean21": 10.0}, 3),  # the licensed set
        (("sts.2013.SMT", "pit2015"), {"mean": 9.5, "sets": 20}, 3),
    ],
)
def test_transfer_mean_of_the_sets_of_the_papers(missing, transfer, of_2013):
    metrics = headline(correlations(OTHERS, 0.9) | correlations(name for name in PAPERS if name not in missing))
    sts = 20 - ("sts.2013.SMT" in missing)
    assert metrics["transfer"] == transfer
    assert (metrics["sts"]["mean"], metrics["sts"]["sets"]) == ((sts - 1) / 2, sts)
    assert metrics["sts"]["2013_sets"] == of_2013


@pytest.mark.parametrize("missing", [name for name in PAPERS if name != "sts.2013.SMT"])
def test_fixed_means_need_all_of_their_sets(missing):
    names = [name for name in PAPERS if name != missing] + ["sts.2012.other"]
    assert headline(correlations(names))["transfer"].keys() == {"mean", "sets"}


def test_sections_with_missing_sets():
    metrics = headline(correlations(name for name in PAPERS if name not in ("sts.2013.SMT", "pit2015")))
    assert metrics.keys() == {"sts", "sick", "transfer"}
    assert metrics["sts"].keys() == {"2012", "2013", "2013_sets", "2014", "2015", "mean", "sets"}
    assert "2013_sets" not in headline(correlations(PAPERS[:5]))["sts"]


def test_rounding_of_mean_and_sign_of_zero():
    metrics = {name: {"pearson": 0.00004, "spearman": 0.0} for name in PAPERS[:3]}
    metrics["sts.2012.OnWN"] = {"pearson": 0.00016, "spearman": 0.0}
    metrics["words.simlex"] = {"pearson": 0.0, "spearman": -0.00001}
    assert headline(metrics)["sts"]["mean"] == 0.01  # of 0.004, 0.004, 0.004 and 0.016
    assert str(headline(metrics)["words"]["simlex"]) == "0.0"


def test_sections_of_other_tasks():
    metrics = {
        "qa.qasent": {"map": 0.1, "mrr": 0.2},
        "qa.wikiqa": {"map": 0.3, "mrr": 0.4},
        "paraphrase.msrp": {"accuracy": 0.5, "f1": 0.6},
        "paraphrase.pit2015": {"accuracy": 0.7, "f1": 0.8},
        "paraphrase.ppdb": {"pearson": 0.0, "spearman": 0.11},
        "paraphrase.annotated-ppdb": {"pearson": 0.0, "spearman": 0.12},
        "words.simlex": {"pearson": 0.0, "spearman": 0.13},
        "words.wordsim": {"pearson": 0.0, "spearman": 0.14},
        "words.rarewords": {"pearson": 0.0, "spearman": 0.15},
        "words.ppdb": {"pearson": 0.0, "spearman": 0.18},
        "sick.relatedness": {"pearson": 0.16, "spearman": 0.17},
    }
    assert headline(metrics) == {
        "sick": {"pearson": 16.0, "spearman": 17.0},
        "transfer": {"mean": 16.0, "sets": 1},
        "qa": {"qasent": {"map": 10.0, "mrr": 20.0}, "wikiqa": {"map": 30.0, "mrr": 40.0}},
        "paraphrase": {
            "msrp": {"accuracy": 50.0, "f1": 60.0},
            "pit2015": {"accuracy": 70.0, "f1": 80.0},
            "ppdb": {"spearman": 11.0},
            "annotated-ppdb": {"spearman": 12.0},
        },
        "words": {"simlex": 13.0, "wordsim": 14.0, "rarewords": 15.0, "ppdb": 18.0},
    }


def test_section_of_sample_suite():
    metrics = correlations(["sample.dev", "sample.images", "sample.news", "sample.words"], 0.5)
    metrics |= {"sample.qa": {"map": 0.5, "mrr": 0.6}, "sample.paraphrase": {"accuracy": 0.7, "f1": 0.8}}
    assert headline(metrics) == {
        "sample": {
            "sts": {"mean": 51.5, "sets": 2},
            "qa": {"map": 50.0, "mrr": 60.0},
            "paraphrase": {"accuracy": 70.0, "f1": 80.0},
            "words": -3.0,
        }
    }


def test_headline_sets_and_pooled_sets():
    sample = ["sample.dev", "sample.images", "sample.news", "sample.words"]
    assert headline_sets(OTHERS + PAPERS + sample) == PAPERS
    assert pooled_sets(OTHERS + PAPERS + sample) == PAPERS[:20]
    assert headline_sets(sample) == pooled_sets(sample) == ["sample.images", "sample.news"]
