"""Readers of large corpora of sentence pairs, in chunks, so that memory does not depend on the size of the files."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.errors import DataError
from paraphrastic.readers.files import REMEDY, text_chunks
from paraphrastic.readers.lines import Lines
from paraphrastic.readers.pair_filter import PASS_ALL, PairFilter
from paraphrastic.readers.reading import Options, Reading, make_reading
from paraphrastic.threads import in_order

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


def _read(folder: Path, options: Options, pairs: Callable[[Lines, int, PairFilter], Reading]) -> Iterator[Reading]:
    path, wanted = folder / options["file"], options.get("filter", PASS_ALL)
    wanted.check_source_without_relations(path)

    def read_chunk(chunk: tuple[int, bytes]) -> Reading:
        line, data = chunk
        return pairs(Lines(path, data, first=line + 1), line, wanted)

    rows = 0
    for reading in in_order(read_chunk, _numbered(text_chunks(path, options.get("member", "*"), CHUNK))):
        yield reading
        rows += len(reading.table)
    if not rows:
        raise DataError(f"{path}: not one usable pair; is it the right file? {REMEDY}")


def _numbered(parts: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield parts of whole lines, each with the number of lines before it."""
    lines = 0
    for data in parts:
        yield lines, data
        lines += data.count(b"\n")


def _paranmt_pairs(lines: Lines, first_group: int, wanted: PairFilter) -> Reading:
    first, second, score = lines.fields(3)
    score = lines.numbers(score, -np.inf, np.inf)
    group = np.arange(first_group, first_group + len(lines))
    return _pairs(lines, {"text1": first, "text2": second, "group": pa.array(group), "score": score}, wanted)


def _tab_pairs(lines: Lines, first_group: int, wanted: PairFilter) -> Reading:
    if wanted.limits_scores:
        raise DataError(f"{lines.file}: has no scores; empty tokenize.min_score and tokenize.max_score")
    first, second = lines.fields(2)
    group = np.arange(first_group, first_group + len(lines))
    return _pairs(lines, {"text1": first, "text2": second, "group": pa.array(group)}, wanted)


def _parabank_pairs(lines: Lines, first_group: int, wanted: PairFilter) -> Reading:
    score, _ = lines.fields(2)
    score = lines.numbers(score, -np.inf, np.inf)
    texts = pc.split_pattern(lines.text, "\t")  # (lines,) lists of score, sentence, paraphrases
    line, text = pc.list_parent_indices(texts).to_numpy(), pc.list_flatten(texts)
    length = pc.fill_null(pc.list_value_length(texts), 0).to_numpy()
    start = np.cumsum(length) - length
    rows = np.flatnonzero(np.arange(len(line)) - start[line] > 1)  # (paraphrases,)
    line = line[rows]
    columns = {"text1": text.take(pa.array(start[line] + 1)), "text2": text.take(pa.array(rows))}
    columns |= {"group": pa.array(line + first_group), "score": score.take(pa.array(line))}
    return _pairs(lines, columns, wanted)


def _pairs(lines: Lines, columns: dict[str, pa.Array], wanted: PairFilter) -> Reading:
    """Return the rows that the filter accepts; a row without a score counts as damaged if the source has scores."""
    if wanted.limits_scores:
        accepted = wanted.accepts_scores(columns["score"])
        columns = {name: column.filter(accepted) for name, column in columns.items()}
    return make_reading("pairs", [lines], columns, may_be_empty=True)
