"""Tokenized sentences of characters that text processing often handles wrongly."""

import random

import pyarrow as pa

TOKENS = [
    *("the", "The", "a", "aa", "aaa", "n't", "``", "''", ",", "...", "3,000", "twenty-one", "AT&T"),
    *("café", "cafe\u0301", "ß", "İ", "日本語", "😀", "\U0010ffff", "👩\u200d👩"),
    *("\u00a0", "a\u00a0b", "\u2028", "\x85", "\x1c", "\t", "\n", "\0", "\ufeff", "\\", '"'),
]
"""Among them are tokens that contain white space other than a space, which Python's `str.split` would split."""


def hard_sentences(count: int, seed: int) -> pa.StringArray:
    """Return an empty sentence, and random sentences of 1 to 12 tokens with repetitions, joined by single spaces."""
    generator = random.Random(seed)
    sentences = (" ".join(generator.choices(TOKENS, k=generator.randint(1, 12))) for _ in range(count - 1))
    return pa.array(["", *sentences])
