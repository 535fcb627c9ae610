"""The stage `analyze`."""

import pytest

from paraphrastic.base.errors import ParameterError
from pipeline import analyze
from tests.helpers.parameter_files import copy_parameters
from tests.helpers.run_artifacts import write_run


def test_table_of_an_analysis(tmp_path, monkeypatch):
    write_run(tmp_path / "data", ["a b", "a c"], [("sts.2012.MSRpar", "test", 0, 1, 3.0)])
    copy_parameters(tmp_path)
    monkeypatch.chdir(tmp_path)
    analyze.main("length")
    assert (tmp_path / "metrics/analysis/length.csv").read_text() == "length,n,pearson\n≤ 4,1,\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("analyses: [length]\nfoo: 1\n", "foo: unknown key; known are analyses"),
        ("analyses: [length, lenght]\n", "analyses: unknown analysis 'lenght': did you mean 'length'"),
    ],
)
def test_mistake_in_the_list_of_analyses(tmp_path, monkeypatch, text, message):
    copy_parameters(tmp_path)
    (tmp_path / "analyze/params.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=rf"^analyze/params\.yaml: {message}"):
        analyze.main("length")
