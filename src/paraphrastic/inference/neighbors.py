"""Nearest neighbours of a word, an n-gram or a sentence in a model's vocabulary."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import ModelError
from paraphrastic.inference.model import Model
from paraphrastic.scoring.scorer import Vectors, normalize_rows
from paraphrastic.text.tokenizer import text_column, tokenize

Neighbors = list[tuple[float, str]]  # similarity and text, nearest first


def nearest_in_vocabulary(model: Model, text: str, count: int) -> Neighbors:
    """Return the entries of the vocabulary whose embeddings have the largest cosine with `text`.

    `text` is looked up as given, tokenized, and tokenized with a space at each end (the form of words among n-grams).
    If it is an entry, its embedding is the query, and the entry is not returned. Otherwise the query is its sentence
    vector.

    Raises:
        ParameterError: `text` is not valid Unicode.
        ModelError: the model has no embeddings, its sentence vectors have another size than its embeddings, or the
            vector of `text` is zero.
    """
    embeddings = model.embeddings()
    tokens = tokenize(text_column([text]), "NFKC")[0].as_py()
    rows = (int(pc.index(model.vocabulary, form).as_py()) for form in (text, tokens, f" {tokens} "))
    row = next((row for row in rows if row >= 0), -1)
    if row < 0 and model.dim != embeddings.shape[1]:
        sizes = f"sentence vectors have size {model.dim} and embeddings {embeddings.shape[1]}"
        raise ModelError(f"{model.folder}: {sizes}; name a word or n-gram of the vocabulary")
    query = embeddings[row] if row >= 0 else model.encode([text])[0]
    if not query.any():
        raise ModelError(f"{model.folder}: the vocabulary knows nothing of '{text}'; try another text")
    return nearest_texts(model.vocabulary, embeddings, query, count, row)


def nearest_texts(texts: pa.StringArray, vectors: Vectors, query: Vectors, count: int, left_out: int = -1) -> Neighbors:
    """Return the texts whose vectors (n, dim) have the largest cosine with `query` (dim,), but not the one `left_out`.

    Of equally near ones the first come first.
    """
    cosines = np.clip(normalize_rows(vectors) @ normalize_rows(query[None])[0], -1, 1)
    order = np.argsort(-cosines, kind="stable")
    order = order[order != left_out][:count]
    return list(zip(cosines[order].tolist(), texts.take(order).to_pylist(), strict=True))
