"""Columns of a user's file that look like judgements of its pairs, by their names or by their first values."""

import re
from collections.abc import Sequence

import numpy as np

from paraphrastic.readers.lines import NUMBER
from paraphrastic.readers.own_tables import OwnTable

# beginnings of words in names of judgements, in the data sets of the field and in exports of annotation tools
_STEM = re.compile(
    "label|gold|score|dup|sim|relat|entail|judg|quality|star|rating|rank|paraphras|equivalen|class|verdict|relevan|"
    "annotat|grade|truth|target|match|correct|agree"
)
_ENDS = ("label", "labels", "score", "scores", "rating", "ratings", "judgment", "judgement", "similarity", "duplicate")
_OTHER = re.compile(
    r"ids?|idx|index|[gu]+id|key|hash|source|genre|split|fold|lang(uage)?|dataset|corpus|domain|topic|year|date|time|"
    r"url|author|user|file|doc(ument)?|page|line|row|num(ber)?|no|nr|count|len(gth)?|version|batch|group"
)
_INDEX = re.compile(r"|Unnamed: \d+(\.\d+)*|__index_level_\d+__")  # as pandas writes one
_WORDS = {"yes", "no", "true", "false", "y", "n", "t", "f"}
_ROWS, _CLASSES, _LENGTH, _RANGE = 10_000, 20, 40, (-1.0, 10.0)


def is_index(name: str) -> bool:
    """Return whether a column has the name of an index that pandas has written."""
    return bool(_INDEX.fullmatch(name))


def judgements(table: OwnTable, columns: Sequence[str]) -> list[str]:
    """Return those of `columns` that look like judgements, the ones with nested values last.

    A column is one if its name says so, if `datasets` calls it a class, or if its first 10,000 rows have few distinct
    short values, or numbers of a small range that do not count the rows.
    """
    found = [name for name in columns if is_named_like_judgement(name) or name in table.classes or _judges(table, name)]
    return sorted(found, key=lambda name: not _first_texts(table, name))


def _words_of(name: str) -> list[str]:
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def is_named_like_judgement(name: str) -> bool:
    """Return whether the name of a column says that it holds judgements."""
    return any(_STEM.match(word) or word.endswith(_ENDS) for word in _words_of(name))


def _judges(table: OwnTable, name: str) -> bool:
    if any(map(_OTHER.fullmatch, _words_of(name))):
        return False
    texts = _first_texts(table, name)
    distinct = {text.lower() for text in texts}
    few = 1 < len(distinct) < len(texts) and len(distinct) <= min(_CLASSES, max(2, len(texts) // 2))
    are_classes = bool(distinct) and (distinct <= _WORDS or (few and max(map(len, distinct)) <= _LENGTH))
    return are_classes or _are_grades(texts)


def _first_texts(table: OwnTable, name: str) -> list[str]:
    """Return the first values of a column that are neither blank nor nested."""
    if not table.is_flat(name):
        return []
    head = next(table.parts([name], may_be_blank=[name], size=_ROWS), None)
    cells = [] if head is None else head.columns[name].slice(0, _ROWS).drop_null().to_pylist()
    return [text for cell in cells if (text := cell.strip())]


def _are_grades(texts: Sequence[str]) -> bool:
    if not (texts and all(re.fullmatch(NUMBER, text) for text in texts)):
        return False
    numbers = np.array(texts, np.float64)
    low, high = _RANGE
    counts_rows = bool(np.all(np.diff(numbers) == 1))
    return bool(low <= numbers.min() < numbers.max() <= high) and not counts_rows
