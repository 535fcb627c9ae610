"""The registry of analyses."""

import inspect

import pytest

from paraphrastic import analysis
from paraphrastic.base.errors import ParameterError


@pytest.mark.parametrize("name", analysis.names())
def test_each_module_has_an_analysis_that_cites_its_paper(name):
    function = analysis.analysis(name)
    module = inspect.getmodule(function)
    assert list(inspect.signature(function).parameters) == ["artifacts"]
    assert any(paper in module.__doc__ for paper in ("iclr2016", "charagram2016", "acl2017", "ldc2016"))


def test_unknown_analysis():
    with pytest.raises(ParameterError, match="unknown analysis 'lenght': did you mean 'length'"):
        analysis.analysis("lenght")
