"""Initial states of an encoder on a task: random, pretrained on pairs, or fixed vectors."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Generator, Tensor, nn

from paraphrastic.nn.batch import Batch
from paraphrastic.nn.layers import Dense, Encoder, TrainableModel
from paraphrastic.nn.options import TrainingConfig, freezes_embeddings
from paraphrastic.scoring.neural import TrainedEncoder, TrainedModel, TrainedPairModel, trained_model
from paraphrastic.text.columns import Ragged
from paraphrastic.training.batches import Scrambling
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.optimizers import L2Penalty
from paraphrastic.vocabulary.counting import count_entries, count_words


@dataclass(frozen=True)
class InitialState:
    """An encoder before the first step on a task."""

    encoder: "Encoder | FixedVectors"  # maps `embeddings` and a batch to vectors (B, `out_dim`)
    embeddings: Tensor  # the embedding table; trained in place, as the encoder is
    sentences: Ragged  # ids of all sentences of the task
    penalty: L2Penalty  # of the encoder's parameters
    embeddings_penalty: L2Penalty  # of the embedding table
    scrambling: Scrambling  # shuffles words in training


def trainable_state(
    model: TrainedEncoder,
    config: TrainingConfig,
    sentences: pa.StringArray,
    lambda_c: float,
    lambda_w: float,
    pretrained: bool,
) -> InitialState:
    """Return the state of an encoder that is trained together with the head.

    Args:
        model: the encoder at its start; holds the result.
        config: its options.
        sentences: all sentences of the task.
        lambda_c: penalty of its module's parameters, toward their start if `pretrained` or if the model is always
            regularised toward its start, toward zero otherwise.
        lambda_w: penalty of its embedding table, of words, n-grams or characters, toward its start; without effect if
            `config` freezes the table.
        pretrained: whether the model was trained before.
    """
    penalty = L2Penalty(lambda_c, pretrained or model.module.regularize_to_start)
    embeddings_penalty = L2Penalty(math.inf if freezes_embeddings(config) else lambda_w, to_start=True)
    ids, scrambling = model.vocabulary.lookup(sentences), Scrambling.of(config)
    return InitialState(model.module, model.embeddings, ids, penalty, embeddings_penalty, scrambling)


class FixedVectors(nn.Module):
    """Fixed vectors x as they are, the features of iclr2016 §4.4.2, or after a projection.

    In the paper, features of 1200 and 2400 dimensions come from a projection that is learned on paraphrases and not
    changed on the task; the model `proj` with its option `out_dim` gives such vectors.

    Args:
        out_dim: size of the result.
        dense: `x P + b`, with P and b trained on the task, which no paper does; None for x.
    """

    def __init__(self, out_dim: int, dense: Dense | None = None) -> None:
        super().__init__()
        self.out_dim, self.dense = out_dim, dense

    def forward(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Return (B, out_dim) for a batch of B sentences with one id each, a row of `vectors` (n, d)."""
        rows = vectors.index_select(0, batch.ids)
        return rows if self.dense is None else self.dense(rows)


def frozen_state(vectors: Tensor) -> InitialState:
    """Return the state of fixed sentence vectors (n, d), the vector of each sentence of the task."""
    one_id_each = Ragged(np.arange(len(vectors), dtype=np.int32), np.arange(len(vectors) + 1))
    fixed = L2Penalty(math.inf, to_start=True)
    return InitialState(FixedVectors(vectors.shape[1]), vectors, one_id_each, L2Penalty(), fixed, Scrambling())


def projected_state(vectors: Tensor, dim: int, lambda_c: float, generator: Generator) -> InitialState:
    """Return the state of fixed sentence vectors with a random projection, which is trained.

    Args:
        vectors: (n, d), the vector of each sentence of the task.
        dim: size that they are projected to.
        lambda_c: penalty of the projection toward zero.
        generator: source of its initial weights.
    """
    dense = Dense(vectors.shape[1], dim, "linear", generator).to(vectors.device)
    return replace(frozen_state(vectors), encoder=FixedVectors(dim, dense), penalty=L2Penalty(lambda_c))


def untrained_model(
    model_class: type[TrainableModel],
    config: TrainingConfig,
    sentences: pa.StringArray,
    orders: list[int],
    generator: Generator,
) -> TrainedEncoder | TrainedPairModel:
    """Return an untrained model with the vocabulary of `sentences`.

    Args:
        model_class: class of the model.
        config: its options.
        sentences: (n,), the tokenized sentences of the training rows.
        orders: lengths of character n-grams.
        generator: source of the initial weights.
    """
    cls: Any = model_class
    built: TrainableModel = cls(config, generator)
    counts = count_entries(built.vocabulary, sentences, orders, bigram_min_count=built.bigram_min_count)
    texts, embeddings = initial_embeddings(built, config, counts, sentences, generator)
    return trained_model(built, embeddings, texts)


def add_new_words(
    model: TrainedModel[Any], config: TrainingConfig, sentences: pa.StringArray, generator: Generator
) -> TrainedModel[Any]:
    """Return `model` with an initial embedding for each word of `sentences` that it lacks.

    The papers' word vectors cover nearly all words of a task, whereas a model that was trained from random vectors
    covers only those of its pairs. A model of n-grams or characters is returned unchanged.
    """
    if model.module.vocabulary != "words":
        return model
    texts, embeddings = initial_embeddings(model.module, config, count_words(sentences), sentences, generator)
    new = pc.invert(pc.is_in(texts, model.texts))
    rows = torch.from_numpy(new.to_numpy(zero_copy_only=False))
    extended = torch.cat([model.embeddings, embeddings[1:][rows]])  # row 0 stands for unknown words
    return type(model)(model.module, extended, pa.concat_arrays([model.texts, texts.filter(new)]))
