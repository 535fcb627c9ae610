"""`Ragged` as Python lists."""

from itertools import pairwise

from paraphrastic.text.columns import Ragged


def id_lists(ragged: Ragged) -> list[list[int]]:
    """Return the ids of each sentence."""
    return [ragged.ids[start:end].tolist() for start, end in pairwise(ragged.offsets)]


def id_counts(ragged: Ragged) -> list[dict[int, int]]:
    """Return the count of each id of each sentence, in the order of the ids."""
    counts = [ragged.counts[start:end].tolist() for start, end in pairwise(ragged.offsets)]
    return [dict(zip(ids, numbers, strict=True)) for ids, numbers in zip(id_lists(ragged), counts, strict=True)]
