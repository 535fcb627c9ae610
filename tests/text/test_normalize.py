import pyarrow as pa
import pytest

from paraphrastic.text.normalize import normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat -- it 's HERE !", "the cat it s here"),
        ("3.5 % of x-rays", "3 5 of x rays"),
        ("Ça va ? ПРИВЕТ, 日本 हिन्दी", "ça va привет 日本 हिन्दी"),
        (" ... ", ""),
        ("", ""),
    ],
)
def test_letters_and_digits_with_single_spaces(text, expected):
    assert normalize(pa.array([text])).to_pylist() == [expected]
