"""Readers of training pairs whose files are small enough to be read at once.

The column `group` numbers the sentences or images from which pairs come, from 0 within a source.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import SourceLines, read_lines, read_parallel
from paraphrastic.readers.paraphrase_groups import components
from paraphrastic.readers.reading import ReaderOptions, Reading, make_pairs


def lexicon(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read lists of neighbours; a line contains a head word and its neighbours, separated by spaces.

    Yields: Each unordered pair of words once, in the order of the first occurrence; each pair is its own group.
    """
    (lines,) = read_lines(folder, "*.txt")
    words = pc.split_pattern(lines.text, " ")
    has_blank = pc.match_substring_regex(lines.text, r"(^| )[\s\x1C-\x1F]*( |$)")
    words = lines.reject(words, has_blank, "a word is blank")
    words = lines.reject(words, pc.less(pc.list_value_length(words), 2), "a word without neighbours").drop_null()
    vocabulary, lengths = pc.list_flatten(words).dictionary_encode(), pc.list_value_length(words).to_numpy()
    ids = vocabulary.indices.to_numpy()  # (words,)
    heads = np.repeat(ids[np.cumsum(lengths) - lengths], lengths)
    key = np.minimum(heads, ids) * (ids.max(initial=0) + np.int64(1)) + np.maximum(heads, ids)
    rows = np.sort(np.unique(key, return_index=True)[1])
    rows = rows[heads[rows] != ids[rows]]
    head, neighbour = (vocabulary.dictionary.take(each[rows]) for each in (heads, ids))
    yield make_pairs([lines], head, neighbour, np.arange(len(rows)))


def aligned(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read parallel files: line i of each says the same, or describes the same image.

    Options: `groups` lists lists of file names, in which patterns stand for several files; `all`, whether all unordered
        pairs of a line are read, and not only those of the first file with each other one.
    Yields: One reading per list of files. A line is a group.
    """
    start = 0
    for names in options["groups"]:
        files = read_parallel(folder, *names)
        text = pa.concat_arrays([file.text for file in files])  # (files * lines,)
        firsts = range(len(files) if options.get("all") else 1)
        pairs = np.array([(a, b) for a in firsts for b in range(a + 1, len(files))])  # (pairs, 2)
        line = np.arange(len(files[0]))  # (lines,)
        rows = len(line) * pairs + line[:, None, None]  # (lines, pairs, 2)
        first, second = (text.take(rows[..., side].ravel()) for side in (0, 1))
        yield make_pairs(files, first, second, np.repeat(line + start, len(pairs)))
        start += len(line)


def labelled_tokens(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read the parallel files `a.toks`, `b.toks` and `sim.txt`, which contains labels; keep pairs with label 1.

    Options: `folders` lists the folders that contain these files.
    Yields: One reading; pairs with the same first sentence form a group.
    """
    files, first, second = [], [], []
    for name in options["folders"]:
        left, right, label = read_parallel(folder, *(f"{name}/{file}" for file in ("a.toks", "b.toks", "sim.txt")))
        positive = pc.equal(label.labels(label.text, ["0", "1"]), 1)
        first.append(left.text.filter(positive))
        second.append(right.text.filter(positive))
        files += [left, right, label]
    text = pa.concat_arrays(first)
    group = text.dictionary_encode(null_encoding="encode").indices.to_numpy()
    yield make_pairs(files, text, pa.concat_arrays(second), group)


def wikisplit(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read lines of a long sentence, a tab, and two short sentences separated by `<::::>`.

    Yields: The long sentence paired with the concatenation of the short ones, one reading per file; each line is its
        own group.
    """
    start = 0
    for lines in read_lines(folder, "*.tsv"):
        long, short = lines.fields(2)
        short = lines.reject(short, pc.invert(pc.match_substring(short, " <::::> ")), "no <::::>")
        concatenated = pc.replace_substring(short, " <::::> ", " ")
        yield make_pairs([lines], long, concatenated, np.arange(start, start + len(lines)))
        start += len(lines)


def onestop(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read several files with blocks of two sentences and a line of asterisks.

    Yields: One reading; pairs that share a sentence, directly or through other pairs of any file, form a group.
    """
    files = read_lines(folder, "*.txt")
    first, second = (pa.concat_arrays(side) for side in zip(*map(_blocks, files), strict=True))
    usable = pc.and_(first.is_valid(), second.is_valid())
    first, second = first.filter(usable), second.filter(usable)
    nodes = pa.concat_arrays([first, second]).dictionary_encode().indices.to_numpy()  # (2 * pairs,)
    yield make_pairs(files, first, second, components(nodes))


def _blocks(lines: SourceLines) -> tuple[pa.StringArray, pa.StringArray]:
    """Return first and second sentence of each block, (blocks,); a block of another length is a bad row."""
    asterisks = np.flatnonzero(pc.fill_null(pc.match_substring_regex(lines.text, r"^\*+$"), False))
    start = np.concatenate([[0], asterisks + 1])  # (blocks + 1,); the last one is the end of the last block
    complete = np.diff(start) == 3
    wrong = np.isin(np.arange(len(lines)), asterisks[~complete])
    wrong[-1] |= start[-1] < len(lines)
    lines.reject(lines.text, pa.array(wrong), "not two sentences and a line of asterisks")
    first = pa.array(start[:-1][complete])
    if not len(first):
        raise DataError(f"{lines.file}: no block of two sentences and asterisks; is it the right file? {REMEDY}")
    return lines.text.take(first), lines.text.take(pc.add(first, 1))


def simpwiki(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read the parallel files `normal.aligned` and `simple.aligned` of a tar archive.

    Yields: The last fields of corresponding lines, which are the sentences; each line is its own group.
    """
    normal, simple = read_parallel(folder, "normal.aligned", "simple.aligned", archive="*.tar.gz")
    yield make_pairs([normal, simple], _last_field(normal), _last_field(simple), np.arange(len(normal)))


def _last_field(lines: SourceLines) -> pa.StringArray:
    no_tab = pc.invert(pc.match_substring(lines.text, "\t"))
    return pc.replace_substring_regex(lines.reject(lines.text, no_tab, "fewer than 2 fields"), r"^.*\t", "")
