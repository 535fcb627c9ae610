"""Random sentences of characters from several Unicode planes, and their n-grams computed naively."""

import random

ALPHABETS = {"letters": "ab ", "planes": "a é中😀\U0010ffff\0 ", "large": "".join(map(chr, range(0x4E00, 0x6E00)))}


def random_sentences(alphabet: str, count: int = 200, max_length: int = 40) -> list[str]:
    """Return `count` sentences of fewer than `max_length` random characters; the same for the same arguments."""
    generator = random.Random(0)
    return ["".join(generator.choices(alphabet, k=generator.randrange(max_length))) for _ in range(count)]


def naive_ngrams(sentence: str, orders: list[int], padding: str = " ") -> list[str]:
    """Return all n-grams of a sentence with `padding` at both ends; a repeated n-gram is repeated."""
    padded = f"{padding}{sentence}{padding}"
    return [padded[start : start + n] for n in orders for start in range(len(padded) - n + 1)]
