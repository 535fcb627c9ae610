"""The command that runs experiments for the tables of results, and the tables."""

import json

import pytest

from docs import results
from tests.helpers.repository import copy_repository, isolated_environment, run_git

METRICS = {"sts": {"mean": 67.849, "2016": 71.0}, "sick": {"pearson": 50.0}}


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """An empty folder of stored results with two rows."""
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    rows = '[one]\nmodel = "avg"\nseeds = [1, 2]\noptions = ["models.yaml:avg.dim=16"]\nreadme = "averages"\n'
    rows += 'published = "68"\n'
    other = '[two]\nmodel = "charagram"\ncaptions = true\nvectors_of = "one-1"\n'
    earlier = '[three]\nmodel = "lstm"\nreadme = "LSTM"\nearlier = ["58.4", "64.6", "59.6", "20.5", "6"]\n'
    tasks = '[overlap]\nmodel = "overlap"\nbeside_tasks = true\n[tagger]\nmodel = "avg"\ntasks = ["tags-ewt"]\n'
    (tmp_path / "rows.toml").write_text(rows + other + earlier + tasks)
    (tmp_path / "page.md").write_text("before\n{open}\nbetween\n{captions}\ntasks\n{tasks}\n")
    return tmp_path


def store(folder, name, *means, **groups):
    seeds = {
        str(n): {"minutes": 2.4, "metrics": METRICS | {"sts": {"mean": m, "2016": 71.0}} | groups}
        for n, m in enumerate(means, 1)
    }
    (folder / f"{name}.json").write_text(json.dumps({"parameters": 19_660_000, "seeds": seeds}))


def test_page_with_several_seeds_and_a_row_without_results(stored):
    store(stored, "one", 67.0, 68.0)
    lines = results.page().splitlines()
    assert lines[3] == "| `avg` | `-S models.yaml:avg.dim=16` | 67.5 ± 0.7 | 71.0 ± 0.0 | 50.0 ± 0.0 | 19.7 | 2 |"
    assert lines[9] == "| `charagram` | vectors of `one-1` | – | – | – | – | – |"


def test_rows_of_an_earlier_version_until_they_are_run_again(stored):
    assert "| `lstm` \\* |  | 58.4 | 64.6 | 59.6 | 20.5 | 6 |" in results.page()
    store(stored, "three", 60.0)
    assert "| `lstm` |  | 60.0 | 71.0 | 50.0 | 19.7 | 2 |" in results.page()


def test_row_with_a_missing_seed(stored):
    store(stored, "one", 67.0)
    assert "| `avg` | `-S models.yaml:avg.dim=16` | – | – | – | – | – |" in results.page()


def test_table_of_the_readme(stored):
    store(stored, "one", 67.849, 67.849)
    text = results.readme(f"a\n{results.BEGIN}\nold\n{results.END}\nb\n")
    assert "old" not in text
    assert "| averages | 67.8 ± 0.0 | 71.0 ± 0.0 | 50.0 ± 0.0 | 68 |" in text
    assert "| LSTM \\* | 58.4 | 64.6 | 59.6 | – |" in text
    assert text.startswith("a\n")
    assert text.endswith(f"{results.END}\nb\n")


def test_table_of_tasks_with_a_trained_model_and_a_baseline_on_the_same_sets(stored):
    store(stored, "overlap", 55.0, paraphrase={"msrp": {"accuracy": 73.0, "f1": 82.0}})
    store(stored, "tagger", 0.0, 0.0, finetune={"tags-ewt": {"accuracy": 94.0}})
    header, _, overlap, tagger = results.page().partition("tasks\n")[2].splitlines()
    assert header.split(" | ")[6:] == [
        "`paraphrase-msrp`: accuracy, F1",
        "`qa-qasent`: MAP, MRR",
        "`qa-wikiqa`: MAP, MRR",
        "`tags-ewt`: accuracy",
        "`tags-wsj`: accuracy |",
    ]
    assert overlap == "| `overlap` |  | – | – | – | – | 73.0, 82.0 | – | – | – | – |"
    assert tagger == "| `avg` |  | – | – | – | – | – | – | – | 94.0 ± 0.0 | – |"


def test_row_of_tasks_of_an_earlier_version_until_it_is_run_again(stored):
    with (stored / "rows.toml").open("a") as rows:
        rows.write('earlier = ["–", "–", "–", "–", "–", "–", "–", "93.7", "94.5"]\n')  # of the last row, the tagger
    assert results.page().endswith("| `avg` \\* |  | – | – | – | – | – | – | – | 93.7 | 94.5 |\n")
    store(stored, "tagger", 0.0, finetune={"tags-ewt": {"accuracy": 94.0}})
    assert results.page().endswith("| `avg` |  | – | – | – | – | – | – | – | 94.0 | – |\n")


def test_rows_of_tasks_in_no_other_table(stored):
    assert results.page().count("| `overlap` |") == 2  # of the open pairs and of the tasks
    assert results.page().count("| `avg` |") == 2


def test_run_of_an_unknown_row(capsys):
    with pytest.raises(SystemExit):
        results.run(["avgg"])
    assert "unknown row 'avgg': did you mean 'avg'?" in capsys.readouterr().err


def test_run_of_a_row_before_the_experiment_that_it_starts_from(stored, capsys):
    with pytest.raises(SystemExit):
        results.run(["two"])
    assert capsys.readouterr().err == "error: no experiment 'one-1': run `python -m docs.results run one` first\n"


@pytest.fixture
def clone(stored, tmp_path_factory, monkeypatch):
    """A clone whose experiments run on the sample, for one epoch; its results go to `stored`."""
    folder = tmp_path_factory.mktemp("clone")
    copy_repository(folder)
    for key, value in isolated_environment(tmp_path_factory.mktemp("cache")).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(results, "ROOT", folder)
    options, short = results._options, ["models.yaml:avg.epochs=1", "finetune/params.yaml:epochs=1"]
    on_sample = {"corpus=open": "corpus=sample", "benchmarks=open": "benchmarks=sample"}
    monkeypatch.setattr(results, "_options", lambda row: [*(on_sample.get(o, o) for o in options(row)), *short])
    return folder


@pytest.mark.slow
@pytest.mark.nightly
def test_run_of_a_row_on_the_sample(clone, stored):
    results.run(["one"])
    stored_results = json.loads((stored / "one.json").read_text())
    assert stored_results["parameters"] % 16 == 0
    assert stored_results["parameters"] > 16 * 100
    means = [seed["metrics"]["sample"]["sts"]["mean"] for seed in stored_results["seeds"].values()]
    assert len(set(means)) == 2  # two seeds
    assert run_git(clone, "status", "--short") == ""


@pytest.mark.slow
@pytest.mark.nightly
def test_run_of_a_row_with_tasks_on_the_sample(clone, stored):
    with (stored / "rows.toml").open("a") as rows:
        rows.write('[topics]\nmodel = "avg"\ntasks = ["sample-topics", "sample-paraphrase"]\n')
    results.run(["topics"])
    content = json.loads((stored / "topics.json").read_text())
    assert list(content) == ["seeds"]  # the weights of the model of the stage `train` are not those of the task
    metrics = content["seeds"]["1"]["metrics"]
    assert list(metrics) == ["finetune"]
    assert list(metrics["finetune"]) == ["sample-topics", "sample-paraphrase"]
    assert metrics["finetune"]["sample-topics"]["accuracy"] > 0
    assert run_git(clone, "status", "--short") == ""
