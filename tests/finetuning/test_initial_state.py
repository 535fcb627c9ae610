"""Initial states of an encoder on a task."""

import math

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.finetuning.initial_state import (
    add_new_words,
    frozen_state,
    projected_state,
    trainable_state,
    untrained_model,
)
from paraphrastic.models import config_class, model_class
from paraphrastic.nn.batch import DeviceSentences
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.training.batches import Scrambling
from tests.helpers.toy_tasks import block_of, toy_config, untrained_encoder

SENTENCES = pa.array(["b c", "c d", ""])


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("avg", {"b", "c", "d"}),
        ("charagram", {" b", "b ", " c", "c ", " d", "d ", " b ", "b c", " c ", "c d", " d "}),
        ("charcnn", {" ", "b", "c", "d"}),
    ],
)
def test_vocabulary_of_untrained_model(name, texts):
    config = config_class(name)(**block_of(name))
    sentences, generator = SENTENCES[:2], torch.Generator().manual_seed(1)
    model = untrained_model(model_class(name), config, sentences, [2, 3], generator)
    assert set(model.texts.to_pylist()) == texts
    assert isinstance(model, TrainedEncoder)


def test_vocabulary_and_embeddings_with_new_words():
    config = config_class("avg")(**block_of("avg"))
    module = model_class("avg")(config, torch.Generator())
    known = TrainedEncoder(module, torch.randn(3, config.dim), pa.array(["a", "b"]))
    extended = add_new_words(known, config, SENTENCES, torch.Generator().manual_seed(1))
    assert extended.texts.to_pylist() == ["a", "b", "c", "d"]
    assert torch.equal(extended.embeddings[:3], known.embeddings)
    assert len(extended.embeddings) == 5
    assert (extended.embeddings[3:].norm(dim=1) > 0).all()
    model = untrained_encoder("charagram", SENTENCES)
    assert add_new_words(model, toy_config("charagram"), pa.array(["xyz"]), torch.Generator()) is model


@pytest.mark.parametrize("pretrained", [True, False])
def test_penalties_of_trainable_state(pretrained):
    model = untrained_encoder("lstmavg", SENTENCES)
    state = trainable_state(model, toy_config("lstmavg"), SENTENCES, 0.1, 0.2, pretrained)
    assert (state.penalty.strength, state.penalty.to_start) == (0.1, pretrained)
    assert (state.embeddings_penalty.strength, state.embeddings_penalty.to_start) == (0.2, True)
    assert state.encoder is model.module
    assert state.embeddings is model.embeddings
    assert len(state.sentences) == 3


def test_trainable_state_with_frozen_embeddings_and_scrambling():
    changes = {"freeze_embeddings": True, "scramble": 0.5, "boundary_tokens": "both"}
    model = untrained_encoder("lstmavg", SENTENCES, **changes)
    state = trainable_state(model, toy_config("lstmavg", **changes), SENTENCES, 0.1, 0.2, pretrained=False)
    assert state.embeddings_penalty.strength == math.inf
    assert state.scrambling == Scrambling(0.5, (1, 1))


def test_vectors_of_frozen_state():
    vectors = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    state = frozen_state(vectors)
    batch = DeviceSentences(state.sentences, torch.device("cpu")).take(np.array([2, 0]))
    assert torch.equal(state.encoder(state.embeddings, batch), vectors[[2, 0]])
    assert state.embeddings is vectors
    assert not list(state.encoder.parameters())
    assert state.encoder.out_dim == 4
    assert state.embeddings_penalty.strength == math.inf


def test_vectors_of_projected_state():
    vectors = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    state = projected_state(vectors, 2, 0.5, torch.Generator().manual_seed(2))
    batch = DeviceSentences(state.sentences, torch.device("cpu")).take(np.array([2, 0]))
    weights = dict(state.encoder.named_parameters())
    expected = vectors[[2, 0]] @ weights["dense.W"] + weights["dense.b"]
    torch.testing.assert_close(state.encoder(state.embeddings, batch), expected)
    assert state.embeddings is vectors
    assert (state.penalty.strength, state.penalty.to_start) == (0.5, False)
    assert state.embeddings_penalty.strength == math.inf
