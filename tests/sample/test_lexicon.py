from itertools import combinations

import pytest

from paraphrastic.sample.lexicon import COMPOUNDS, CONCEPTS, belongs_to, concept_similarity, is_a


def test_words_of_one_domain_are_unambiguous():
    words = [(word, concept.domain) for concept in CONCEPTS.values() for word in concept.words]
    assert len(words) == len(set(words))


def test_compounds_consist_of_nouns():
    for head, compound in COMPOUNDS.items():
        for noun in (head, *compound.kinds):
            assert CONCEPTS[noun].domain in ("person", "animal", "thing", "food", "place", "subject"), noun


def test_marks_of_an_entry():
    soup, animal = CONCEPTS["soup"], CONCEPTS["animal"]
    assert (soup.words, soup.family, soup.rank, soup.mass, soup.general) == (
        ("soup", "broth"),
        "food.meal",
        0,
        True,
        False,
    )
    assert (animal.words, animal.mass, animal.general) == (("animal", "creature"), False, True)
    assert COMPOUNDS["pot"].joined == COMPOUNDS["pot"].kinds == ("tea", "coffee")
    assert COMPOUNDS["shelf"].joined == ("book",)


def test_concept_of_a_family_or_domain():
    assert belongs_to("dog", ("animal.pet",))
    assert belongs_to("dog", ("person", "animal"))
    assert not belongs_to("dog", ("animal.wild", "person"))


@pytest.mark.parametrize(
    ("narrow", "broad", "expected"),
    [
        ("dog", "dog", True),
        ("dog", "pet", True),
        ("dog", "animal", True),
        ("pet", "dog", False),
        ("lion", "pet", False),
        ("dog", "cat", False),
    ],
)
def test_is_a_of_special_and_general_concepts(narrow, broad, expected):
    assert is_a(narrow, broad) == expected


def test_concept_similarity_by_distance():
    others = ("dog", "animal", "cat", "lion", "table")
    assert [concept_similarity("dog", other) for other in others] == [1.0, 0.7, 0.4, 0.15, 0.0]


def test_concept_similarity_in_either_order():
    assert all(concept_similarity(a, b) == concept_similarity(b, a) for a, b in combinations(list(CONCEPTS)[::7], 2))


def test_concept_similarity_of_a_missing_concept():
    assert concept_similarity(None, None) == 1
    assert concept_similarity("dog", None) == concept_similarity(None, "dog") == 0
