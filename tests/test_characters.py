from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import pipeline.vocabulary as stage
from paraphrastic.errors import DataError
from paraphrastic.tables import SENTENCES, read_table, write_table
from paraphrastic.text import characters
from paraphrastic.vocabulary.characters import CharacterVocabulary
from paraphrastic.vocabulary.counting import NGRAMS
from pipeline.params import Vocabulary
from tests.plain_text import ALPHABETS, random_sentences

VOCABULARY = CharacterVocabulary(pa.array(["e", " ", "é", "中", "😀", "\U0010ffff", "\0"]))


def lists(bags):
    return [bags.ids[start:end].tolist() for start, end in zip(bags.offsets, bags.offsets[1:], strict=False)]


def test_characters_are_numbered_from_one_between_two_spaces_and_unknown_ones_are_zero():
    bags = VOCABULARY.lookup(pa.array(["ex é", "", "中😀\U0010ffff\0", " "]))
    assert lists(bags) == [[2, 1, 0, 2, 3, 2], [], [2, 4, 5, 6, 7, 2], [2, 2, 2]]
    assert bags.ids.dtype == np.int32
    assert bags.offsets.dtype == np.int64
    assert bags.counts is None
    assert len(VOCABULARY) == 7


def test_a_combining_mark_is_a_character_of_its_own():
    assert lists(VOCABULARY.lookup(pa.array(["e\u0301", "é"]))) == [[2, 1, 0, 2], [2, 3, 2]]


def test_unknown_is_the_share_of_the_text_without_the_added_spaces_and_zero_for_no_text():
    share = VOCABULARY.unknown(pa.array(["xy", "", "ex", None]))
    assert share.tolist() == [1, 0, 0.5, 0]
    assert share.dtype == np.float64
    assert CharacterVocabulary(pa.array(["e"])).unknown(pa.array(["e\n"])).tolist() == [0.5]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("size", [characters.PIECE, 50])
def test_agrees_with_looking_up_the_plain_way_in_any_pieces(monkeypatch, alphabet, size):
    monkeypatch.setattr(characters, "PIECE", size)
    known = dict.fromkeys(ALPHABETS[alphabet][::2])
    numbers = {character: i for i, character in enumerate(known, 1)}
    sentences = random_sentences(ALPHABETS[alphabet])
    expected = [[numbers.get(c, 0) for c in f" {text} "] if text else [] for text in sentences]
    vocabulary = CharacterVocabulary(pa.array(list(known)))
    assert lists(vocabulary.lookup(pa.array(sentences))) == expected
    shares = [ids[1:-1].count(0) / max(len(ids) - 2, 1) for ids in expected]
    np.testing.assert_allclose(vocabulary.unknown(pa.array(sentences)), shares)


def test_any_layout_of_the_column_gives_the_same():
    texts = ["zz", "e", None, "", "é中", "zz"]
    whole = pa.array(texts)
    columns = [
        whole.slice(1, 4),
        pa.array(texts, pa.large_string()).slice(1, 4),
        pa.chunked_array([whole.slice(1, 2), whole.slice(0, 0), whole.slice(3, 2)]),
    ]
    assert [lists(VOCABULARY.lookup(column)) for column in columns] == [[[2, 1, 2], [], [], [2, 3, 4, 2]]] * 3


@pytest.mark.parametrize("none", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_no_sentences_give_no_bags(none):
    bags = VOCABULARY.lookup(none)
    assert len(bags) == len(bags.ids) == len(VOCABULARY.unknown(none)) == 0


def test_an_empty_vocabulary_knows_nothing():
    assert lists(CharacterVocabulary(pa.array([], pa.string())).lookup(pa.array(["a"]))) == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["a", "b", "a"], "'a' stands 2 times"),
        (["a", ""], "empty"),
        (["a", None], "empty"),
        (["é", "ab"], "'ab' is not a single one"),
        (["e\u0301"], "not a single one"),
    ],
)
def test_a_vocabulary_holds_each_single_character_once(texts, complaint):
    with pytest.raises(DataError, match=complaint) as refused:
        CharacterVocabulary(pa.chunked_array([texts]))
    assert "\n" not in str(refused.value)


def test_the_stage_writes_characters_with_the_cut_off_of_ngrams_whatever_the_orders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(pa.table({"text": pa.array(["ab ab", "ab c"])}), stage.CORPUS, SENTENCES)
    chosen = Vocabulary(min_count=1, orders=[2], ngram_min_count=3, ngrams_per_order=1)
    monkeypatch.setattr(stage, "load_params", lambda: SimpleNamespace(vocabulary=chosen))
    stage.main()
    table = read_table(stage.VOCABULARY / "characters.parquet", NGRAMS)
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [(" ", 1, 6, 2), ("a", 1, 3, 2), ("b", 1, 3, 2)]
