"""Tokenize the pairs of a source; memory holds some bytes of each text, whatever its length."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from paraphrastic.base.parallel import in_order, njit
from paraphrastic.base.tables import SENTENCES, SIDES
from paraphrastic.text.columns import Hashes, Numbers, TextNumbering, chunks, hash_texts
from paraphrastic.text.tokenizer import CHUNK, normalize, tokenize_chunk

BoolArray = NDArray[np.bool_]
Check = Callable[[pa.StringArray], BoolArray]  # of normalized texts (n,): which of them it finds, (n,)


class TextColumn:
    """A column of text in a file, written once, in parts, and then read.

    Args:
        path: the file; its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._starts = path, [0]
        self._writer = pa.ipc.new_file(path, SENTENCES, options=pa.ipc.IpcWriteOptions(compression="lz4"))

    def __len__(self) -> int:
        return self._starts[-1]

    def append(self, texts: pa.StringArray) -> None:
        """Write further texts, which are a part."""
        self._writer.write_batch(pa.record_batch([texts], schema=SENTENCES))
        self._starts.append(len(self) + len(texts))

    def close(self) -> None:
        """End writing."""
        self._writer.close()

    def take(self, rows: NDArray[np.int64]) -> Iterator[pa.StringArray]:
        """Yield the texts of `rows`, which ascend, in parts that may be empty."""
        cuts = np.searchsorted(rows, self._starts)
        with pa.OSFile(str(self._path)) as file:  # pages of a memory map would count as memory
            batches = pa.ipc.open_file(file)
            for part, (start, end) in enumerate(pairwise(cuts.tolist())):
                yield batches.get_batch(part).column(0).take(rows[start:end] - self._starts[part])


@dataclass(frozen=True)
class StoredTexts:
    """Some rows of several columns, one column after the other."""

    columns: Sequence[TextColumn]  # all columns
    rows: NDArray[np.int64]  # (n,) ascending, in the columns one after the other

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[pa.StringArray]:
        """Yield the texts in parts that may be empty."""
        starts = np.cumsum([0, *map(len, self.columns)])
        cuts = np.searchsorted(self.rows, starts)
        for column, first, (start, end) in zip(self.columns, starts[:-1], pairwise(cuts.tolist()), strict=True):
            yield from column.take(self.rows[start:end] - first)

    def select(self, chosen: NDArray[np.bool_]) -> "StoredTexts":
        """Return the texts that the mask (n,) chooses."""
        return StoredTexts(self.columns, self.rows[chosen])

    @classmethod
    def concat(cls, parts: "Sequence[StoredTexts]") -> "StoredTexts":
        """Return the texts of all parts, one part after the other; there must be at least one part."""
        shifts = np.cumsum([0, *(sum(map(len, part.columns)) for part in parts)])
        columns = [column for part in parts for column in part.columns]
        return cls(columns, np.concatenate([part.rows + shift for part, shift in zip(parts, shifts, strict=False)]))


@dataclass(frozen=True)
class Pairs:
    """n pairs of tokenized texts."""

    # the distinct texts, in order of first occurrence: those of first sides, then those of second sides
    texts: StoredTexts
    hashes: Hashes  # (texts,)
    token_counts: Numbers  # (texts,), how many tokens they have
    left: Numbers  # (n,), rows of `texts`
    right: Numbers  # (n,), rows of `texts`
    groups: NDArray[np.int64]  # (n,)

    def select(self, kept: BoolArray) -> "Pairs":
        """Return the pairs that the mask (n,) chooses, with their texts; groups are numbered from 0 without gaps."""
        used, left, right = renumber(self.left[kept], self.right[kept], len(self.texts))
        groups = np.unique(self.groups[kept], return_inverse=True)[1]
        return Pairs(self.texts.select(used), self.hashes[used], self.token_counts[used], left, right, groups)


@dataclass(frozen=True)
class TokenizedPairs(Pairs):
    """All pairs of a source, with what filters need to know of their texts."""

    forms: Numbers  # (texts,), number of their normal form
    found: dict[str, BoolArray]  # (texts,) for each check, by its name
    form_numbering: TextNumbering  # numbers of normal forms

    @classmethod
    def of(cls, tables: Iterable[pa.Table], checks: dict[str, Check], scratch: Path) -> Self:
        """Tokenize raw tables of pairs; their texts go to new files in the folder `scratch`."""
        folder = Path(mkdtemp(dir=scratch))
        columns = [TextColumn(folder / f"{side}.arrow") for side in SIDES]
        described = _DescribedTexts(checks)
        left, right, groups = _store(tables, columns, described)
        order, positions = _first_occurrences(left, right, len(described.numbering))
        hashes, token_counts, forms, found = described.columns(order)
        texts = StoredTexts(columns, positions)
        return cls(texts, hashes, token_counts, left, right, groups, forms, found, described.form_numbering)


class _DescribedTexts:
    """Numbers distinct texts in order of arrival, and keeps what is to be known of each."""

    def __init__(self, checks: dict[str, Check]) -> None:
        self.numbering, self.form_numbering = TextNumbering(), TextNumbering()
        self._checks = checks
        self._token_counts, self._forms = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        self._found: dict[str, list[BoolArray]] = {name: [np.empty(0, bool)] for name in checks}

    def number(self, texts: pa.StringArray, hashes: Hashes) -> tuple[Numbers, pa.StringArray]:
        """Return the numbers of tokenized texts, and those texts that are new."""
        known = len(self.numbering)
        numbers = self.numbering.add(hashes)
        highest_before = np.maximum.accumulate(np.append(np.int32(known - 1), numbers))[:-1]
        return numbers, texts.filter(numbers > highest_before)

    def add(self, new: Iterable[pa.StringArray]) -> None:
        """Describe the texts that `number` has returned as new, in the same order."""
        for token_counts, forms, found in in_order(self._describe, new):
            self._token_counts.append(token_counts)
            self._forms.append(self.form_numbering.add(forms))
            for name, mask in found.items():
                self._found[name].append(mask)

    def _describe(self, texts: pa.StringArray) -> tuple[Numbers, Hashes, dict[str, BoolArray]]:
        """Return numbers of tokens, hashes of normal forms, and findings by check, (n,) each."""
        spaces = pc.count_substring(texts, " ").to_numpy()
        token_counts = spaces + pc.not_equal(texts, "").to_numpy(zero_copy_only=False).astype(np.int32)
        normalized = normalize(texts)
        return token_counts, hash_texts(normalized), {name: check(normalized) for name, check in self._checks.items()}

    def columns(self, order: Numbers) -> tuple[Hashes, Numbers, Numbers, dict[str, BoolArray]]:
        """Return hashes, numbers of tokens, numbers of forms and findings of the texts `order`; call it once."""
        found = {name: np.concatenate(parts)[order] for name, parts in self._found.items()}
        token_counts, forms = (np.concatenate(parts)[order] for parts in (self._token_counts, self._forms))
        return self.numbering.hashes[order], token_counts, forms, found


def _store(
    tables: Iterable[pa.Table], columns: Sequence[TextColumn], described: _DescribedTexts
) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Write the tokenized sides of all pairs to `columns`; return their numbers, (n,) each, and the groups, (n,)."""
    rows: list[list[Numbers]] = [[np.empty(0, np.int32)] for _ in columns]
    groups = [np.empty(0, np.int64)]

    def chunks_of_sides() -> Iterator[tuple[int, pa.StringArray]]:
        for table in tables:
            groups.append(table["group"].to_numpy())
            for side, name in enumerate(SIDES):
                yield from ((side, chunk) for chunk in chunks(table[name], CHUNK))

    def tokenized(chunk: tuple[int, pa.StringArray]) -> tuple[int, pa.StringArray, Hashes]:
        side, texts = chunk
        tokens = tokenize_chunk(texts)
        return side, tokens, hash_texts(tokens)

    def new_texts() -> Iterator[pa.StringArray]:
        for side, texts, hashes in in_order(tokenized, chunks_of_sides()):
            columns[side].append(texts)
            numbers, new = described.number(texts, hashes)
            rows[side].append(numbers)
            yield new

    described.add(new_texts())
    for column in columns:
        column.close()
    left, right = map(np.concatenate, rows)
    return left, right, np.concatenate(groups)


def renumber(left: Numbers, right: Numbers, size: int) -> tuple[BoolArray, Numbers, Numbers]:
    """Number the texts that pairs use anew, without gaps and in the same order.

    Returns:
        Which of the `size` texts are used, (size,), and the new numbers of both sides, (pairs,) each.
    """
    used = np.zeros(size, bool)
    used[left] = used[right] = True
    numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return used, numbers[left], numbers[right]


@njit(nogil=True)
def _first_occurrences(left: Numbers, right: Numbers, size: int) -> tuple[Numbers, NDArray[np.int64]]:
    """Number texts anew, in order of first occurrence in `left`, then in `right`; both are changed in place.

    Returns:
        The old number of each text, (size,), and its first position in `left` and `right` one after the other, (size,).
    """
    new, old, positions = np.full(size, -1, np.int32), np.empty(size, np.int32), np.empty(size, np.int64)
    count = start = 0
    for side in (left, right):
        for i in range(len(side)):
            if new[side[i]] < 0:
                old[count], positions[count], new[side[i]] = side[i], start + i, count
                count += 1
            side[i] = new[side[i]]
        start += len(side)
    return old, positions
