"""Readers of large corpora of pairs, in chunks, so that memory does not depend on the size of the files."""

import re
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.base.parallel import in_order
from paraphrastic.readers.lines import NUMBER, SourceLines
from paraphrastic.readers.raw_files import find_file, text_chunks
from paraphrastic.readers.reading import PASS_ALL, PairFilter, ReaderOptions, Reading, make_reading

CHUNK = 1 << 22  # bytes of text per chunk

_NONTERMINAL = r"\[[^\s\[\]]+,\d+\]"


def _in_chunks(
    parse: Callable[[SourceLines, PairFilter], Reading],
) -> Callable[[Path, ReaderOptions], Iterator[Reading]]:
    """Return a reader that yields what `parse` returns for each chunk of the `file`, or of the only gzip file."""

    @wraps(parse)
    def reader(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
        path = folder / options["file"] if "file" in options else find_file(folder, "*.gz")
        wanted, rows = options.get("filter", PASS_ALL), 0
        chunks = text_chunks(path, options.get("member", "*"), CHUNK)
        for reading in in_order(lambda chunk: parse(SourceLines(path, *chunk), wanted), chunks):
            yield reading
            rows += len(reading.table)
        if not rows:
            if wanted.is_active:
                limits = "tokenize.min_score, max_score and relations"
                raise DataError(f"{path}: not one usable pair of such a score or relation; see {limits}")
            raise DataError(f"{path}: not one usable pair; is it the right file? {REMEDY}")

    return reader


@_in_chunks
def paranmt(lines: SourceLines, wanted: PairFilter) -> Reading:
    """Read lines of sentence, translation and score, separated by tabs.

    Options: `file`, and `member` if it is a zip archive; `filter`, limits of the score, which is a cosine.
    Yields: One reading per chunk; each pair is its own group.
    """
    first, second, score = lines.fields(3)
    score = lines.numbers(score, -np.inf, np.inf)
    return _scored_pairs(lines, wanted, text1=first, text2=second, group=_numbers(lines), score=score)


@_in_chunks
def tab_pairs(lines: SourceLines, wanted: PairFilter) -> Reading:
    """Read lines of two texts separated by a tab.

    Options: `file`, and `member` if it is a zip archive.
    Yields: One reading per chunk; each pair is its own group.
    """
    wanted.check_source_without_relations(lines.file)
    first, second = lines.fields(2)
    return _pairs(lines, text1=first, text2=second, group=_numbers(lines))


@_in_chunks
def parabank(lines: SourceLines, wanted: PairFilter) -> Reading:
    """Read lines of score, sentence and 0 to 5 paraphrases of it, separated by tabs.

    Options: `file`, and `member` if it is a zip archive; `filter`, limits of the score, which is the dual conditional
        cross-entropy of the sentence and its translation.
    Yields: The sentence paired with each of its paraphrases, one reading per chunk. A line is a group.
    """
    score, _ = lines.fields(2)
    score = lines.numbers(score, -np.inf, np.inf)
    texts = pc.split_pattern(lines.text, "\t")  # (lines,) lists of score, sentence, paraphrases
    line, text = pc.list_parent_indices(texts).to_numpy(), pc.list_flatten(texts)
    length = pc.fill_null(pc.list_value_length(texts), 0).to_numpy()
    start = np.cumsum(length) - length
    rows = np.flatnonzero(np.arange(len(line)) - start[line] > 1)  # (paraphrases,)
    line = line[rows]
    texts_of = {"text1": text.take(start[line] + 1), "text2": text.take(rows)}
    group, score = (column.take(line) for column in (_numbers(lines), score))
    return _scored_pairs(lines, wanted, **texts_of, group=group, score=score)


@_in_chunks
def ppdb(lines: SourceLines, wanted: PairFilter) -> Reading:
    """Read lines `LHS ||| phrase ||| paraphrase ||| features …` of PPDB, in the order of the file, by confidence.

    Rules with a nonterminal such as `[NP,1]` are not pairs of phrases and are skipped. Features are `KEY=VALUE`, where
    the value can be `NA`. PPDB 2.0 has a sixth field, the entailment relation.

    Options: `filter`, limits of a feature, and relations; the pairs outside are skipped.
    Yields: One reading per chunk of the file; each pair is its own group.

    Raises:
        DataError: the file is damaged, truncated, contains no pair, or lacks the feature or relation of the filter.
    """
    _, phrase, paraphrase, _ = lines.fields(4, " ||| ")
    has_nonterminal = (pc.match_substring_regex(text, _NONTERMINAL) for text in (phrase, paraphrase))
    kept = pc.invert(pc.or_(*has_nonterminal))  # null in a bad row, which `filter` drops
    if wanted.is_active:
        kept = pc.and_(kept, _accepted(lines, wanted))
    return _pairs(lines, kept, text1=phrase, text2=paraphrase, group=_numbers(lines))


def _numbers(lines: SourceLines) -> pa.Array:
    """Return the number of each line, from 0, as its group, (lines,)."""
    return pa.array(np.arange(len(lines)) + lines.first - 1)


def _scored_pairs(lines: SourceLines, wanted: PairFilter, **columns: pa.Array) -> Reading:
    """Return the rows that the filter accepts; a row without a score counts as damaged."""
    wanted.check_source_without_relations(lines.file)
    return _pairs(lines, wanted.accepts_scores(columns["score"]) if wanted.limits_scores else None, **columns)


def _pairs(lines: SourceLines, kept: pa.BooleanArray | None = None, /, **columns: pa.Array) -> Reading:
    if kept is not None:
        columns = {name: column.filter(kept) for name, column in columns.items()}
    return make_reading("pairs", [lines], may_be_empty=True, **columns)


def _accepted(lines: SourceLines, wanted: PairFilter) -> pa.BooleanArray:
    """Return which lines (n,) the filter accepts; one without the feature or the relation is not accepted."""
    fields = pc.split_pattern(lines.text, " ||| ")
    accepted = pa.array(np.ones(len(lines), bool))
    if wanted.limits_scores:
        accepted = wanted.accepts_scores(_feature(lines, fields, wanted.feature))
    if wanted.relations:
        sixth = pc.equal(pc.list_value_length(fields), 6)
        if lines.first == 1 and not pc.any(sixth).as_py():
            wanted.check_source_without_relations(lines.file)
        relation = pc.list_element(fields.filter(sixth), 5)
        known = np.zeros(len(lines), bool)
        known[np.flatnonzero(pc.fill_null(sixth, False))] = pc.is_in(relation, pa.array(wanted.relations))
        accepted = pc.and_(accepted, pa.array(known))
    return accepted


def _feature(lines: SourceLines, fields: pa.ListArray, name: str) -> pa.DoubleArray:
    """Return the value of a feature in each line (n,); NaN if it is NA or absent."""
    long_enough = pc.fill_null(pc.greater(pc.list_value_length(fields), 3), False)
    features = pc.list_element(fields.filter(long_enough), 3)
    pattern = rf"(?:^| ){re.escape(name)}=(?P<value>[^ ]+)"
    value = pc.struct_field(pc.extract_regex(features, pattern), "value")
    if lines.first == 1 and not pc.any(value.is_valid()).as_py():
        example = features[0].as_py() if len(features) else ""
        known = ", ".join(pair.partition("=")[0] for pair in example.split(" "))
        raise DataError(f"{lines.file}: has no feature {name}; set tokenize.feature to one of {known}")
    usable = pc.fill_null(pc.match_substring_regex(value, NUMBER), False)
    values = np.full(len(lines), np.nan)
    values[np.flatnonzero(long_enough)] = pc.if_else(usable, value, "nan").cast(pa.float64()).to_numpy()
    return pa.array(values)
