"""Readers of training pairs whose sentences form groups: lists of pairs, parallel files, and sentences with a key.

A group is a connected component of pairs, or all sentences with the same line or key. Sentences are equal here if their
tokens have the same normal form (`text.tokenizer.normalize`), so that text that is already tokenized equals the
original. The listings in options are those of `readers.listings`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from paraphrastic.base.compressed import REMEDY
from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import SourceRows
from paraphrastic.readers.listings import Listing, Records, concat, parse_file, read_records, text_column
from paraphrastic.readers.raw_files import find_file, read_bytes
from paraphrastic.readers.reading import ReaderOptions, Reading, make_pairs
from paraphrastic.text.columns import hash_texts, split_words
from paraphrastic.text.tokenizer import normalize, tokenize

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Integers = NDArray[np.int32] | NDArray[np.int64]

# words that do not tell what a caption or a headline is about
_FUNCTION_WORDS = (
    "a about an and another are around as at be been being by do does doing down for from had has have having he her "
    "his i in into is it its my near no not of on one or other our out over she so some that the their them then there "
    "these they this those to two up was we were which while who with you your"
)
_PAIRS_AT_ONCE = 1 << 18
_NONE = pa.nulls(0, pa.string())  # `pa.array` imports pandas, and every stage that reads imports this module


def pair_lists(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read lists of pairs.

    Options: `lists`, listings with two columns, which can have `held`: the share of the words of the
        first text that the second one must hold; other pairs are left out.
    Yields: One reading. Pairs that share a sentence, directly or through other pairs of any list, form a group;
        sentences are compared by their normal forms.
    """
    records = concat(_held(part, listing) for listing in options["lists"] for part in read_records(folder, listing))
    forms = normal_forms(pa.concat_arrays(records.texts.columns)).indices.to_numpy()  # (2 * pairs,)
    first, second = records.texts.columns
    yield make_pairs(records.files, first, second, components(forms))


def _held(records: Records, listing: Listing) -> Records:
    """Return the records without bad rows whose second text has enough of the words of the first one."""
    usable = records.texts.drop_null()
    if "held" in listing:
        sets = word_sets(normalize(tokenize(pa.concat_arrays(usable.columns))))
        left, right = sets[: len(usable)], sets[len(usable) :]
        share = left.multiply(right).sum(axis=1) / np.maximum(np.diff(left.indptr), 1)  # (n,)
        usable = usable.filter(share >= listing["held"])
    return Records(records.files, usable)


def parallel_groups(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read sets of parallel files; line i of all files of a set says the same.

    Options: `sets`, listings in the format `lines`; `pairs`, how many of a line are read at most.
    Yields: One reading per set. A line is a group.
    """
    start = 0
    for listing in options["sets"]:
        ((files, texts),) = read_records(folder, listing)
        group = np.tile(np.arange(start, start + len(texts)), texts.num_columns)
        yield _pairs_of_groups(files, group, pa.concat_arrays(texts.columns), options["pairs"])
        start += len(texts)


def keyed_groups(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read sentences with a key, as captions with the number of their image.

    Options: `lists`, listings with the columns key and sentence; `pairs`, how many of a key are read at
        most; `key`, a regular expression whose group `key` is the part of the key that counts; `shared`, the smallest
        Jaccard similarity of the content words of a pair that is read.
    Yields: One reading. Sentences with the same key, in any file, form a group.
    """
    records = concat(part for listing in options["lists"] for part in read_records(folder, listing))
    key, text = records.texts.drop_null().columns
    if "key" in options:
        key = pc.extract_regex(key, options["key"]).field("key")
    group = key.dictionary_encode().indices.to_numpy()
    several = np.bincount(group)[group] > 1
    text = text.filter(several)
    yield _pairs_of_groups(records.files, group[several], text, options["pairs"], options.get("shared", 0))


def sentences(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read single sentences, whose vectors are learned from a teacher.

    Options: `lists`, listings whose columns all hold sentences.
    Yields: One reading. Of sentences with the same normal form there is the first one. Two that follow each other stand
        in one row although they do not say the same, since the tables of a corpus have pairs; the last one stands
        beside the first one if their number is odd. Each row is its own group.
    """
    records = [each for listing in options["lists"] for each in read_records(folder, listing)]
    texts = pa.concat_arrays([column for each in records for column in each.texts.drop_null().columns])
    yield _single([file for each in records for file in each.files], texts)


def word_list(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read a parquet file of words, most frequent first, as single sentences.

    Options: `file`; `column`; `count`, how many words are read; `pattern`, a regular expression of RE2 that a word
        matches from end to end.
    Yields: One reading, as `sentences`, of words that are one token.
    """
    path = find_file(folder, options["file"])
    try:
        column = pq.read_table(path, columns=[options["column"]])[options["column"]].cast(pa.string()).combine_chunks()
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DataError(f"{path}: no parquet file with a column '{options['column']}'; {REMEDY}") from error
    words = column.filter(pc.match_substring_regex(column, f"^(?:{options['pattern']})$"))
    words = words.filter(pc.equal(tokenize(words), words))[: options["count"]]
    yield _single([SourceRows(path, np.arange(1, len(words) + 1), "record")], words)


def in_two_columns(texts: pa.StringArray, rows: Integers) -> tuple[pa.StringArray, pa.StringArray]:
    """Return the texts of these rows, one side of a pair after the other; of an odd number, the first one twice."""
    left, right = np.append(rows, rows[: len(rows) % 2]).reshape(-1, 2).T
    return texts.take(left), texts.take(right)


def _single(files: Sequence[SourceRows], texts: pa.StringArray) -> Reading:
    """Return single sentences as pairs, each normal form once."""
    forms = normal_forms(texts).indices.to_numpy()
    left, right = in_two_columns(texts, np.sort(np.unique(forms, return_index=True)[1]))
    return make_pairs(files, left, right, np.arange(len(left)))


def _pairs_of_groups(
    files: Sequence[SourceRows], group: Integers, text: pa.StringArray, at_most: int, shared: float = 0
) -> Reading:
    usable = text.is_valid()
    group, text = group[usable.to_numpy(zero_copy_only=False)], text.filter(usable)
    left, right = pairs_within(group, text, at_most)
    if shared:
        similar = _content_similarity(text, left, right) >= shared
        left, right = left[similar], right[similar]
    return make_pairs(files, text.take(left), text.take(right), group[left])


def _content_similarity(texts: pa.StringArray, left: Integers, right: Integers) -> NDArray[np.float64]:
    """Return the Jaccard similarity of the content words of each pair of rows of `texts`, (pairs,)."""
    left_out = pa.array(_FUNCTION_WORDS.split())
    sets = word_sets(normalize(tokenize(texts)), left_out)
    sets = sets[:, : sets.shape[1] - len(left_out)]
    sizes = np.diff(sets.indptr)
    parts = range(0, len(left), _PAIRS_AT_ONCE)
    rows = [(left[start : start + _PAIRS_AT_ONCE], right[start : start + _PAIRS_AT_ONCE]) for start in parts]
    common = np.concatenate([np.zeros(0), *(sets[a].multiply(sets[b]).sum(axis=1) for a, b in rows)])
    similarity: NDArray[np.float64] = common / np.maximum(sizes[left] + sizes[right] - common, 1)
    return similarity


def word_sets(texts: pa.StringArray, last: pa.StringArray = _NONE) -> "csr_array":
    """Return a row for each tokenized text and a column for each word, 1 if the text contains it.

    The last columns are the words `last` in their order; those before them are all other words.
    """
    from scipy.sparse import csr_array  # takes 0.1 s, and every stage that reads imports this module

    words, offsets = split_words(texts)
    encoded = words.dictionary_encode()
    known = pc.fill_null(pc.index_in(encoded.dictionary, value_set=last), -1).to_numpy()
    others = int((known < 0).sum())
    columns = np.where(known < 0, np.cumsum(known < 0) - 1, others + known)[encoded.indices.to_numpy()]
    sets = csr_array((np.ones(len(columns), np.int32), columns, offsets), (len(texts), others + len(last)))
    sets.sum_duplicates()
    sets.data[:] = 1
    return sets


def perspectrum(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read the claims of Perspectrum, each with clusters of perspectives that say the same.

    Options: `pool`, the file of perspectives; `claims`, the file of clusters; `pairs`, how many of a cluster are read
        at most.
    Yields: One reading. A cluster is a group.
    """
    pool, claims = (folder / options[name] for name in ("pool", "claims"))
    try:
        texts = {each["pId"]: each["text"] for each in parse_file(pool, read_bytes(pool))}
        content = parse_file(claims, read_bytes(claims))
        clusters = [[texts[id] for id in each["pids"]] for claim in content for each in claim["perspectives"]]
    except (KeyError, TypeError) as error:
        raise DataError(f"{claims}: not the clusters of {pool.name} (no {error}); {REMEDY}") from error
    group = np.repeat(np.arange(len(clusters)), list(map(len, clusters)))
    records = SourceRows(claims, group + 1, "record")
    text = text_column(records, "text", [text for cluster in clusters for text in cluster])
    yield _pairs_of_groups([records], group, text, options["pairs"])


def components(nodes: Integers) -> NDArray[np.int32]:
    """Return for each edge the number of its connected component, (edges,).

    Args:
        nodes: (2 * edges,) the first node of each edge, then the second one, numbered from 0.
    """
    from scipy.sparse import coo_array  # takes 0.1 s, see above
    from scipy.sparse.csgraph import connected_components

    left, right = nodes.reshape(2, -1)
    size = nodes.max(initial=-1) + 1
    edges = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(size, size))
    component: NDArray[np.int32] = connected_components(edges, directed=False)[1]  # (size,)
    return component[left]


def normal_forms(texts: pa.StringArray) -> pa.DictionaryArray:
    """Return the normal form of each text, (n,); equal ones have the same index."""
    return normalize(tokenize(texts)).dictionary_encode()


def pairs_within(group: Integers, texts: pa.StringArray, at_most: int) -> tuple[Integers, Integers]:
    """Return pairs of different sentences of the same group.

    A sentence that occurs twice in a group counts once, an empty one not at all. The sentences of a group are put in
    the order of the hashes of their normal forms, which is the same in each run and different in each group; they then
    meet as the teams of a round-robin tournament, so that all occur once before one occurs twice. The first `at_most`
    pairs are taken.

    Args:
        group: (n,) of each sentence.
        texts: (n,) sentences.
        at_most: pairs per group.

    Returns:
        Two arrays (pairs,) of rows of `texts`, by group.
    """
    forms = normal_forms(texts)
    order = _members(group, forms)
    sizes = np.unique(group[order], return_counts=True)[1]
    starts = np.cumsum(sizes) - sizes
    pairs = [np.empty((0, 2), np.int64)]
    for size in np.unique(sizes):
        members = starts[sizes == size][:, None, None] + round_robin(size)[:at_most]  # (groups, pairs, 2)
        pairs.append(members.reshape(-1, 2))
    left, right = order[np.concatenate(pairs).T]
    by_group = np.argsort(group[left], kind="stable")
    return left[by_group], right[by_group]


def _members(group: Integers, forms: pa.DictionaryArray) -> Integers:
    """Return rows by group and then by hash of the normal form, one for each form of a group that is not empty."""
    hashes, form = hash_texts(forms.dictionary), forms.indices.to_numpy()
    order = np.lexsort((np.arange(len(form)), hashes[form], group))
    first = np.append(True, (np.diff(group[order]) != 0) | (np.diff(form[order]) != 0))[: len(order)]
    blank = (forms.dictionary.to_numpy(zero_copy_only=False) == "")[form[order]]
    members: Integers = order[first & ~blank]
    return members


def round_robin(size: int) -> NDArray[np.int64]:
    """Return all pairs of 0 … size − 1 by the circle method: in each round everyone meets another one, (pairs, 2)."""
    even = size + size % 2
    rounds, i = np.arange(even - 1)[:, None], np.arange(1, even // 2)
    moving = np.stack([(rounds + i) % (even - 1), (rounds - i) % (even - 1)], axis=2)
    fixed = np.stack([rounds, np.full_like(rounds, even - 1)], axis=2)
    pairs = np.concatenate([fixed, moving], axis=1).reshape(-1, 2)
    return np.sort(pairs[(pairs < size).all(axis=1)], axis=1)
