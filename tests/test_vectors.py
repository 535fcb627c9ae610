"""Files of word vectors, with the tokens that break naive readers."""

import numpy as np
import pytest

from paraphrastic.errors import DataError
from paraphrastic.vocabulary.pretrained import read_vectors


def write(path, text):
    path.write_bytes(text.encode())
    return path


def test_glove_with_awkward_tokens(tmp_path):
    lines = [
        "the 1 2 3",
        ". . . 4 5 6",
        "at name@domain.com 7 8 9",
        "a\u00a0b 1e-3 -2.5E2 0",
        "x\u0085y 1 1 1",
        "\u2028 2 2 2",
    ]
    words, vectors = read_vectors(write(tmp_path / "glove.txt", "\n".join(lines) + "\n"), 3)
    assert words.to_pylist() == ["the", ". . .", "at name@domain.com", "a\u00a0b", "x\u0085y", "\u2028"]
    np.testing.assert_array_equal(vectors[1:4], np.float32([[4, 5, 6], [7, 8, 9], [1e-3, -250, 0]]))


def test_word2vec_header_is_no_vector(tmp_path):
    words, vectors = read_vectors(write(tmp_path / "w2v.txt", "2 3\nthe 1 2 3 \n0 4 5 6\n"), 3)
    assert words.to_pylist() == ["the", "0"]
    assert vectors.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_first_line_of_two_numbers_in_one_dimension_is_a_vector(tmp_path):
    assert read_vectors(write(tmp_path / "v.txt", "2 3\n1 4\n"), 1)[0].to_pylist() == ["2", "1"]


def test_first_of_repeated_tokens_counts_and_last_line_may_lack_a_newline(tmp_path):
    words, vectors = read_vectors(write(tmp_path / "v.txt", "b 1 1\r\na 2 2\nb 3 3\nc 4 4"), 2)
    assert words.to_pylist() == ["b", "a", "c"]
    assert vectors.tolist() == [[1, 1], [2, 2], [4, 4]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1\n", r"v\.txt, line 2: expected a token and 2 numbers; set `dim`"),
        ("a 1 2\nb 1 x\n", r"v\.txt:1 and following lines: could not convert"),
        ("a 1 2\nb 1 nan\n", r"v\.txt, line 2: a value is not a finite number"),
        ("3 2\n", r"v\.txt: no vectors in it"),
        ("", r"v\.txt: no vectors in it"),
    ],
)
def test_damaged_files_are_named_with_the_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_vectors(write(tmp_path / "v.txt", text), 2)


def test_missing_file_and_broken_utf8_are_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.txt: No such file"):
        read_vectors(tmp_path / "none.txt", 2)
    (tmp_path / "v.txt").write_bytes(b"a\xff 1 2\n")
    with pytest.raises(DataError, match="a token is not UTF-8"):
        read_vectors(tmp_path / "v.txt", 2)


@pytest.mark.real_data
def test_published_sample(mirror):
    folder = mirror / "raw.githubusercontent.com/mfaruqui/retrofitting/6f4653748e9f5aecf71bb35d69621e0996e68204"
    words, vectors = read_vectors(folder / "sample_vec.txt", 48)
    assert vectors.shape == (1000, 48)
    assert words[0].as_py() == "biennials"
    assert vectors[0, :3].tolist() == pytest.approx([-0.14307, 0.10847, -0.032377])
