"""The network of each tagger against its equations in NumPy."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from tests.helpers.equations import EQUATIONS, lstm_states, submodule_weights
from tests.helpers.tagged_text import NEW_TEXTS, TEXTS, VARIANTS, random_tagger, tagged_tokens

every_variant = pytest.mark.parametrize(("name", "block"), VARIANTS.values(), ids=VARIANTS)


def logits(tagger, table):
    """Return the logits of all tags, (N, tags)."""
    tagger.network.eval()
    sentences = tagger.sentences(table)
    return tagger.network(tagger.embeddings, *tagger.inputs(sentences))


def naive_ids(word, texts, of_ngrams):
    """Return the rows of the embedding table that a word uses, window by window."""
    row = {text: n for n, text in enumerate(texts)}
    padded = f" {word} "
    if not of_ngrams:
        return [1 + row[character] if character in row else 0 for character in padded]
    windows = [padded[start : start + n] for n in (2, 3) for start in range(len(padded) - n + 1)]
    return [row[window] for window in windows if window in row]


def naive_logits(tagger, name, block, tokens):
    """Return the logits of one sentence, (tokens, tags)."""
    weights = {key: value.double().numpy() for key, value in tagger.network.state_dict().items()}
    embeddings, texts = tagger.embeddings.double().numpy(), tagger.texts.to_pylist()
    words = []
    for token in tokens:
        ids = naive_ids(token.lower() if block["lowercase"] else token, texts, name == "charagram")
        vector = EQUATIONS[name](ids, embeddings, submodule_weights(weights, "encoder."), block)
        words.append([*vector, any(character.isupper() for character in token)])
    forward = lstm_states(np.array(words), submodule_weights(weights, "forward_lstm."), True)
    backward = lstm_states(np.array(words[::-1]), submodule_weights(weights, "backward_lstm."), True)[::-1]
    return np.hstack([forward, backward]) @ weights["output.W"] + weights["output.b"]


@every_variant
def test_network_against_equations(name, block):
    tagger = random_tagger(name, block)
    sentences = [[token.rsplit("/", 1)[0] for token in text.split()] for text in TEXTS + NEW_TEXTS]
    expected = np.vstack([naive_logits(tagger, name, block, sentence) for sentence in sentences])
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(logits(tagger, tagged_tokens(TEXTS + NEW_TEXTS)).detach(), expected, atol=1e-5)


@every_variant
def test_gradient_of_every_parameter(name, block):
    tagger = random_tagger(name, block, dtype=torch.float64)
    tagger.embeddings.requires_grad_()
    (logits(tagger, tagged_tokens(TEXTS + NEW_TEXTS)) ** 2).sum().backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in tagger.network.parameters())
    # the other rows are not the maximum of any convolution filter
    assert (tagger.embeddings.grad != 0).any(1).float().mean() > 0.8


@every_variant
def test_logits_of_single_sentences(name, block):
    tagger = random_tagger(name, block, dtype=torch.float64)
    together = logits(tagger, tagged_tokens(TEXTS + NEW_TEXTS))
    alone = torch.cat([logits(tagger, tagged_tokens([text])) for text in TEXTS + NEW_TEXTS])
    torch.testing.assert_close(together, alone)
    tags = tagger.tags.take(pa.array(alone.argmax(1).numpy()))
    assert tagger.tag(tagged_tokens(TEXTS + NEW_TEXTS)).to_pylist() == tags.to_pylist()


def test_dropout_only_in_training():
    tagger = random_tagger(*VARIANTS["charagram"])
    sentences = tagger.sentences(tagged_tokens(TEXTS))
    inputs = tagger.embeddings, *tagger.inputs(sentences)
    tagger.network.eval()
    assert torch.equal(tagger.network(*inputs), tagger.network(*inputs))
    tagger.network.train()
    assert not torch.equal(tagger.network(*inputs), tagger.network(*inputs))
