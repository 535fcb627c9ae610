"""Lines and pairs of lines of a file, in blocks, and texts of tables."""

import bz2
import gzip
import io
import json
import lzma
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import DataError, ParameterError, SourceError
from paraphrastic.cli import text_input
from paraphrastic.cli.text_input import read_pairs, read_sentences
from tests.helpers.command_line import assert_refused

TEXT = '\ufefffirst\r\n\nthird "quoted"\u2028 line\x85\nlast without newline'
LINES = ["first", "", 'third "quoted"\u2028 line\x85', "last without newline"]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    return str(tmp_path / "text.txt")


@pytest.mark.parametrize(("bytes_", "rows"), [(1 << 20, 1 << 14), (1, 1 << 14), (1 << 20, 1), (20, 2)])
def test_sentences_in_blocks_of_any_size(file, monkeypatch, bytes_, rows):
    monkeypatch.setattr(text_input, "_BYTES", bytes_)
    monkeypatch.setattr(text_input, "_ROWS", rows)
    blocks = list(read_sentences(file))
    assert pa.chunked_array(blocks).to_pylist() == LINES
    assert max(map(len, blocks)) <= rows


def test_sentences_of_standard_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(TEXT.encode()), isatty=lambda: False))
    assert pa.chunked_array(list(read_sentences("-"))).to_pylist() == LINES
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a\n"), isatty=lambda: True))
    assert pa.chunked_array(list(read_sentences("-"))).to_pylist() == ["a"]
    assert capsys.readouterr().err == "reading lines from the terminal; Ctrl-D ends them\n"


def test_lines_that_end_in_carriage_returns_alone(tmp_path):
    (tmp_path / "text.txt").write_bytes(b"first\r\rlast\r")
    assert pa.chunked_array(list(read_sentences(str(tmp_path / "text.txt")))).to_pylist() == ["first", "", "last"]


@pytest.mark.parametrize("bytes_", [1, 1 << 20])
def test_pairs(tmp_path, monkeypatch, bytes_):
    monkeypatch.setattr(text_input, "_BYTES", bytes_)
    (tmp_path / "pairs.tsv").write_text("a\tb\n\t\nc d\t\n")
    pairs = [pair for left, right in read_pairs(str(tmp_path / "pairs.tsv")) for pair in zip(left, right, strict=True)]
    assert [(left.as_py(), right.as_py()) for left, right in pairs] == [("a", "b"), ("", ""), ("c d", "")]


@pytest.mark.parametrize("pair", [("a b.", "a b."), ("a", "")])
def test_first_pair_that_cannot_be_names_of_columns(tmp_path, pair):
    (tmp_path / "pairs.tsv").write_text("\t".join(pair) + "\nc\td\n")
    ((left, right),) = read_pairs(str(tmp_path / "pairs.tsv"))
    assert (left.to_pylist(), right.to_pylist()) == ([pair[0], "c"], [pair[1], "d"])


def test_names_of_columns_in_a_file_that_is_no_table(tmp_path):
    (tmp_path / "pairs.txt").write_text("sentence1\tsentence2\na\tb\n")
    with pytest.raises(DataError, match=r"pairs\.txt, line 1: has names of columns; remove it, or .* ends in \.tsv$"):
        list(read_pairs(str(tmp_path / "pairs.txt")))


@pytest.mark.parametrize("bytes_", [1, 1 << 20])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\nc\td\n\xff\t\xfe\n", "line 3: not UTF-8"),
        (b"a\tb\n\0\tb\n", "line 2: a NUL byte"),
        (b"a\tb\nc\n", "line 2: not two columns separated by a tab"),
        (b"a\tb\n\n", "line 2: not two columns separated by a tab"),
        (b"a\tb\na\tb\tc\n", "line 2: not two columns separated by a tab"),
    ],
)
def test_bad_line(tmp_path, monkeypatch, bytes_, content, message):
    monkeypatch.setattr(text_input, "_BYTES", bytes_)
    (tmp_path / "bad.tsv").write_bytes(content)
    with pytest.raises(DataError, match=rf"bad\.tsv, {message}.*; correct the line or remove it"):
        list(read_pairs(str(tmp_path / "bad.tsv")))


ROWS = {"id": [1, 2, 3], "text": ["was", "again, it", "was"], "text2": ["a", "b", "c"]}
CONTENT = {
    "csv": 'id,text,text2\n1,was,a\n\n2,"again, it",b\n3,was,c\n',
    "tsv": "id\ttext\ttext2\n1\twas\ta\n2\tagain, it\tb\n3\twas\tc\n",
    "jsonl": "".join(f"{json.dumps(row)}\n" for row in pa.table(ROWS).to_pylist()),
}
KEPT = {  # without the third row
    name: content[: content[:-1].rindex("\n") + 1].replace("\n\n", "\n") for name, content in CONTENT.items()
}


def write_table(path):
    """Write `ROWS` in the format that the name of a file says."""
    kind = path.name.split(".")[1]
    if kind == "parquet":
        pq.write_table(pa.table(ROWS), path)
    else:
        path.write_bytes(PACKED.get(path.suffix, bytes)(CONTENT[kind].encode()))


PACKED = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}
TABLES = ["t.csv", "t.tsv", "t.jsonl", "t.parquet", "t.csv.gz", "t.tsv.zst", "t.jsonl.bz2", "t.csv.xz"]


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_tables(tmp_path, name):
    write_table(tmp_path / name)
    texts, others = (read_sentences(str(tmp_path / name), column) for column in (None, "text2"))
    assert pa.chunked_array(list(texts)).to_pylist() == ROWS["text"]
    assert pa.chunked_array(list(others)).to_pylist() == ROWS["text2"]
    ((left, right),) = read_pairs(str(tmp_path / name), "text2,text")
    assert (left.to_pylist(), right.to_pylist()) == (ROWS["text2"], ROWS["text"])


@pytest.mark.parametrize("ending", [*PACKED, ".txt"])
def test_compressed_lines(tmp_path, ending):
    pack = PACKED.get(ending, bz2.compress)
    (tmp_path / f"lines{ending}").write_bytes(pack(TEXT.encode()))
    assert pa.chunked_array(list(read_sentences(str(tmp_path / f"lines{ending}")))).to_pylist() == LINES


def test_usual_columns_of_pairs(tmp_path):
    (tmp_path / "pairs.csv").write_text("text1,text2\na,b\n")
    (tmp_path / "header.tsv").write_text("score\tsentence1\tsentence2\n1\ta\tb\n")
    (tmp_path / "plain.tsv").write_text("a\tb\n")
    for name in ("pairs.csv", "header.tsv", "plain.tsv"):
        ((left, right),) = read_pairs(str(tmp_path / name))
        assert (left.to_pylist(), right.to_pylist()) == (["a"], ["b"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"q,a\n1,2\n", "CSV with the columns q, a; name one of text with --column"),
        ("t.csv", f"{'a' * 150},{'b' * 60}\n1,2\n".encode(), "columns " + "a" * 150 + ", …; name one of text"),
        ("t.csv", b"text\n\xff\n", "line 2: not UTF-8; correct the line"),
        ("t.jsonl", b'{"text": "a"}\n{"text": null}\n', "line 2: no value of 'text'"),
        ("t.txt", b"PAR1\0\0PAR1", "is no text but parquet; give a file that ends in .parquet"),
        ("t.csv.txt", b"PK\3\4\0", "a zip archive, or of Excel"),
        ("t.txt", b"\xd0\xcf\x11\xe0", "of Excel or Word"),
        ("t.txt", b"\x80\x05\x95", "a pickle"),
        ("t.txt", "a\n".encode("utf-16"), "UTF-16 or UTF-32; save it as UTF-8"),
        ("t.txt", b"\x93NUMPY\1\0", "an array of NumPy"),
        ("t.gz", gzip.compress(bytes(257) + b"ustar", mtime=0), "a tar archive; unpack it"),
        ("t.gz", gzip.compress(b"a\n" * 99, mtime=0)[:-9], "damaged or of another format"),
        ("t.json", b'[{"text": "a"}]', "is JSON; if each line is an object, rename it to end in .jsonl"),
        ("t.bin", b"3 2\na \xff\xfe\0\n\xfe\n", "lines in UTF-8, or a table: .csv, .tsv, .jsonl, .parquet"),
    ],
)
def test_name_of_the_format_that_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as error:
        list(read_sentences(str(tmp_path / name)))
    assert str(error.value).startswith(f"{tmp_path / name}")
    assert message in str(error.value)


def test_unknown_column_and_column_of_lines(file, tmp_path):
    write_table(tmp_path / "t.csv")
    with pytest.raises(DataError, match="unknown column 'txt': did you mean 'text'"):
        list(read_sentences(str(tmp_path / "t.csv"), "txt"))
    with pytest.raises(ParameterError, match=r"^--column text: name two columns, such as --column text1,text2$"):
        list(read_pairs(str(tmp_path / "t.csv"), "text"))
    for name, read in ((file, read_sentences(file, "text")), ("-", read_pairs("-", "a,b"))):
        with pytest.raises(ParameterError, match=rf"^{name}: --column is .* \.csv, \.tsv, .*; this is read as lines$"):
            list(read)


def test_compressed_standard_input(monkeypatch):
    data = io.BytesIO(gzip.compress(b"a\n"))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=data, isatty=lambda: False))
    with pytest.raises(DataError, match="standard input: is no text but compressed; unpack it first"):
        list(read_sentences("-"))


@pytest.mark.parametrize("name", ["pipe", "pipe.csv"])
def test_pipe(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with ThreadPoolExecutor(1) as pool:
        pool.submit((tmp_path / name).write_bytes, TEXT.encode())
        assert pa.chunked_array(list(read_sentences(str(tmp_path / name)))).to_pylist() == LINES


def test_file_that_cannot_be_read():
    with pytest.raises(SourceError, match=r"/proc/self/mem: cannot be read \(Input/output error\)"):
        list(read_sentences("/proc/self/mem"))


@pytest.mark.parametrize("name", TABLES)
def test_dedup_writes_whole_rows(run, tmp_path, name):
    write_table(tmp_path / name)
    removed = run("dedup", name, "--model", "avg", "--threshold", "0.99", "--removed").stdout.splitlines()
    assert [line.split("\t")[:2] for line in removed] == [["row", "kept"], ["3", "1"]]
    out = f"out.{name.split('.')[1]}"
    done = run("dedup", name, "--model", "avg", "--threshold", "0.99", "--out", out)
    assert done.exit_code == 0, done.output
    if out == "out.parquet":
        assert pq.read_table(out).equals(pa.table(ROWS).slice(0, 2))
        return
    assert Path(out).read_text() == KEPT[out.removeprefix("out.")]
    assert run("dedup", name, "--model", "avg", "--threshold", "0.99").stdout == Path(out).read_text()


def test_dedup_writes_the_format_of_its_table(run, tmp_path):
    write_table(tmp_path / "t.csv")
    done = run("dedup", "t.csv", "--model", "avg", "--out", "out.txt")
    assert_refused(done, "out.txt: rows of t.csv are written as CSV; name a file that ends in .csv")


OTHER_FORMATS = [("pairs", "p.parquet"), ("pairs", "p.tsv.gz"), ("pairs", "p.tsv.GZ"), ("dedup", "d.csv")]


@pytest.mark.parametrize("arguments", OTHER_FORMATS)
def test_names_that_promise_another_format(run, tmp_path, arguments):
    command, out = arguments
    (tmp_path / "l.txt").write_text("a dog\na cat\n")
    done = run(command, "l.txt", "--model", "avg", "--out", out)
    assert_refused(done, f"{out}: is written as lines or TSV; name a file that ends in .txt or .tsv")
    assert not (tmp_path / out).exists()


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.txt"):
        list(read_sentences(str(tmp_path / "absent.txt")))
