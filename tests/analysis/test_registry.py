"""The registry of analyses."""

import inspect

import pytest

from paraphrastic import analysis
from paraphrastic.base.errors import ParameterError


@pytest.mark.parametrize("name", analysis.names())
def test_each_analysis_is_a_function_of_artifacts_in_a_module_that_cites_its_paper(name):
    function = analysis.analysis(name)
    assert list(inspect.signature(function).parameters) == ["artifacts"]
    assert any(paper in inspect.getmodule(function).__doc__ for paper in ("iclr2016", "charagram2016", "acl2017"))


def test_unknown_analysis():
    with pytest.raises(ParameterError, match="unknown analysis 'lenght': did you mean 'length'"):
        analysis.analysis("lenght")
