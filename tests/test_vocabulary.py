from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import pipeline.vocabulary as stage
from paraphrastic.errors import DataError
from paraphrastic.tables import SENTENCES, read_table, write_table
from paraphrastic.text import counting as vocabulary
from paraphrastic.vocabulary.counting import NGRAMS, WORDS, count_ngrams, count_words
from pipeline.params import Vocabulary
from tests.plain_text import ALPHABETS, random_sentences, windows


def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def counted(units_of_sentences):
    """(unit, occurrences, sentences that hold it), the plain way."""
    occurrences = Counter(unit for units in units_of_sentences for unit in units)
    holders = Counter(unit for units in units_of_sentences for unit in set(units))
    return [(unit, count, holders[unit]) for unit, count in occurrences.items()]


def ngrams_of(sentences, orders):
    found = counted([windows(text, orders) for text in sentences])
    table = [(text, len(text), count, holders) for text, count, holders in found]
    return sorted(table, key=lambda row: (-row[2], row[1], row[0]))


def test_words_come_by_count_down_then_text_with_the_sentences_that_hold_them():
    table = count_words(pa.array(["b a b", "a c", "", "é  c "]))
    assert table.schema == WORDS
    assert rows(table) == [("a", 2, 2), ("b", 2, 1), ("c", 2, 2), ("é", 1, 1)]


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_words_agree_with_counting_the_plain_way_in_any_pieces(monkeypatch, alphabet):
    sentences = random_sentences(ALPHABETS[alphabet] + " ")
    expected = sorted(counted([text.split(" ") for text in sentences]), key=lambda row: (-row[1], row[0]))
    expected = [row for row in expected if row[0] and row[1] >= 2]
    for size in (vocabulary.WORDS_PIECE, 50):
        monkeypatch.setattr(vocabulary, "WORDS_PIECE", size)
        assert rows(count_words(pa.array(sentences), min_count=2)) == expected


def test_ngrams_come_by_count_down_then_order_then_text():
    table = count_ngrams(pa.array(["ba", "ba"]), [1, 3])
    assert table.schema == NGRAMS
    assert rows(table) == [
        (" ", 1, 4, 2),
        ("a", 1, 2, 2),
        ("b", 1, 2, 2),
        (" ba", 3, 2, 2),
        ("ba ", 3, 2, 2),
    ]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("orders", [[2, 3, 4], [6], [1, 5, 6]])
def test_ngrams_agree_with_counting_the_plain_way_in_any_pieces(monkeypatch, alphabet, orders):
    sentences = random_sentences(ALPHABETS[alphabet])
    expected = ngrams_of(sentences, orders)
    for size in (vocabulary.PIECE, 50):
        monkeypatch.setattr(vocabulary, "PIECE", size)
        assert rows(count_ngrams(pa.array(sentences), orders)) == expected


def test_cut_offs_by_count_and_by_rank_within_an_order():
    sentences = random_sentences(ALPHABETS["planes"])
    expected = [row for row in ngrams_of(sentences, [2, 3]) if row[2] >= 3]
    assert rows(count_ngrams(pa.array(sentences), [2, 3], min_count=3)) == expected
    first = [row for n in (2, 3) for row in [row for row in expected if row[1] == n][:7]]
    assert sorted(rows(count_ngrams(pa.array(sentences), [2, 3], min_count=3, per_order=7))) == sorted(first)


def test_orders_longer_than_every_sentence_have_no_ngrams():
    assert rows(count_ngrams(pa.array(["a", "", " "]), [4])) == []
    assert rows(count_ngrams(pa.array([], pa.string()), [2])) == []


def test_a_sentence_of_five_million_characters_is_one_sentence():
    table = count_ngrams(pa.array(["zz", "ab" * 2_500_000, "ab"]), [2], per_order=2)
    assert rows(table) == [("ab", 2, 2_500_001, 2), ("ba", 2, 2_499_999, 1)]


def test_any_layout_of_the_column_gives_the_same():
    texts = ["zz", "ab", None, "", "ab ab", "zz"]
    whole = pa.array(texts)
    columns = [
        whole.slice(1, 4),
        pa.array(texts, pa.large_string()).slice(1, 4),
        pa.chunked_array([whole.slice(1, 2), whole.slice(0, 0), whole.slice(3, 2)]),
    ]
    for column in columns:
        assert rows(count_words(column)) == [("ab", 3, 2)]
        assert rows(count_ngrams(column, [2], per_order=1)) == [(" a", 2, 3, 2)]


def test_progress_tells_of_every_sentence_once():
    seen = []
    count_words(pa.array(["a", "b", "c"]), on_progress=seen.append)
    count_ngrams(pa.array(["a", "b", "c"]), [2], on_progress=seen.append)
    assert sum(seen) == 6


@pytest.mark.real_data
def test_ngrams_of_real_sentences_are_those_of_scikit_learn(mirror):
    (path,) = mirror.glob("raw.githubusercontent.com/PrincetonML/SIF/*/data/sicktest")
    lines = path.read_text().lower().splitlines()
    sentences = [" ".join(text.split()) for line in lines for text in line.split("\t") if text.strip()]
    counter = CountVectorizer(analyzer="char", ngram_range=(2, 4))
    counts = counter.fit_transform([f" {text} " for text in sentences])
    columns = counter.get_feature_names_out(), counts.sum(axis=0).A1, counts.getnnz(axis=0)
    expected = {text: (count, holders) for text, count, holders in zip(*columns, strict=True)}
    table = count_ngrams(pa.array(sentences), [2, 3, 4])
    assert {text: (count, holders) for text, _, count, holders in rows(table)} == expected


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the stage on sentences with parameters, in a folder of its own; the two tables."""
    monkeypatch.chdir(tmp_path)

    def run(texts, **changed):
        write_table(pa.table({"text": pa.array(texts, pa.string())}), stage.CORPUS, SENTENCES)
        values = {"min_count": 1, "orders": [2], "ngram_min_count": 1, "ngrams_per_order": None} | changed
        monkeypatch.setattr(stage, "load_params", lambda: SimpleNamespace(vocabulary=Vocabulary(**values)))
        stage.main()
        paths = stage.VOCABULARY / "words.parquet", stage.VOCABULARY / "ngrams.parquet"
        return [read_table(path, schema) for path, schema in zip(paths, (WORDS, NGRAMS), strict=True)]

    return run


def test_the_stage_writes_both_tables_with_their_own_cut_offs(run):
    words, ngrams = run(["ab ab", "ab c"], min_count=2, ngram_min_count=3, ngrams_per_order=2)
    assert rows(words) == [("ab", 3, 2)]
    assert rows(ngrams) == [(" a", 2, 3, 2), ("ab", 2, 3, 2)]


def test_the_stage_writes_the_same_bytes_every_time(run, tmp_path):
    sentences = random_sentences(ALPHABETS["planes"])
    written = []
    for _ in range(2):
        run(sentences)
        written.append([path.read_bytes() for path in sorted((tmp_path / stage.VOCABULARY).iterdir())])
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("texts", "changed", "key"),
    [
        (["ab c"], {"min_count": 2}, "vocabulary.min_count = 2"),
        (["ab c"], {"ngram_min_count": 9}, "vocabulary.ngram_min_count = 9"),
        ([], {}, "vocabulary.min_count = 1"),
    ],
)
def test_the_stage_refuses_an_empty_vocabulary_by_the_name_of_the_parameter(run, texts, changed, key):
    with pytest.raises(DataError, match=key) as refused:
        run(texts, **changed)
    assert "\n" not in str(refused.value)
    assert not stage.VOCABULARY.exists()


def test_large_counts_do_not_wrap():
    tally = vocabulary.Tally()
    tally.add(np.ones(40_000, np.int32), np.array([0, 40_000]), 1)
    _, columns = tally.at_least(1)
    assert {name: column.tolist() for name, column in columns.items()} == {"count": [40_000], "sentences": [1]}
