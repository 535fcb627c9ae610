"""Where a task's vectors start: from scratch, from a model that was trained on pairs, or frozen as that gives them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Generator, Tensor, nn

from paraphrastic.encoding.batch import Batch
from paraphrastic.encoding.dense import Dense
from paraphrastic.encoding.encoder import Composition, TrainingConfig
from paraphrastic.encoding.trained import Trained, TrainedModel, as_scorer
from paraphrastic.text.bags import Bags
from paraphrastic.text.mixed import with_words
from paraphrastic.text.vocabulary import count_ngrams, count_words
from paraphrastic.training.initial import initial_table
from paraphrastic.training.run import Pull


@dataclass(frozen=True)
class Start:
    """Vectors of the sentences of a task, before its first step.

    Attributes:
        encoder: makes them, (n, `out_dim`), of a table and a batch as `Encoder` does.
        table: vectors of units; learned in place, as the encoder is.
        bags: units of all sentences.
        pull: of the encoder's parameters.
        table_pull: of the table.
    """

    encoder: nn.Module
    table: Tensor
    bags: Bags
    pull: Pull
    table_pull: Pull


def learned(model: Trained, sentences: pa.StringArray, lambda_c: float, lambda_w: float, universal: bool) -> Start:
    """An encoder that learns with the head.

    Args:
        model: where it starts; holds the result.
        sentences: of the task.
        lambda_c: pull on its parameters, toward their start if `universal`, else toward zero.
        lambda_w: pull on its table toward the start.
        universal: whether the start was trained before.
    """
    pull = Pull(lambda_c, universal or model.encoder.pulled_to_start)
    return Start(model.encoder, model.table, model.units.bags(sentences), pull, Pull(lambda_w, True))


class Projection(nn.Module):
    """`x P + b` of vectors x that stay as they are (iclr2016 §4.4.2)."""

    def __init__(self, inputs: int, outputs: int, generator: Generator) -> None:
        super().__init__()
        self.out_dim = outputs
        self.dense = Dense(inputs, outputs, "linear", generator)

    def forward(self, table: Tensor, batch: Batch) -> Tensor:
        """(B, outputs) of B rows of `table` (n, inputs)."""
        return self.dense(table.index_select(0, batch.ids))


def frozen(vectors: Tensor, dim: int, lambda_c: float, generator: Generator) -> Start:
    """Vectors (n, d) of all sentences that stay as they are, and a projection that is learned.

    Args:
        vectors: one for each sentence of the task.
        dim: what they are projected to.
        lambda_c: pull on the projection toward zero.
        generator: source of its first weights.
    """
    each = Bags(np.arange(len(vectors), dtype=np.int32), np.arange(len(vectors) + 1))
    projection = Projection(vectors.shape[1], dim, generator).to(vectors.device)
    return Start(projection, vectors, each, Pull(lambda_c), Pull(math.inf, True))


def scratch(
    encoder: type[Composition],
    config: TrainingConfig,
    sentences: pa.StringArray,
    orders: list[int],
    generator: Generator,
) -> TrainedModel[Any]:
    """An untrained model whose units are those that occur in `sentences`.

    Args:
        encoder: class of the model.
        config: its options.
        sentences: (n,) tokenized, of the training rows.
        orders: lengths of character n-grams.
        generator: source of the first weights.
    """
    built = encoder(config, generator)
    texts, table = initial_table(built, config, _counted(built.units, sentences, orders), len(sentences), generator)
    return as_scorer(encoder)(built, table, texts)


def with_new_words(
    model: TrainedModel[Any], config: TrainingConfig, sentences: pa.StringArray, generator: Generator
) -> TrainedModel[Any]:
    """`model` with a vector more for each word of `sentences` that it lacks; of other units it keeps its own.

    The papers' vectors know nearly all words of a task beforehand; a model trained on pairs knows those of its pairs.
    """
    if model.encoder.units != "words":
        return model
    texts, table = initial_table(model.encoder, config, count_words(sentences), len(sentences), generator)
    new = pc.invert(pc.is_in(texts, model.texts))
    rows = torch.from_numpy(new.to_numpy(zero_copy_only=False))
    return type(model)(
        model.encoder, torch.cat([model.table, table[1:][rows]]), pa.concat_arrays([model.texts, texts.filter(new)])
    )


def _counted(units: str, sentences: pa.StringArray, orders: list[int]) -> pa.Table:
    if units == "words":
        return count_words(sentences)
    ngrams = count_ngrams(sentences, [1] if units == "characters" else orders)
    return with_words(ngrams, count_words(sentences)) if units == "words+ngrams" else ngrams
