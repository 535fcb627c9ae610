"""Readers of large corpora of sentence pairs, in chunks, so that memory does not depend on the size of the files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import DataError
from paraphrastic.readers.files import REMEDY
from paraphrastic.readers.lines import Lines, parse_chunks
from paraphrastic.readers.pair_filter import PASS_ALL, PairFilter
from paraphrastic.readers.reading import Options, Reading, make_reading

CHUNK = 1 << 22  # bytes of text per chunk


def paranmt(folder: Path, options: Options) -> Iterator[Reading]:
    """Read lines of sentence, translation and score, separated by tabs.

    Args:
        folder: contains the file.
        options: `file`, and `member` if it is a zip archive; `filter`, limits of the score, which is a cosine.

    Yields:
        One reading per chunk; each pair is its own group.
    """
    return _read(folder, options, _paranmt_pairs)


def tab_pairs(folder: Path, options: Options) -> Iterator[Reading]:
    """Read lines of two texts separated by a tab.

    Args:
        folder: contains the file.
        options: `file`, and `member` if it is a zip archive.

    Yields:
        One reading per chunk; each pair is its own group.
    """
    return _read(folder, options, _tab_pairs)


def parabank(folder: Path, options: Options) -> Iterator[Reading]:
    """Read lines of score, sentence and 0 to 5 paraphrases of it, separated by tabs.

    Args:
        folder: contains the file.
        options: `file`, and `member` if it is a zip archive; `filter`, limits of the score, which is the dual
            conditional cross-entropy of the sentence and its translation.

    Yields:
        The sentence paired with each of its paraphrases, one reading per chunk. A line is a group.
    """
    return _read(folder, options, _parabank_pairs)


def _read(folder: Path, options: Options, pairs: Callable[[Lines, PairFilter], Reading]) -> Iterator[Reading]:
    path, wanted = folder / options["file"], options.get("filter", PASS_ALL)
    wanted.check_source_without_relations(path)
    rows = 0
    for reading in parse_chunks(path, options.get("member", "*"), CHUNK, lambda lines: pairs(lines, wanted)):
        yield reading
        rows += len(reading.table)
    if not rows:
        raise DataError(f"{path}: not one usable pair; is it the right file? {REMEDY}")


def _paranmt_pairs(lines: Lines, wanted: PairFilter) -> Reading:
    first, second, score = lines.fields(3)
    score = lines.numbers(score, -np.inf, np.inf)
    return _pairs(lines, {"text1": first, "text2": second, "group": _numbers(lines), "score": score}, wanted)


def _tab_pairs(lines: Lines, wanted: PairFilter) -> Reading:
    if wanted.limits_scores:
        raise DataError(f"{lines.file}: has no scores; empty tokenize.min_score and tokenize.max_score")
    first, second = lines.fields(2)
    return _pairs(lines, {"text1": first, "text2": second, "group": _numbers(lines)}, wanted)


def _parabank_pairs(lines: Lines, wanted: PairFilter) -> Reading:
    score, _ = lines.fields(2)
    score = lines.numbers(score, -np.inf, np.inf)
    texts = pc.split_pattern(lines.text, "\t")  # (lines,) lists of score, sentence, paraphrases
    line, text = pc.list_parent_indices(texts).to_numpy(), pc.list_flatten(texts)
    length = pc.fill_null(pc.list_value_length(texts), 0).to_numpy()
    start = np.cumsum(length) - length
    rows = np.flatnonzero(np.arange(len(line)) - start[line] > 1)  # (paraphrases,)
    line = line[rows]
    columns = {"text1": text.take(pa.array(start[line] + 1)), "text2": text.take(pa.array(rows))}
    columns |= {"group": _numbers(lines).take(pa.array(line)), "score": score.take(pa.array(line))}
    return _pairs(lines, columns, wanted)


def _numbers(lines: Lines) -> pa.Array:
    """Return the number of each line, from 0, as its group, (lines,)."""
    return pa.array(np.arange(len(lines)) + lines.first - 1)


def _pairs(lines: Lines, columns: dict[str, pa.Array], wanted: PairFilter) -> Reading:
    """Return the rows that the filter accepts; a row without a score counts as damaged if the source has scores."""
    if wanted.limits_scores:
        accepted = wanted.accepts_scores(columns["score"])
        columns = {name: column.filter(accepted) for name, column in columns.items()}
    return make_reading("pairs", [lines], columns, may_be_empty=True)
