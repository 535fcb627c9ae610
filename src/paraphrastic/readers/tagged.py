"""Readers of tokens with part-of-speech tags, and with heads and relations if a source has them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.errors import DataError
from paraphrastic.readers.files import REMEDY, find_file, read_archive
from paraphrastic.readers.lines import Lines
from paraphrastic.readers.reading import Options, Reading, make_reading

_ESCAPES = {r"\/": "/", r"\*": "*", "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}


def conllu(folder: Path, options: Options) -> Iterator[Reading]:
    """Read files in CoNLL-U format; the tags are the column XPOS.

    Multiword tokens (`1-2`) and empty nodes (`8.1`) are skipped. A sentence with a bad row is left out as a whole,
    because heads are positions in the sentence.

    Args:
        folder: contains the files.
        options: `set`, the name of the set; `splits` maps a file to its split.

    Yields:
        One reading per file.
    """
    for name, split in options["splits"].items():
        lines = Lines.read(folder / name)
        yield _tagged_reading([lines], _nodes(lines), options["set"], split)


def _nodes(lines: Lines) -> pa.Table:
    """Return the tokens of the sentences without a bad row."""
    blank = pc.equal(lines.text, "")
    sentence = np.cumsum(pc.fill_null(blank, False))  # (lines,)
    lines.skip(pc.or_(blank, pc.starts_with(lines.text, "#")))
    number, token, _, _, tag, _, head, relation, _, _ = lines.fields(10)
    skipped = pc.match_substring_regex(number, r"^\d+[-.]\d+$")
    number = _whole_numbers(lines, pc.if_else(skipped, None, number))
    head = _whole_numbers(lines, pc.if_else(pc.or_(skipped, pc.equal(head, "_")), None, head))
    tag = lines.reject(tag, pc.and_(number.is_valid(), pc.equal(tag, "_")), "no tag")
    relation = pc.if_else(pc.equal(relation, "_"), None, relation)
    _check_positions(lines, sentence, number, head)
    columns = {"sentence": pa.array(sentence), "token": token, "tag": tag, "head": head, "relation": relation}
    return pa.table(columns).filter(pc.and_(number.is_valid(), _in_intact_sentence(lines, sentence)))


def _whole_numbers(lines: Lines, column: pa.StringArray) -> pa.Int32Array:
    wrong = pc.invert(pc.match_substring_regex(column, r"^\d{1,9}$"))
    return lines.reject(column, wrong, "not a whole number").cast(pa.int32())


def _check_positions(lines: Lines, sentence: NDArray[np.int64], number: pa.Int32Array, head: pa.Int32Array) -> None:
    """Reject tokens whose numbers are not 1, 2, 3, …, and heads outside the sentence.

    Args:
        lines: the n lines of the file.
        sentence: (n,) number of the sentence.
        number: (n,) number of the token in its sentence; null if the line is not a token.
        head: (n,) number of the head.
    """
    rows = np.flatnonzero(pc.and_(number.is_valid(), _in_intact_sentence(lines, sentence)))  # (tokens,)
    start, size = np.unique(sentence[rows], return_index=True, return_counts=True)[1:]  # (sentences,)
    position, length = np.zeros((2, len(lines)), np.int32)
    position[rows] = np.arange(len(rows)) - np.repeat(start, size) + 1
    length[rows] = np.repeat(size, size)
    checked = pa.array(position > 0)
    misnumbered = pc.and_(checked, pc.not_equal(number, pa.array(position)))
    lines.reject(number, misnumbered, "tokens are not numbered 1, 2, …")
    lines.reject(head, pc.and_(checked, pc.greater(head, pa.array(length))), "a head outside the sentence")


def treebank(folder: Path, options: Options) -> Iterator[Reading]:
    r"""Read the trees in the files `wsj_NNNN.mrg` of a zip archive with the Penn Treebank sample.

    The files `wsj_NNNN.pos` are not used, because they do not mark the ends of sentences. Traces are skipped. Escapes
    such as `\/` and `-LRB-` are replaced by the characters of the original text, `/` and `(`.

    Args:
        folder: contains the archive.
        options: `set`, the name of the set; `splits` maps a split to the first and last number of its files.

    Yields:
        One reading per split.
    """
    path = find_file(folder, "*.zip")
    archive = read_archive(path)
    for split, (first, last) in options["splits"].items():
        files = [Lines.of_member(path, archive, f"wsj_{number:04}.mrg") for number in range(first, last + 1)]
        starts = np.cumsum([0, *map(len, files)])
        tokens = pa.concat_tables(map(_leaves, files, starts.tolist()))
        yield _tagged_reading(files, tokens, options["set"], split)


def _leaves(lines: Lines, start: int) -> pa.Table:
    """Return the words of the trees of one file, except sentences with a bad row.

    Args:
        lines: the lines of the file.
        start: number of its first sentence.

    Raises:
        DataError: a bracket is not closed.
    """
    opened, closed = (pc.sum(pc.count_substring(lines.text, bracket)).as_py() for bracket in "()")
    if opened != closed and not lines.bad:
        raise DataError(f"{lines.file}: {opened} brackets are opened and {closed} closed; {REMEDY}")
    sentence = np.cumsum(pc.fill_null(pc.starts_with(lines.text, "("), False))  # inner brackets are indented
    nodes = pc.split_pattern(pc.if_else(_in_intact_sentence(lines, sentence), lines.text, None), "(")
    line = pc.list_parent_indices(nodes)  # (nodes,)
    tag, token = pc.extract_regex(pc.list_flatten(nodes), r"^(?P<tag>[^\s()]+) (?P<token>[^\s()]+)\)").flatten()
    columns = {"sentence": pa.array(sentence + start).take(line), "token": _unescape(token), "tag": tag}
    columns |= {name: pa.nulls(len(tag)) for name in ("head", "relation")}
    return pa.table(columns).filter(pc.not_equal(tag, "-NONE-"))


def _unescape(token: pa.StringArray) -> pa.StringArray:
    for escape, text in _ESCAPES.items():
        token = pc.replace_substring(token, escape, text)
    return token


def _in_intact_sentence(lines: Lines, sentence: NDArray[np.int64]) -> pa.BooleanArray:
    """Return a mask (n,) of the lines in sentences without a bad row; `sentence` (n,) is the number of the sentence."""
    bad = np.array([row.line - lines.first for row in lines.bad], np.intp)
    return pa.array(~np.isin(sentence, sentence[bad]))


def _tagged_reading(files: list[Lines], tokens: pa.Table, name: str, split: str) -> Reading:
    """Return a reading of `tokens`; sentences are renumbered from 0 without gaps."""
    sentence = pa.array(np.unique(tokens["sentence"], return_inverse=True)[1])
    columns = dict(zip(tokens.column_names, tokens.columns, strict=True))
    return make_reading("tagged_tokens", files, {**columns, "sentence": sentence, "set": name, "split": split})
