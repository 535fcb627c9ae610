"""The character CNN: its options, and vectors without a dense layer."""

import json

import pytest
import torch
from pydantic import ValidationError

from paraphrastic.models.charcnn import CharCnn, Config
from tests.helpers.encoder_variants import TRAINED, batch_of

DIM, ROWS = 4, 9
SENTENCES = [[3, 1, 3, 8, 8, 1, 3, 1, 0], [], [7], [2, 2, 2, 5, 0, 8, 4], [6, 8], [], [1, 1, 1, 1, 1, 1]]
OWN = {"filters": {2: 7, 3: 5}, "filter_activation": "tanh", "dense": True, "activation": "tanh", "dropout": 0.0}
NO_DENSE = {"dense": False, "activation": "linear"}


def config(**changes):
    return Config(**TRAINED | {"dim": DIM} | OWN | changes)


def charcnn(**changes):
    return CharCnn(config(**changes), torch.Generator().manual_seed(2)).double()


def random_embeddings():
    return torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_vectors_with_unused_rows_in_the_embedding_table():
    encoder, embeddings = charcnn(), random_embeddings()
    larger = torch.cat([torch.full((3, DIM), torch.nan), embeddings])
    shifted = batch_of([[character + 3 for character in sentence] for sentence in SENTENCES], encoder)
    assert torch.equal(encoder(larger, shifted), encoder(embeddings, batch_of(SENTENCES, encoder)))


def test_pooled_responses_as_vectors():
    encoder, pooling = charcnn(), charcnn(**NO_DENSE)
    batch, embeddings = batch_of(SENTENCES, encoder), random_embeddings()
    pooled = pooling(embeddings, batch)  # the same filters, because they are drawn first
    assert pooled.shape == (len(SENTENCES), 12)
    assert (encoder.out_dim, pooling.out_dim) == (DIM, 12)
    is_empty = torch.tensor([not sentence for sentence in SENTENCES]).unsqueeze(1)
    torch.testing.assert_close(encoder.dense(pooled).masked_fill(is_empty, 0), encoder(embeddings, batch))
    assert set(pooling.state_dict()) == {"filters", "bias"}


def test_options_after_json_and_activations_without_dense_layer():
    assert Config(**json.loads(json.dumps(config().model_dump()))) == config()
    for activation in ("tanh", "relu"):
        with pytest.raises(ValidationError, match=r"activation\n.*should be linear, .*no dense layer"):
            config(dense=False, activation=activation)


@pytest.mark.parametrize(
    "filters", [{}, {0: 5}, {11: 5}, {2: 0}, {2.0: 5}, {2: 5, "2": 5}, {"two": 5}, {2: "5"}, {True: 5}, [2], None]
)
def test_unusable_filters(filters):
    with pytest.raises(ValidationError, match="filters"):
        config(filters=filters)
