"""Files of the user in every format: cells as they are, refused rows with their lines, damaged files in one line."""

import bz2
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import DataError, ParameterError, SourceError
from paraphrastic.readers.own_tables import PART, OwnTable
from paraphrastic.sources.own_files import OwnFile, own_file, report_left_out

UNQUOTED = "close it, or say `quotes: false` for this file"
ROWS = [("A dog runs.", "A dog, running"), ('She said "no"', "two\nlines"), ("café \u2028 ‏שלום", "👩‍👩‍👧")]


def read(path, columns=("a", "b"), **options):
    """Return rows, and refused rows as (line, reason)."""
    parts = list(OwnTable(OwnFile(path=str(path), **options)).parts(columns))
    cells = [row for part in parts for row in zip(*(part.columns[name].to_pylist() for name in columns), strict=True)]
    return cells, sorted((bad.line, bad.why) for part in parts for bad in part.bad)


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def csv_text(rows=ROWS, end="\n"):
    quoted = (",".join('"{}"'.format(cell.replace('"', '""')) for cell in row) for row in [("a", "b"), *rows])
    return end.join(quoted) + end


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_csv_has_quoted_cells_with_commas_quotes_and_line_breaks(tmp_path, end, start):
    assert read(write(tmp_path / "x.csv", start + csv_text(end=end))) == (ROWS, [])


def test_formats_and_compressions_hold_the_same(tmp_path):
    lines = "".join(json.dumps({"b": b, "c": 1, "a": a}) + "\n" for a, b in ROWS)
    table = pa.table({"a": [a for a, _ in ROWS], "c": [1, 2, 3], "b": [b for _, b in ROWS]})
    pq.write_table(table, tmp_path / "x.parquet")
    folder = tmp_path / "dataset"
    folder.mkdir()
    write(folder / "state.json", "{}")
    with pa.ipc.new_stream(str(folder / "data-00000-of-00001.arrow"), table.schema) as stream:
        stream.write_table(table)
    with pa.ipc.new_stream(str(folder / "cache-1f.arrow"), pa.schema([("indices", pa.uint64())])) as stream:
        stream.write_table(pa.table({"indices": pa.array([2, 1], pa.uint64())}))  # as `shuffle` leaves
    paths = [tmp_path / "x.parquet", folder, write(tmp_path / "x.jsonl", lines)]
    paths.append(write(tmp_path / "x.jsonl.gz", gzip.compress(lines.encode())))
    paths.append(write(tmp_path / "X.CSV.GZ", gzip.compress(csv_text().encode())))
    paths.append(write(tmp_path / "x.csv.zst", pa.compress(csv_text().encode(), codec="zstd", asbytes=True)))
    assert [read(path) for path in paths] == [(ROWS, [])] * len(paths)


def test_folder_of_datasets_that_was_saved_twice(tmp_path):
    for number, name in enumerate(["data-00000-of-00001", "data-00000-of-00002", "data-00001-of-00002"]):
        table = pa.table({"a": [str(number)], "b": ["x"]})
        with pa.ipc.new_stream(str(tmp_path / f"{name}.arrow"), table.schema) as stream:
            stream.write_table(table)
    files = [{"filename": f"data-0000{shard}-of-00002.arrow"} for shard in range(2)]
    state = write(tmp_path / "state.json", json.dumps({"_data_files": files}))
    assert read(tmp_path) == ([("1", "x"), ("2", "x")], [])
    write(state, '{"_data_files": [{"filename": "../other.arrow"}]}')
    with pytest.raises(DataError, match=r": has no \.\./other\.arrow; save the data set again$"):
        read(tmp_path)


def test_names_of_columns_are_any_text(tmp_path):
    path = write(tmp_path / "x.csv", '"the\nfirst",b\u00a0\u200f c\n1,2\n')
    assert OwnTable(OwnFile(path=str(path))).names == ["the\nfirst", "b\u00a0\u200f c"]
    assert read(path, ["the\nfirst"]) == ([("1",)], [])


@pytest.mark.parametrize(
    ("name", "text", "options", "row"),
    [
        ("x.csv", "a;b\n1, or more;2\n", {}, ("1, or more", "2")),
        ("x.csv", "a\tb\n1, or more\t2\n", {}, ("1, or more", "2")),
        ("x.csv", 'a|b\n"1, or more"|2\n', {}, ("1, or more", "2")),
        ("x.tsv", 'a,b\n"1, or more",2\n', {}, ("1, or more", "2")),
        ("x.tsv", 'a\tb\n"one"\tsaid "two\n', {}, ('"one"', 'said "two')),
        ("x.tsv", 'a\tb\n"one\ttab"\ttwo\n', {"quotes": True}, ("one\ttab", "two")),
        ("x.csv", 'a,b\n"one,two\n', {"quotes": False}, ('"one', "two")),
    ],
)
def test_separators_and_quotes(tmp_path, name, text, options, row):
    assert read(write(tmp_path / name, text), **options) == ([row], [])


def test_separator_is_that_of_the_ending_if_in_doubt(tmp_path):
    for text in ("a,b;c\n1,2;3\n", "a;b|c\n1;2|3\n", "a;b\n1;2;3\n"):
        names = OwnTable(OwnFile(path=str(write(tmp_path / "x.csv", text)))).names
        assert names == text.partition("\n")[0].split(",")


@pytest.mark.parametrize("start", ["", "Unnamed: 0", '""'])
def test_index_of_pandas(tmp_path, start):
    assert read(write(tmp_path / "x.csv", f"{start},a,b\n0,1,2\n1,3,4\n")) == ([("1", "2"), ("3", "4")], [])
    assert read(write(tmp_path / "y.csv", ",,a,b\nx,0,1,2\n")) == ([("1", "2")], [])


def test_refused_rows_have_the_line_at_which_they_start(tmp_path):
    text = b'a,b\n1,"two\nlines"\none cell\nA,B\n\n"x"y,z\n\xff,d\nnul\0,e\n1,2,3\n'
    cells, bad = read(write(tmp_path / "x.csv", text))
    assert cells == [("1", "two\nlines"), ("A", "B"), (None, "e")]
    assert bad == [
        (4, "1 cells, where line 1 has 2"),
        (7, "not CSV: ',' expected after '\"'"),
        (8, "not UTF-8"),
        (9, "a NUL byte in 'a'"),
        (10, "3 cells, where line 1 has 2"),
    ]


def test_all_lines_that_an_unclosed_quote_swallows_are_refused(tmp_path):
    rows = [f'{n},"{n}"' for n in range(2, 30)]
    rows[10] = '12,"twelve'
    cells, bad = read(write(tmp_path / "x.csv", "\n".join(["a,b", *rows])))
    assert [line for line, _ in bad] == [12, 13]
    assert [int(a) for a, _ in cells] == [*range(2, 12), *range(14, 30)]


def test_refused_rows_of_parquet_and_json_lines(tmp_path):
    pq.write_table(pa.table({"a": ["x", None], "b": [1.0, 2.0]}), tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet") == ([("x", "1"), (None, "2")], [(2, "no value of 'a'")])
    lines = ['{"a": "x", "b": true}', "{", "[1]", '{"a": "\\ud800", "b": 1}', "", '{"a": [1], "b": 2}', '{"b": 2.5}']
    cells, bad = read(write(tmp_path / "x.jsonl", "\n".join(lines)))
    assert cells == [("x", "1"), (None, "2.5")]
    reasons = ["not JSON", "not a JSON object", "not UTF-8", "'a' is neither text nor a number", "no value of 'a'"]
    assert bad == list(zip([2, 3, 4, 6, 7], reasons, strict=True))


def test_rows_of_several_parts_keep_their_lines(tmp_path):
    lines = ["a,b", *("x,y" for _ in range(PART)), "x", *("x,y" for _ in range(5))]
    cells, bad = read(write(tmp_path / "x.csv", "\n".join(lines)))
    assert (len(cells), bad) == (PART + 5, [(PART + 2, "1 cells, where line 1 has 2")])


def test_columns_without_a_name(tmp_path):
    assert read(write(tmp_path / "x.csv", ",a,,b,\n0,1,2,3,\n")) == ([("1", "3")], [])


def test_long_cells_are_read_whole(tmp_path):
    text = "x" * 10_000_000
    assert read(write(tmp_path / "x.csv", f"a,b\n{text},y\n")) == ([(text, "y")], [])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "", "x.csv: line 1 has no names of columns"),
        ("x.csv", 'a,b\n1,2\n3,"4\n5,6\n', f"x.csv, line 3: a quoted cell does not end; {UNQUOTED}"),
        ("x.csv", "a,a\n1,2\n", "x.csv: several columns have the name 'a'; rename all but one"),
        ("x.csv", "a,b\n1,2\n".encode("utf-16"), "x.csv: line 1 is not UTF-8; save the file as UTF-8"),
        ("x.jsonl", "[]\n", "x.jsonl: line 1 is not a JSON object"),
        ("x.jsonl", "nothing\n", "x.jsonl: damaged or of another format (Expecting value"),
        ("x.jsonl.gz", gzip.compress(b'{"a": 1, "b": 2}\n', mtime=0)[:-9], "x.jsonl.gz: damaged or of another format"),
        ("x.csv.zst", b"no zstd", "x.csv.zst: damaged or of another format (ZSTD decompress failed"),
        ("x.parquet", b"PAR1 no parquet", "x.parquet: damaged or of another format"),
    ],
)  # fmt: skip
def test_damaged_file_in_one_line(tmp_path, name, content, message):
    path = write(tmp_path / name, content)
    with pytest.raises((DataError, SourceError)) as error:
        print(OwnTable(OwnFile(path=str(path))).names, read(path))
    assert str(error.value).removeprefix(f"{tmp_path}/{message}")[:1] in ("", " ", ":", ";", ")")
    assert "\n" not in str(error.value)


def test_column_that_is_not_utf8(tmp_path):
    texts = pa.Array.from_buffers(pa.string(), 1, pa.array([b"a\xff"]).buffers())
    pq.write_table(pa.table({"a": texts, "b": ["1"]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"x\.parquet: 'a' has text that is not UTF-8; write it again as UTF-8$"):
        read(tmp_path / "x.parquet")


def test_missing_numbers_as_pandas_writes_them(tmp_path):
    pq.write_table(pa.table({"a": [0.5, float("nan")], "b": ["x", "y"]}), tmp_path / "x.parquet")
    write(tmp_path / "x.jsonl", '{"a": 0.5, "b": "x"}\n{"a": NaN, "b": "y"}\n')
    for name in ("x.parquet", "x.jsonl"):
        assert read(tmp_path / name) == ([("0.5", "x"), (None, "y")], [(2, "no value of 'a'")])


def test_copy_of_view_types_and_lists(tmp_path):
    views = {"a": pa.array(["x", None, "y" * 30, "z"], pa.string_view()), "b": pa.array([[1], [], [2, 3], None])}
    pq.write_table(pa.table(views), tmp_path / "x.parquet")
    for kept in ([True, False, True, True], [False] * 4):
        with (tmp_path / "kept.parquet").open("wb") as out:
            OwnTable(OwnFile(path=str(tmp_path / "x.parquet"))).copy(np.array(kept), out)
        copied, rows = pq.read_table(tmp_path / "kept.parquet"), pa.table(views).to_pylist()
        assert copied.schema.equals(pa.table(views).schema)
        assert copied.to_pylist() == [row for row, is_kept in zip(rows, kept, strict=True) if is_kept]


def test_damaged_stream_after_the_first(tmp_path):
    first, second = bz2.compress(b"a,b\n1,2\n"), bz2.compress(b"3,4\n")
    assert read(write(tmp_path / "x.csv.bz2", first + second)) == ([("1", "2"), ("3", "4")], [])
    with pytest.raises(DataError, match=r"x\.csv\.bz2: damaged or of another format"):
        read(write(tmp_path / "x.csv.bz2", first + b"X" + second[1:]))


def test_names_of_classes_that_are_no_text(tmp_path):
    info = {"huggingface": json.dumps({"info": {"features": {"label": {"names": 5, "_type": "ClassLabel"}}}})}
    pq.write_table(pa.table({"label": [1, 0]}).replace_schema_metadata(info), tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet", ["label"]) == ([("1",), ("0",)], [])


def test_entries_that_are_paths():
    assert all(map(own_file, ["a.csv", "a.tsv.gz", "./x", "data/sets/", "x.jsonl.zst", "C:\\x", "/tmp/a b.parquet"]))
    assert not any(map(own_file, ["open", "ppdb-xl-phrasal", "sts2012"]))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"pth": "a.csv"},
            "pth: unknown key; did you mean 'path'? a file is a path or has the keys path, columns, quotes",
        ),
        ({"quotes": True}, "path: Field required; a file is a path or has the keys path, columns, quotes"),
        ({"path": "a.csv", "columns": ["a"]}, "columns.1: Field required"),
        ({"path": 3}, "path: Input should be a valid string"),
        ({"path": "a.csv", "columns": ["a", "a"]}, "columns: Value error, the column a is named twice"),
        ({"path": "a.csv", "columns": {"text1": "a", "score": "a"}}, "the column a is named twice"),
    ],
)
def test_mistake_in_an_entry(entry, message):
    with pytest.raises(ParameterError) as error:
        own_file(entry)
    assert message in str(error.value)


def test_folder_stands_for_its_files_or_names_its_splits(tmp_path):
    for name in ("b.csv", "a.tsv.gz", "notes.txt"):
        write(tmp_path / name, "")
    assert [own.path for own in OwnFile(path=str(tmp_path)).files()] == [f"{tmp_path}/a.tsv.gz", f"{tmp_path}/b.csv"]
    for split in ("train", "test"):
        (tmp_path / "sets" / split).mkdir(parents=True)
        write(tmp_path / "sets" / split / "dataset_info.json", "{}")
    write(tmp_path / "sets/dataset_dict.json", '{"splits": ["train", "test"]}')
    with pytest.raises(SourceError, match=r"sets: .* has the folders test, train: name one of them, as .*sets/test"):
        OwnFile(path=str(tmp_path / "sets")).files()
    for folder in "ab":
        (tmp_path / "outer" / folder).mkdir(parents=True)
    write(tmp_path / "outer/a/pairs.csv", "")
    with pytest.raises(SourceError, match=r"outer: .* has the folders a: name one of them, as .*outer/a$"):
        OwnFile(path=str(tmp_path / "outer")).files()
    (tmp_path / "outer/a/pairs.csv").unlink()
    with pytest.raises(SourceError, match=r"outer: the folder has no file that ends in .*, \.parquet$"):
        OwnFile(path=str(tmp_path / "outer")).files()


def test_folder_with_files_of_other_formats(tmp_path, capsys):
    for name in ("b.csv", "a.tsv.gz", ".DS_Store", "notes.txt", "c.xlsx", "b.csv.dvc"):
        write(tmp_path / name, "")
    (tmp_path / "old.csv").mkdir()
    folder, end = str(tmp_path), "; a folder stands for its files that end in .csv, .tsv, .jsonl, .parquet\n"
    assert len(OwnFile(path=folder).files()) == 2
    report_left_out(["sample", {"path": folder}, f"{folder}/b.csv"])
    assert capsys.readouterr().err == f"{folder}: not read: c.xlsx, notes.txt, old.csv/{end}"
    for name in "def":
        write(tmp_path / f"{name}.md", "")
    report_left_out([folder])
    assert capsys.readouterr().err == f"{folder}: not read: c.xlsx, d.md, e.md, f.md, notes.txt, …{end}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "no such file; check the path; .* needs a whole path, or a file that is in git or DVC$"),
        ("notes.md", r"ends in none of \.csv, .*, \.txt, alone or with \.gz, \.bz2, \.xz, \.zst after it$"),
        ("empty", "the folder has no file"),
    ],
)
def test_path_that_is_no_table(tmp_path, name, message):
    write(tmp_path / "notes.md", "a\n")
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty/README.txt", "lines beside tables are no table\n")
    with pytest.raises(SourceError, match=f"{name}: {message}"):
        OwnFile(path=str(tmp_path / name)).files()
