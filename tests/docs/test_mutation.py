"""The sample of mutants, and the table of their results."""

import json

import pytest
from typer.testing import CliRunner

from docs import mutation

RESULTS = {"a/x": {"a.x.f_1": 1, "a.x.f_2": 0, "a.x.f_3": None, "a.x.f_4": -24}, "b": {"b.g_1": 33}, "empty": {}}


@pytest.fixture
def run(tmp_path, monkeypatch):
    for name, codes in RESULTS.items():
        path = tmp_path / f"{name}.py.meta"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"exit_code_by_key": codes}))
    monkeypatch.setattr(mutation, "MUTANTS", tmp_path)
    return lambda *arguments: CliRunner().invoke(mutation.app, arguments).stdout.splitlines()


def test_sample_of_each_module(run):
    samples = [run("sample", "2", str(seed)) for seed in range(20)]
    assert all(len(set(names)) == 3 and names[2] == "b.g_1" for names in samples)
    assert {name for names in samples for name in names} == {*RESULTS["a/x"], "b.g_1"}
    assert run("sample", "2", "7") == samples[7]


def test_table_of_results(run):
    lines = ["| `a/x` | 4 | 3 | 2 |", "| `b` | 1 | 1 | 0 |", "| all | 5 | 4 | 2 |"]
    assert run("table")[2:] == lines
    assert run("table", "--survivors")[2:] == [*lines, "a.x.f_2", "b.g_1"]
