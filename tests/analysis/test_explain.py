"""Shares of words and n-grams in the cosine of two sentences."""

import numpy as np
import pyarrow as pa
import pytest

import paraphrastic
from paraphrastic.analysis.explain import BIAS, explain
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.inference.model_folder import ModelInfo, write_model
from paraphrastic.scoring.baseline import pretrained_mean
from tests.helpers.encoder_variants import CHARAGRAM, LSTM, WORD
from tests.helpers.equations import gran_states, submodule_weights
from tests.helpers.small_models import save_baseline, save_encoder, save_pair_model, save_word_vectors
from tests.helpers.toy_training import WORDS

LEFT, RIGHT = f"Again, {WORDS[0]} was xyzzy {WORDS[0]}!", f"The {WORDS[3]} was again the {WORDS[7]}"
LEFT_WORDS = ["again", ",", WORDS[0], "was", "xyzzy", WORDS[0], "!"]
RIGHT_WORDS = ["the", WORDS[3], "was", "again", "the", WORDS[7]]
LINEAR = CHARAGRAM | {"activation": "linear"}
SUMS = {
    "avg": ("avg", WORD),
    "avg with boundary tokens": ("avg", WORD | {"boundary_tokens": "both"}),
    "charagram": ("charagram", LINEAR),
    "charagram of words": ("charagram", LINEAR | {"words": True}),
    "charagram of pairs of words": ("charagram", LINEAR | {"words": True, "bigrams": 1}),
    "charagram with counts": ("charagram", LINEAR | {"counts": "linear"}),
    "charagram with tanh": ("charagram", LINEAR | {"activation": "tanh"}),
    "charagram with ReLU": ("charagram", LINEAR | {"activation": "relu"}),
    "charagram with 2 layers": ("charagram", LINEAR | {"activation": "tanh", "num_layers": 2}),
    "charagram with 2 linear layers": ("charagram", LINEAR | {"num_layers": 2}),
    **{f"gran {variant}": ("gran", LSTM | {"variant": variant}) for variant in (1, 2, 3, 4, 5)},
    "gran with boundary tokens": ("gran", LSTM | {"variant": 1, "boundary_tokens": "end"}),
}


@pytest.fixture
def avg(tmp_path):
    return save_encoder(tmp_path, "avg", WORD)


def shares(units):
    return [unit.share for unit in units]


def assert_shares_sum_to_cosine(model):
    for left, right in ((LEFT, RIGHT), (RIGHT, RIGHT), ("", RIGHT), (LEFT, "")):
        explanation = explain(model, left, right)
        cosine = model.similarity_pairwise([left], [right])[0]
        assert explanation.cosine == pytest.approx(cosine, abs=1e-6)
        assert sum(shares(explanation.left)) == pytest.approx(cosine, abs=1e-6)
        assert sum(shares(explanation.right)) == pytest.approx(cosine, abs=1e-6)


def expected_shares(parts, other):
    """Return the shares of a sentence whose vector is the sum of `parts` (units, dim), for the vector `other`."""
    vector = np.sum(parts, axis=0)
    return [part @ other / np.linalg.norm(vector) / np.linalg.norm(other) for part in parts]


@pytest.mark.parametrize("name", SUMS)
def test_shares_sum_to_the_cosine(tmp_path, name):
    assert_shares_sum_to_cosine(save_encoder(tmp_path, *SUMS[name]))


@pytest.mark.parametrize(("name", "components"), [("vectors", 0), ("sif", 2)])
def test_shares_of_given_vectors_sum_to_the_cosine(tmp_path, name, components):
    assert_shares_sum_to_cosine(save_word_vectors(tmp_path, name, components))


def test_words_of_an_average(avg):
    explanation = explain(avg, LEFT, RIGHT)
    embeddings = dict(zip(avg.vocabulary.to_pylist(), avg.embeddings().astype(float), strict=True))
    parts = [embeddings.get(word, np.zeros(8)) / len(LEFT_WORDS) for word in LEFT_WORDS]
    assert [unit.text for unit in explanation.left] == LEFT_WORDS
    assert [unit.text for unit in explanation.right] == RIGHT_WORDS
    assert shares(explanation.left) == pytest.approx(expected_shares(parts, avg.encode([RIGHT])[0]), abs=1e-6)
    assert shares(explanation.left)[2] == pytest.approx(shares(explanation.left)[5])
    assert shares(explanation.left)[4] == 0  # unknown words have the zero vector
    assert {unit.gate for unit in explanation.left} == {None}


def test_boundary_tokens_are_units(tmp_path):
    explanation = explain(save_encoder(tmp_path, *SUMS["avg with boundary tokens"]), "was", "again")
    assert [unit.text for unit in explanation.left] == ["<s>", "was", "</s>"]


@pytest.mark.parametrize("activation", ["linear", "tanh"])
def test_ngrams_and_bias_of_charagram(tmp_path, activation):
    model = save_encoder(tmp_path, "charagram", CHARAGRAM | {"activation": activation})
    explanation = explain(model, "was was", RIGHT)
    embeddings = dict(zip(model.vocabulary.to_pylist(), model.embeddings().astype(float), strict=True))
    # " was was ": these n-grams of orders 2 and 3 are known
    counts = {" w": 2, "wa": 2, "as": 2, "s ": 2, " wa": 2, "was": 2, "as ": 2}
    assert {unit.text for unit in explanation.left} == {*counts, BIAS}
    sums = {ngram: np.sqrt(count) * embeddings[ngram] for ngram, count in counts.items()}
    sums[BIAS] = model.scorer.arrays["bias"].astype(float)
    x = sum(sums.values())
    factor = np.tanh(x) / x if activation == "tanh" else 1
    expected = expected_shares([sums[unit.text] * factor for unit in explanation.left], model.encode([RIGHT])[0])
    assert shares(explanation.left) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("variant", [1, 2, 3, 4, 5])
def test_words_and_gates_of_gran(tmp_path, variant):
    model = save_encoder(tmp_path, "gran", LSTM | {"variant": variant})
    explanation = explain(model, LEFT, RIGHT)
    weights = {name: array.astype(float) for name, array in model.scorer.arrays().items()}
    rows = model.scorer.vocabulary.lookup(pa.array([" ".join(LEFT_WORDS)])).ids
    words = weights["embeddings"][rows]
    parts = [submodule_weights(weights, prefix) for prefix in ("lstm.", "gates.")]
    states, gates = gran_states(words, *parts, LSTM | {"variant": variant})
    if variant in (3, 4):  # x_t ⊙ g1, multiplied by g2 of every later word
        states = [words[t] * gates[t][:8] for t in range(len(words))]
        states = [np.prod([state, *(gate[8:] for gate in gates[t + 1 :])], axis=0) for t, state in enumerate(states)]
    expected = expected_shares(np.array(states) / len(words), model.encode([RIGHT])[0])
    assert [unit.text for unit in explanation.left] == LEFT_WORDS
    assert shares(explanation.left) == pytest.approx(expected, abs=1e-6)
    norms = [sum(gate[:8]) for gate in gates]
    assert [unit.gate for unit in explanation.left] == pytest.approx(norms, abs=1e-5)


def test_shares_in_a_sum_that_is_zero_are_products(tmp_path):
    vectors = np.array([[0, 0], [3, 4], [-3, -4], [1, 0]], np.float32)
    scorer = pretrained_mean(pa.array(["up", "down", "right"]), vectors)
    write_model(scorer, ModelInfo("vectors", {"vectors": None, "dim": 2}), tmp_path)
    explanation = explain(paraphrastic.load(tmp_path), "up down", "right")
    assert (explanation.cosine, shares(explanation.left), shares(explanation.right)) == (0, [1.5, -1.5], [0])


def test_sentences_without_units(avg):
    explanation = explain(avg, "", "xyzzy")
    assert explanation.left == []
    assert [(unit.text, unit.share) for unit in explanation.right] == [("xyzzy", 0)]
    assert explanation.cosine == 0


@pytest.mark.parametrize("name", ["overlap", "lstmavg", "bigran", "ldc"])
def test_models_whose_vectors_are_no_sums(tmp_path, name):
    block = LSTM | ({"variant": 1, "combine": "sum"} if name == "bigran" else {})
    save = {"overlap": lambda folder: save_baseline(folder, name), "ldc": save_pair_model}
    model = save.get(name, lambda folder: save_encoder(folder, name, block))(tmp_path)
    reason = "its vectors are no sums over words or n-grams; choose avg, charagram or gran"
    with pytest.raises(ModelError, match=f": {name} cannot be explained: {reason}$"):
        explain(model, LEFT, RIGHT)


def test_invalid_unicode(avg):
    with pytest.raises(ParameterError, match="a sentence is not valid Unicode"):
        explain(avg, LEFT, "\udcff")
