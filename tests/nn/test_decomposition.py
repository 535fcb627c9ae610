"""Matching and decomposition of words: against ldc2016 Eq. 5–9, and on examples worked by hand."""

import numpy as np
import pytest
import torch

from paraphrastic.nn.decomposition import Decomposition, PaddedSentences
from tests.helpers import pair_equations
from tests.helpers.ldc import COMBINATIONS, ID_SENTENCES, LDC, build, pair_batch


def similar_components(embeddings, left, right, match="local", decompose="orthogonal", window=1):
    """Return s⁺ of the words of the sentence `left`, (m, d), decomposed by the sentence `right`."""
    batch, first, second = pair_batch([(0, 1)], [left, right], embeddings.dtype)
    own, other = (PaddedSentences.of(embeddings, batch, side) for side in (first, second))
    rows, coefficients = Decomposition(match, window, decompose)(own, other)  # (1, m, K) each
    return (coefficients.unsqueeze(3) * embeddings[rows]).sum(2)[0].numpy()


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize(("match", "decompose"), COMBINATIONS)
def test_components_against_equations(match, decompose, window):
    block = LDC | {"match": match, "decompose": decompose, "window": window}
    _, embeddings = build(block)
    for left in filter(len, ID_SENTENCES):
        for right in filter(len, ID_SENTENCES):
            expected, _ = pair_equations.components(embeddings.numpy()[left], embeddings.numpy()[right], block)
            actual = similar_components(embeddings, left, right, match, decompose, window)
            np.testing.assert_allclose(actual, expected, atol=1e-12)


COSINE = 7 / 50**0.5  # of irrelevant and salmon
SHARE = 8.4 / 23.4
SUM = np.array([0.6 * 3 + 1 + 0.5**0.5, 0.6 * 4 + 0.5**0.5])  # of the right words, weighted by their cosines with to


@pytest.mark.parametrize(
    ("match", "decompose", "words", "expected"),
    [
        ("max", "rigid", slice(3), [[0, 0], [1, 0], [0, 0]]),
        # to with to, sockeye with not: both cosines are 1
        ("max", "linear", slice(3), [[4 * COSINE, 3 * COSINE], [1, 0], [0, 2]]),
        # irrelevant on salmon: (4·1 + 3·1) / (1 + 1) = 3.5 of (1, 1)
        ("max", "orthogonal", slice(3), [[3.5, 3.5], [1, 0], [0, 2]]),
        # sockeye: not is most similar, so ŝ ∝ 1·(0, 1) + 0.8·(3, 4) = (2.4, 4.2); 2·4.2 / (2.4² + 4.2²) = 8.4 / 23.4
        ("local", "orthogonal", slice(2, 3), [[2.4 * SHARE, 4.2 * SHARE]]),
        # to: ŝ ∝ 0.6·(3, 4) + (1, 0) + (1, 1)/√2 = (3.5071, 3.1071); its cosine with (1, 0) is 3.5071 / 4.6855 = 0.7485
        ("global", "linear", slice(1, 2), [[SUM[0] / np.linalg.norm(SUM), 0]]),
    ],
)
def test_sockeye_and_salmon(match, decompose, words, expected):
    """ "irrelevant to sockeye" against "not related to salmon" (Table 1), in vectors of two numbers.

    irrelevant (4, 3), to (1, 0), sockeye (0, 2); not (0, 1), related (3, 4), salmon (1, 1). The cosines of Eq. 5:

                  not    related   to     salmon
        irrelevant 0.6    0.96     0.8    0.99 (7 / 5√2)
        to         0      0.6      1      0.71 (1 / √2)
        sockeye    1      0.8      0      0.71
    """
    table = torch.tensor([[4.0, 3], [1, 0], [0, 2], [0, 1], [3, 4], [1, 1]], dtype=torch.float64)
    actual = similar_components(table, [0, 1, 2], [3, 4, 1, 5], match, decompose)
    np.testing.assert_allclose(actual[words], expected)


@pytest.mark.parametrize(
    ("right", "match", "decompose", "expected"),
    [
        # (1, 0) against (−1, 0), (0, 1): Σ a t = (1, 0), Σ a = −1, so ŝ = (−1, 0); with (1, 0) as well, Σ a = 0
        ([6, 7], "global", "linear", [-1, 0]),
        ([6, 7, 1], "global", "linear", [0, 0]),
        # equal cosines with words 2 and 3: the first one counts
        ([2, 4, 5, 3], "max", "orthogonal", [0.5, 0.5]),
        ([3, 4, 5, 2], "max", "orthogonal", [0.5, -0.5]),
        # the cosine with words 8 and 1 is 1; the same word counts as more similar
        ([8, 1], "max", "rigid", [1, 0]),
        ([8], "max", "rigid", [0, 0]),
    ],
)
def test_word_against_others_worked_by_hand(right, match, decompose, expected):
    words = [[9, 9], [1, 0], [1, 1], [1, -1], [-2, 2], [-2, -2], [-1, 0], [0, 1], [2, 0]]
    actual = similar_components(torch.tensor(words, dtype=torch.float64), [1], right, match, decompose)
    np.testing.assert_allclose(actual, [expected])


def test_repeated_word_whose_later_cosine_is_rounded_up():
    # Word 2 is at positions 0 and 3; at 3 its cosine with word 1 is slightly larger, as rounding may make it.
    own = PaddedSentences(torch.tensor([[1]]), torch.tensor([[[1.0, 0]]]), torch.ones(1, 1, dtype=torch.bool))
    vectors = torch.tensor([[[0.8, 0.6], [0, 1], [0.6, 0.8], [0.8 + 1e-6, 0.6]]])
    other = PaddedSentences(torch.tensor([[2, 3, 4, 2]]), vectors, torch.ones(1, 4, dtype=torch.bool))
    rows, coefficients = Decomposition("local", 1, "orthogonal")(own, other)
    assert rows[coefficients != 0].tolist() == [2]  # of positions 0 and 1; word 3 at position 1 has the cosine 0
    rows, coefficients = Decomposition("max", 1, "orthogonal")(own, other)
    assert rows.tolist() == [[[2]]]


def test_repeated_word_with_rounded_cosines():
    # In products of these shapes the same cosine is rounded up at one position and down at another.
    random = np.random.default_rng(1)
    embeddings = torch.randn(20, 300, generator=torch.Generator().manual_seed(1))
    exact = embeddings.double().numpy()
    for n in range(200):
        left, right = random.integers(10, 20, size=1 + n % 3), random.integers(10, size=10 + n % 30)
        actual = similar_components(embeddings, left.tolist(), right.tolist())
        expected, _ = pair_equations.components(exact[left], exact[right], LDC)
        np.testing.assert_allclose(actual, expected, atol=1e-5)
