"""Where a task's vectors start: from scratch, or from a model that was trained on pairs."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Generator

from paraphrastic.encoding.encoder import Composition, TrainingConfig
from paraphrastic.encoding.trained import TrainedModel, as_scorer
from paraphrastic.text.mixed import with_words
from paraphrastic.text.vocabulary import count_ngrams, count_words
from paraphrastic.training.initial import initial_table


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
