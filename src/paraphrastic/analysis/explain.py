"""Shares of words and n-grams in the cosine of two sentences.

If a sentence vector is a sum of one part for each unit of the sentence, `u = Σ_i u_i`, its cosine with v is a sum too:
`cos(u, v) = Σ_i u_i · v / (|u| |v|)`. The term of unit i is its share.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paraphrastic.base.errors import ModelError
from paraphrastic.inference.model import Model
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.text.columns import Ragged, split_words
from paraphrastic.text.tokenizer import text_column, tokenize
from paraphrastic.vocabulary.kinds import BoundaryTokens, add_boundary_tokens

if TYPE_CHECKING:
    from torch import Tensor

    from paraphrastic.models.gran import Gran
    from paraphrastic.scoring.neural import TrainedEncoder

BIAS = "(bias)"
Matrix = NDArray[np.float64]


class Unit(NamedTuple):
    """A word, a pair of adjacent words, an n-gram or a bias of a sentence.

    Attributes:
        text: the word, pair or n-gram as in the vocabulary, or `(bias)`.
        share: of the cosine; may be negative.
        gate: L1 norm of the word's gate (acl2017 §5.2), for GRAN; otherwise None.
    """

    text: str
    share: float
    gate: float | None


@dataclass(frozen=True)
class Explanation:
    """The cosine of two sentences, and the shares in it.

    Attributes:
        cosine: that of the vectors of the sentences; 0 if one is zero, also where the similarity of equal texts is 1.
        left: units of the first sentence, whose shares sum to the cosine. Words stand in reading order, with boundary
            tokens; n-grams occur once each, in the order of the vocabulary.
        right: units of the second sentence, likewise.
    """

    cosine: float
    left: list[Unit]
    right: list[Unit]


class _Parts(NamedTuple):
    """A sentence vector as a sum."""

    texts: list[str]  # the units
    vectors: Matrix  # (units, dim), the parts of the sentence vector
    gates: list[float | None]  # L1 norm of each unit's gate; None without gates


def explain(model: Model, left: str, right: str) -> Explanation:
    """Return the share of each unit of two raw texts in the cosine of their vectors.

    * Averages of word vectors: exact. All unknown words have the same vector.
    * Charagram: exact with `activation: linear`. All biases together are one more unit. Another activation f makes no
      sum of parts: its value f(x) is divided among the units, in each dimension, as x is (the rescale rule of DeepLIFT,
      Shrikumar et al. 2017, with reference 0). The shares still sum to the cosine, but depend on that rule.
    * GRAN: the part of a word is its `a_t / |s|`, in variants 3 and 4 what the later gates leave of its `x_t ⊙ g1`. The
      gates depend on other words too, so a share is not the difference that leaving out the word makes.

    Raises:
        ParameterError: a text is not valid Unicode.
        ModelError: vectors of the model are no such sums.
    """
    sides = [_parts(model, tokenize(text_column([text]), "NFKC")) for text in (left, right)]
    u, v = (side.vectors.sum(axis=0) for side in sides)
    scale = float(np.linalg.norm(u) * np.linalg.norm(v)) or 1.0
    units = (
        [Unit(*unit) for unit in zip(side.texts, (side.vectors @ other / scale).tolist(), side.gates, strict=True)]
        for side, other in zip(sides, (v, u), strict=True)
    )
    return Explanation(min(max(float(u @ v) / scale, -1.0), 1.0), *units)


def _parts(model: Model, sentence: pa.StringArray) -> _Parts:
    if isinstance(model.scorer, StaticEncoder):
        parts = _parts_of_static(model.scorer, sentence)
    elif model.name == "gran":
        parts = _parts_of_gran(cast("TrainedEncoder", model.scorer), sentence)
    else:
        reason = "its vectors are no sums over words or n-grams"
        raise ModelError(f"{model.folder}: {model.name} cannot be explained: {reason}; choose avg, charagram or gran")
    _, known = model.encoder().encode_known(sentence)
    # the vector of a sentence of which the model knows nothing is zero
    return parts if known.all() else parts._replace(vectors=np.zeros_like(parts.vectors))


def _parts_of_static(encoder: StaticEncoder, sentence: pa.StringArray) -> _Parts:
    ragged = encoder.vocabulary.lookup(sentence)
    vectors = encoder.table.take(ragged.ids).astype(np.float64) * encoder.id_weights(ragged)[:, None]  # (units, dim)
    if encoder.form.vocabulary == "words":
        texts = _words(sentence, encoder.form.boundary_tokens)
    else:
        texts = encoder.texts.take(ragged.ids).to_pylist()
    if encoder.form.pooling == "mean":
        vectors /= max(len(vectors), 1)
    if not encoder.arrays.keys().isdisjoint({"bias", "dense.b"}):
        bias = encoder.arrays.get("bias", np.zeros(vectors.shape[1]))
        texts, vectors = [*texts, BIAS], np.vstack([vectors, bias])
    return _Parts(texts, _compose(encoder, vectors), [None] * len(texts))


def _compose(encoder: StaticEncoder, vectors: Matrix) -> Matrix:
    """Apply to each part (units, dim) what `StaticEncoder` applies to the sum of all; the last part is the bias."""
    arrays, vectors = encoder.arrays, _activate(encoder, vectors)
    if "dense.W" in arrays:
        vectors = vectors @ arrays["dense.W"]
        vectors[-1] += arrays["dense.b"]
        vectors = _activate(encoder, vectors)
    if "directions" in arrays:
        vectors = vectors - vectors @ arrays["directions"].T @ arrays["directions"]
    return vectors


def _activate(encoder: StaticEncoder, vectors: Matrix) -> Matrix:
    """Scale the elements of all parts (units, dim) so that their sum x becomes f(x)."""
    x = vectors.sum(axis=0)
    scaled: Matrix = vectors * np.divide(encoder.activate(x), x, out=np.ones_like(x), where=x != 0)
    return scaled


def gated_words(encoder: "TrainedEncoder", ragged: Ragged) -> "Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]":
    """Yield the vectors a_t and the gates of the words of GRAN, for a batch of sentences at a time.

    Yields:
        The positions in `ragged.ids`, (N,), the vectors a_t, (N, dim), and all gates, (N, gates · dim).
    """
    import torch

    from paraphrastic.nn.batch import DeviceSentences
    from paraphrastic.scoring.neural import length_batches

    module = cast("Gran", encoder.module.eval())
    on_device = DeviceSentences(ragged, encoder.embeddings.device, encoder.embeddings.dtype)
    for rows in length_batches(ragged.lengths):
        with torch.no_grad():
            gated, gates, packing = module.gated_words(encoder.embeddings, on_device.take(rows))
        yield ragged.positions(rows)[packing.order.cpu()], gated, gates


def _parts_of_gran(encoder: "TrainedEncoder", sentence: pa.StringArray) -> _Parts:
    module = cast("Gran", encoder.module)
    (words,) = gated_words(encoder, encoder.vocabulary.lookup(sentence))  # of one sentence, in reading order
    gated, gates = (part.double().cpu().numpy() for part in words[1:])  # (words, dim), (words, gates · dim)
    first, second = gates[:, : module.out_dim], gates[:, module.out_dim :]
    if module.gates.recurrent:  # what the last a_t has of each word, from all `a_t = x_t ⊙ g1 + a_{t−1} ⊙ g2`
        added = gated - np.vstack([np.zeros_like(gated[:1]), gated[:-1]]) * second
        kept = np.cumprod(np.vstack([second[1:], np.ones_like(second[:1])])[::-1], axis=0)[::-1]  # Π of all later g2
        gated = added * kept
    texts = _words(sentence, module.boundary_tokens)
    return _Parts(texts, gated / max(len(texts), 1), np.abs(first).sum(axis=1).tolist())


def _words(sentence: pa.StringArray, boundary_tokens: BoundaryTokens) -> list[str]:
    words: list[str] = split_words(add_boundary_tokens(sentence, boundary_tokens))[0].to_pylist()
    return words
