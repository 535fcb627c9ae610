"""Readers of training pairs whose sentences form groups: lists of pairs, parallel files, and sentences with a key."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from paraphrastic.base.errors import DataError
from paraphrastic.readers.files import REMEDY, read_bytes
from paraphrastic.readers.grouping import Integers, components, normal_forms, pairs_within
from paraphrastic.readers.lines import Rows
from paraphrastic.readers.reading import Options, Reading, make_pairs
from paraphrastic.readers.records import Listing, NumberedRecords, Records, concat, drop_bad, parse_json, read_records
from paraphrastic.text.columns import split_words
from paraphrastic.text.normalize import normalize
from paraphrastic.text.tokenizer import tokenize

# words that do not tell what a caption or a headline is about
_FUNCTION_WORDS = (
    "a about an and another are around as at be been being by do does doing down for from had has have having he her "
    "his i in into is it its my near no not of on one or other our out over she so some that the their them then there "
    "these they this those to two up was we were which while who with you your"
)
_PAIRS_AT_ONCE = 1 << 18


def pair_lists(folder: Path, options: Options) -> Iterator[Reading]:
    """Read lists of pairs.

    Args:
        folder: contains the files.
        options: `lists`, listings of `records` with two columns, which can have `held`: the share of the words of the
            first text that the second one must hold; other pairs are left out.

    Yields:
        One reading. Pairs that share a sentence, directly or through other pairs of any list, form a group; sentences
        are compared by their normal forms.
    """
    records = concat(part for listing in options["lists"] for part in _pair_list(folder, listing))
    yield _grouped_by_sentence(records.files, *records.columns)


def _pair_list(folder: Path, listing: Listing) -> Iterator[Records]:
    for records in map(drop_bad, read_records(folder, listing)):
        first, second = records.columns
        held = pa.array(_held_words(first, second) >= listing.get("held", 0))
        yield Records(records.files, [first.filter(held), second.filter(held)])


def _held_words(first: pa.StringArray, second: pa.StringArray) -> NDArray[np.float64]:
    """Return the share of the words of each first text that the second one has, (n,)."""
    sets = _word_sets(pa.concat_arrays([first, second]))
    left, right = sets[: len(first)], sets[len(first) :]
    share: NDArray[np.float64] = left.multiply(right).sum(axis=1) / np.maximum(np.diff(left.indptr), 1)
    return share


def _grouped_by_sentence(files: Sequence[Rows], first: pa.StringArray, second: pa.StringArray) -> Reading:
    forms = normal_forms(pa.concat_arrays([first, second])).indices.to_numpy()  # (2 * pairs,)
    return make_pairs(files, first, second, components(forms[: len(first)], forms[len(first) :]))


def parallel_groups(folder: Path, options: Options) -> Iterator[Reading]:
    """Read sets of parallel files; line i of all files of a set says the same.

    Args:
        folder: contains the files.
        options: `sets`, listings of `records` in the format `lines`; `pairs`, how many of a line are read at most.

    Yields:
        One reading per set. A line is a group.
    """
    start = 0
    for listing in options["sets"]:
        (records,) = read_records(folder, listing)
        lines = len(records.columns[0])
        group = np.tile(np.arange(start, start + lines), len(records.columns))
        yield _pairs_of_groups(records.files, group, pa.concat_arrays(records.columns), options["pairs"])
        start += lines


def keyed_groups(folder: Path, options: Options) -> Iterator[Reading]:
    """Read sentences with a key, as captions with the number of their image.

    Args:
        folder: contains the files.
        options: `lists`, listings of `records` with the columns key and sentence; `pairs`, how many of a key are read
            at most; `key`, a regular expression whose group `key` is the part of the key that counts; `shared`, the
            smallest Jaccard similarity of the content words of a pair that is read.

    Yields:
        One reading. Sentences with the same key, in any file, form a group.
    """
    records = drop_bad(concat(part for listing in options["lists"] for part in read_records(folder, listing)))
    key, text = records.columns
    if "key" in options:
        key = pc.extract_regex(key, options["key"]).field("key")
    group = key.dictionary_encode().indices.to_numpy()
    several = np.bincount(group)[group] > 1
    text = text.filter(pa.array(several))
    yield _pairs_of_groups(records.files, group[several], text, options["pairs"], options.get("shared", 0))


def _pairs_of_groups(
    files: Sequence[Rows], group: Integers, text: pa.StringArray, at_most: int, shared: float = 0
) -> Reading:
    usable = text.is_valid()
    group, text = group[usable.to_numpy(zero_copy_only=False)], text.filter(usable)
    left, right = pairs_within(group, text, at_most)
    if shared:
        similar = _content_similarity(text, left, right) >= shared
        left, right = left[similar], right[similar]
    return make_pairs(files, text.take(pa.array(left)), text.take(pa.array(right)), group[left])


def _content_similarity(texts: pa.StringArray, left: Integers, right: Integers) -> NDArray[np.float64]:
    """Return the Jaccard similarity of the content words of each pair of rows of `texts`, (pairs,)."""
    sets = _word_sets(texts, frozenset(_FUNCTION_WORDS.split()))
    sizes = np.diff(sets.indptr)
    parts = range(0, len(left), _PAIRS_AT_ONCE)
    rows = [(left[start : start + _PAIRS_AT_ONCE], right[start : start + _PAIRS_AT_ONCE]) for start in parts]
    common = np.concatenate([np.zeros(0), *(sets[a].multiply(sets[b]).sum(axis=1) for a, b in rows)])
    similarity: NDArray[np.float64] = common / np.maximum(sizes[left] + sizes[right] - common, 1)
    return similarity


def _word_sets(texts: pa.StringArray, without: Collection[str] = ()) -> csr_array:
    """Return a row for each text and a column for each word, 1 if the text contains it."""
    words, offsets = split_words(normalize(tokenize(texts)))
    encoded = words.dictionary_encode()
    size = len(texts), len(encoded.dictionary)
    sets = csr_array((np.ones(len(words), np.int32), encoded.indices.to_numpy(), offsets), size)
    sets.sum_duplicates()
    sets.data[:] = 1
    return sets[:, np.flatnonzero([word not in without for word in encoded.dictionary.to_pylist()])]


def perspectrum(folder: Path, options: Options) -> Iterator[Reading]:
    """Read the claims of Perspectrum, each with clusters of perspectives that say the same.

    Args:
        folder: contains the files.
        options: `pool`, the file of perspectives; `claims`, the file of clusters; `pairs`, how many of a cluster are
            read at most.

    Yields:
        One reading. A cluster is a group.
    """
    pool, claims = (folder / options[name] for name in ("pool", "claims"))
    try:
        texts = {each["pId"]: each["text"] for each in parse_json(pool, read_bytes(pool))}
        content = parse_json(claims, read_bytes(claims))
        clusters = [[texts[id] for id in each["pids"]] for claim in content for each in claim["perspectives"]]
    except (KeyError, TypeError) as error:
        raise DataError(f"{claims}: not the clusters of {pool.name} (no {error}); {REMEDY}") from error
    group = np.repeat(np.arange(len(clusters)), list(map(len, clusters)))
    records = NumberedRecords(claims, (group + 1).tolist())
    text = records.texts("text", [text for cluster in clusters for text in cluster])
    yield _pairs_of_groups([records], group, text, options["pairs"])
