"""Models with random weights on the toy corpus, saved as the stage `train` saves them."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch

import paraphrastic
from paraphrastic.inference import model_folder
from paraphrastic.inference.model import Model
from paraphrastic.models import config_class, model_class
from paraphrastic.scoring.baseline import pretrained_mean
from tests.helpers.encoder_variants import CHARAGRAM, LSTM, WORD
from tests.helpers.ldc import LDC, start
from tests.helpers.toy_training import SENTENCES, WORDS, prepare

CHARAGRAM_WORDS = CHARAGRAM | {"words": True, "bigrams": 2}  # and n-grams, and pairs of words
ENCODERS = {"avg": WORD, "lstmavg": LSTM, "charagram": CHARAGRAM_WORDS}  # words and n-grams; with torch and without


def save_encoder(folder: Path, name: str, block: dict[str, Any], seed: int = 4, **changes: Any) -> Model:
    """Save an encoder with random weights, and return it loaded."""
    encoder, _, config = prepare(name, block, **changes)
    generator = torch.Generator().manual_seed(seed)
    for parameter in encoder.module.parameters():  # biases start at zero, which would hide their terms
        parameter.data.normal_(0, 0.7, generator=generator)
    model_folder.write_model(encoder, model_folder.ModelInfo(name, config.model_dump()), folder)
    return paraphrastic.load(folder)


def save_pair_model(folder: Path) -> Model:
    """Save an untrained pair model, and return it loaded."""
    model_folder.write_model(start(LDC), model_folder.ModelInfo("ldc", config_class("ldc")(**LDC).model_dump()), folder)
    return paraphrastic.load(folder)


def save_baseline(folder: Path, name: str) -> Model:
    """Save a baseline that is fitted to the toy corpus (`overlap`, `tfidf-words`, `tfidf-chars`), return it loaded."""
    config = config_class(name)(**({"order": 3} if name == "tfidf-chars" else {}))
    model_folder.write_model(
        model_class(name).fit(config, SENTENCES), model_folder.ModelInfo(name, config.model_dump()), folder
    )
    return paraphrastic.load(folder)


def save_word_vectors(
    folder: Path, name: str, components: int = 0, words: Sequence[str] = ("again", "was", *WORDS[:28])
) -> Model:
    """Save random vectors of words as a mean (`vectors`) or as `sif`, and return it loaded."""
    embeddings = np.random.default_rng(2).normal(size=(len(words) + 1, 8)).astype(np.float32)
    directions = np.linalg.qr(embeddings[:8])[0][:components]
    options = {"vectors": "v.txt", "dim": 8} | ({"a": 0.1, "components": components} if name == "sif" else {})
    config = import_module(f"paraphrastic.models.{name}").Config(**options)
    scorer = pretrained_mean(pa.array(words), embeddings, directions if name == "sif" else None)
    model_folder.write_model(scorer, model_folder.ModelInfo(name, config.model_dump()), folder)
    return paraphrastic.load(folder)


def save_model(folder: Path, name: str) -> Model:
    """Save a model of any of these kinds, and return it loaded."""
    if name in ENCODERS:
        return save_encoder(folder, name, ENCODERS[name])
    if name in ("vectors", "sif"):
        return save_word_vectors(folder, name, components=1)
    return save_pair_model(folder) if name == "ldc" else save_baseline(folder, name)
