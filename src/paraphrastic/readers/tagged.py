"""Readers of tokens with part-of-speech tags, and with heads and relations if a source has them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import SourceLines, read_lines, read_splits
from paraphrastic.readers.reading import ReaderOptions, Reading, make_reading

_CLOSING = ["''", ")", "-RRB-"]  # tags of tokens that still belong to a sentence after its full stop
_ESCAPES = {r"\/": "/", r"\*": "*", "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}


def conllu(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read files in CoNLL-U format; the tags are the column XPOS.

    Multiword tokens (`1-2`) and empty nodes (`8.1`) are skipped. A sentence with a bad row is left out as a whole,
    because heads are positions in the sentence.

    Options: `set`, the name of the set; `splits` maps a file to its split.
    Yields: One reading per file.
    """
    for lines, split in read_splits(folder, options["splits"]):
        yield _tagged_reading([lines], _nodes(lines), options["set"], split)


def _nodes(lines: SourceLines) -> pa.Table:
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


def _whole_numbers(lines: SourceLines, column: pa.StringArray) -> pa.Int32Array:
    wrong = pc.invert(pc.match_substring_regex(column, r"^\d{1,9}$"))
    return lines.reject(column, wrong, "not a whole number").cast(pa.int32())


def _check_positions(
    lines: SourceLines, sentence: NDArray[np.int64], number: pa.Int32Array, head: pa.Int32Array
) -> None:
    """Reject tokens whose numbers, null in other lines, are not 1, 2, 3, …, and heads outside the sentence; (n,)."""
    rows = np.flatnonzero(pc.and_(number.is_valid(), _in_intact_sentence(lines, sentence)))  # (tokens,)
    start, size = np.unique(sentence[rows], return_index=True, return_counts=True)[1:]  # (sentences,)
    position, length = np.zeros((2, len(lines)), np.int32)
    position[rows] = np.arange(len(rows)) - np.repeat(start, size) + 1
    length[rows] = np.repeat(size, size)
    checked = pa.array(position > 0)
    misnumbered = pc.and_(checked, pc.not_equal(number, pa.array(position)))
    lines.reject(number, misnumbered, "tokens are not numbered 1, 2, …")
    lines.reject(head, pc.and_(checked, pc.greater(head, pa.array(length))), "a head outside the sentence")


def treebank(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    r"""Read the trees in the files `wsj_NNNN.mrg` of a zip archive with the Penn Treebank sample.

    The files `wsj_NNNN.pos` are not used, because they do not mark the ends of sentences. Traces are skipped. Escapes
    such as `\/` and `-LRB-` are replaced by the characters of the original text, `/` and `(`.

    Options: `set`, the name of the set; `splits` maps a split to the first and last number of its files.
    Yields: One reading per split.
    """
    for split, (first, last) in options["splits"].items():
        names = (f"wsj_{number:04}.mrg" for number in range(first, last + 1))
        files = read_lines(folder, *names, archive="*.zip")
        starts = np.cumsum([0, *map(len, files)])
        tokens = pa.concat_tables(map(_leaves, files, starts.tolist()))
        yield _tagged_reading(files, tokens, options["set"], split)


def _leaves(lines: SourceLines, start: int) -> pa.Table:
    """Return the words of the trees of one file, except sentences with a bad row; they are numbered from `start`."""
    opened, closed = (pc.sum(pc.count_substring(lines.text, bracket)).as_py() for bracket in "()")
    if opened != closed and not lines.bad:
        raise DataError(f"{lines.file}: {opened} brackets are opened and {closed} closed; {REMEDY}")
    sentence = np.cumsum(pc.fill_null(pc.starts_with(lines.text, "("), False))  # inner brackets are indented
    nodes = pc.split_pattern(pc.if_else(_in_intact_sentence(lines, sentence), lines.text, None), "(")
    line = pc.list_parent_indices(nodes)  # (nodes,)
    tag, token = pc.extract_regex(pc.list_flatten(nodes), r"^(?P<tag>[^\s()]+) (?P<token>[^\s()]+)\)").flatten()
    columns = {"sentence": pa.array(sentence + start).take(line), "token": _unescape(token), "tag": tag}
    return pa.table(columns).filter(pc.not_equal(tag, "-NONE-"))


def treebank_tagged(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    r"""Read the files `wsj_SSNN.pos` of a zip archive of the tagged Wall Street Journal, `SS` being the section.

    A line contains tokens `word/TAG`, and brackets around chunks. In a word, `\/` stands for `/`. A token with a
    choice of tags, `word/TAG|TAG`, has the first one. A sentence ends after a token tagged `.` and the closing quotes
    and brackets that follow it on the same or the next line, and at a line of `=`, which separates paragraphs.

    Options: `archive`; `set`, the name of the set; `splits` maps a split to its first and last section.
    Yields: One reading per split.
    """
    for split, (first, last) in options["splits"].items():
        names = (f"wsj_{section:02}*.pos" for section in range(first, last + 1))
        lines, tokens, start = read_lines(folder, *names, archive=options["archive"]), list[pa.Table](), 0
        for each in lines:
            tokens.append(_tagged_words(each, start))
            start = max(start, pc.max(tokens[-1]["sentence"]).as_py() or 0) + 1
        yield _tagged_reading(lines, pa.concat_tables(tokens), options["set"], split)


def _tagged_words(lines: SourceLines, start: int) -> pa.Table:
    """Return the words of one file of tagged text; its sentences are numbered from `start`."""
    text = pc.utf8_trim_whitespace(pc.replace_substring_regex(lines.text, r"(^|\s)[\[\]](\s|$)", " "))
    words = pc.split_pattern_regex(text, r"\s+")
    line, word = pc.list_parent_indices(words).to_numpy(), pc.list_flatten(words)
    is_word = pc.not_equal(word, "").to_numpy(zero_copy_only=False)
    paragraph = np.cumsum(pc.fill_null(pc.match_substring_regex(lines.text, r"^=+$"), False))[line]
    is_word &= ~pc.match_substring_regex(word, r"^=+$").to_numpy(zero_copy_only=False)
    word, line, paragraph = word.filter(is_word), line[is_word], paragraph[is_word]
    token, tag = pc.extract_regex(word, r"^(?P<token>.+)/(?P<tag>[^/|\s]+)(?:\|\S+)?$").flatten()
    untagged = np.isin(np.arange(len(lines)), line[token.is_null().to_numpy(zero_copy_only=False)])
    lines.reject(lines.text, pa.array(untagged), "a word without a tag")
    columns = {"sentence": pa.array(_sentences(tag, paragraph) + start), "token": _unescape(token), "tag": tag}
    return pa.table(columns)


def _sentences(tag: pa.StringArray, paragraph: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the sentence of each token, (tokens,)."""
    ends = pc.fill_null(pc.equal(tag, "."), False).to_numpy(zero_copy_only=False)
    closing = pc.fill_null(pc.is_in(tag, pa.array(_CLOSING)), False).to_numpy(zero_copy_only=False)
    after_end = np.zeros(len(ends), bool)  # the token before is the end of a sentence, or closes it
    for i in range(1, len(ends)):
        after_end[i] = ends[i - 1] or (after_end[i - 1] and closing[i - 1])
    begins = after_end & ~closing & ~ends
    if len(begins):
        begins[1:] |= paragraph[1:] != paragraph[:-1]
    return np.cumsum(begins)


def _unescape(token: pa.StringArray) -> pa.StringArray:
    for escape, text in _ESCAPES.items():
        token = pc.replace_substring(token, escape, text)
    return token


def _in_intact_sentence(lines: SourceLines, sentence: NDArray[np.int64]) -> pa.BooleanArray:
    """Return a mask (n,) of the lines in sentences without a bad row; `sentence` (n,) is the number of the sentence."""
    bad = np.array([row.line - lines.first for row in lines.bad], np.intp)
    return pa.array(~np.isin(sentence, sentence[bad]))


def _tagged_reading(files: list[SourceLines], tokens: pa.Table, name: str, split: str) -> Reading:
    """Return a reading of `tokens`, without heads in the treebanks; sentences are renumbered from 0 without gaps."""
    sentence = pa.array(np.unique(tokens["sentence"], return_inverse=True)[1])
    absent = pa.nulls(len(tokens))
    columns = {"head": absent, "relation": absent, **dict(zip(tokens.column_names, tokens.columns, strict=True))}
    columns["sentence"] = sentence
    return make_reading("tagged_tokens", files, **columns, set=name, split=split)
