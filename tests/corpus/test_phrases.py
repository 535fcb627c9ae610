"""Phrases in which the two sentences of a pair differ."""

from paraphrastic.base.tables import RAW
from paraphrastic.corpus.filtering import filter_pairs
from paraphrastic.corpus.phrases import phrases
from tests.corpus.test_filtering import raw_pairs


def found_phrases(tmp_path, *pairs):
    found = phrases(filter_pairs([raw_pairs(*pairs)], None, tmp_path, near=False, words=False)[0])
    assert found.schema == RAW["pairs"]
    return [tuple(row.values()) for row in found.to_pylist()]


def test_what_stands_between_equal_words(tmp_path):
    first = (
        "he was called up at once to play in the first team",
        "he was at once asked to play in the first squad today",
    )
    second = "the call was a reminder of the old days", "the call sounds like the old days"
    assert found_phrases(tmp_path, first, second) == [
        ("team", "squad today", 1),
        ("was a reminder of", "sounds like", 0),
    ]  # neither what one sentence has more, nor one word for another


def test_pairs_without_phrases(tmp_path):
    long = "a b c d e f g h i {} j k l m n o p q".format
    unlike, equal_words = ("one two three four", "one five six seven"), ("a b c d e x", "a b c d e y")
    assert found_phrases(tmp_path, unlike, equal_words, (long("1 2 3 4 5 6 7"), long("8"))) == []
    assert found_phrases(tmp_path, (long("1 2 3 4 5 6"), long("8"))) == [("1 2 3 4 5 6", "8", 0)]
