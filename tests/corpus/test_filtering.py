from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import PAIRS, RAW
from paraphrastic.corpus.filtering import REASONS, EvaluationText, filter_pairs
from paraphrastic.corpus.training_corpus import merge_sources
from paraphrastic.text.columns import hash_texts
from paraphrastic.text.tokenizer import tokenize_tables
from tests.helpers.stored_texts import listed


def raw_pairs(*rows):
    """Return a raw table of (text1, text2, group); without a group the pair has a group of its own."""
    groups = [row[2] if len(row) == 3 else -1 - i for i, row in enumerate(rows)]
    return pa.table([[row[0] for row in rows], [row[1] for row in rows], groups], schema=RAW["pairs"])


def empty_tables():
    return {kind: schema.empty_table() for kind, schema in RAW.items() if kind != "pairs"}


def evaluation_text(name, *pairs):
    """Return the text of a similarity set with these pairs of texts."""
    rows = [(name, "test", text1, text2, 1.0) for text1, text2 in pairs]
    similarity = pa.Table.from_arrays(list(map(pa.array, zip(*rows, strict=True))), schema=RAW["similarity"])
    return EvaluationText.of(*tokenize_tables(empty_tables() | {"similarity": similarity}))


def filtered(*tables, evaluation=None, near=False, words=False, single=False, limit=None):
    """Return the pairs that are kept, and the number of dropped pairs by reason, without reasons that drop none."""
    with TemporaryDirectory() as scratch:
        options = {"near": near, "words": words, "single": single, "max_group_pairs": limit}
        pairs, counts = filter_pairs(tables, evaluation, Path(scratch), **options)
        texts = listed(pairs.texts)
    assert list(counts) == list(REASONS)
    kept = [(texts[left], texts[right]) for left, right in zip(pairs.left, pairs.right, strict=True)]
    return kept, {reason: count for reason, count in counts.items() if count}


def test_kept_pairs_are_tokenized_and_in_order():
    kept = [("it 's a .", "b , b"), ("a", "it 's a .")]
    assert filtered(raw_pairs(("It's A.", "B, b"), ("a", "It's a."))) == (kept, {})


def test_pairs_with_an_empty_side_or_identical_sides():
    table = raw_pairs(("a", ""), (" \u200b", "b"), ("", ""), ("c", "?"))
    assert filtered(table) == ([("c", "?")], {"empty": 3})
    table = raw_pairs(("The cat!", "the cat."), ("grey", "GRAY"), ("the cat", "the cats"))
    assert filtered(table) == ([("the cat", "the cats")], {"identical": 2})


def test_single_sentence_without_a_neighbour():
    table = raw_pairs(("a", "b"), ("c", "c"), ("", ""))
    assert filtered(table, single=True) == ([("a", "b"), ("c", "c")], {"empty": 1})


def test_repeated_pairs_in_either_order_and_across_tables():
    first, second = raw_pairs(("a", "b"), ("b", "A."), ("b", "c")), raw_pairs(("c", "b"), ("c", "a"))
    assert filtered(first, second) == ([("a", "b"), ("b", "c"), ("c", "a")], {"repeated": 2})


def test_groups_with_an_evaluation_sentence():
    evaluation = evaluation_text("sts.2012.x", ("A dog runs.", "x"))
    dropped = raw_pairs(("a dog runs", "A dog runs!", 1), ("b", "c", 1))
    assert filtered(dropped, evaluation=evaluation) == ([], {"identical": 1, "overlap": 1})
    table = raw_pairs(("a", "b", 1), ("c", "a dog runs", 1), ("d", "e", 2), ("x!", "f", 3))
    assert filtered(table, evaluation=evaluation) == ([("d", "e")], {"overlap": 3})
    assert filtered(table) == ([("a", "b"), ("c", "a dog runs"), ("d", "e"), ("x !", "f")], {})


def test_groups_with_a_near_copy():
    evaluation = evaluation_text("sts.2012.x", ("one two three four five", "x"))
    table = raw_pairs(("one two three four", "b", 1), ("c", "d", 1), ("five six seven eight", "e", 2))
    assert filtered(table, evaluation=evaluation, near=True) == ([("five six seven eight", "e")], {"near": 2})
    assert len(filtered(table, evaluation=evaluation)[0]) == 3


def test_capped_groups_keep_pairs_of_many_sentences():
    table = raw_pairs(("a", "b", 1), ("A!", "c", 1), ("a", "d", 1), ("e", "f", 1), ("x", "y", 2))
    assert filtered(table, limit=2) == ([("a", "b"), ("e", "f"), ("x", "y")], {"capped": 2})
    assert filtered(table, limit=4)[1] == {}


def test_other_reasons_precede_the_cap():
    evaluation = evaluation_text("sts.2012.x", ("A dog runs.", "x"))
    table = raw_pairs(("a", "a", 1), ("a", "b", 1), ("b", "a", 1), ("c", "d", 1), ("p", "q", 2), ("a dog runs", "q", 2))
    counts = {"identical": 1, "repeated": 1, "overlap": 2}
    assert filtered(table, evaluation=evaluation, limit=2) == ([("a", "b"), ("c", "d")], counts)
    assert filtered(table, evaluation=evaluation, limit=1) == ([("a", "b")], counts | {"capped": 1})


@pytest.mark.parametrize("name", ["words.simlex", "paraphrase.ppdb", "sample.words"])
@pytest.mark.parametrize("words", [False, True])
def test_evaluated_pair_of_words_or_phrases(name, words):
    evaluation = evaluation_text(name, ("Old", "new"), ("x", "y"))
    table = raw_pairs(("new", "old", 1), ("old", "young", 1), ("x", "new", 2))
    kept = [("old", "young"), ("x", "new")]
    assert filtered(table, evaluation=evaluation, words=words) == (kept, {"overlap": 1})


def test_evaluation_sentence_in_a_lexicon():
    evaluation = evaluation_text("sts.2012.x", ("no", "yes"))
    assert filtered(raw_pairs(("no", "not")), evaluation=evaluation, words=True) == ([("no", "not")], {})
    assert filtered(raw_pairs(("no", "not")), evaluation=evaluation) == ([], {"overlap": 1})


def test_evaluation_text_comes_from_tables_of_pairs():
    tables = empty_tables()
    for kind, other_columns in (("ranking", {"question": 0, "label": 1}), ("labelled_sentences", {"label": 1})):
        row = {"set": "s", "split": "train", "text1": kind, "text2": "candidate", **other_columns}
        tables[kind] = pa.Table.from_pylist([row], RAW[kind])
    assert EvaluationText.of(*tokenize_tables(tables)).sentences.to_pylist() == ["ranking", "candidate"]


def test_texts_and_groups_of_the_kept_pairs(tmp_path):
    tables = raw_pairs(("a", "a", 9), ("c", "b b", 7)), raw_pairs(("b b", "d", 7), ("e", "c", 9))
    pairs, _ = filter_pairs(tables, None, tmp_path, near=False, words=False)
    assert listed(pairs.texts) == ["c", "b b", "e", "d"]  # first sides of all pairs, then second sides
    assert pairs.token_counts.tolist() == [1, 2, 1, 1]
    assert pairs.hashes.tolist() == hash_texts(pa.array(["c", "b b", "e", "d"])).tolist()
    assert pairs.groups.tolist() == [0, 0, 1]


def sources(scratch, **tables):
    return {name: filter_pairs([each], None, scratch, near=False, words=False)[0] for name, each in tables.items()}


def test_corpus_of_three_sources(tmp_path):
    one, two = raw_pairs(("a", "b", 5), ("a", "c", 5)), raw_pairs(("b", "a", 0), ("d", "b", 3))
    corpus = merge_sources(sources(tmp_path, one=one, empty=raw_pairs(("a", "a", 0)), two=two))
    assert corpus.pairs.schema == PAIRS
    texts = listed(corpus.sentences)
    assert texts == ["a", "b", "c", "d"]
    rows = [(texts[row["left"]], texts[row["right"]], row["source"], row["group"]) for row in corpus.pairs.to_pylist()]
    assert rows == [("a", "b", "one", 0), ("a", "c", "one", 0), ("b", "a", "two", 1), ("d", "b", "two", 2)]


def test_corpus_without_a_pair(tmp_path):
    with pytest.raises(DataError, match="no usable pair: none is left of one, two; choose another corpus"):
        merge_sources(sources(tmp_path, one=raw_pairs(("a", "a")), two=raw_pairs(("", "b"))))
    with pytest.raises(DataError, match=r"^the corpus has no usable pair: no source .* or choose another corpus$"):
        merge_sources({})
