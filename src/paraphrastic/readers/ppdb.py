"""Reader of PPDB 1.0 and 2.0; the files are read in chunks, so that memory does not depend on their size."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.errors import DataError
from paraphrastic.readers.files import REMEDY, find_file, report_damage
from paraphrastic.readers.lines import Lines
from paraphrastic.readers.reading import Options, Reading, make_reading

CHUNK = 1 << 24  # bytes of text per chunk

_NONTERMINAL = r"\[[^\s\[\]]+,\d+\]"


def ppdb(folder: Path, options: Options) -> Iterator[Reading]:
    """Read lines `LHS ||| phrase ||| paraphrase ||| features …` in the order of the file, which is by confidence.

    Rules with a nonterminal such as `[NP,1]` are not pairs of phrases and are skipped.

    Yields:
        One reading per chunk of the file; each pair is its own group.

    Raises:
        DataError: the file is damaged, truncated, or contains no pair.
    """
    path = find_file(folder, "*.gz")
    line = group = 0
    for chunk in _chunks(path):
        lines = Lines(path, chunk, first=line + 1)
        reading = _phrases(lines, group)
        yield reading
        line, group = line + len(lines), group + len(reading.table)
    if not group:
        raise DataError(f"{path}: not one pair of phrases; is it the right file? {REMEDY}")


def _phrases(lines: Lines, first_group: int) -> Reading:
    _, phrase, paraphrase, _ = lines.fields(4, " ||| ")
    has_nonterminal = (pc.match_substring_regex(text, _NONTERMINAL) for text in (phrase, paraphrase))
    kept = pc.fill_null(pc.invert(pc.or_(*has_nonterminal)), False)
    columns = {"text1": phrase.filter(kept), "text2": paraphrase.filter(kept)}
    columns["group"] = pa.array(np.arange(first_group, first_group + len(columns["text1"])))
    return make_reading("pairs", [lines], columns, may_be_empty=True)


def _chunks(path: Path) -> Iterator[bytes]:
    """Yield the text of a gzip file in chunks of whole lines."""
    rest = b""
    with report_damage(path), gzip.open(path) as stream:
        while chunk := stream.read(CHUNK):
            chunk = rest + chunk
            end = chunk.rfind(b"\n") + 1
            rest = chunk[end:]
            if end:
                yield chunk[:end]
    if rest:
        yield rest
