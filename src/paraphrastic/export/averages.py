"""What the formats for word vectors can hold: words, their vectors, and whether sentences are means of them."""

import pyarrow as pa

from paraphrastic.errors import ModelError
from paraphrastic.inference.model import Model
from paraphrastic.scoring.scorer import EmbeddingScorer, Vectors
from paraphrastic.scoring.static import StaticEncoder

UNKNOWN_SENTENCE = "a sentence of which nothing is known has the vector of unknown words, not zero"


def plain_average(model: Model) -> tuple[pa.StringArray, Vectors]:
    """Return words (n,) and the embedding table (n + 1, dim) of a model whose vectors are means of word vectors.

    Raises:
        ModelError: the model is another one.
    """
    scorer = model.scorer
    is_average = (
        isinstance(scorer, StaticEncoder)
        and (scorer.form.vocabulary, scorer.form.pooling, scorer.form.boundary_tokens) == ("words", "mean", "none")
        and (scorer.form.activation, "bias" in scorer.arrays) == ("linear", False)
        and not len(scorer.arrays.get("directions", ()))
    )
    if not is_average:
        raise ModelError(
            f"{model.folder}: {model.name} with these options is not a plain average of word vectors; "
            "use --to sentence-transformers or --to onnx"
        )
    return word_embeddings(model)


def word_embeddings(model: Model) -> tuple[pa.StringArray, Vectors]:
    """Return words (n,) and the embedding table (n + 1, dim), whose row 0 stands for unknown words.

    Raises:
        ModelError: the model has no word embeddings.
    """
    scorer = model.scorer
    if not (isinstance(scorer, EmbeddingScorer) and scorer.vocabulary_kind == "words"):
        raise ModelError(f"{model.folder}: {model.name} has no word embeddings; export a model that reads words")
    return scorer.texts, scorer.embedding_array()
