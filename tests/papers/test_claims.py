"""Claims of the papers: what is declared, what stored results decide, and the texts."""

import re
from dataclasses import replace

import markdown
import numpy as np
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.papers.claims import Claim, Claims
from paraphrastic.papers.claims_page import HEADER, cells, section, summary
from paraphrastic.papers.experiments import Experiment, Experiments, Replica
from paraphrastic.papers.pages import PAPERS
from paraphrastic.papers.plan import expected, runs_of_row
from paraphrastic.papers.results import Result, Store
from paraphrastic.papers.verdicts import FAILS, HOLDS, UNDECIDED, decide
from tests.helpers.recorded_results import PARAMS, changed

ROWS = ("avg", "lstm", "gran")
EXPERIMENT = Experiment.model_validate(
    {"id": "acl2017-t2", "paper": "acl2017", "table": "T2", "title": "title", "caption": "caption", "seeds": [1, 2, 3]}
    | {"corpus": {"open": ["open"], "paper": ["simpwiki"]}, "columns": {"mean": "transfer.mean", "task": "finetune.x"}}
    | {"rows": [{"label": name, "model": "avg", "options": {"dim": dim}} for dim, name in enumerate(ROWS, 1)]}
)
REPLICA = Replica.model_validate(
    {"seeds": [1, 2, 3], "vectors": "glove-6b-50d", "start": {"model": "avg", "options": {}}, "words": {}}
    | {"start_corpus": {"corpus": ["open"]}, "corpora": {}, "presets": {}}
)
DECLARED = Experiments({EXPERIMENT.id: EXPERIMENT}, {}, PARAMS, replica=REPLICA)
NONE = [["sts.mean"]]  # replicates of a result that has none of its value
ITEMS = np.random.default_rng(1).standard_normal((len(ROWS), 1000))  # errors of rows over items


def claim(rows=(["avg", "lstm"],), **keys):
    """Return a claim that compares rows of the experiment."""
    declared = {"id": "acl2017-1", "paper": "acl2017", "place": "§1", "says": "A says."}
    declared |= {"experiment": EXPERIMENT.id, "rows": list(rows), "keys": ["mean"]}
    return Claim.model_validate(declared | keys)


def runs(label):
    """Return the runs of a row, one for each seed."""
    return runs_of_row(EXPERIMENT, EXPERIMENT.row(label), DECLARED, "replica")


def stored(folder, values, error=0.0, shared=0.0, key="transfer.mean", params=PARAMS):
    """Return a store that has `values` of each row, one for each seed, with replicates over items.

    Args:
        folder: of the stored results.
        values: row → value of each seed.
        error: standard error over items of each row's own.
        shared: standard error over items that the rows have in common, so that it cancels.
        key: of the values.
        params: content of params.yaml when the results are read.
    """
    store = Store(folder, PARAMS)
    for place, (label, numbers) in enumerate(values.items()):
        noise = error * ITEMS[place] + shared * ITEMS[-1]
        for run, value in zip(runs(label), numbers, strict=False):
            table = NONE if key != "transfer.mean" else [["sts.mean", key], *([1, value + x] for x in noise)]
            result = Result("1.0", {"sts.mean": 1.0, key: value}, {"resamples": table})
            store.add(run, result, expected(PARAMS, run))
    return Store(folder, params)


def decided(store, *claims):
    return decide(claims, lambda *_: EXPERIMENT, DECLARED, store)


BELOW = "below a published number, which other data cannot refute"
HIGH, LOW, MIDDLE = (68.0, 68.2, 68.1), (60.0, 60.2, 60.1), (64.0, 64.1, 63.9)


@pytest.mark.parametrize(
    ("values", "keys", "verdict", "reason"),
    [
        ({"avg": HIGH, "lstm": LOW}, {}, HOLDS, ""),
        ({"avg": LOW, "lstm": HIGH}, {}, FAILS, ""),
        ({"avg": (68, 60, 64), "lstm": (64, 66, 58)}, {}, UNDECIDED, "the interval includes 0"),
        ({"avg": HIGH[:2], "lstm": LOW}, {}, UNDECIDED, "2 of at least 3 seeds: acl2017-t2, avg"),
        ({"avg": HIGH}, {}, UNDECIDED, "no results: acl2017-t2, lstm"),
        ({"avg": HIGH, "lstm": LOW}, {"keys": ["task"]}, UNDECIDED, "no value of finetune.x: avg-.*"),
        ({}, {"rows": [], "undecidable": "no data"}, UNDECIDED, "no data"),
        ({"avg": HIGH, "lstm": LOW}, {"undecidable": "other data"}, UNDECIDED, "other data"),
        ({"avg": HIGH, "lstm": LOW}, {"bound": 7.0}, HOLDS, ""),
        ({"avg": HIGH, "lstm": LOW}, {"bound": 9.0}, FAILS, ""),
        ({"avg": HIGH, "lstm": LOW}, {"bound": 8.0}, UNDECIDED, "the interval includes 8"),
        ({"avg": HIGH, "lstm": HIGH}, {"kind": "level", "bound": 1.0}, HOLDS, ""),
        ({"avg": HIGH, "lstm": LOW}, {"kind": "level", "bound": 1.0}, FAILS, ""),
        ({"avg": HIGH, "lstm": HIGH}, {"kind": "level", "bound": 0.1}, UNDECIDED, "the interval includes -0.1"),
        ({"avg": HIGH}, {"kind": "at least", "rows": [["avg"]], "bound": 67.0}, HOLDS, ""),
        ({"avg": HIGH}, {"kind": "at most", "rows": [["avg"]], "bound": 67.0}, FAILS, ""),
        ({"avg": LOW}, {"kind": "at most", "rows": [["avg"]], "bound": 67.0}, HOLDS, ""),
        ({"avg": HIGH}, {"kind": "reaches", "rows": [["avg"]], "bound": 67.0}, HOLDS, ""),
        ({"avg": LOW}, {"kind": "reaches", "rows": [["avg"]], "bound": 67.0}, UNDECIDED, BELOW),
    ],
)
def test_verdicts(tmp_path, values, keys, verdict, reason):
    (found,) = decided(stored(tmp_path, values), claim(**keys))
    assert found.verdict == verdict
    assert re.fullmatch(reason, found.reason)


def test_results_of_other_parameters_do_not_count(tmp_path):
    store = stored(tmp_path, {"avg": HIGH, "lstm": LOW}, params=changed(PARAMS, "vocabulary.min_count", 1))
    assert decided(store, claim())[0].reason == "no results: acl2017-t2, avg"


@pytest.mark.parametrize(
    ("values", "verdict", "difference"),
    [
        ({"avg": HIGH, "lstm": MIDDLE, "gran": LOW}, HOLDS, 3.9),  # the weakest of two
        ({"avg": HIGH, "lstm": LOW, "gran": MIDDLE}, FAILS, -3.9),  # one is refuted
    ],
)
def test_all_comparisons_of_a_claim_have_to_hold(tmp_path, values, verdict, difference):
    (found,) = decided(stored(tmp_path, values), claim([["avg", "lstm", "gran"]], kind="order"))
    assert (found.verdict, round(found.test.difference, 1)) == (verdict, difference if verdict == FAILS else 3.9)


def test_items_count_beside_seeds(tmp_path):
    """Differences of 1 with seeds that agree: own errors over items of 1 leave it open, errors in common cancel."""
    values = {"avg": (61.0, 61.1, 61.2), "lstm": (60.0, 60.1, 60.2)}
    (own,) = decided(stored(tmp_path / "own", values, error=1.0), claim())
    (common,) = decided(stored(tmp_path / "common", values, shared=1.0), claim())
    assert (own.verdict, common.verdict) == (UNDECIDED, HOLDS)
    assert own.test.low == pytest.approx(1 - 1.96 * 2**0.5, abs=0.2)
    assert common.over == ["items resampled"]


def test_interval_over_three_seeds_is_that_of_welch(tmp_path):
    first, second = (68.0, 70.0, 69.0), (60.0, 64.0, 62.0)
    (found,) = decided(stored(tmp_path, {"avg": first, "lstm": second}), claim())
    # variances 1 and 4, each over 3: error √(5/3), degrees of freedom (5/3)² / ((1/3)²/2 + (4/3)²/2) = 2.94, t 3.22
    assert found.test[:3] == pytest.approx((7.0, 7 - 4.16, 7 + 4.16), abs=0.01)


@pytest.mark.parametrize(("items", "verdict"), [(68, UNDECIDED), (100000, HOLDS)])
def test_tasks_have_the_error_of_their_items(tmp_path, items, verdict):
    """Of 68 questions a MAP of 0.6 has an error of at most √(0.6 · 0.4 / 68) = 0.059."""
    key = "finetune.qa.test.map"
    values = {"avg": (62.0, 62.1, 62.2), "lstm": (60.0, 60.1, 60.2)}
    (found,) = decided(stored(tmp_path, values, key=key), claim(keys=[key], items=items))
    assert (found.verdict, found.over) == (verdict, ["normal-theory error of items"])
    if items == 68:
        assert found.test.high - found.test.difference == pytest.approx(1.96 * 5.9 * 2**0.5, rel=0.1)


def test_rows_of_an_analysis_have_their_own_number_of_items(tmp_path):
    tables = {"length": [["length", "n", "pearson"], ["≤ 4", 100, 60.0], ["5", 10000, 50.0]]}
    tables |= {"resamples": NONE}
    rows = [[{"row": "avg", "key": "length[length=≤ 4].pearson"}, {"row": "avg", "key": "length[length=5].pearson"}]]
    store = Store(tmp_path, PARAMS)
    for run in runs("avg"):
        store.add(run, Result("1.0", {"sts.mean": 1.0}, tables), expected(PARAMS, run))
    (found,) = decided(store, claim(rows, keys=[]))
    # errors of ρ: 0.64 √(1.18 / 99) = 0.0699 and 0.75 √(1.125 / 9999) = 0.008
    assert found.test.high - found.test.difference == pytest.approx(1.96 * 7.03, rel=0.06)


def test_correlation_of_few_sets_has_the_error_of_none(tmp_path):
    """At 0 the variance of Spearman's ρ is 1 / (n − 1) exactly: 0.618 over 20 sets is 2.69 errors from it."""
    key = "sets.spearman"
    values = {"avg": (-61.8, -61.8, -61.8)}
    (found,) = decided(stored(tmp_path, values, key=key), claim([["avg"]], kind="at most", keys=[key], items=20))
    assert (found.verdict, found.p) == (HOLDS, pytest.approx(0.007, rel=0.5))
    shown = dict(zip(HEADER, cells(found), strict=True))["difference"]
    assert shown.startswith("−61.8 [−100.0, ")  # −61.8 − 1.96 · 22.9 is below the least correlation


def test_narrow_interval_has_more_decimals(tmp_path):
    values = {"avg": (0.9121, 0.9126, 0.9129), "lstm": (0.6821, 0.6824, 0.6829)}
    (found,) = decided(stored(tmp_path, values), claim(items=10**9))
    shown = dict(zip(HEADER, cells(found), strict=True))["difference"]
    assert re.match(r"\+0\.230 \[0\.2\d\d, 0\.2\d\d\]", shown)


def test_gains_are_compared_seed_by_seed(tmp_path):
    values = {"avg": (68.0, 70.0, 66.0), "lstm": (60.0, 62.0, 58.0), "gran": (67.0, 69.0, 65.0)}
    rows = [[{"row": "avg", "minus": "lstm"}, {"row": "avg", "minus": "gran"}]]  # gains of 8 and 1, each of all seeds
    (found,) = decided(stored(tmp_path, values), claim(rows))
    assert (found.verdict, found.test.difference) == (HOLDS, 7.0)


def test_p_is_corrected_over_the_claims_of_a_paper(tmp_path):
    store = stored(tmp_path, {"avg": (62.0, 64.0, 63.0), "lstm": (60.0, 61.0, 59.5)})
    alone = decided(store, claim())[0]
    assert alone.verdict == HOLDS
    several = [claim(id=f"acl2017-{number}") for number in range(1, 4)]
    other = claim(id="ldc2016-1", paper="ldc2016")
    untested = claim(id="acl2017-4", undecidable="other data")
    *corrected, of_other_paper, _ = decided(store, *several, other, untested)
    without_results = claim([["avg", "gran"]], id="acl2017-5")
    assert decided(store, *several[:2], without_results)[0].p == pytest.approx(3 * alone.p)
    assert [each.p for each in corrected] == pytest.approx([3 * alone.p] * 3)
    assert corrected[0].verdict == UNDECIDED
    assert "after correction" in corrected[0].reason
    assert of_other_paper.verdict == HOLDS


def test_p_is_multiplied_by_the_number_of_looks(tmp_path):
    store = stored(tmp_path, {"avg": (62.0, 64.0, 63.0), "lstm": (60.0, 61.0, 59.5)})
    once, thrice = (decide([claim()], lambda *_: EXPERIMENT, DECLARED, store, looks)[0] for looks in (1, 3))
    assert (once.verdict, thrice.verdict, thrice.p) == (HOLDS, UNDECIDED, pytest.approx(3 * once.p))


def test_convergence_of_a_row_that_needs_fewer_epochs(tmp_path):
    store = Store(tmp_path, PARAMS)
    for label, slow in (("avg", 4), ("lstm", 1)):
        for run in runs(label):
            curve = [[epoch, 50 if epoch < slow else 100] for epoch in (1, 2, 3, 4)]
            result = Result("1.0", {"sts.mean": 1.0}, {"resamples": NONE}, {"selection": curve})
            store.add(run, result, expected(PARAMS, run))
    (found,) = decided(store, claim(keys=["epochs[selection,95]"]))
    assert (found.verdict, found.test.difference, found.over) == (HOLDS, 3, ["seeds alone"])
    assert found.test.low < 3 < found.test.high  # epochs are known to the spacing of the curve


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"rows": []}, "`rows` or `undecidable`"),
        ({"kind": "level"}, "bound above 0"),
        ({"kind": "level", "bound": float("nan")}, "finite number"),
        ({"rows": [["avg"]]}, "compared with nothing"),
    ],
)
def test_wrong_tests_are_refused(keys, words):
    with pytest.raises(ValueError, match=words):
        claim(**keys)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": [["avg", "lstn"]]}, "unknown row 'lstn': did you mean 'lstm'"),
        ({"experiment": "acl2017-t3"}, "unknown experiment 'acl2017-t3'"),
        ({"keys": []}, "'avg' has no key"),
        ({"keys": ["maen"]}, "unknown column 'maen': did you mean 'mean'"),
        ({"keys": ["mean + lenght[length=5].pearson"]}, "claims.toml: acl2017-1: unknown analysis 'lenght': did you"),
        ({"id": "acl2017-2"}, "two claims have the id 'acl2017-2'"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_wrong_files_are_refused(tmp_path, change, words):
    file, valid = tmp_path / "claims.toml", claim().model_dump() | {"rows": [["avg", "lstm"]]}
    both = [valid | {"id": "acl2017-2"}, valid | change]
    lines = [line for each in both for line in ("[[claims]]", *(f"{key} = {value!r}" for key, value in each.items()))]
    file.write_text("\n".join(lines))
    with pytest.raises(DataError, match=words):
        Claims.load(file, {EXPERIMENT.id: EXPERIMENT})


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"rows": [["avg", "lstm", "gran"]]}, "avg above lstm, gran; in mean"),
        ({"rows": [["avg", "lstm"], ["avg", "gran"]], "bound": 2.0}, "avg above lstm by more than 2; avg above"),
        (
            {"kind": "order", "rows": [["avg", "lstm", "gran"]], "bound": 1.0},
            "avg above lstm above gran by more than 1",
        ),
        ({"kind": "level", "rows": [["avg", "lstm"]], "bound": 1.5}, "avg, lstm within 1.5 of each other; in mean"),
        ({"kind": "reaches", "rows": [["avg"]], "bound": 6.0, "keys": ["a", "b"]}, "avg at least 6; in a, b"),
        ({"kind": "at most", "rows": [["avg"]], "bound": 6.0}, "avg at most 6; in mean"),
    ],
)
def test_test_in_words(tmp_path, keys, text):
    (found,) = decided(stored(tmp_path, {}), claim(**keys))
    assert dict(zip(HEADER, cells(found), strict=True))["tested as"].startswith(text)
    assert cells(found)[4] == ""


def test_row_beside_a_published_number_shows_both(tmp_path):
    """p of a value below it, which decides nothing, is not shown."""
    claims = [claim([[row]], kind="reaches", bound=67.5, id=f"acl2017-{row}") for row in ("avg", "lstm")]
    above, below = (cells(each)[4] for each in decided(stored(tmp_path, {"avg": HIGH, "lstm": LOW}), *claims))
    assert re.fullmatch(r"68\.10 \[67\.\d\d, 68\.\d\d\] against 67\.5, p = 0\.0\d+", above)
    assert re.fullmatch(r"60\.10 \[59\.\d\d, 60\.\d\d\] against 67\.5", below)
    (margin,) = decided(stored(tmp_path, {"avg": HIGH, "lstm": LOW}), claim(bound=-7.0))
    assert re.match(r"\+8\.00 \[7\.\d\d, 8\.\d\d\] against −7, p", cells(margin)[4])


def test_texts(tmp_path):
    store = stored(tmp_path, {"avg": HIGH, "lstm": LOW, "gran": MIDDLE})
    tests = [claim([["avg", "gran", "lstm"]], kind="order", note="as *there*"), claim(rows=[], undecidable="no | data")]
    tests = [each.model_copy(update={"id": f"acl2017-{number}"}) for number, each in enumerate(tests, 1)]
    decisions = decided(store, *tests)
    assert summary(decisions) == "Of 2 claims of the papers, 1 hold, 0 do not hold, and 1 cannot be decided here."
    assert dict(zip(HEADER, cells(decisions[0]), strict=True)) == {
        "claim": "acl2017-1",
        "says": "A says. (§1)",
        "tested as": "avg above gran above lstm; in mean (as *there*)",
        "protocol": "replica; 3 seeds; items resampled",
        "difference": "+3.90 [3.67, 4.13], p < 0.001; of 2 comparisons: gran and lstm in mean",
        "verdict": "holds",
    }
    for p, text in ((0.0495491, "p = 0.0495;"), (0.0504, "p = 0.0504;"), (0.0515, "p = 0.051;"), (0.2, "p = 0.200;")):
        assert text in dict(zip(HEADER, cells(replace(decisions[0], p=p)), strict=True))["difference"]
    assert "+3.90 [−0.02, 4.00]" in cells(replace(decisions[0], test=decisions[0].test._replace(low=-0.02, high=4)))[4]
    claims = Claims(claims=tests, rules=["One.", "Two."], deviations={"acl2017": ["GloVe in place of PARAGRAM"]})
    page = section(decisions, claims, PAPERS, {"acl2017-t2": "[Table 2](acl2017.md#table-2-title)"})
    assert re.split(r"\n(?!<summary>)", page.rstrip()) == [
        "## Claims",
        "",
        summary(decisions),
        "",
        "* One.",
        "* Two.",
        "",
        "### Claims of acl2017",
        "",
        PAPERS["acl2017"],
        "",
        "| claim | difference or value, 95 % interval, corrected p | verdict |",
        "| --- | --- | --- |",
        r"| acl2017-1: A says. (§1) | +3.90 \[3.67, 4.13\], p \< 0.001; of 2 comparisons: gran and lstm in mean "
        "| holds |",
        r"| acl2017-2: A says. (§1) |  | cannot be decided here: no \| data |",
        "",
        "<details markdown>\n<summary>What was tested, protocol and seeds</summary>",
        "",
        "* acl2017-1: [Table 2](acl2017.md#table-2-title): avg above gran above lstm; in mean "
        r"(as \*there\*); replica; 3 seeds; items resampled",
        "",
        "</details>",
        "",
        "Deviations from the paper:",
        "",
        "* GloVe in place of PARAGRAM",
    ]
    html = markdown.markdown(page, extensions=["tables"])
    assert (html.count("<table>"), html.count("<td>")) == (1, 6)
    assert "cannot be decided here: no | data" in html
