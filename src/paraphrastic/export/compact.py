"""Smaller folders of models: embeddings in float16 or int8, and fewer of them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.errors import ModelError
from paraphrastic.base.files import atomic_folder
from paraphrastic.inference.model import Model
from paraphrastic.inference.model_folder import write_like
from paraphrastic.scoring import TableFormat
from paraphrastic.scoring.static import StaticEncoder, with_table_format
from paraphrastic.vocabulary.kinds import END, START, entry_kinds

_PAIRS = 1  # number of the group of pairs of words
_STEPS = 10  # of the search for a share, each half as large as the one before


def compact(model: Model, out: Path, table: TableFormat, max_mb: float | None = None) -> int:
    """Write a model with its embeddings in another format and, if it is too large, with a part of its vocabulary.

    The vocabulary loses the rarest words, and of n-grams the rarest of each length: each of these groups keeps the same
    share of its entries, in which the most frequent ones stand first. Of pairs of words it keeps the square of that
    share, since they matter less (docs/explanation/ablations.md).

    Args:
        model: an average or Charagram.
        out: the folder, which appears whole or not at all; one that is there is replaced.
        table: format of the embeddings.
        max_mb: largest size of the folder in MB, 10⁶ bytes; None for no limit.

    Returns:
        How many entries the vocabulary has.

    Raises:
        ModelError: the model is no sum of embeddings, or a thousandth of its vocabulary is too large.
        ParameterError: there is no such format.
    """
    encoder = with_table_format(model.scorer, model.name, model.folder, table)
    with atomic_folder(out) as part:
        size = _write(encoder, model, part)
        if max_mb is not None and size > max_mb * 1e6:
            encoder = _largest(encoder, model, part, max_mb * 1e6)
            _write(encoder, model, part)
    return len(encoder.texts)


def _write(encoder: StaticEncoder, model: Model, folder: Path) -> int:
    """Write a model and return the size of its folder in bytes."""
    write_like(model, encoder, folder)
    return sum(file.stat().st_size for file in folder.iterdir())


def _largest(encoder: StaticEncoder, model: Model, trial: Path, limit: float) -> StaticEncoder:
    """Return the encoder with the largest share of its vocabulary, to 1 in 1024, whose folder is not above `limit`.

    Sizes are those of the files of each share, which are written to `trial`.
    """
    unknown = len(encoder.table) - len(encoder.texts)  # 1 if the table begins with a row of unknown words
    ranks, best, share, step = _relative_ranks(encoder), None, 0.5, 0.25
    for _ in range(_STEPS):
        kept = np.flatnonzero(ranks < share)
        rows = np.concatenate([np.arange(unknown), kept + unknown])
        smaller = encoder.with_table(encoder.texts.take(pa.array(kept)), encoder.table.rows(rows))
        size = _write(smaller, model, trial)
        best = smaller if size <= limit else best
        share += step if size <= limit else -step
        step /= 2
    if best is None:
        raise ModelError(
            f"{model.folder}: takes {size / 1e6:.1f} MB with a thousandth of its vocabulary; allow more than "
            f"{limit / 1e6:g}"
        )
    return best


def _relative_ranks(encoder: StaticEncoder) -> NDArray[np.float64]:
    """Return the position of each entry in its group divided by the size of the group, (n,); 0 for boundary tokens.

    Pairs of words have the square root of it.
    """
    texts = encoder.texts
    groups = np.zeros(len(texts), np.int64)
    if encoder.form.vocabulary != "words":
        lengths = pc.utf8_length(texts).to_numpy()
        _, words, pairs = (kind.to_numpy(zero_copy_only=False) for kind in entry_kinds(texts))
        groups = np.select([words, pairs], [0, _PAIRS], lengths + 1)
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    ranks = np.empty(len(texts))
    ranks[order] = np.arange(len(texts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_boundary = pc.is_in(texts, pa.array([START, END])).to_numpy(zero_copy_only=False)
    relative = ranks / sizes[groups]
    return np.where(is_boundary, 0.0, np.where(groups == _PAIRS, np.sqrt(relative), relative))
