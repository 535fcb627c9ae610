"""The same text as Arrow columns of several forms."""

import pyarrow as pa


def column_forms(texts: list[str | None]) -> list[pa.Array | pa.ChunkedArray]:
    """Return `texts` without the first and the last as a slice, as a slice of large strings, and in chunks."""
    whole = pa.array(texts)
    inner = len(texts) - 2
    return [
        whole.slice(1, inner),
        pa.array(texts, pa.large_string()).slice(1, inner),
        pa.chunked_array([whole.slice(1, 2), whole.slice(0, 0), whole.slice(3, inner - 2)]),
    ]
