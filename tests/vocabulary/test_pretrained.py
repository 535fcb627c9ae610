"""Files of word vectors, with words that simple parsers split wrongly."""

import bz2
import gzip
import io
import os
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import DataError, SourceError
from paraphrastic.vocabulary import pretrained
from paraphrastic.vocabulary.pretrained import read_vectors
from tests.helpers.raw_files import write_archive, write_file


def test_glove_words_with_spaces_and_unusual_characters(tmp_path):
    lines = [
        "the 1 2 3",
        ". . . 4 5 6",
        "at name@domain.com 7 8 9",
        "a\u00a0b 1e-3 -2.5E2 0",
        "x\u0085y 1 1 1",
        "\u2028 2 2 2",
    ]
    words, table = read_vectors(write_file(tmp_path / "glove.txt", "\n".join(lines) + "\n"), 3)
    assert words.to_pylist() == ["the", ". . .", "at name@domain.com", "a\u00a0b", "x\u0085y", "\u2028"]
    np.testing.assert_array_equal(table[2:5], np.float32([[4, 5, 6], [7, 8, 9], [1e-3, -250, 0]]))
    assert table.dtype == np.float32


@pytest.mark.parametrize(
    ("text", "words", "table"),
    [
        ("2 3\nthe 1 2 3 \n0 4 5 6\n", ["the", "0"], [[0, 0, 0], [1, 2, 3], [4, 5, 6]]),
        ("2 3\n1 4\n", ["2", "1"], [[0], [3], [4]]),
        ("1 1\n1 4\n", ["1"], [[0], [4]]),
        ("b 1 1\r\na 2 2\nb 3 3\nc 4 4", ["b", "a", "c"], [[0, 0], [1, 1], [2, 2], [4, 4]]),
        ("a 1 1\nUUUNKKK 5 6\nb 2 2\n", ["a", "b"], [[5, 6], [1, 1], [2, 2]]),
        ("UUUNKKK 5 6\na 1 1\n", ["a"], [[5, 6], [1, 1]]),
        ("a 1 1\nUUUNKKK 5 6\na 3 3\nUUUNKKK 7 8\n", ["a"], [[5, 6], [1, 1]]),
        ("a 1 1\nuuunkkk 5 6\n", ["a", "uuunkkk"], [[0, 0], [1, 1], [5, 6]]),
    ],
    ids=["header", "no-header", "header-of-1", "repeated-words", "in-the-middle", "first", "repeated", "none"],
)
def test_headers_repeated_words_and_vector_of_unknown_words(tmp_path, text, words, table):
    read_words, read_table = read_vectors(write_file(tmp_path / "v.txt", text), len(table[0]))
    assert read_words.to_pylist() == words
    assert read_table.tolist() == table


@pytest.mark.parametrize("start", ["", "\ufeff", "\ufeff2 2\n"])
@pytest.mark.parametrize(
    "lines",
    [
        "the 1 2\n. . 3 4\n",
        " the 1 2\n. . 3 4\n",
        "the  1 2\n. .  3  4 \n",
        "the\t1\t2\n. .\t3\t4\n",
        "the 1 2\n. . 3 4\n\n \n",
    ],
)
def test_byte_order_mark_and_gaps_of_other_tools(tmp_path, start, lines):
    words, table = read_vectors(write_file(tmp_path / "v.txt", start + lines), 2)
    assert (words.to_pylist(), table.tolist()) == (["the", ". ."], [[0, 0], [1, 2], [3, 4]])


@pytest.mark.parametrize("lines", [1, 2, 3, 100])
def test_blocks_of_lines(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(pretrained, "_LINES", lines)
    path = write_file(tmp_path / "v.txt", "4 1\na 1\nb 2\na 3\nc 4\n")
    words, table = read_vectors(path, 1)
    assert words.to_pylist() == ["a", "b", "c"]
    assert table.tolist() == [[0], [1], [2], [4]]
    with pytest.raises(DataError, match=r"v\.txt, line 4: expected a word and 2 numbers"):
        read_vectors(write_file(tmp_path / "v.txt", "a 1 1\nb 2 2\nc 3 3\nd 4\n"), 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1\n", r"v\.txt, line 2: expected a word and 2 numbers; set `dim`"),
        ("a 1 2\n 3 4\n", r"v\.txt, line 2: expected a word and 2 numbers"),
        ("a 1 2\nb 1 x\n", r"v\.txt, line 2: a value is no number; correct it or remove the line$"),
        ("a_b 1 2\nb 1_0 2\n", r"v\.txt, line 2: a value is no number; correct it or remove the line$"),
        ("a 1 2\n\nb 1 2\n", r"v\.txt, line 2: is blank; remove it$"),
        ("a 1 2\nb 1 nan\n", r"v\.txt, line 2: a value is not a finite number"),
        ("3 2\n", r"v\.txt: contains no vectors"),
        ("", r"v\.txt: contains no vectors"),
        ("UUUNKKK 1 2\n", r"v\.txt: contains no vectors of words"),
        (b"a\xff 1 2\n", r"v\.txt, line 1: the word is not UTF-8; remove the line"),
    ],
)
def test_damaged_file(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_vectors(write_file(tmp_path / "v.txt", text), 2)


@pytest.mark.parametrize(
    ("text", "dim", "line"),
    [
        ("the 1 2 3\n. . 4 -5e-2 .5\n", 1, 1),
        ("the 1 2 3\n. . 4 -5e-2 .5\n", 2, 1),
        ("the\t1\t2\t3\n. .\t4\t5\t6\n", 2, 1),
        ("2 3\nthe 1 2 3\n. . 4 5 6\n", 2, 2),
    ],
)
def test_file_of_more_dimensions(tmp_path, text, dim, line):
    path = write_file(tmp_path / "v.txt", text)
    with pytest.raises(DataError, match=f"line {line}: expected a word and {dim} numbers; set `dim`"):
        read_vectors(path, dim)  # otherwise the words would be "the 1" and so on
    assert read_vectors(path, 3)[0].to_pylist() == ["the", ". ."]


def test_zip_archive_of_glove(tmp_path):
    path = write_archive(tmp_path / "glove.zip", {"glove.txt": "the 1 2\n. . 3 4\n"}, "zip")
    assert read_vectors(path, 2)[0].to_pylist() == ["the", ". ."]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"glove\.zip: damaged or of another format"):
        read_vectors(path, 2)
    path = write_archive(tmp_path / "two.zip", {"a.txt": "the 1 2\n", "b.txt": "x"}, "zip")
    with pytest.raises(DataError, match=r"two\.zip: holds 2 files; unpack it"):
        read_vectors(path, 2)


@pytest.mark.parametrize(
    ("text", "dim", "message"),
    [
        ("3 2\na 1 2\nb 3 4\n", 2, "has 2 lines of vectors, where line 1 promises 3; fetch it again"),
        ("1 2\na 1 2\nb 3 4\n", 2, "has 2 lines of vectors, where line 1 promises 1; correct line 1"),
        ("2 3\na 1 2 3\nb 3 4 5\n", 2, "line 2: expected a word and 2 numbers; set `dim` to .*, 3 by line 1"),
        ("2 2\na 1 2 3\nb 3 4 5\n", 3, "line 2: expected a word and 3 numbers; set `dim` to .*, 2 by line 1"),
        ("2 2\na 1 2\na 3 4\n", 2, None),  # lines are counted, not words
        ("a 1 2\nb 1 2\nc 1\n", 2, "line 3: .* 2 numbers; set `dim` to the .* file, or fetch it again if it is cut$"),
        ("9" * 5000 + " 2\na 1 2\n", 2, "line 1: expected a word and 2 numbers"),
    ],
)
def test_promised_sizes(tmp_path, monkeypatch, text, dim, message):
    monkeypatch.setattr(pretrained, "_LINES", 2)
    path = write_file(tmp_path / "v.txt", text)
    if message is None:
        assert read_vectors(path, dim)[0].to_pylist() == ["a"]
    else:
        with pytest.raises(DataError, match=message):
            read_vectors(path, dim)


@pytest.mark.parametrize("module", [gzip, bz2])
def test_compressed_text(tmp_path, module):
    path, content = tmp_path / f"v.{'gz' if module is gzip else 'bz2'}", module.compress(b"2 2\nthe 1 2\na 3 4\n")
    path.write_bytes(content)
    words, table = read_vectors(path, 2)
    assert words.to_pylist() == ["the", "a"]
    assert table.tolist() == [[0, 0], [1, 2], [3, 4]]
    for damaged in (content[:-5], content[:10], b"the 1 2\n"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"v\.(gz|bz2): damaged or of another format"):
            read_vectors(path, 2)
    path.write_bytes(content)
    assert read_vectors(path.rename(tmp_path / "v.txt"), 2)[0] == words  # known by its first bytes


BINARY = b"".join(word + b" " + np.float32([0.5, -2]).tobytes() + b"\n" for word in (b"the", b"a"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"2 2\n" + BINARY, r"is in the binary format of word2vec; convert it with gensim: .*binary=True"),
        (BINARY, "is no text; name a file of text"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", r"is a model of fastText; name the file .* ends in \.vec"),
        (b"\x93NUMPY\x01\0", "is an array of NumPy; write a line of text"),
        (pickle.dumps({"a": 1}), "is a pickle, which can run code and is not read; save the vectors as text"),
        (b"PAR1\x15", "is in the format parquet"),
        (b"PK\x03\x04", r"is a zip archive; unpack it, or let its name end in \.zip"),
    ],
)
def test_formats_that_are_not_text(tmp_path, content, message):
    (tmp_path / "v.bin").write_bytes(content)
    with pytest.raises(DataError, match=rf"v\.bin: {message}"):
        read_vectors(tmp_path / "v.bin", 2)


def test_missing_file_and_pipe(tmp_path):
    with pytest.raises(SourceError, match=r"v\.txt: no such file"):
        read_vectors(tmp_path / "v.txt", 2)
    os.mkfifo(tmp_path / "v.txt")
    with pytest.raises(DataError, match=r"v\.txt: is a pipe, where a file is expected"):
        read_vectors(tmp_path / "v.txt", 2)


@pytest.mark.real_data
def test_published_word2vec_sample(mirror):
    folder = mirror / "raw.githubusercontent.com/mfaruqui/retrofitting/6f4653748e9f5aecf71bb35d69621e0996e68204"
    words, table = read_vectors(folder / "sample_vec.txt", 48)
    assert table.shape == (1001, 48)
    assert words[0].as_py() == "biennials"
    assert table[1, :3].tolist() == pytest.approx([-0.14307, 0.10847, -0.032377])


def wheel(path, array, words):
    values, index = io.BytesIO(), io.BytesIO()
    np.save(values, array)
    pq.write_table(pa.table({"index": words}), index)
    members = {
        "glove/data/v.npy": values.getvalue(),
        "glove/data/i.parquet": index.getvalue(),
        "glove/__init__.py": b"",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_array_and_words_of_a_package(tmp_path):
    path = wheel(tmp_path / "glove.whl", np.array([[1, 2], [3, 4], [5, 6]], np.float32), ["the", "a", "the"])
    words, table = read_vectors(path, 2)
    assert (words.to_pylist(), table.tolist()) == (["the", "a"], [[0, 0], [1, 2], [3, 4]])
    with pytest.raises(DataError, match=r"glove\.whl: its array has the shape \(3, 2\); set `dim`"):
        read_vectors(path, 3)


@pytest.mark.parametrize(
    ("array", "words", "message"),
    [
        ([[1.0, 2.0]], ["the", "a"], "2 words beside 1 vectors; fetch it again"),
        ([[1.0, 2.0], [3.0, 4.0]], ["the", None], "1 words beside 2 vectors"),
        ([[1.0, np.nan]], ["the"], "a value is not a finite number"),
        ([[1.0, 1e300]], ["the"], "a value is not a finite number"),
        ([["1", "2"]], ["the"], "its array is of <U1, where vectors have floats; name another package"),
        (np.array([[None, 1]]), ["the"], "damaged or of another format"),  # a pickle
    ],
)
def test_damaged_package(tmp_path, array, words, message):
    with pytest.raises(DataError, match=message):
        read_vectors(wheel(tmp_path / "v.whl", array, words), 2)
    with zipfile.ZipFile(wheel(tmp_path / "v.whl", np.ones((1, 2)), ["the"])) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    with zipfile.ZipFile(tmp_path / "v.whl", "w") as damaged_package:
        for name, data in parts.items():
            damaged_package.writestr(name, data.replace(b"'shape': (", b"'shape': (("))
    with pytest.raises(DataError, match=r"v\.whl: its array is damaged; fetch it again"):
        read_vectors(tmp_path / "v.whl", 2)
    with zipfile.ZipFile(tmp_path / "v.whl", "w"):
        pass
    with pytest.raises(DataError, match=r"v\.whl: holds no array"):
        read_vectors(tmp_path / "v.whl", 2)
