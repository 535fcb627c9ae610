import pytest

from paraphrastic.sample.inflection import inflect, plural


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("chase", "chases chased chased chasing"),
        ("cry", "cries cried cried crying"),
        ("sip", "sips sipped sipped sipping"),
        ("catch", "catches caught caught catching"),
        ("flee", "flees fled fled fleeing"),
        ("write", "writes wrote written writing"),
    ],
)
def test_forms_of_a_verb(verb, forms):
    assert " ".join(inflect(verb, tag) for tag in ("VBZ", "VBD", "VBN", "VBG")) == forms
    assert inflect(verb, "VB") == inflect(verb, "VBP") == verb


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("dog", "dogs"),
        ("box", "boxes"),
        ("lady", "ladies"),
        ("boy", "boys"),
        ("thief", "thieves"),
        ("woman", "women"),
    ],
)
def test_plural_of_a_noun(noun, expected):
    assert plural(noun) == expected
