"""Training pairs and evaluation sets in files of the user; the names of the columns tell what a file is."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraphrastic.base.errors import DataError
from paraphrastic.readers.own_tables import OwnRows, OwnTable
from paraphrastic.readers.reading import PASS_ALL, PairFilter, ReaderOptions, Reading, make_reading
from paraphrastic.sources.own_files import OwnFile

TEXTS = (("text1", "text2"), ("sentence1", "sentence2"), ("premise", "hypothesis"))
QUESTION, WORDS = ("question", "candidate"), ("word1", "word2")
SPLITS = ("train", "dev", "test")
_LARGEST = float(np.finfo(np.float64).max)


class Layout(NamedTuple):
    """What a file has.

    Attributes:
        kind: `pairs`, or a kind of evaluation set.
        texts: the two columns of text.
        others: columns beside them that are read.
        words: whether the texts are words.
    """

    kind: str
    texts: tuple[str, str]
    others: tuple[str, ...]
    words: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return [*self.texts, *self.others]


def layout_of_pairs(own: OwnFile, names: Sequence[str]) -> Layout:
    """Return the columns of training pairs: two texts, and `label`, `score` and `group` where they exist.

    Args:
        own: the file.
        names: of its columns.

    Raises:
        DataError: it has no pairs of text.
    """
    texts = _texts(own, names, (*TEXTS, WORDS))
    others = tuple(name for name in ("label", "score", "group") if name in names and name not in texts)
    return Layout("pairs", texts, others)


def layout_of_set(own: OwnFile, names: Sequence[str]) -> Layout:
    """Return the kind and the columns of an evaluation set.

    `question`, `candidate` and `label` make a ranking; two texts and `score` are a set of similarity, `word1`, `word2`
    and `score` one of words; two texts and `label` are paraphrases and others. `split` is read where it exists.

    Args:
        own: the file.
        names: of its columns.

    Raises:
        DataError: it is none of these.
    """
    split = ("split",) if "split" in names else ()
    if own.columns is None and {*QUESTION, "label"} <= set(names):
        return Layout("ranking", QUESTION, ("label", *split))
    texts = _texts(own, names, (*TEXTS, WORDS))
    for gold, kind in (("score", "similarity"), ("label", "labelled_pairs")):
        if gold in names and gold not in texts:
            return Layout(kind, texts, (gold, *split), texts == WORDS)
    remedy = "name one `score` (a number) or `label` (0 or 1); a ranking has question, candidate and label"
    raise DataError(f"{own.path}: an evaluation set needs judgements, the columns are {', '.join(names)}; {remedy}")


def check_columns(own: OwnFile, is_set: bool) -> None:
    """Check that a file has the columns of training pairs, or of an evaluation set.

    Raises:
        DataError: it has not, or its head is damaged.
        SourceError: it cannot be read.
    """
    (layout_of_set if is_set else layout_of_pairs)(own, OwnTable(own).names)


def own_pairs(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read training pairs; those with `label` 0 are none, and `score` has the limits of the filter.

    Rows with the same `group` are one group; without that column, each row is one.

    Options: `own`, the file, and `filter`.
    """
    own, wanted = options["own"], options.get("filter", PASS_ALL)
    layout = layout_of_pairs(own, OwnTable(own).names)
    if wanted.limits_scores and "score" not in layout.others:
        raise DataError(f"{own.path}: has no column `score`; empty tokenize.min_score and tokenize.max_score")
    wanted.check_source_without_relations(own.path)
    yield from _not_empty(own, read_pairs(own, layout, wanted))


def own_set(folder: Path, options: ReaderOptions) -> Iterator[Reading]:
    """Read an evaluation set, whose name comes from its file: `own.NAME`, or `own.words.NAME`.

    Options: `own`, the file.
    """
    own, is_tested = options["own"], False
    for reading in _not_empty(own, read_set(own, layout_of_set(own, OwnTable(own).names))):
        is_tested |= pc.any(pc.equal(reading.table["split"], "test")).as_py() or False
        yield reading
    if not is_tested:
        raise DataError(f"{own.path}: no row has the split `test`, which is evaluated; name some rows so")


def read_pairs(own: OwnFile, layout: Layout, wanted: PairFilter = PASS_ALL) -> Iterator[Reading]:
    """Yield the training pairs of a file; there can be none."""
    groups: dict[str, int] = {}
    read = 0
    for rows in OwnTable(own).parts(layout.columns):
        yield _pairs(rows, layout, wanted, groups, read)
        read += len(rows)


def read_set(own: OwnFile, layout: Layout) -> Iterator[Reading]:
    """Yield the rows of an evaluation set; there can be none."""
    questions: dict[str, int] = {}
    for rows in OwnTable(own).parts(layout.columns):
        yield _judged(rows, layout, set_name(own, layout), questions)


def set_name(own: OwnFile, layout: Layout) -> str:
    """Return the name of an evaluation set."""
    return f"own.{'words.' if layout.words else ''}{own.name}"


def _not_empty(own: OwnFile, readings: Iterator[Reading]) -> Iterator[Reading]:
    usable = 0
    for reading in readings:
        yield reading
        usable += len(reading.table)
    if not usable:
        raise DataError(f"{own.path}: not one usable row; `paraphrastic data inspect {own.path}` shows why")


def _texts(own: OwnFile, names: Sequence[str], known: Sequence[tuple[str, str]]) -> tuple[str, str]:
    for pair in [own.columns] if own.columns else known:
        if set(pair) <= set(names):
            return pair
    wanted = " and ".join(own.columns) if own.columns else ", ".join("/".join(pair) for pair in known)
    remedy = "rename them, or name both with `{path: …, columns: [A, B]}`"
    raise DataError(f"{own.path}: no columns {wanted}; the columns are {', '.join(names)}; {remedy}")


def _pairs(rows: OwnRows, layout: Layout, wanted: PairFilter, groups: dict[str, int], read: int) -> Reading:
    columns: dict[str, pa.Array] = {
        "text1": rows.columns[layout.texts[0]],
        "text2": rows.columns[layout.texts[1]],
        "group": pa.array(np.arange(read, read + len(rows))),
    }
    accepted = pa.array(np.ones(len(rows), bool))
    if "group" in layout.others:
        columns["group"] = _numbered(rows.columns["group"], groups)
    if "label" in layout.others:
        columns["label"] = rows.zeros_and_ones("label")
        accepted = pc.and_(accepted, pc.fill_null(pc.equal(columns["label"], 1), True))
    if "score" in layout.others:
        columns["score"] = rows.numbers(rows.columns["score"], -_LARGEST, _LARGEST)
        accepted = pc.and_(accepted, wanted.accepts_scores(columns["score"]))
    columns = {name: column.filter(accepted) for name, column in columns.items()}
    return make_reading("pairs", [rows], may_be_empty=True, **columns)


def _judged(rows: OwnRows, layout: Layout, name: str, questions: dict[str, int]) -> Reading:
    columns: dict[str, pa.Array | str] = {"set": name, "split": "test"}
    for side, column in zip(("text1", "text2"), layout.texts, strict=True):
        text = rows.columns[column]
        columns[side] = rows.reject(text, pc.equal(pc.utf8_trim_whitespace(text), ""), f"'{column}' is empty")
    if "split" in layout.others:
        labels = rows.labels(rows.columns["split"], SPLITS)
        columns["split"] = pa.array(SPLITS).take(labels)
    if "score" in layout.others:
        columns["score"] = rows.numbers(rows.columns["score"], -_LARGEST, _LARGEST)
    else:
        columns["label"] = rows.zeros_and_ones("label")
    if layout.kind == "ranking":
        columns["question"] = _numbered(rows.columns[layout.texts[0]], questions)
    return make_reading(layout.kind, [rows], may_be_empty=True, **columns)


def _numbered(column: pa.Array, numbers: dict[str, int]) -> pa.Array:
    """Return a number for each text, the same for equal ones in all parts of a file; null stays null."""
    texts = column.to_pylist()
    return pa.array([None if text is None else numbers.setdefault(text, len(numbers)) for text in texts], pa.int64())
