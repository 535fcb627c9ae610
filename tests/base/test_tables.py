"""Parquet files of tables: equal rows give equal bytes, and damaged files give clear errors."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base import reading, tables
from paraphrastic.base.errors import DataError
from paraphrastic.base.tables import (
    NGRAM_COUNTS,
    PAIRS,
    RAW,
    SENTENCES,
    StoredSentences,
    indexed_schema,
    read_table,
    write_parts,
    write_table,
)
from paraphrastic.readers.own_tables import OwnTable
from paraphrastic.sources.own_files import OwnFile

TEXTS = pa.table({"text": ["a", "b", "c"]})
PAIRS_OF_ONE_ROW = pa.table({"left": [0], "right": [1], "source": [""], "group": [1]})


def test_bytes_of_the_same_rows_in_other_chunks(tmp_path):
    chunked = pa.concat_tables([TEXTS.slice(0, 1), TEXTS.slice(1)]).replace_schema_metadata({"pandas": "{}"})
    write_table(TEXTS, tmp_path / "whole", SENTENCES)
    write_table(chunked, tmp_path / "chunked", SENTENCES)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "chunked").read_bytes()
    assert read_table(tmp_path / "whole", SENTENCES).equals(TEXTS)


@pytest.mark.parametrize("rows", [0, 1, 6, 7, 8, 21, 30])
def test_bytes_of_the_same_rows_in_several_tables(rows, monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "_ROW_GROUP", 7)
    table = pa.table({"text": [f"text {i}" for i in range(rows)]}, SENTENCES)
    parts = [table.slice(0, 3), table.slice(3, 0), table.slice(3, 15), table.slice(18, 1), table.slice(19)]
    write_table(table, tmp_path / "whole", SENTENCES)
    write_parts(iter(parts), tmp_path / "parts", SENTENCES)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    assert read_table(tmp_path / "parts", SENTENCES).equals(table)
    sentences = StoredSentences(tmp_path / "parts")
    assert len(sentences) == rows
    for _ in range(2):
        groups = [group.to_pylist() for group in sentences]
        assert [text for group in groups for text in group] == table["text"].to_pylist()
        assert all(len(group) == 7 for group in groups[:-1])


def test_text_of_a_row_group_that_does_not_fit_in_one_array(monkeypatch, tmp_path):
    write_table(pa.table({"text": ["a", "b", "c"]}), tmp_path / "t.parquet", SENTENCES)
    chunks = pa.table({"text": pa.chunked_array([["a"], ["b", "c"]])})  # as Arrow reads more than 2 GiB
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda file, number: chunks)
    assert [part.to_pylist() for part in StoredSentences(tmp_path / "t.parquet")] == [["a"], ["b", "c"]]


def test_size_of_stored_sentences(tmp_path):
    table = pa.table({"text": [f"text {i}" for i in range(10_000)]})
    write_table(table, tmp_path / "t.parquet", SENTENCES)
    assert StoredSentences(tmp_path / "t.parquet").nbytes == pytest.approx(table.nbytes, rel=0.3)
    table = pa.table({"sentences": [1], "other": [0], "count": [2], "order": [3], "text": ["abc"]})
    write_table(table, tmp_path / "t.parquet", NGRAM_COUNTS)
    result = read_table(tmp_path / "t.parquet", NGRAM_COUNTS)
    assert result.schema == NGRAM_COUNTS
    assert result.to_pylist() == [{"text": "abc", "order": 3, "count": 2, "sentences": 1}]


def read_sentences(path):
    return read_table(path, SENTENCES)


READERS = pytest.mark.parametrize("read", [read_sentences, StoredSentences])


@READERS
def test_missing_file(read, tmp_path):
    with pytest.raises(DataError, match=r"t\.parquet: no such file; run `dvc repro`"):
        read(tmp_path / "t.parquet")


@READERS
@pytest.mark.parametrize("content", [b"PAR1 but not really", b""])
def test_damaged_file(read, content, tmp_path):
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"t\.parquet: not a readable .*; remove it and run `dvc repro`"):
        read(tmp_path / "t.parquet")


@READERS
def test_sentences_in_a_file_of_another_table(read, tmp_path):
    write_table(PAIRS_OF_ONE_ROW, tmp_path / "t.parquet", PAIRS)
    with pytest.raises(DataError, match=r"t\.parquet: columns \['left', .*, expected \['text'\]; run `dvc repro`"):
        read(tmp_path / "t.parquet")


def test_file_of_sentences_damaged_in_the_middle(tmp_path):
    write_table(pa.table({"text": [f"text {i}" for i in range(10_000)]}), tmp_path / "t.parquet", SENTENCES)
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    content[1000:1100] = bytes(100)
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"t\.parquet: not a readable .*; remove it and run `dvc repro`"):
        list(StoredSentences(tmp_path / "t.parquet"))
    write_table(TEXTS, tmp_path / "t.parquet", SENTENCES)
    with pytest.raises(DataError, match=r"t\.parquet: columns \['text'\], expected \['left'.*; run `dvc repro`"):
        read_table(tmp_path / "t.parquet", PAIRS)


@pytest.mark.parametrize("column", [["x"], [{"a": 1}]])
def test_file_with_a_column_of_another_type(tmp_path, column):
    pq.write_table(PAIRS_OF_ONE_ROW.set_column(0, "left", [column]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet: a column has another type .*; run `dvc repro`") as error:
        read_table(tmp_path / "t.parquet", PAIRS)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("table", "schema"),
    [
        (TEXTS, PAIRS),
        (PAIRS_OF_ONE_ROW.set_column(0, "left", [["x"]]), PAIRS),
        (PAIRS_OF_ONE_ROW.set_column(0, "left", [[{"a": 1}]]), PAIRS),
    ],
)
def test_table_of_other_columns_or_types(tmp_path, table, schema):
    with pytest.raises(DataError, match=r"t\.parquet: not a table of columns left, right, source, group") as error:
        write_table(table, tmp_path / "t.parquet", schema)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_schema_of_indexed_tables():
    assert indexed_schema("pairs") == PAIRS
    assert indexed_schema("similarity").names == ["set", "split", "left", "right", "score"]
    assert indexed_schema("ranking").field("left").type == pa.int32()
    assert indexed_schema("labelled_sentences").names == ["set", "split", "left", "label"]
    assert indexed_schema("tagged_tokens") == RAW["tagged_tokens"]


LARGE = {  # files of less than 10 kB
    "rows": pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0] * 500_000, pa.int32()), ["ab"])}),
    "texts": pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0] * 20, pa.int32()), ["ab" * 10**5])}),
    "nulls": pa.table({"text": pa.nulls(3_000_000)}),
    "one text": pa.table({"text": ["a" * 3 * 10**6]}),
}


@pytest.mark.parametrize("is_dictionary", [True, False])
@pytest.mark.parametrize("name", LARGE)
def test_small_file_of_many_rows_or_much_text(tmp_path, monkeypatch, name, is_dictionary):
    monkeypatch.setattr(reading, "FLOOR", 2 * 10**6)
    table = LARGE[name] if is_dictionary else LARGE[name].cast(SENTENCES)
    pq.write_table(table, tmp_path / "t.parquet", compression="zstd")
    assert (tmp_path / "t.parquet").stat().st_size < 10_000
    with pytest.raises(DataError, match=r"t\.parquet: unpacks to more than 2,000,000 bytes, 200 times its size"):
        read_table(tmp_path / "t.parquet", SENTENCES)
    with pytest.raises(DataError, match=r"2,000,000 bytes, .*; unpack it by hand if its source is trustworthy$"):
        list(OwnTable(OwnFile(path=str(tmp_path / "t.parquet"))).parts(["text"]))
    monkeypatch.setattr(reading, "FLOOR", 10**8)
    assert len(read_table(tmp_path / "t.parquet", SENTENCES)) == len(table)


def test_pipe_in_place_of_a_table(tmp_path):
    os.mkfifo(tmp_path / "t.parquet")
    for read in (lambda path: read_table(path, SENTENCES), StoredSentences):
        with pytest.raises(DataError, match=r"t\.parquet: is a pipe, where a file is expected"):
            read(tmp_path / "t.parquet")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.jsonl", "t.jsonl.zst", "t.parquet"])
def test_pipe_in_place_of_a_users_file(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match=f"{name}: is a pipe, where a file is expected"):
        list(OwnTable(OwnFile(path=str(tmp_path / name))).parts(["a"]))
