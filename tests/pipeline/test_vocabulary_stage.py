"""The stage `vocabulary`: its tables, their limits, and corpora without an entry."""

import os
from types import SimpleNamespace

import pyarrow as pa
import pytest

import pipeline.vocabulary as stage
from paraphrastic.base.errors import DataError
from paraphrastic.base.parameters import VocabularyLimits
from paraphrastic.base.tables import NGRAM_COUNTS, PAIRS, SENTENCES, WORD_COUNTS, read_table, write_table
from tests.helpers.random_sentences import ALPHABETS, random_sentences

SCHEMAS = {"words": WORD_COUNTS, "ngrams": NGRAM_COUNTS, "characters": NGRAM_COUNTS}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the stage in a folder of its own; returns the rows of its tables by name."""
    monkeypatch.chdir(tmp_path)

    def run(texts, pairs=None, **changes):
        write_table(pa.table({"text": pa.array(texts, pa.string())}), stage.CORPUS / "sentences.parquet", SENTENCES)
        if pairs:
            rows = [{"left": left, "right": right, "source": "a", "group": 0} for left, right in pairs]
            write_table(pa.Table.from_pylist(rows), stage.CORPUS / "pairs.parquet", PAIRS)
        limits = {"min_count": 1, "orders": [2], "ngram_min_count": 1, "ngrams_per_order": None}
        values = {"count": "sentences"} | limits | changes
        monkeypatch.setattr(stage, "load_params", lambda: SimpleNamespace(vocabulary=VocabularyLimits(**values)))
        stage.main()
        tables = {name: read_table(stage.VOCABULARY / f"{name}.parquet", schema) for name, schema in SCHEMAS.items()}
        return {name: [tuple(row.values()) for row in table.to_pylist()] for name, table in tables.items()}

    return run


def test_files_left_in_the_folder_are_removed(run):
    run(["ab ab"])
    for name in ("words.txt", f".words.parquet.{os.getppid()}@other.part"):
        (stage.VOCABULARY / name).write_bytes(b"left by another run")
    run(["ab ab"])
    assert {path.stem for path in stage.VOCABULARY.iterdir()} == SCHEMAS.keys()


def test_limits(run, shown):
    tables = run(["ab ab", "ab c"], min_count=2, ngram_min_count=3, ngrams_per_order=2)
    assert shown() == [(name, 2, 2) for name in ("words", "n-grams", "characters")]
    assert tables["words"] == [("ab", 3, 2)]
    assert tables["ngrams"] == [(" a", 2, 3, 2), ("ab", 2, 3, 2)]
    tables = run(["ab ab", "ab c"], orders=[2], ngram_min_count=3, ngrams_per_order=1)
    assert tables["characters"] == [(" ", 1, 6, 2), ("a", 1, 3, 2), ("b", 1, 3, 2)]


def test_counts_over_pairs(run):
    texts, pairs = ["a b", "a c", "d"], [(0, 1), (0, 2), (2, 1), (0, 2)]
    tables = run(texts, pairs, count="pairs", min_count=3, ngram_min_count=4)
    assert tables["words"] == [("a", 5, 2), ("b", 3, 1), ("d", 3, 1)]
    assert tables["ngrams"] == [(" a", 2, 5, 2), ("a ", 2, 5, 2)]
    assert tables["characters"] == [(" ", 1, 21, 3), ("a", 1, 5, 2)]
    over_sentences = run(texts, pairs)
    assert over_sentences["words"] == [("a", 2, 2), ("b", 1, 1), ("c", 1, 1), ("d", 1, 1)]


def test_counts_over_missing_pairs(run):
    with pytest.raises(DataError, match=r"data/corpus/pairs\.parquet: no such file; run `dvc repro`"):
        run(["a b"], count="pairs")


def test_bytes_of_a_second_run(run, tmp_path):
    run(random_sentences(ALPHABETS["planes"]))
    before = {path: path.read_bytes() for path in (tmp_path / stage.VOCABULARY).iterdir()}
    run(random_sentences(ALPHABETS["planes"]))
    assert {path: path.read_bytes() for path in before} == before
    assert len(before) == 3


@pytest.mark.parametrize(
    ("texts", "changes", "key"),
    [
        (["ab c"], {"min_count": 2}, "vocabulary.min_count = 2: nothing occurs so often in the 1 sentences"),
        (["ab c"], {"ngram_min_count": 9}, "vocabulary.ngram_min_count = 9: nothing occurs so often in the 1 s"),
        ([], {}, "vocabulary.min_count = 1"),
    ],
)
def test_empty_vocabulary(run, texts, changes, key):
    with pytest.raises(DataError, match=key) as error:
        run(texts, **changes)
    assert "\n" not in str(error.value)
    assert not stage.VOCABULARY.exists()
