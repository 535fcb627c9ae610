"""The pair model: against ldc2016 Eq. 4–10, and independence of batch, padding and position."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.base.errors import ParameterError
from paraphrastic.base.parameters import checked
from paraphrastic.inference import model_folder
from paraphrastic.models.ldc import Config
from tests.helpers import pair_equations
from tests.helpers.ldc import COMBINATIONS, ID_PAIRS, ID_SENTENCES, LDC, build, pair_batch, start
from tests.helpers.toy_training import SENTENCES, saved_bytes

BLOCKS = [LDC | {"match": match, "decompose": decompose} for match, decompose in COMBINATIONS]
every_combination = pytest.mark.parametrize("block", BLOCKS, ids=["-".join(names) for names in COMBINATIONS])


@every_combination
class TestEveryCombination:
    def test_probability_against_equations(self, block):
        module, embeddings = build(block, torch.float32)
        actual = module(embeddings, *pair_batch(ID_PAIRS, dtype=torch.float32)).sigmoid().detach().numpy()
        weights = {name: weight.double().numpy() for name, weight in module.state_dict().items()}
        arguments = embeddings.double().numpy(), weights, block
        expected = [pair_equations.ldc(ID_SENTENCES[i], ID_SENTENCES[j], *arguments) for i, j in ID_PAIRS]
        assert np.ptp(expected) > 0.3
        np.testing.assert_allclose(actual, expected, atol=1e-5)

    def test_gradient_against_finite_differences(self, block):
        module, embeddings = build(block | {"max_window": 2})
        embeddings[0] = 0.1  # a cosine with the zero vector has no derivative
        batch = pair_batch([(0, 3), (3, 5), (2, 4), (1, 2), (5, 1), (4, 7)])
        names = [name for name, _ in module.named_parameters()]

        def forward(embeddings, *parameters):
            weights = dict(zip(names, parameters, strict=True))
            return torch.func.functional_call(module, weights, (embeddings, *batch))

        assert torch.autograd.gradcheck(forward, [embeddings.requires_grad_(), *module.parameters()])

    def test_scores_in_different_batches(self, block):
        module, embeddings = build(block)
        batch, left, right = pair_batch(ID_PAIRS)
        together = module(embeddings, batch, left, right)
        torch.testing.assert_close(module(embeddings, batch, left.flip(0), right.flip(0)).flip(0), together)
        alone = [module(embeddings, *pair_batch([(0, 1)], [ID_SENTENCES[i], ID_SENTENCES[j]])) for i, j in ID_PAIRS]
        torch.testing.assert_close(torch.cat(alone), together)

    def test_gradient_with_zero_vectors_and_empty_sentences(self, block):
        module, embeddings = build(block)
        embeddings[[1, 3, 7]] = 0
        logits = module(embeddings.requires_grad_(), *pair_batch(ID_PAIRS))
        logits.square().sum().backward()
        gradients = [embeddings.grad, *(p.grad for p in module.parameters())]
        assert all(torch.isfinite(tensor).all() for tensor in (logits, *gradients))
        assert max(tensor.abs().max() for tensor in gradients) < 1e6

    def test_features_of_one_sentence_with_two_partners(self, block):
        module, embeddings = build(block)
        module.similarity.W.data[len(module.similarity.W) // 2 :] = 0  # ignore the features of the second sentence
        same, other = module(embeddings, *pair_batch([(0, 8), (0, 4)]))
        assert abs(same - other) > 1e-3

    def test_gradient_of_every_parameter_and_word(self, block):
        module, embeddings = build(block)
        embeddings[0] = 1
        random = np.random.default_rng(1)
        sentences = [random.integers(len(embeddings), size=1 + n % 5).tolist() for n in range(60)]
        pairs = [(n, (7 * n + 1) % 60) for n in range(60)]
        module(embeddings.requires_grad_(), *pair_batch(pairs, sentences)).sum().backward()
        assert all(p.grad.abs().sum(-1).min() > 0 for p in module.parameters())
        assert embeddings.grad.abs().sum(1).min() > 0

    def test_scores_and_bytes_after_saving_and_loading(self, block, tmp_path):
        model, config = start(block), Config(**block)
        content = saved_bytes(model, "ldc", tmp_path / "a", config)
        sides = np.arange(0, 40), np.arange(40)[::-1]
        for load in (model_folder.load_trained, model_folder.load_scorer):
            loaded = load(tmp_path / "a")
            np.testing.assert_array_equal(model.score(SENTENCES, *sides), loaded.score(SENTENCES, *sides))
            assert content == saved_bytes(loaded, "ldc", tmp_path / load.__name__, config)


@pytest.mark.parametrize("match", ["global", "local"])
def test_rigid_with_other_match_than_max(match):
    message = f"^models.yaml: ldc.decompose = 'rigid': needs match: max, because it compares .*match is {match}$"
    with pytest.raises(ParameterError, match=message):
        checked(Config, LDC | {"match": match, "decompose": "rigid"}, "models", "ldc")


def test_scores_of_no_pairs_and_empty_sentences_and_with_bfloat16_products():
    module, embeddings = build(LDC, torch.float32)
    reduced, _ = build(LDC | {"matmul_dtype": "bfloat16"}, torch.float32)
    batch = pair_batch(ID_PAIRS, dtype=torch.float32)
    assert module(embeddings, *pair_batch([], dtype=torch.float32)).shape == (0,)
    assert torch.isfinite(module(embeddings, *pair_batch([(0, 0)], [[]], torch.float32))).all()
    exact, close = module(embeddings, *batch), reduced(embeddings, *batch)
    assert 1e-5 < (close - exact).norm() / exact.norm() < 0.02
    assert torch.equal(reduced.eval()(embeddings, *batch), exact)


def test_scores_of_many_pairs_and_of_unknown_text():
    model = start(LDC, init="idf", dim=16, filters_per_width=8)
    texts = pa.array([*SENTENCES.to_pylist(), "", "日本", "the " * 300])
    left, right = np.random.default_rng(2).integers(43, size=(2, 700))
    together = model.score(texts, left, right)
    assert together.dtype == np.float32
    assert ((together >= 0) & (together <= 1)).all()
    for n in range(0, 700, 50):
        np.testing.assert_allclose(model.score(texts, left[n : n + 1], right[n : n + 1]), together[n], atol=1e-6)
    assert model.oov_share(texts)[40:].tolist() == [0, 1, 0]
