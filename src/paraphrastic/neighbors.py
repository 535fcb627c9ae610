"""What is nearest to a word, an n-gram or a sentence: units of a model's vocabulary, or lines of text."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.encoding.cosine import unit_rows
from paraphrastic.errors import ModelError
from paraphrastic.model import Model, Vectors
from paraphrastic.text.tokenize import tokenize

Near = list[tuple[float, str]]
"""Similarity and text, the nearest first."""


def in_vocabulary(model: Model, text: str, count: int) -> Near:
    """The units of the vocabulary whose rows of the table have the largest cosine with `text`, itself left out.

    Text that is a unit, as it stands, tokenized or as a word among n-grams (` word `), is its row; any other is a
    sentence with a vector of its own.

    Raises:
        ModelError: the model has no table, its sentence vectors are of another size than the rows, or it knows
            nothing of `text`.
    """
    table = _table(model)
    place = _place(model.units, text)
    query = table[place] if place >= 0 else _sentence(model, text, table.shape[1])
    if not query.any():
        raise ModelError(f"{model.folder}: the vocabulary has nothing of '{text}'; try another text")
    cosines = unit_rows(table) @ unit_rows(query[None])[0]
    order = np.argsort(-cosines, kind="stable")
    order = order[order != place][:count]
    return list(zip(cosines[order].tolist(), model.units.take(pa.array(order)).to_pylist(), strict=True))


def among(model: Model, text: str, columns: Iterable[pa.StringArray], count: int) -> Near:
    """The lines that are most similar to `text`, by any model; of equals the first come first.

    Raises:
        ParameterError: `text` is no Unicode text.
    """
    best: Near = []
    for lines in columns:
        scores = model.similarity([text] * len(lines), lines, progress=False)
        order = np.argsort(-scores, kind="stable")[:count]
        found = zip(scores[order].tolist(), lines.take(pa.array(order)).to_pylist(), strict=True)
        best = sorted([*best, *found], key=lambda each: -each[0])[:count]
    return best


def _table(model: Model) -> Vectors:
    """The rows of the units, (units, dim); a row that stands for all unknown words is left out."""
    table = getattr(model.scorer, "table", None)
    if table is None:
        raise ModelError(f"{model.folder}: {model.name} has no vectors of its vocabulary; name a file with --among")
    return np.asarray(table)[len(table) - len(model.units) :]


def _place(units: pa.StringArray, text: str) -> int:
    """The row of the unit that `text` is, -1 if it is none."""
    tokens = tokenize(pa.array([text]))[0].as_py()
    places = (pc.index(units, way).as_py() for way in (text, tokens, f" {tokens} "))
    return next((place for place in places if place >= 0), -1)


def _sentence(model: Model, text: str, dim: int) -> Vectors:
    if model.dim != dim:
        sizes = f"sentence vectors have {model.dim} numbers and rows of the vocabulary {dim}"
        raise ModelError(f"{model.folder}: {sizes}; name a word or n-gram of it, or a file with --among")
    return model.encode([text])[0]
