"""Copies of single sentences in which some words are others.

A teacher gives them vectors too, which show what words mean that are rare in the sentences or do not occur there.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.tables import RAW
from paraphrastic.corpus.tokenized_pairs import Pairs
from paraphrastic.text.columns import split_words

_FUNCTION_WORDS = 150  # words at the start of a list that are never exchanged
_EXCHANGED = r"^\p{L}{4,}$"  # words that are
_SHARE = 0.15, 0.5  # range from which the probability of a word is drawn, for each sentence
_SHORTEST = 4  # words of a sentence
_DAMPING, _POWER = 500, -0.7  # of the frequency of the word at place i, (500 + i)^−0.7


def exchanged_copies(
    sentences: Sequence[Pairs], words: Sequence[Pairs], copies: int, generator: np.random.Generator
) -> Iterator[pa.Table]:
    """Yield raw tables of pairs whose texts are copies of sentences with some words from a list.

    Args:
        sentences: sources of single sentences, one at least.
        words: sources of single words, one at least, the most frequent ones first.
        copies: of each sentence.
        generator: source of random numbers.
    """
    listed, groups = pa.concat_arrays([text_of_rows(each) for each in words]), 0
    new = listed.filter(pc.match_substring_regex(listed, r"^\p{L}{3,}$"))
    weights = (_DAMPING + np.arange(len(new), dtype=np.float64)) ** _POWER
    shares = weights / weights.sum()
    for part in (part for _ in range(copies) for source in sentences for part in source.texts):
        texts = _exchange(part, listed[:_FUNCTION_WORDS], new, shares, generator)
        even = pa.concat_arrays([texts, texts[: len(texts) % 2]])
        half = len(even) // 2
        columns = {"text1": even[:half], "text2": even[half:], "group": np.arange(groups, groups + half)}
        groups += half
        yield pa.table(columns).cast(RAW["pairs"])


def text_of_rows(pairs: Pairs) -> pa.StringArray:
    """Return the texts of n pairs, both sides of one after the other, (2n,)."""
    texts = pa.chunked_array(list(pairs.texts), pa.string())
    return texts.take(np.stack([pairs.left, pairs.right], axis=1).ravel()).combine_chunks()


def _exchange(
    texts: pa.StringArray,
    kept: pa.StringArray,
    new: pa.StringArray,
    shares: NDArray[np.float64],
    generator: np.random.Generator,
) -> pa.StringArray:
    """Return copies of those texts of which at least one word is exchanged, none of `kept`, for `new` ones."""
    words, offsets = split_words(texts)
    lengths = np.diff(offsets)
    share = np.repeat(generator.uniform(*_SHARE, len(lengths)), lengths)
    fits = pc.match_substring_regex(words, _EXCHANGED).to_numpy(zero_copy_only=False)
    common = pc.is_in(words, kept).to_numpy(zero_copy_only=False)
    chosen = fits & ~common & (np.repeat(lengths, lengths) >= _SHORTEST) & (generator.random(len(words)) < share)
    drawn = generator.choice(len(new), chosen.sum(), p=shares)
    changed = pc.replace_with_mask(words, chosen, new.take(drawn))
    copies = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), changed), " ")
    counts = np.diff(np.append(0, chosen.cumsum())[offsets])
    return copies.filter(counts > 0)
