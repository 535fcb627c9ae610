"""Options of taggers."""

import pytest
from pydantic import ValidationError

from paraphrastic.base.errors import ParameterError
from paraphrastic.finetuning.options import tagger_config_class
from tests.helpers.tagged_text import VARIANTS


def test_unknown_tagger():
    with pytest.raises(ParameterError, match=r"unknown tagger 'chargram': did you mean 'charagram'\?"):
        tagger_config_class("chargram")


@pytest.mark.parametrize(("name", "block"), VARIANTS.values(), ids=VARIANTS)
def test_options_of_each_tagger(name, block):
    assert tagger_config_class(name)(**block).model_dump() == block


@pytest.mark.parametrize(
    "change",
    [
        {"epoch": 1},
        {"orders": [3, 2]},
        {"orders": []},
        {"learning_rate": 0.0},
        {"lstm_dropout": 1.0},
        {"num_layers": 3},
    ],
)
def test_wrong_options(change):
    name, block = VARIANTS["charagram"]
    with pytest.raises(ValidationError):
        tagger_config_class(name)(**(block | change))


def test_size_of_word_vectors_without_dense_layer():
    name, block = VARIANTS["charcnn-no-dense"]
    with pytest.raises(ValidationError, match=r"dense\n.*needs dim: 7, the number of filters; dim is 6"):
        tagger_config_class(name)(**block | {"dim": 6})
