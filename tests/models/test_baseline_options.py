"""Every option of a baseline changes its scores.

Trained models: tests/training/test_pair_trainers_options.py and tests/finetuning/test_options.py.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import ValidationError

from paraphrastic import models
from paraphrastic.base.errors import DataError
from paraphrastic.scoring.baseline import Baseline
from tests.helpers.option_changes import PARAMS, changed, small_block, write_vectors
from tests.helpers.toy_training import SENTENCES, WORDS

ELSEWHERE = {("external", "path"): "tests/scoring/test_external_encoder.py", ("external", "batch_size"): "speed only"}
BASELINES = [name for name in models.names() if issubclass(models.model_class(name), Baseline)]
OPTIONS = [(name, option) for name in BASELINES for option in PARAMS["models"][name] if (name, option) not in ELSEWHERE]


def scores(name: str, block: dict[str, Any]) -> np.ndarray:
    """Fit a baseline to the toy corpus and return the scores of its pairs and of random ones."""
    left, right = np.arange(40), np.random.default_rng(0).permutation(40)
    return models.model_class(name).fit(models.config_class(name)(**block), SENTENCES).score(SENTENCES, left, right)


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_effect_of_option(name, option, tmp_path: Path):
    block = small_block("models", name)
    if "vectors" in block:
        block["vectors"] = str(write_vectors(tmp_path / "v.txt", ["again", *WORDS]))
    other = write_vectors(tmp_path / "other.txt", reversed(["again", *WORDS]))
    block_after = changed(models.config_class(name), block, option, other)
    if option == "dim":  # it is that of the file
        with pytest.raises(DataError, match="set `dim` to the dimension of the file"):
            scores(name, block_after)
    else:
        assert not np.allclose(scores(name, block_after), scores(name, block), rtol=1e-5)


def test_components_that_the_sentences_have(tmp_path):
    block = small_block("models", "sif") | {"vectors": str(write_vectors(tmp_path / "v.txt", ["dog", "cat"]))}
    config = models.config_class("sif")(**block | {"components": 3})
    texts = pa.chunked_array([["dog", "dog dog"]])
    vectors = models.model_class("sif").fit(config, texts).encode(pa.array(["dog", "cat"]))
    np.testing.assert_allclose(vectors[0], 0, atol=1e-5)  # the one direction of the sentences
    assert vectors[1].any()
    assert len(models.model_class("sif").fit(config, texts).arrays["directions"]) == 1
    with pytest.raises(DataError, match=r"v\.txt: has no word of the training sentences; choose another"):
        models.model_class("sif").fit(config, pa.chunked_array([["horse", ""]]))


@pytest.mark.parametrize("name", ["vectors", "sif"])
def test_dimension_that_no_array_has(name):
    with pytest.raises(ValidationError, match=r"dim\n.*less than 2147483648"):
        models.config_class(name)(**small_block("models", name) | {"vectors": "v.txt", "dim": 10**19})
