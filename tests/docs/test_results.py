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
    rows = (
        '[one]\nmodel = "avg"\nseeds = [1, 2]\noptions = ["models.avg.dim=16"]\nreadme = "averages"\npublished = "68"\n'
    )
    other = '[two]\nmodel = "charagram"\ncaptions = true\nvectors_of = "one-1"\n'
    earlier = '[three]\nmodel = "lstm"\nreadme = "LSTM"\nearlier = ["58.4", "64.6", "59.6", "20.5", "6"]\n'
    (tmp_path / "rows.toml").write_text(rows + other + earlier)
    (tmp_path / "page.md").write_text("before\n{open}\nbetween\n{captions}\n")
    return tmp_path


def store(folder, name, *means):
    seeds = {
        str(n): {"minutes": 2.4, "metrics": METRICS | {"sts": {"mean": m, "2016": 71.0}}}
        for n, m in enumerate(means, 1)
    }
    (folder / f"{name}.json").write_text(json.dumps({"parameters": 19_660_000, "seeds": seeds}))


def test_page_with_several_seeds_and_a_row_without_results(stored):
    store(stored, "one", 67.0, 68.0)
    lines = results.page().splitlines()
    assert lines[3] == "| `avg` | `-S models.avg.dim=16` | 67.5 ± 0.7 | 71.0 ± 0.0 | 50.0 ± 0.0 | 19.7 | 2 |"
    assert lines[8] == "| `charagram` | vectors of `one-1` | – | – | – | – | – |"


def test_rows_of_an_earlier_version_until_they_are_run_again(stored):
    assert "| `lstm` \\* |  | 58.4 | 64.6 | 59.6 | 20.5 | 6 |" in results.page()
    store(stored, "three", 60.0)
    assert "| `lstm` |  | 60.0 | 71.0 | 50.0 | 19.7 | 2 |" in results.page()


def test_row_with_a_missing_seed(stored):
    store(stored, "one", 67.0)
    assert "| `avg` | `-S models.avg.dim=16` | – | – | – | – | – |" in results.page()


def test_table_of_the_readme(stored):
    store(stored, "one", 67.849, 67.849)
    text = results.readme(f"a\n{results.BEGIN}\nold\n{results.END}\nb\n")
    assert "old" not in text
    assert "| averages | 67.8 ± 0.0 | 71.0 ± 0.0 | 50.0 ± 0.0 | 68 |" in text
    assert "| LSTM \\* | 58.4 | 64.6 | 59.6 | – |" in text
    assert text.startswith("a\n")
    assert text.endswith(f"{results.END}\nb\n")


def test_run_of_an_unknown_row(capsys):
    with pytest.raises(SystemExit):
        results.run(["avgg"])
    assert "unknown row 'avgg': did you mean 'avg'?" in capsys.readouterr().err


@pytest.mark.slow
def test_run_of_a_row_on_the_sample(stored, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("clone")
    copy_repository(folder)
    for key, value in isolated_environment(tmp_path_factory.mktemp("cache")).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(results, "ROOT", folder)
    monkeypatch.setattr(
        results, "_options", lambda row: [f"model={row['model']}", *row["options"], "models.avg.epochs=1"]
    )
    results.run(["one"])
    stored_results = json.loads((stored / "one.json").read_text())
    assert stored_results["parameters"] % 16 == 0
    assert stored_results["parameters"] > 16 * 100
    means = [seed["metrics"]["sample"]["sts"]["mean"] for seed in stored_results["seeds"].values()]
    assert len(set(means)) == 2  # two seeds
    assert run_git(folder, "status", "--short") == ""
