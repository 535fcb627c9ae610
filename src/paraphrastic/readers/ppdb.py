"""Reader of PPDB 1.0 and 2.0; the files are read in chunks, so that memory does not depend on their size."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import DataError
from paraphrastic.readers.files import REMEDY, find_file
from paraphrastic.readers.lines import NUMBER, Lines, parse_chunks
from paraphrastic.readers.pair_filter import PASS_ALL, PairFilter
from paraphrastic.readers.reading import Options, Reading, make_reading

CHUNK = 1 << 22  # bytes of text per chunk

_NONTERMINAL = r"\[[^\s\[\]]+,\d+\]"


def ppdb(folder: Path, options: Options) -> Iterator[Reading]:
    """Read lines `LHS ||| phrase ||| paraphrase ||| features …` in the order of the file, which is by confidence.

    Rules with a nonterminal such as `[NP,1]` are not pairs of phrases and are skipped. Features are `KEY=VALUE`, where
    the value can be `NA`. PPDB 2.0 has a sixth field, the entailment relation.

    Args:
        folder: contains the file.
        options: `filter`, limits of a feature, and relations; the pairs outside are skipped.

    Yields:
        One reading per chunk of the file; each pair is its own group.

    Raises:
        DataError: the file is damaged, truncated, contains no pair, or lacks the feature or relation of the filter.
    """
    path, wanted = find_file(folder, "*.gz"), options.get("filter", PASS_ALL)
    group = 0
    for reading in parse_chunks(path, "*", CHUNK, lambda lines: _phrases(lines, wanted)):
        groups = pc.add(reading.table["group"], group)
        yield replace(reading, table=reading.table.drop_columns("group").append_column("group", groups))
        group += len(groups)
    if not group:
        raise DataError(f"{path}: not one pair of phrases; is it the right file? {REMEDY}")


def _phrases(lines: Lines, wanted: PairFilter) -> Reading:
    """Return the pairs of a chunk; their groups are numbered from 0."""
    _, phrase, paraphrase, _ = lines.fields(4, " ||| ")
    has_nonterminal = (pc.match_substring_regex(text, _NONTERMINAL) for text in (phrase, paraphrase))
    kept = pc.invert(pc.or_(*has_nonterminal))  # null in a bad row, which `filter` drops
    if wanted.is_active:
        kept = pc.and_(kept, _accepted(lines, wanted))
    columns = {"text1": phrase.filter(kept), "text2": paraphrase.filter(kept)}
    columns["group"] = pa.array(np.arange(len(columns["text1"])))
    return make_reading("pairs", [lines], columns, may_be_empty=True)


def _accepted(lines: Lines, wanted: PairFilter) -> pa.BooleanArray:
    """Return which lines (n,) the filter accepts; one without the feature or the relation is not accepted.

    Raises:
        DataError: no line has the feature, or the relation field.
    """
    fields = pc.split_pattern(lines.text, " ||| ")
    accepted = pa.array(np.ones(len(lines), bool))
    if wanted.limits_scores:
        accepted = wanted.accepts_scores(_feature(lines, fields, wanted.feature))
    if wanted.relations:
        sixth = pc.equal(pc.list_value_length(fields), 6)
        if not pc.any(sixth).as_py():
            wanted.check_source_without_relations(lines.file)
        relation = pc.list_element(fields.filter(sixth), 5)
        known = np.zeros(len(lines), bool)
        known[np.flatnonzero(pc.fill_null(sixth, False))] = pc.is_in(relation, pa.array(wanted.relations))
        accepted = pc.and_(accepted, pa.array(known))
    return accepted


def _feature(lines: Lines, fields: pa.ListArray, name: str) -> pa.DoubleArray:
    """Return the value of a feature in each line (n,); NaN if it is NA or absent."""
    long_enough = pc.fill_null(pc.greater(pc.list_value_length(fields), 3), False)
    features = pc.list_element(fields.filter(long_enough), 3)
    pattern = rf"(?:^| ){re.escape(name)}=(?P<value>[^ ]+)"
    value = pc.struct_field(pc.extract_regex(features, pattern), "value")
    if not pc.any(value.is_valid()).as_py():
        example = features[0].as_py() if len(features) else ""
        known = ", ".join(pair.partition("=")[0] for pair in example.split(" "))
        raise DataError(f"{lines.file}: has no feature {name}; set tokenize.feature to one of {known}")
    usable = pc.fill_null(pc.match_substring_regex(value, NUMBER), False)
    values = np.full(len(lines), np.nan)
    values[np.flatnonzero(long_enough)] = pc.if_else(usable, value, "nan").cast(pa.float64()).to_numpy()
    return pa.array(values)
