"""Encoders trained on the sample: each similarity set favours the encoders that can represent its phenomenon."""

import numpy as np
import pyarrow.compute as pc
import pytest
import torch

from paraphrastic import models
from paraphrastic.evaluation.metrics import pearson
from paraphrastic.readers import sample as sample_data
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.text.columns import deduplicate
from paraphrastic.text.tokenizer import tokenize
from paraphrastic.training.batches import Paraphrases
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.trainer import Checkpoint
from paraphrastic.vocabulary.counting import count_ngrams, count_words
from tests.helpers.encoder_variants import CHARAGRAM, LSTM, WORD
from tests.helpers.toy_training import encoder_trainer

pytestmark = pytest.mark.slow  # more than a minute for all three encoders

COMMON = {"dim": 100, "init": "idf", "margin": 0.6, "schedule": "linear"}
COMMON |= {"batch_size": 100, "epochs": 3, "learning_rate": 0.005}
# Word order is learned late: with a decreasing learning rate it would not be learned at all.
WORD_ORDER = {"init": "random", "epochs": 18, "margin": 0.4, "schedule": "constant", "max_grad_norm": 1.0}
OPTIONS = {
    "avg": WORD | COMMON,
    "charagram": CHARAGRAM | COMMON | {"activation": "linear"},
    "lstmavg": LSTM | COMMON | WORD_ORDER,
}


@pytest.fixture(scope="module")
def correlations(tmp_path_factory) -> dict[str, dict[str, float]]:
    """Pearson's r × 100 of each encoder on each set."""
    pairs, similarity = sample_data.table("pairs"), sample_data.table("similarity")
    names = pc.unique(similarity["set"]).to_pylist()
    sets = {name: similarity.filter(pc.equal(similarity["set"], name)) for name in names}
    encoders = {name: train(name, pairs, tmp_path_factory.mktemp(name)) for name in OPTIONS}
    return {
        name: {set_name: correlation(encoder, table) for set_name, table in sets.items()}
        for name, encoder in encoders.items()
    }


def tokenized_pairs(table):
    """Return the distinct tokenized sentences of a table and both sides as rows of them."""
    sentences, (left, right) = deduplicate([tokenize(table["text1"]), tokenize(table["text2"])])
    return sentences, left, right


def train(name, pairs, folder):
    sentences, left, right = tokenized_pairs(pairs)
    config, generator = models.config_class(name)(**OPTIONS[name]), torch.Generator().manual_seed(1)
    module = models.model_class(name)(config, generator)
    counts = count_words(sentences, 2) if module.vocabulary == "words" else count_ngrams(sentences, [2, 3, 4], 2)
    texts, embeddings = initial_embeddings(module, config, counts, sentences, generator)
    encoder = TrainedEncoder(module, embeddings, texts)
    sources, groups = np.zeros(len(left), int), pairs["group"].to_numpy()
    paraphrases = Paraphrases(encoder.vocabulary.lookup(sentences), left, right, sources, groups)
    encoder_trainer(encoder, paraphrases, config, 1, None).run(Checkpoint(folder), 1e9)
    return encoder


def correlation(encoder, table):
    sentences, left, right = tokenized_pairs(table)
    return 100 * pearson(table["score"].to_numpy(), encoder.score(sentences, left, right))


@pytest.mark.parametrize(("kind", "best", "lead"), [("roles", "lstmavg", 15), ("typos", "charagram", 10)])
def test_encoder_that_represents_a_phenomenon(correlations, kind, best, lead):
    scores = {name: sets[f"sample.{kind}"] for name, sets in correlations.items()}
    assert scores[best] > lead + max(score for name, score in scores.items() if name != best)


def test_every_encoder_on_synonyms(correlations):
    assert min(sets["sample.synonyms"] for sets in correlations.values()) > 60
