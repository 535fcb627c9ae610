"""Two values of every option of the parameter files, so that a test can change one option of a small block."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
from pydantic import BaseModel

from paraphrastic import models
from tests.helpers.parameter_files import read_parameters

PARAMS = read_parameters()
WITHOUT_RESULT = {"num_threads": "speed only", "device": "rounding only"}  # options that must not change results

SMALL: dict[str, Any] = {"dim": 8, "out_dim": 8, "character_dim": 5, "hidden_dim": 6}  # the sizes of every block
SMALL |= {"filters": {2: 4, 3: 4}, "filters_per_width": 3, "ngrams_per_order": 20, "matmul_dtype": "float32"}
SMALL |= {"epochs": 2, "batch_size": 10, "learning_rate": 0.02, "num_threads": 1}

# Values of options that are neither a choice nor a switch; one differs from the block's
VALUES: dict[str, tuple[Any, Any]] = {
    "a": (0.1, 0.001), "accumulate": (2, 1), "batch_size": (9, 10), "bigrams": (2, None), "character_dim": (4, 5),
    "components": (2, 1), "dim": (7, 8), "dropout": (0.5, 0.0), "epochs": (3, 2),
    "filters": ({1: 4, 2: 4}, {2: 4, 3: 4}), "filters_per_width": (4, 3), "hidden_dim": (7, 6),
    "lambda_c": (3.0, 0.0), "lambda_s": (3.0, 0.0), "lambda_w": (3.0, 0.0), "learning_rate": (0.03, 0.02),
    "lstm_dropout": (0.0, 0.5), "margin": (0.1, 0.9), "max_grad_norm": (0.01, None), "max_window": (2, 3),
    "min_count": (2, 1), "negatives_per_sentence": (2, 1), "ngrams_per_order": (10, 20), "order": (2, 3),
    "orders": ([2], [2, 3, 4]), "out_dim": (7, 8), "projection_dim": (7, 8), "scramble": (0.9, 0.0),
    "temperature": (0.1, None), "window": (1, 3), "word_dropout": (0.5, 0.0),
}  # fmt: skip


def small_block(section: str, name: str) -> dict[str, Any]:
    """Return the block `name` of models, or of taggers, with the sizes of SMALL and the defaults that it leaves out."""
    block: dict[str, Any] = PARAMS[section][name]
    if section == "models":
        given = {"vectors": "v.txt"} if name in ("sif", "vectors") else {}  # which they cannot do without
        block = models.config_class(name)(**block | given).model_dump()
    linear = {"activation": "linear"} if "dense" in block else {}  # `dense: false` needs it
    words = {"words": True} if "bigrams" in block else {}  # `bigrams` needs it
    return block | linear | words | {key: value for key, value in SMALL.items() if key in block}


def changed(config: type[BaseModel], block: dict[str, Any], option: str, vectors: Path) -> dict[str, Any]:
    """Return `block` with another value of one option; `vectors` is the other value of that name."""
    if option == "vectors":
        return block | {"vectors": str(vectors)}
    annotation = config.model_fields[option].annotation
    # of a `Literal` the last first: some of the first ones need other options too
    choices = reversed(get_args(annotation)) if get_origin(annotation) is Literal else ()
    values = VALUES.get(option, (True, False) if isinstance(block[option], bool) else tuple(choices))
    assert values, f"{option}: add two values to VALUES, so that the tests can change it"
    return block | {option: next(value for value in values if value != block[option])}


def write_vectors(path: Path, words: Iterable[str], dim: int = SMALL["dim"]) -> Path:
    """Write random vectors of words as text, and return the path."""
    generator = np.random.default_rng(0)
    lines = (" ".join([word, *map(str, generator.normal(size=dim).round(3))]) for word in words)
    path.write_text("\n".join(lines) + "\n")
    return path


def differs(left: np.ndarray, right: np.ndarray) -> bool:
    """Return whether two loss curves differ by more than rounding."""
    return left.shape != right.shape or not np.allclose(left, right, rtol=1e-5, atol=0)
