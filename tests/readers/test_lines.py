"""SourceLines, fields, numbers and labels of text files."""

import pytest

from paraphrastic.base.errors import DataError
from paraphrastic.readers.lines import BadRow, SourceLines, read_parallel


def lines_of(data):
    return SourceLines("file.txt", data)


SEPARATORS = "a\x85b\nc\u2028d\u2029e\x0bf\x0cg\x1dh\n\xa0i\rj\n"  # of Unicode; only the newline ends a line


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\nb\r", ["a", "b"]),
        (b"a\r\r\n", ["a\r"]),
        (b"a\n\n\nb\n\n", ["a", "", "", "b", ""]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (SEPARATORS.encode(), SEPARATORS.removesuffix("\n").split("\n")),
    ],
)
def test_line_ends_and_byte_order_marks(data, expected):
    assert lines_of(data).text.to_pylist() == expected


def test_lines_that_are_not_text():
    lines = lines_of("ä\nb\0c\nd\n".encode() + b"\xff\xfe\n\xe2\x82\n" + "\ufffd\nz".encode())
    assert lines.text.to_pylist() == ["ä", None, "d", None, None, "\ufffd", "z"]
    assert lines.bad == [
        BadRow("file.txt", 4, "not UTF-8"),
        BadRow("file.txt", 5, "not UTF-8"),
        BadRow("file.txt", 2, "a NUL byte"),
    ]


def test_bad_row_of_a_block_of_lines():
    (bad,) = SourceLines("file.txt", b"a\n\xff\n", first=10).bad
    assert bad == BadRow("file.txt", 11, "not UTF-8")
    assert str(bad) == "file.txt, line 11: not UTF-8"


def test_file_beyond_the_range_of_32_bit_offsets(monkeypatch):
    monkeypatch.setattr("paraphrastic.readers.lines._MAX_BYTES", 4)
    assert lines_of(b"a\nb\n").text.to_pylist() == ["a", "b"]
    with pytest.raises(DataError, match=r"^file\.txt: larger than 2 GiB; split it into several files$"):
        lines_of(b"a\nb\nc")
    with pytest.raises(DataError, match="larger than 2 GiB"):
        lines_of(b"\xff\xff")  # the replacement character has three bytes


def test_fields_with_quotes_and_of_another_number():
    lines = lines_of(b'"a\tb"\n\t""\n"\t\'\nc\n\nd\te\tf\n')
    first, second = (column.to_pylist() for column in lines.fields(2))
    assert first == ['"a', "", '"', None, None, "d"]
    assert second == ['b"', '""', "'", None, None, "e"]
    assert [(row.line, row.why) for row in lines.bad] == [(4, "fewer than 2 fields"), (5, "fewer than 2 fields")]


def test_forms_of_numbers():
    lines = lines_of(b"3\n 3.5 \n.5\n4.\n1e0\n+2\n0\n5\n")
    assert lines.numbers(lines.text, 0, 5).to_pylist() == [3, 3.5, 0.5, 4, 1, 2, 0, 5]
    assert not lines.bad


@pytest.mark.parametrize("value", ["", "x", "nan", "inf", "-inf", "1e999", "5.01", "-0.1", "1,5", "1 2", "0x1", "٣"])
def test_malformed_number_or_number_out_of_range(value):
    lines = lines_of(f"1\n{value}\n2\n".encode())
    assert lines.numbers(lines.text, 0, 5).to_pylist() == [1, None, 2]
    assert [row.line for row in lines.bad] == [2]


def test_unknown_labels():
    lines = lines_of(b"1\n0\n2\n\n01\n1 \n")
    assert lines.labels(lines.text, ["0", "1"]).to_pylist() == [1, 0, None, None, None, 1]
    assert [(row.line, row.why) for row in lines.bad] == [(line, "a label other than 0, 1") for line in (3, 4, 5)]


def test_parallel_files_of_different_length(tmp_path):
    for name, data in (("a", b"1\n2\n"), ("b", b"1\n2"), ("c", b"1\n")):
        (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=r"^\S+/a has 2 lines and \S+/c has 1, but .*remove both and run `dvc repro`$"):
        read_parallel(tmp_path, "a", "b", "c")
