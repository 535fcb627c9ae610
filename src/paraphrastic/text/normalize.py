"""Normalize text for comparison: two texts with equal normal form count as the same."""

import pyarrow as pa
import pyarrow.compute as pc


def normalize(texts: pa.StringArray) -> pa.StringArray:
    """Lower-case texts and keep letters, digits and marks of any script; everything else becomes a single space."""
    words = pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\p{L}\p{M}\p{N} ]+", " ")
    return pc.ascii_trim(pc.replace_substring_regex(words, "  +", " "), " ")
