"""Training pairs from files small enough to be read whole.

`group` numbers what comes from one sentence or image, from 0 within a source.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from paraphrastic.errors import DataError
from paraphrastic.readers.files import AGAIN, every, members, single
from paraphrastic.readers.lines import Lines, correspond
from paraphrastic.readers.reading import Options, Reading, reading


def lexicon(folder: Path, options: Options) -> Iterator[Reading]:
    """Neighbour lists, a head word and its neighbours to a line: each unordered pair of words once.

    Yields:
        Pairs in the order in which they first occur, each its own group.
    """
    lines = Lines.read(single(folder, "*.txt"))
    words = pc.split_pattern(lines.text, " ")
    blank = pc.match_substring_regex(lines.text, r"(^| )[\s\x1C-\x1F]*( |$)")
    words = lines.reject(words, blank, "a blank in place of a word")
    words = lines.reject(words, pc.less(pc.list_value_length(words), 2), "a word without neighbours").drop_null()
    codes = pc.list_flatten(words).dictionary_encode()
    head, neighbour = _edges(codes.indices.to_numpy(), pc.list_value_length(words).to_numpy())
    first, second = (codes.dictionary.take(pa.array(word)) for word in (head, neighbour))
    yield _pairs([lines], first, second, np.arange(len(first)))


def _edges(word: NDArray, lengths: NDArray) -> tuple[NDArray, NDArray]:
    """Head and neighbour of each distinct unordered pair; `word` holds lists of `lengths`, a head first."""
    start = np.cumsum(lengths) - lengths
    head = np.repeat(word[start], lengths)
    key = np.minimum(head, word) * (word.max(initial=0) + np.int64(1)) + np.maximum(head, word)
    first = np.sort(np.unique(key, return_index=True)[1])
    first = first[head[first] != word[first]]
    return head[first], word[first]


def aligned(folder: Path, options: Options) -> Iterator[Reading]:
    """Two files whose lines correspond, for each of `options["pairs"]`; each line is its own group."""
    start = 0
    for names in options["pairs"]:
        left, right = (Lines.read(folder / name) for name in names)
        correspond(left, right)
        yield _pairs([left, right], left.text, right.text, np.arange(start, start + len(left)))
        start += len(left)


def references(folder: Path, options: Options) -> Iterator[Reading]:
    """A file of source sentences and `count` files of rewritten ones, for each of `options["groups"]`.

    Yields:
        The source with each of its references, in turn; a source sentence is a group.
    """
    start = 0
    for group in options["groups"]:
        names = [group["source"], *(group["references"].format(n=n) for n in range(group["count"]))]
        part = _stack(folder, names, [(0, n) for n in range(1, len(names))], start)
        yield part
        start = part.table["group"][-1].as_py() + 1


def captions(folder: Path, options: Options) -> Iterator[Reading]:
    """Files whose lines i describe the same image, for each of `options["groups"]`.

    Yields:
        All unordered pairs of an image's captions, in turn; an image is a group.
    """
    start = 0
    for names in options["groups"]:
        part = _stack(folder, names, list(combinations(range(len(names)), 2)), start)
        yield part
        start = part.table["group"][-1].as_py() + 1


def _stack(folder: Path, names: Sequence[str], sides: Sequence[tuple[int, int]], start: int) -> Reading:
    """Corresponding files → for each line the pairs of files `sides`; groups are numbered from `start`."""
    files = [Lines.read(folder / name) for name in names]
    correspond(*files)
    text = pa.concat_arrays([file.text for file in files])
    line = np.arange(len(files[0]))
    left, right = (len(line) * np.array(side) + line[:, None] for side in zip(*sides, strict=True))  # (n, sides)
    group = np.repeat(line + start, len(sides))
    return _pairs(files, text.take(pa.array(left.ravel())), text.take(pa.array(right.ravel())), group)


def scored_tokens(folder: Path, options: Options) -> Iterator[Reading]:
    """`a.toks`, `b.toks` and `sim.txt` in each of `options["folders"]`: the pairs with label 1.

    Yields:
        One reading; pairs that share their first sentence form a group.
    """
    files, first, second = [], [], []
    for name in options["folders"]:
        left, right, label = (Lines.read(folder / name / part) for part in ("a.toks", "b.toks", "sim.txt"))
        correspond(left, right, label)
        positive = pc.equal(label.labels(label.text, ["0", "1"]), 1)
        first.append(left.text.filter(positive))
        second.append(right.text.filter(positive))
        files += [left, right, label]
    text = pa.concat_arrays(first)
    group = text.dictionary_encode(null_encoding="encode").indices.to_numpy()
    yield _pairs(files, text, pa.concat_arrays(second), group)


def wikisplit(folder: Path, options: Options) -> Iterator[Reading]:
    """A long sentence, a tab, and two short ones with `<::::>` between them: the long one and the two joined."""
    start = 0
    for path in every(folder, "*.tsv"):
        lines = Lines.read(path)
        long, short = lines.fields(2)
        short = lines.reject(short, pc.invert(pc.match_substring(short, " <::::> ")), "no <::::>")
        joined = pc.replace_substring(short, " <::::> ", " ")
        yield _pairs([lines], long, joined, np.arange(start, start + len(lines)))
        start += len(lines)


def onestop(folder: Path, options: Options) -> Iterator[Reading]:
    """Two lines and then a line of asterisks, in several files.

    Yields:
        One reading; pairs that are linked by equal sentences, in whichever file, form a group.
    """
    files = [Lines.read(path) for path in every(folder, "*.txt")]
    first, second = (pa.concat_arrays(side) for side in zip(*map(_blocks, files), strict=True))
    whole = pc.and_(first.is_valid(), second.is_valid())
    first, second = first.filter(whole), second.filter(whole)
    yield _pairs(files, first, second, _linked(first, second))


def _blocks(lines: Lines) -> tuple[pa.StringArray, pa.StringArray]:
    """The two lines of each block that an asterisk line ends; a block of other length is a bad row.

    Raises:
        DataError: there is no such block.
    """
    stars = np.flatnonzero(pc.fill_null(pc.match_substring_regex(lines.text, r"^\*+$"), False))
    start = np.concatenate([[0], stars + 1])
    odd = np.isin(np.arange(len(lines)), stars[np.diff(start) != 3])
    odd[-1] |= start[-1] < len(lines)
    lines.reject(lines.text, pa.array(odd), "not two sentences and then asterisks")
    first = pa.array(start[:-1][np.diff(start) == 3])
    if not len(first):
        raise DataError(f"{lines.file}: not two sentences and asterisks anywhere; is it the right file? {AGAIN}")
    return lines.text.take(first), lines.text.take(pc.add(first, 1))


def _linked(first: pa.StringArray, second: pa.StringArray) -> NDArray[np.int32]:
    """Number of the connected component of each pair, sentences being nodes and pairs edges."""
    node = pa.concat_arrays([first, second]).dictionary_encode()
    left, right = node.indices.to_numpy().reshape(2, -1)
    size = len(node.dictionary)
    edges = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(size, size))
    return connected_components(edges, directed=False)[1][left]


def simpwiki(folder: Path, options: Options) -> Iterator[Reading]:
    """`normal.aligned` and `simple.aligned` in a tar archive; the sentence is the last of a line's fields."""
    path = single(folder, "*.tar.gz")
    archive = members(path)
    normal, simple = (Lines.member(path, archive, f"{side}.aligned") for side in ("normal", "simple"))
    correspond(normal, simple)
    yield _pairs([normal, simple], _last_field(normal), _last_field(simple), np.arange(len(normal)))


def _last_field(lines: Lines) -> pa.StringArray:
    none = pc.invert(pc.match_substring(lines.text, "\t"))
    return pc.replace_substring_regex(lines.reject(lines.text, none, "fewer than 2 fields"), r"^.*\t", "")


def _pairs(files: Sequence[Lines], first: pa.Array, second: pa.Array, group: NDArray) -> Reading:
    return reading("pairs", files, {"text1": first, "text2": second, "group": pa.array(group)})
