"""The data set `sample`: its rows, and no sentence in two places."""

import hashlib
import re
from collections import defaultdict
from itertools import combinations

import pytest

from paraphrastic.base.tables import RAW
from paraphrastic.readers import sample
from paraphrastic.readers.registry import read
from paraphrastic.sources.catalogue import source

SIZES = {
    **{f"sample.{name}": {"test": 400} for name in ("synonyms", "roles", "typos", "negation", "compounds")},
    "sample.dev": {"test": 500},
    "sample.words": {"test": 250},
    "sample.qa": {"train": 1351, "dev": 333, "test": 687},
    "sample.paraphrase": {"train": 500, "test": 400},
    "sample.entailment": {"train": 600, "dev": 150, "test": 400},
    "sample.topics": {"train": 600, "dev": 150, "test": 400},
    "sample.tags": {"train": 4141, "dev": 938, "test": 1503},
}
DIGEST = "90888ba14e7258b0148f3496edbc4c41e3d5c39fd93f7558394b030bdf913312"


@pytest.fixture(scope="module")
def pairs() -> list[dict]:
    """The training pairs."""
    return sample.table("pairs").to_pylist()


@pytest.fixture(scope="module")
def sets() -> dict[tuple[str, str], list[dict]]:
    """The rows of the evaluation sets by set and split."""
    rows = defaultdict(list)
    for kind in RAW.keys() - {"pairs"}:
        for row in sample.table(kind).to_pylist():
            rows[row["set"], row["split"]].append(row)
    return rows


def normalized(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def sentences(rows) -> set[str]:
    """Return the normalized sentences of both sides."""
    return {normalized(row[side]) for row in rows for side in ("text1", "text2") if side in row}


def test_readings(tmp_path):
    readings = list(read(source("sample"), tmp_path / "missing"))
    assert {reading.kind: reading.table for reading in readings} == {kind: sample.table(kind) for kind in RAW}
    assert all(reading.table.schema == RAW[reading.kind] and not reading.bad for reading in readings)
    assert all(column.null_count == 0 for reading in readings for column in reading.table.columns)


def test_rows_have_not_changed():
    rows = [(kind, sample.table(kind).to_pydict()) for kind in RAW]
    assert hashlib.sha256(repr(rows).encode()).hexdigest() == DIGEST


def test_sizes(pairs, sets):
    assert len(pairs) == 10_000
    sizes = defaultdict(dict)
    for (name, split), rows in sets.items():
        sizes[name][split] = len(rows)
    assert sizes == SIZES


def test_sentence_of_pairs_in_one_group(pairs):
    groups = defaultdict(set)
    for row in pairs:
        groups[row["group"]] |= sentences([row])
    assert sum(map(len, groups.values())) == len(set().union(*groups.values()))


def test_no_evaluation_sentence_in_pairs(pairs, sets):
    training = sentences(pairs)
    for name, rows in sets.items():
        assert not training & sentences(rows), name


def test_no_sentence_in_two_splits_of_a_set(sets):
    for (left, rows), (right, other_rows) in combinations(sets.items(), 2):
        if left[0] == right[0]:
            assert not sentences(rows) & sentences(other_rows), (left, right)
