"""Every option of the block of a trained model changes its training on pairs."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from paraphrastic import models
from paraphrastic.base.errors import ParameterError
from paraphrastic.nn.layers import TrainableModel
from tests.helpers import ldc, toy_training
from tests.helpers.option_changes import WITHOUT_RESULT, changed, differs, small_block, write_vectors

NAMES = [name for name in models.names() if issubclass(models.model_class(name), TrainableModel)]
OPTIONS = [(name, option) for name in NAMES for option in small_block("models", name) if option not in WITHOUT_RESULT]
REFUSED = [("avg", "freeze_embeddings"), ("avg", "lambda_c")]  # an average has no other parameters


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return write_vectors(tmp_path_factory.mktemp("vectors") / "v.txt", toy_training.WORDS)


def losses(name: str, block: dict[str, Any], folder: Path) -> np.ndarray:
    """Train a model on the toy corpus and return its loss curve."""
    if name == "ldc":
        _, curves = ldc.train(folder, **block)
    else:
        _, curves = toy_training.train(name, block, folder, **block)
    return np.array(curves.loss)


@cache
def unchanged_losses(name: str) -> np.ndarray:
    with TemporaryDirectory() as folder:
        return losses(name, small_block("models", name), Path(folder))


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_effect_on_training_on_pairs(name, option, vectors, tmp_path):
    block = changed(models.config_class(name), small_block("models", name), option, vectors)
    if (name, option) in REFUSED:
        with pytest.raises(ParameterError, match=option):
            losses(name, block, tmp_path)
    else:
        assert differs(losses(name, block, tmp_path), unchanged_losses(name))
