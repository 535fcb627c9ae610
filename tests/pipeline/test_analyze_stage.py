"""The stage `analyze`."""

from pipeline import analyze
from tests.helpers.parameter_files import copy_parameters
from tests.helpers.run_artifacts import write_run


def test_table_of_an_analysis(tmp_path, monkeypatch):
    write_run(tmp_path / "data", ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 3.0)])
    copy_parameters(tmp_path)
    monkeypatch.chdir(tmp_path)
    analyze.main("length")
    assert (tmp_path / "metrics/analysis/length.csv").read_text() == "length,n,pearson\n≤ 4,1,\n"
