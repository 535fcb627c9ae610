"""Experiments by configuration: means over seeds, and differences with seeds and items as random factors."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_ind

from paraphrastic.analysis.comparison.by_set import compare
from paraphrastic.analysis.comparison.significance import Mean, Runs, difference, holm, resample
from paraphrastic.base.errors import DataError, ParameterError
from paraphrastic.evaluation.headline import pooled_sets
from paraphrastic.finetuning.tasks import predictions
from paraphrastic.papers import configurations
from paraphrastic.papers.configurations import by_state, means, runs
from paraphrastic.papers.records import parse_yaml, records
from tests.helpers.recorded_results import PARAMS, add_experiment, changed, commit, make_repository, write_results
from tests.helpers.repository import DVC, isolated_environment, run
from tests.helpers.score_tables import noisy_run

SMALL = changed(PARAMS, "models.avg.dim", 50)
LARGE = changed(PARAMS, "models.avg.dim", 100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A repository with experiments of two dimensions and of another model, all with `min_count=3`."""
    folder = make_repository(tmp_path_factory.mktemp("sweep"))
    write_results(folder)
    (folder / "dvc.yaml").write_text("stages: {train: {cmd: 'true'}}\n")
    commit(folder)
    scores = {"small": (SMALL, [60.1, 60.9, 60.5]), "large": (LARGE, [61.2, 61.9])}
    scores["cnn"] = changed(PARAMS, "model", "charcnn"), [59.0]
    for name, (params, values) in scores.items():
        for seed, score in enumerate(values, start=1):
            own = changed(changed(params, "vocabulary.min_count", 3), "seed", seed)
            add_experiment(folder, f"{name}-s{seed}", own, score=score)
    return folder


@pytest.fixture(scope="module")
def found(folder):
    """The table of all experiments."""
    with records(folder) as known:
        return runs(known, by_state(folder)["ended"])


@pytest.fixture
def scores(monkeypatch):
    """The scores of each experiment; a function that stores those of one."""
    stored = {}

    def read(name):
        if name not in stored:
            raise DataError(f"{name}: no scores")
        return stored[name]

    monkeypatch.setattr(configurations, "_scores", read)
    return stored


def test_configurations_are_named_by_what_distinguishes_them(found):
    assert dict(found["configuration"]) == {
        "cnn-s1": "charcnn",
        **{f"large-s{seed}": "avg dim=100" for seed in (1, 2)},
        **{f"small-s{seed}": "avg dim=50" for seed in (1, 2, 3)},
    }
    assert found["seed"].tolist() == [1, 1, 2, 1, 2, 3]


def test_a_configuration_alone_has_all_that_it_changes_and_one_of_other_code_a_digest(folder):
    names = ["small-s1", "small-s2", "small-s3"]
    with records(folder) as known:
        own = {each.name: each for each in known if each.name in ("HEAD", *names)}
        assert set(runs(own.values(), names)["configuration"]) == {"avg dim=50 vocabulary.min_count=3"}
        read = own["small-s2"].read
        own["small-s2"] = replace(own["small-s2"], read=lambda path: read(path).replace("0" * 32, "1" * 32))
        labels = runs(own.values(), names)["configuration"]
    assert labels["small-s1"] == labels["small-s3"] != labels["small-s2"]
    assert all(re.fullmatch(r"avg \([0-9a-f]{6}\)", label) for label in labels)


def test_configurations_with_other_teachers_differ(folder):
    names = ["small-s1", "small-s2"]
    teacher = {"path": "data/inputs/teacher.csv", "md5": "1" * 32}

    def taught(path):
        lock = parse_yaml(own["small-s2"].read(path)) if path == "dvc.lock" else None
        if not lock:
            return own["small-s2"].read(path)
        next(iter(lock["stages"].values())).setdefault("deps", []).append(teacher)
        return json.dumps(lock)

    with records(folder) as known:
        own = {each.name: each for each in known if each.name in ("HEAD", *names)}
        both = [*(each for each in own.values() if each.name != "small-s2"), replace(own["small-s2"], read=taught)]
        labels = runs(both, names)["configuration"]
    assert labels["small-s1"] != labels["small-s2"]


def test_mean_and_standard_deviation_over_seeds_best_first(found):
    numbers, cells, notes = means(found)
    assert cells.to_numpy().tolist() == [
        ["avg dim=100", "2", "61.55 ± 0.49"],
        ["avg dim=50", "3", "60.50 ± 0.40"],
        ["charcnn", "1", "59.00"],
    ]
    assert list(cells) == ["configuration", "n", "STS"]
    assert numbers["sts.mean"].tolist() == pytest.approx([61.55, 60.5, 59.0])
    assert numbers["sts.mean sd"].tolist() == pytest.approx([0.7 / 2**0.5, 0.4, np.nan], nan_ok=True)
    assert notes == []
    assert list(means(found, "words.simlex")[1]) == ["configuration", "n", "words.simlex", "STS"]


def test_means_of_fewer_runs_than_others(found):
    found = found.assign(**{"sts.2016": np.nan})
    found.loc["large-s2", "sts.2016"] = 70.0
    notes = means(found, "sts.mean")[2]
    assert notes == ["STS 2016 of fewer runs than n: avg dim=100 1, avg dim=50 0, charcnn 0"]


def test_without_scores_seeds_alone_are_tested(found, scores):
    numbers, cells, notes = means(found, against="small-s2")
    expected = ttest_ind([61.2, 61.9], [60.1, 60.9, 60.5], equal_var=False)
    large, small, cnn = numbers.to_dict("records")
    assert (large["difference"], large["p"]) == pytest.approx((1.05, expected.pvalue))
    assert (large["low"], large["high"]) == pytest.approx(tuple(expected.confidence_interval()))
    assert np.isnan(small["p"])
    assert sorted([large["holm"], cnn["holm"]]) == pytest.approx(sorted(holm([large["p"], cnn["p"]])))
    assert cells["factors"].tolist() == ["seeds", "–", "seeds"]
    assert notes[0] == "avg dim=100: items are not a factor: small-s1: no scores"
    assert notes[-1] == "differences are from avg dim=50; p is corrected for their number, 2 (Holm)"


def test_one_seed_on_both_sides_is_not_tested_without_scores(found, scores):
    numbers, cells, _ = means(found.loc[["small-s1", "cnn-s1"]], against="charcnn")
    assert cells.to_numpy()[0].tolist() == ["avg dim=50", "1", "60.10", "–", "–", "–", ""]
    assert numbers["p"].isna().all()


def test_with_scores_items_are_a_factor_too(found, scores):
    found = found.loc[["large-s1", "large-s2", "small-s1", "small-s2"]].copy()
    for at, name in enumerate(found.index):
        scores[name] = noisy_run(1 if "large" in name else 1.5, at, ["sts.2012.MSRpar", "sts.2013.FNWN", "pit2015"])
    of_sts = [{name: run[name] for name in pooled_sets(run)} for run in scores.values()]
    mean, one, _ = compare(of_sts[2:], of_sts[:2]).rows
    for key, expected in ((one.name, one), ("sts.mean", mean)):
        found[key] = np.round(100 * np.concatenate([expected.b.points, expected.a.points]), 2)
        row, *_ = means(found, key, "avg dim=50")[0].to_dict("records")
        assert (row["difference"], row["p"]) == (100 * expected.change.value, expected.change.p)
        assert row["factors"] == "seeds and items"
    assert means(found[found["seed"] == 1], against="small-s1")[0]["factors"][0] == "items"
    found["sts.mean"] += 0.02  # of another run than the scores
    numbers, _, notes = means(found, against="avg dim=50")
    assert numbers["factors"][0] == "seeds"
    assert notes[0] == "avg dim=100: items are not a factor: the stored scores do not give sts.mean"


def test_with_predictions_the_rows_of_a_task_are_a_factor(found, monkeypatch):
    key, rng = "finetune.sst.test.accuracy", np.random.default_rng(1)
    found = found.loc[["large-s1", "large-s2", "small-s1", "small-s2"]].copy()
    gold = rng.integers(0, 2, 400)
    correct = {name: rng.random(400) < share for name, share in zip(found.index, (0.8, 0.8, 0.7, 0.7), strict=True)}
    found[key] = [100 * values.mean() for values in correct.values()]

    def predictions_of(name, task):
        assert task == "sst"
        return predictions("labelled_sentences", "test", gold, np.where(correct[name], gold, 1 - gold))

    monkeypatch.setattr(configurations, "predictions_of", predictions_of)
    replicates = {name: 100 * resample([Mean(values)], "sst.test", 1000)[0] for name, values in correct.items()}
    sides = [Runs(found[key].to_numpy()[at], np.stack([*replicates.values()][at])) for at in (slice(2, 4), slice(2))]
    row, *_ = means(found, key, "avg dim=50")[0].to_dict("records")
    assert (row["difference"], row["p"]) == pytest.approx((difference(*sides).value, difference(*sides).p), rel=1e-3)
    assert row["factors"] == "seeds and items"
    found["finetune.sst.test.f1"] = found[key]
    _, _, notes = means(found, "finetune.sst.test.f1", "avg dim=50")
    assert notes[0] == ("avg dim=100: items are not a factor: the stored predictions do not give finetune.sst.test.f1")


def test_what_does_not_count_is_named(found):
    found = found.assign(seed=1)
    found.loc[["cnn-s1", "small-s1"], "sts.mean"] = np.nan
    _, cells, notes = means(found)
    assert cells.to_numpy().tolist() == [["avg dim=100", "1", "61.20"], ["avg dim=50", "1", "60.90"]]
    assert notes == ["no sts.mean: cnn-s1, small-s1", "a seed counts once: large-s2, small-s3"]


def test_unknown_names_and_metrics(folder, found):
    with pytest.raises(ParameterError, match="unknown configuration 'avg dim=5': did you mean 'avg dim=50'"):
        means(found, against="avg dim=5")
    with records(folder) as known:
        with pytest.raises(
            ParameterError, match=r"^no experiment has .*; `dvc queue status` and `dvc exp show` list them$"
        ):
            means(runs(known, ["absent"]))
        with pytest.raises(ParameterError, match=r"no experiment has the metric 'sts\.meen'"):
            runs(known, ["small-s1"], "sts.meen")


def test_queued_experiments_have_the_names_of_their_options(folder):
    command = [*DVC, "exp", "run", "--queue", "-n", "avg-dim5-s1", "-S", "models.yaml:avg.dim=5", "-S", "seed=1"]
    run(*command, cwd=folder, env=isolated_environment(), check=True)
    states = by_state(folder)
    assert states.pop("ended") == {"cnn-s1", "large-s1", "large-s2", "small-s1", "small-s2", "small-s3"}
    assert states == {"failed": set(), "running": set(), "queued": {"avg-dim5-s1"}}
