"""Checks of the entries of a vocabulary."""

import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import DataError


def check_vocabulary(texts: pa.StringArray | pa.ChunkedArray, kind: str) -> pa.StringArray:
    """Return the entries of a vocabulary as one array.

    Args:
        texts: the entries.
        kind: what they are, in the plural, for messages: words, n-grams, characters.

    Raises:
        DataError: an entry is empty or null, or occurs twice.
    """
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if pc.any(pc.equal(pc.fill_null(texts, ""), "")).as_py():
        raise DataError(f"vocabulary of {len(texts)} {kind}: an entry is empty; remove it")
    if len(pc.unique(texts)) < len(texts):
        counts = pc.value_counts(texts)
        repeated = counts.filter(pc.greater(counts.field("counts"), 1))
        text, count = repeated[0].as_py().values()
        raise DataError(f"vocabulary of {len(texts)} {kind}: {text!r} occurs {count} times; keep one")
    return texts
