"""The parts in which the two sentences of a pair differ: pairs of phrases, as those of PPDB are."""

from collections.abc import Iterator
from difflib import SequenceMatcher

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.tables import RAW
from paraphrastic.corpus.tokenized_pairs import Pairs

_LONGEST = 6  # tokens of a phrase
_ALIKE = 0.5  # share of the tokens of both sentences that must be in common


def phrases(pairs: Pairs) -> pa.Table:
    """Return a raw table of pairs of phrases, in the order of the sentences, with the groups of the pairs.

    A phrase is what one sentence has in place of what stands in the other between the same words; at least one of the
    two has several tokens. Pairs of sentences with fewer than half of their tokens in common have none.
    """
    sentences = pa.chunked_array(list(pairs.texts), pa.string())
    words = pc.split_pattern(sentences, " ").to_pylist()
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.groups.tolist(), strict=True)
    found = [(*both, group) for left, right, group in rows for both in _differing(words[left], words[right])]
    return pa.Table.from_pylist([dict(zip(RAW["pairs"].names, row, strict=True)) for row in found], RAW["pairs"])


def _differing(first: list[str], second: list[str]) -> Iterator[tuple[str, str]]:
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        lengths = end - start, other_end - other_start
        if kind == "replace" and 1 < max(lengths) <= _LONGEST:
            yield " ".join(first[start:end]), " ".join(second[other_start:other_end])
