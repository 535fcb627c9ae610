"""Encoders trained on the sample come out ordered as its phenomena say."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import torch
from paraphrastic.training.pair_trainer import Pairs, Training

from paraphrastic import models
from paraphrastic.evaluation.correlation import pearson
from paraphrastic.sample import tables
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.text.deduplicate import distinct
from paraphrastic.text.tokenizer import tokenize
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from tests.test_encoders import LSTM, TRAINED, WORD

COMMON = {"dim": 100, "init": "idf", "margin": 0.6, "schedule": "linear", "batch_size": 100, "epochs": 3, "rate": 0.005}
ORDER = {"init": "random", "epochs": 18, "margin": 0.4, "schedule": "constant", "clip": 1.0}
BLOCKS = {
    "avg": WORD | COMMON,
    "charagram": TRAINED | COMMON | {"words": False, "counts": "sqrt", "layers": 1, "activation": "linear"},
    # who did what to whom is learned last, and not at all by a rate that has fallen by then
    "lstmavg": LSTM | COMMON | ORDER,
}


@pytest.fixture(scope="module")
def sample():
    """The training pairs, and the similarity sets by name."""
    pairs, sets = None, {}
    for kind, table in tables():
        if kind == "pairs":
            pairs = table
        if kind == "similarity":
            for name in pc.unique(table["set"]).to_pylist():
                sets[name] = table.filter(pc.equal(table["set"], name))
    return pairs, sets


@pytest.fixture(scope="module")
def figures(sample, tmp_path_factory):
    """Pearson × 100 of each encoder on each set."""
    return {name: score(train(name, sample[0], tmp_path_factory.mktemp(name)), sample[1]) for name in BLOCKS}


def train(name, pairs, folder):
    sentences, (left, right) = distinct([tokenize(pairs["text1"]), tokenize(pairs["text2"])])
    config, generator = models.options(name)(**BLOCKS[name]), torch.Generator().manual_seed(1)
    encoder = models.implementation(name)(config, generator)
    counted = count_words(sentences, 2) if encoder.units == "words" else count_ngrams(sentences, [2, 3, 4], 2)
    texts, table = initial_embeddings(encoder, config, counted, len(sentences), generator)
    model = TrainedEncoder(encoder, table, texts)
    columns = model.units.lookup(sentences), left, right, np.zeros(len(left), int), pairs["group"].to_numpy()
    Training(model, Pairs(*columns), config, 1, None).run(Checkpoint(folder), 1e9, lambda step: None)
    return model


def score(model, sets):
    out = {}
    for name, table in sets.items():
        sentences, (left, right) = distinct([tokenize(table["text1"]), tokenize(table["text2"])])
        out[name] = 100 * pearson(table["score"].to_numpy(), model.score(pa.array(sentences), left, right))
    return out


def test_role_swaps_favour_what_sees_order(figures):
    roles = {name: sets["sample.roles"] for name, sets in figures.items()}
    assert roles["lstmavg"] > roles["avg"] + 15
    assert roles["lstmavg"] > roles["charagram"] + 15


def test_misspelt_words_favour_characters(figures):
    typos = {name: sets["sample.typos"] for name, sets in figures.items()}
    assert typos["charagram"] > typos["avg"] + 10
    assert typos["charagram"] > typos["lstmavg"] + 10


def test_synonyms_are_learned_by_all(figures):
    assert min(sets["sample.synonyms"] for sets in figures.values()) > 60
