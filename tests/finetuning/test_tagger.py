"""Taggers: tagged sentences as columns, networks against their equations, tags and accuracy."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import PREDICTIONS
from paraphrastic.finetuning.tagger import TaggedSentences, refuse_empty
from paraphrastic.vocabulary.kinds import CharacterVocabulary
from tests.helpers.equations import EQUATIONS, lstm_states, submodule_weights
from tests.helpers.tagged_text import NEW_TEXTS, TEXTS, VARIANTS, random_tagger, tagged_tokens

TABLE = tagged_tokens(TEXTS + NEW_TEXTS)


@pytest.fixture
def tagger():
    return random_tagger(*VARIANTS["charagram"])


def test_accuracy_with_unseen_tag_and_of_no_tokens(tagger):
    tags = tagger.tag(tagged_tokens(TEXTS)).to_pylist()
    assert len(tags) == 20
    assert tagger.accuracy(tagged_tokens(TEXTS).set_column(2, "tag", pa.array(tags))) == 100
    assert tagger.accuracy(tagged_tokens(TEXTS).set_column(2, "tag", pa.array(["XX", *tags[1:]]))) == pytest.approx(95)
    assert tagger.tag(TABLE.slice(0, 0)).to_pylist() == []
    with pytest.raises(DataError, match=r"^tagging: no tagged tokens"):
        tagger.accuracy(TABLE.slice(0, 0))


def test_predictions_are_the_tags_by_number(tagger):
    tokens = tagged_tokens(TEXTS)
    tags = tagger.tag(tokens).to_pylist()
    gold = [*tags[:10], "XX", *tags[11:]]
    tokens = tokens.set_column(2, "tag", pa.array(gold)).append_column("split", pa.array(["dev"] * len(tokens)))
    table = tagger.predictions(tokens)
    assert table.schema == PREDICTIONS
    known = tagger.tags.to_pylist()
    assert [known[int(number)] for number in table["predicted"].to_pylist()] == tags
    assert table["gold"].to_pylist() == [known.index(tag) if tag in known else -1 for tag in gold]
    assert table["gold"][10].as_py() == -1
    assert set(table["split"].to_pylist()) == {"dev"}


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


VOCABULARY = CharacterVocabulary(pa.array(["a", "b", " "]))


def test_offsets_with_repeated_sentence_numbers():
    table = tagged_tokens(["a/DT b/NN", "c/NN", "d/NN e/NN"])
    table = table.set_column(0, "sentence", pa.array([7, 7, 9, 0, 0]))
    assert TaggedSentences.of(table, VOCABULARY, lowercase=True).tokens.offsets.tolist() == [0, 2, 3, 5]
    sentences = TaggedSentences.of(tagged_tokens(["ab/DT ab/NN", "Ab/NN ab/DT"]), VOCABULARY, lowercase=True)
    assert len(sentences.words) == 2  # `ab` and `Ab`, which differ in the capital letter only
    assert sentences.tokens.ids.tolist() == [0, 0, 1, 0]
    assert sentences.capital.tolist() == [0, 1]
    first, second = (sentences.words.take(np.array([n])).ids.tolist() for n in range(2))
    assert first == second
    vocabulary = CharacterVocabulary(pa.array(["a", "A", "b", " "]))
    lower, as_is = (TaggedSentences.of(tagged_tokens(["Ab/NN"]), vocabulary, lowercase) for lowercase in (True, False))
    assert lower.words.ids.tolist() == [4, 1, 3, 4]
    assert as_is.words.ids.tolist() == [4, 2, 3, 4]
    assert lower.capital.tolist() == as_is.capital.tolist() == [1]


@pytest.mark.parametrize(
    ("word", "capital"), [("IBM", 1), ("iPod", 1), ("Élan", 1), ("Ω", 1), ("élan", 0), ("42", 0), ("日本", 0)]
)
def test_capital_letter_feature(word, capital):
    assert TaggedSentences.of(tagged_tokens([f"{word}/NN"]), VOCABULARY, lowercase=True).capital.tolist() == [capital]


def test_words_of_taken_sentences():
    sentences = TaggedSentences.of(tagged_tokens(["a/X b/X", "B/X", "ab/X a/X"]), VOCABULARY, lowercase=True)
    taken = sentences.take(np.array([2, 1]))
    assert taken.tokens.lengths.tolist() == [2, 1]
    assert taken.tokens.ids.dtype == np.int32
    assert len(taken.words) == 3
    whole = TaggedSentences.of(tagged_tokens(["ab/X a/X", "B/X"]), VOCABULARY, lowercase=True)
    for expected, row in zip(whole.tokens.ids, taken.tokens.ids, strict=True):
        ids = [part.words.take(np.array([number])).ids for part, number in ((whole, expected), (taken, row))]
        np.testing.assert_array_equal(*ids)
        assert whole.capital[expected] == taken.capital[row]
    with pytest.raises(DataError, match=r"^tagging: no tagged tokens; check .* set and split"):
        refuse_empty(tagged_tokens(["a/X"]).slice(0, 0), "tagging")
