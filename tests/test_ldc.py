"""The pair model: its equations, what must not matter to it, and that it learns."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from paraphrastic.training.match_trainer import LabelledPairs, MatchedPairs, mismatched
from paraphrastic.training.pair_trainer import Training
from pydantic import ValidationError

from paraphrastic import models
from paraphrastic.models.ldc import Config, Ldc
from paraphrastic.nn import two_channel_conv as composition
from paraphrastic.nn.batch import Batch
from paraphrastic.nn.decomposition import Decomposition, Side
from paraphrastic.scoring.neural import TrainedPairModel
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.vocabulary.counting import count_words
from pipeline.params import refusal
from tests import pair_equations
from tests.test_encoders import TRAINED, bags_of

DIM, ROWS = 4, 11
TRAINING = {key: value for key, value in TRAINED.items() if key != "margin"} | {"vectors": None, "lambda_w": 0.0}
LDC = TRAINING | {
    "dim": DIM,
    "match": "local",
    "window": 1,
    "decompose": "orthogonal",
    "max_window": 3,
    "filters": 2,
    "dropout": 0.0,
    "mismatches": 1,
    "products": "float32",
}
ALLOWED = [
    *(("max", how) for how in ("rigid", "linear", "orthogonal")),
    *(("global", how) for how in ("linear", "orthogonal")),
    *(("local", how) for how in ("linear", "orthogonal")),
]
BLOCKS = [LDC | {"match": match, "decompose": how} for match, how in ALLOWED]
every_block = pytest.mark.parametrize("block", BLOCKS, ids=["-".join(names) for names in ALLOWED])

# with repeated words, common words, a copy, one word and none; row 0, the unknown word, has no vector
SENTENCES = [[3, 1, 3, 10], [], [7], [2, 2, 5, 0, 9, 4, 1], [6, 8], [1, 10, 9], [0], [0, 0, 7, 3], [3, 1, 3, 10]]
PAIRS = [(i, j) for i in range(len(SENTENCES)) for j in range(len(SENTENCES))]


def build(block, dtype=torch.float64):
    generator = torch.Generator().manual_seed(4)
    encoder = Ldc(Config(**block), generator)
    for parameter in encoder.parameters():  # biases start at zero: give every term a say
        parameter.data.normal_(0, 0.7, generator=generator)
    table = torch.randn(ROWS, DIM, generator=generator)
    table[0] = 0
    return encoder.to(dtype), table.to(dtype)


def arguments(pairs, sentences=SENTENCES, dtype=torch.float64):
    batch = Batch.of(bags_of(sentences, counted=False), torch.device("cpu"), dtype)
    return batch, *(torch.tensor([pair[side] for pair in pairs], dtype=torch.int64) for side in (0, 1))


def weights_of(encoder):
    return {name: weight.double().numpy() for name, weight in encoder.state_dict().items()}


def similar_components(block, table, left, right):
    """s⁺ of the words of one sentence, (m, d)."""
    batch, s, t = arguments([(0, 1)], [left, right], table.dtype)
    own, other = Side.of(table, batch, s), Side.of(table, batch, t)
    rows, weights = Decomposition(block["match"], block["window"], block["decompose"])(own, other)
    return (weights.unsqueeze(3) * table[rows]).sum(2)[0].numpy()


@every_block
class TestEveryCombination:
    def test_components_are_those_of_equations_5_to_9(self, block):
        _, table = build(block)
        for left in filter(len, SENTENCES):
            for right in filter(len, SENTENCES):
                ours = similar_components(block, table, left, right)
                naive, _ = pair_equations.components(table.numpy()[left], table.numpy()[right], block)
                np.testing.assert_allclose(ours, naive, atol=1e-12)

    def test_probability_is_that_of_equations_4_to_10(self, block):
        encoder, table = build(block, torch.float32)
        ours = encoder(table, *arguments(PAIRS, dtype=torch.float32)).sigmoid().detach().numpy()
        given = table.double().numpy(), weights_of(encoder), block
        naive = [pair_equations.ldc(SENTENCES[left], SENTENCES[right], *given) for left, right in PAIRS]
        assert np.ptp(naive) > 0.3
        np.testing.assert_allclose(ours, naive, atol=1e-5)

    def test_gradient_is_that_of_finite_differences(self, block):
        encoder, table = build(block | {"max_window": 2})
        table[0] = 0.1  # a cosine with the zero vector has no derivative
        given = arguments([(0, 3), (3, 5), (2, 4), (1, 2), (5, 1), (4, 7)])
        inputs = [table.requires_grad_(), *encoder.parameters()]

        def forward(leaf, *own):
            named = dict(zip(dict(encoder.named_parameters()), own, strict=True))
            return torch.func.functional_call(encoder, named, (leaf, *given))

        assert torch.autograd.gradcheck(forward, inputs)

    def test_does_not_depend_on_the_batch_the_padding_or_the_place(self, block):
        encoder, table = build(block)
        together = encoder(table, *arguments(PAIRS))
        batch, left, right = arguments(PAIRS)
        torch.testing.assert_close(encoder(table, batch, left.flip(0), right.flip(0)).flip(0), together)
        alone = [encoder(table, *arguments([(0, 1)], [SENTENCES[i], SENTENCES[j]])) for i, j in PAIRS]
        torch.testing.assert_close(torch.cat(alone), together)

    def test_zero_vectors_and_empty_sentences_give_finite_gradients(self, block):
        encoder, table = build(block)
        table[[1, 3, 7]] = 0
        logits = encoder(table.requires_grad_(), *arguments(PAIRS))
        logits.square().sum().backward()
        gradients = [table.grad, *(p.grad for p in encoder.parameters())]
        assert all(torch.isfinite(tensor).all() for tensor in (logits, *gradients))
        assert max(tensor.abs().max() for tensor in gradients) < 1e6

    def test_features_of_a_sentence_depend_on_the_other_one(self, block):
        encoder, table = build(block)
        encoder.similarity.W.data[len(encoder.similarity.W) // 2 :] = 0  # the features of the second sentence
        same, other = encoder(table, *arguments([(0, 8), (0, 4)]))
        assert abs(same - other) > 1e-3

    def test_save_and_load_give_the_same_scores_and_bytes(self, block, tmp_path):
        model = start(block)
        models.save(model, "ldc", Config(**block), tmp_path / "a")
        loaded = models.load(tmp_path / "a")
        sides = np.arange(0, 40), np.arange(40)[::-1]
        np.testing.assert_array_equal(model.score(TEXTS, *sides), loaded.score(TEXTS, *sides))
        models.save(loaded, "ldc", Config(**block), tmp_path / "b")
        assert content(tmp_path / "a") == content(tmp_path / "b")


def test_gradient_reaches_every_parameter_and_word():
    for block in BLOCKS:
        encoder, table = build(block)
        table[0] = 1
        generator = np.random.default_rng(1)
        sentences = [generator.integers(ROWS, size=1 + n % 5).tolist() for n in range(60)]
        pairs = [(n, (7 * n + 1) % 60) for n in range(60)]
        encoder(table.requires_grad_(), *arguments(pairs, sentences)).sum().backward()
        assert all(p.grad.abs().sum(-1).min() > 0 for p in encoder.parameters()), block
        assert table.grad.abs().sum(1).min() > 0, block


def test_no_pairs_and_no_words():
    encoder, table = build(LDC)
    assert encoder(table, *arguments([])).shape == (0,)
    assert torch.isfinite(encoder(table, *arguments([(0, 0)], [[]]))).all()


class TestSockeyeAndSalmon:
    """ "irrelevant to sockeye" against "not related to salmon" (Table 1), in vectors of two numbers.

    irrelevant (4, 3), to (1, 0), sockeye (0, 2); not (0, 1), related (3, 4), salmon (1, 1). The cosines of Eq. 5:

                  not    related   to     salmon
        irrelevant 0.6    0.96     0.8    0.99 (7 / 5√2)
        to         0      0.6      1      0.71 (1 / √2)
        sockeye    1      0.8      0      0.71
    """

    WORDS = torch.tensor([[4.0, 3], [1, 0], [0, 2], [0, 1], [3, 4], [1, 1]], dtype=torch.float64)
    LEFT, RIGHT = [0, 1, 2], [3, 4, 1, 5]

    def similar(self, **options):
        return similar_components(LDC | options, self.WORDS, self.LEFT, self.RIGHT)

    def test_rigid_keeps_the_one_common_word(self):
        np.testing.assert_allclose(self.similar(match="max", decompose="rigid"), [[0, 0], [1, 0], [0, 0]])

    def test_linear_with_max_scales_each_word_by_its_best_cosine(self):
        best = 7 / 50**0.5  # irrelevant with salmon
        expected = [[4 * best, 3 * best], [1, 0], [0, 2]]  # to with to, sockeye with not, both 1
        np.testing.assert_allclose(self.similar(match="max", decompose="linear"), expected)

    def test_orthogonal_with_max_projects_each_word(self):
        # irrelevant on salmon: (4·1 + 3·1) / (1 + 1) = 3.5 of (1, 1)
        np.testing.assert_allclose(self.similar(match="max", decompose="orthogonal"), [[3.5, 3.5], [1, 0], [0, 2]])

    def test_orthogonal_with_local_projects_on_the_words_around_the_best(self):
        # sockeye: not is best, so ŝ ∝ 1·(0, 1) + 0.8·(3, 4) = (2.4, 4.2); 2·4.2 / (2.4² + 4.2²) = 8.4 / 23.4
        share = 8.4 / 23.4
        np.testing.assert_allclose(self.similar(match="local", window=1)[2], [2.4 * share, 4.2 * share])

    def test_linear_with_global_uses_all_words(self):
        # to: ŝ ∝ 0.6·(3, 4) + (1, 0) + (1, 1)/√2 = (3.5071, 3.1071); its cosine with (1, 0) is 3.5071 / 4.6855 = 0.7485
        np.testing.assert_allclose(self.similar(match="global", decompose="linear")[1], [0.7485, 0], atol=1e-4)


def test_a_negative_sum_of_cosines_turns_the_match_around():
    # (1, 0) against (−1, 0), (0, 1): Σ a t = (1, 0), Σ a = −1, so ŝ = (−1, 0); with (1, 0) as well, Σ a = 0
    words = torch.tensor([[1.0, 0], [-1, 0], [0, 1]], dtype=torch.float64)
    block = LDC | {"match": "global", "decompose": "linear"}
    np.testing.assert_allclose(similar_components(block, words, [0], [1, 2]), [[-1, 0]])
    np.testing.assert_allclose(similar_components(block, words, [0], [1, 2, 0]), [[0, 0]])


def test_of_equally_similar_places_the_first_is_taken():
    # 1 has equal cosines with 2 and 3; a window of one word around the first takes in 4, around the second 5
    words = torch.tensor([[9.0, 9], [1, 0], [1, 1], [1, -1], [-2, 2], [-2, -2]], dtype=torch.float64)
    block = LDC | {"match": "max", "decompose": "orthogonal"}
    np.testing.assert_allclose(similar_components(block, words, [1], [2, 4, 5, 3]), [[0.5, 0.5]])
    np.testing.assert_allclose(similar_components(block, words, [1], [3, 4, 5, 2]), [[0.5, -0.5]])


def test_a_repeated_word_counts_where_it_first_stands_whatever_the_rounding():
    # products of shapes like these round the same cosine up at one place and down at another
    block, generator = LDC | {"match": "local", "window": 1}, np.random.default_rng(1)
    table = torch.randn(20, 300, generator=torch.Generator().manual_seed(1))
    for n in range(200):
        left, right = generator.integers(10, 20, size=1 + n % 3), generator.integers(10, size=10 + n % 30)
        ours = similar_components(block, table, left.tolist(), right.tolist())
        naive, _ = pair_equations.components(table.double().numpy()[left], table.double().numpy()[right], block)
        np.testing.assert_allclose(ours, naive, atol=1e-5)


def test_rigid_is_refused_with_another_match():
    for match in ("global", "local"):
        with pytest.raises(ValidationError) as caught:
            Config(**LDC | {"match": match, "decompose": "rigid"})
        line = str(refusal(caught.value, Config, Path("params.yaml"), "models", "ldc"))
        assert line.startswith("params.yaml: models.ldc.decompose = 'rigid': asks for a word equal to its match")
        assert line.endswith(f"only match: max finds, not {match}")


def test_reduced_products_are_close_in_training_and_exact_after_it():
    exact, table = build(LDC, torch.float32)
    reduced, _ = build(LDC | {"products": "bfloat16"}, torch.float32)
    given = arguments(PAIRS, dtype=torch.float32)
    near, far = reduced(table, *given), exact(table, *given)
    assert 1e-5 < (near - far).norm() / far.norm() < 0.02
    assert torch.equal(reduced.eval()(table, *given), far)


@pytest.mark.parametrize("mixed", [composition.mixed, composition._multiplied], ids=["loops", "products"])
def test_mixed_rows_and_their_gradients(mixed):
    generator = torch.Generator().manual_seed(1)
    tables = [torch.randn(5, 6, generator=generator, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    ids, rows = torch.tensor([4, 0, 4]), torch.tensor([[1, 1], [3, 0], [2, 2]])
    weights = torch.tensor([[0.3, -2.0], [0.0, 1.0], [0.5, 0.5]], dtype=torch.float64, requires_grad=True)
    expected = tables[0][ids] + (weights.unsqueeze(2) * tables[1][rows]).sum(1)
    torch.testing.assert_close(mixed(*tables, ids, rows, weights), expected)
    given = *tables, weights
    assert torch.autograd.gradcheck(lambda base, parts, weights: mixed(base, parts, ids, rows, weights), given)


# Twenty meanings, each said with two words of its own; what all share says nothing.
LETTERS = np.random.default_rng(1).choice(list("abcdefghijklmnopqrstuvwxyz"), (40, 5))
MADE_UP = ["".join(row) for row in LETTERS]
TEXTS = pa.array([f"again {MADE_UP[n % 6]} was the {word}" for n, word in enumerate(MADE_UP)])


def start(block, seed=7, **changes):
    config = Config(**block | changes)
    generator = torch.Generator().manual_seed(seed)
    encoder = Ldc(config, generator)
    texts, table = initial_embeddings(encoder, config, count_words(TEXTS), len(TEXTS), generator)
    return TrainedPairModel(encoder, table, texts)


def paraphrases(model):
    rows = np.arange(20)
    return MatchedPairs(model.units.lookup(TEXTS), 2 * rows, 2 * rows + 1, rows % 2, rows)


def labelled(model, seed=3, n=50):
    """Random pairs, those of one meaning among them."""
    generator = np.random.default_rng(seed)
    left = generator.integers(40, size=n)
    right = np.where(np.arange(n) % 2, left ^ 1, generator.integers(40, size=n))
    return LabelledPairs(model.units.lookup(TEXTS), left, right, (left // 2 == right // 2).astype(np.float32))


def train(folder, pairs=paraphrases, select=None, every=1e9, on_step=lambda step: None, **changes):
    options = {"dim": 8, "filters": 8, "epochs": 6, "batch_size": 6, "rate": 0.01} | changes
    model = start(LDC, **options)
    training = Training(model, pairs(model), Config(**LDC | options), 11, select)
    return model, training.run(Checkpoint(folder), every, on_step)


def accuracy(model, pairs):
    return float(np.mean((model.score_bags(pairs.bags, pairs.left, pairs.right) > 0.5) == (pairs.labels > 0.5)))


def content(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def saved(model, folder):
    models.save(model, "ldc", Config(**LDC), folder)
    return content(folder)


def killed_at(limit):
    def on_step(step):
        if step == limit:
            raise KeyboardInterrupt

    return on_step


class TestTraining:
    def test_learns_the_labels_of_fifty_pairs(self, tmp_path):
        model, _ = train(tmp_path, labelled, epochs=40, dim=32)
        assert accuracy(model, labelled(model)) >= 0.99

    def test_shuffled_labels_teach_nothing_about_other_pairs(self, tmp_path):
        def shuffled(model):
            pairs = labelled(model, n=400)
            order = np.random.default_rng(5).permutation(400)
            return LabelledPairs(pairs.bags, pairs.left, pairs.right, pairs.labels[order])

        model, _ = train(tmp_path, shuffled, epochs=5, dim=32)
        held_out = labelled(model, seed=9, n=1000)
        scores = model.score_bags(held_out.bags, held_out.left, held_out.right)
        assert abs(area_under_curve(held_out.labels, scores) - 0.5) < 0.1

    def test_true_labels_teach_other_pairs(self, tmp_path):
        model, _ = train(tmp_path, lambda model: labelled(model, n=400), epochs=5, dim=32)
        held_out = labelled(model, seed=9, n=1000)
        scores = model.score_bags(held_out.bags, held_out.left, held_out.right)
        assert area_under_curve(held_out.labels, scores) > 0.9

    def test_paraphrases_come_out_above_the_mismatched(self, tmp_path):
        assert found(start(LDC, dim=32, filters=8)) < 0.3
        assert found(train(tmp_path, epochs=60, dim=32, negatives="mix")[0]) > 0.6

    def test_same_seed_gives_the_same_bytes(self, tmp_path):
        both = [saved(train(tmp_path / "c", dropout=0.2)[0], tmp_path / name) for name in "ab"]
        assert both[0] == both[1]

    @pytest.mark.parametrize("pairs", [paraphrases, labelled])
    def test_killed_and_resumed_ends_with_the_bytes_of_an_unbroken_run(self, pairs, tmp_path):
        options = {"pairs": pairs, "dropout": 0.2, "negatives": "mix", "lambda_c": 1e-4, "select": fickle}
        unbroken, curves = train(tmp_path / "1", **options)
        for limit in (5, 17):
            with pytest.raises(KeyboardInterrupt):
                train(tmp_path / "2", every=0, on_step=killed_at(limit), **options)
        steps = []
        resumed, again = train(tmp_path / "2", on_step=steps.append, **options)
        assert steps[0] == 17
        assert again == curves
        assert saved(unbroken, tmp_path / "a") == saved(resumed, tmp_path / "b")

    def test_the_best_epoch_is_kept(self, tmp_path):
        scores = iter([1.0, 9.0, 3.0])
        selected, curves = train(tmp_path, labelled, lambda model: next(scores), epochs=3)
        two, _ = train(tmp_path, labelled, epochs=2)
        assert curves.best == 2
        assert torch.equal(selected.table, two.table)


def found(model):
    """Share of first sentences whose best partner of all others is their paraphrase."""
    scores = model.score(TEXTS, np.repeat(np.arange(40), 40), np.tile(np.arange(40), 40)).reshape(40, 40)
    np.fill_diagonal(scores, -1)
    return np.mean(scores[::2].argmax(1) == np.arange(1, 40, 2))


def fickle(model):
    """A score that goes up and down from epoch to epoch."""
    return float(1e4 * model.table.abs().sum() % 10)


def area_under_curve(labels, scores):
    """The probability that a true pair scores above a false one."""
    right, wrong = scores[labels > 0.5], scores[labels < 0.5]
    return float(np.mean((right[:, None] > wrong) + 0.5 * (right[:, None] == wrong)))


def test_wrong_partners_are_the_most_similar_that_are_allowed():
    # 0 and 2, 1 and 3 are paraphrases; one common word of two makes a cosine of one half
    table = torch.eye(6)
    batch, *_ = arguments([], [[0, 1], [2, 3], [0, 4], [0, 3]], torch.float32)
    mask = torch.eye(4, dtype=torch.bool) | torch.eye(4, dtype=torch.bool).roll(2, 1)
    config = Config(**LDC | {"negatives": "max"})
    # 0 meets 3, as 1 does not share a word with it; 1 meets 0 first of two; 2 meets 3 as partner; 3 meets 0
    left, right = mismatched(table, batch, mask, config, np.random.default_rng(1))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 3), (1, 0), (3, 2), (0, 3)]


def test_wrong_partners_run_out():
    batch, *_ = arguments([], [[0], [1], [2], [3]], torch.float32)
    mask = torch.eye(4, dtype=torch.bool) | torch.eye(4, dtype=torch.bool).roll(2, 1)
    config = Config(**LDC | {"negatives": "random", "mismatches": 9})
    found = mismatched(torch.eye(4), batch, mask, config, np.random.default_rng(1))
    expected = [(0, 1), (0, 3), (1, 0), (1, 2), (1, 2), (3, 2), (0, 3), (2, 3)]  # each met both, on its own side
    assert sorted(zip(*found.tolist(), strict=True)) == sorted(expected)


def test_scores_do_not_depend_on_what_is_scored_beside_and_unknown_text_is_finite():
    model = start(LDC, init="idf", dim=16, filters=8)
    texts = pa.array([*TEXTS.to_pylist(), "", "日本", "the " * 300])
    generator = np.random.default_rng(2)
    left, right = generator.integers(43, size=(2, 700))
    together = model.score(texts, left, right)
    assert together.dtype == np.float32
    assert ((together >= 0) & (together <= 1)).all()
    for n in range(0, 700, 50):
        np.testing.assert_allclose(model.score(texts, left[n : n + 1], right[n : n + 1]), together[n], atol=1e-6)
    assert model.unknown(texts)[40:].tolist() == [0, 1, 0]
