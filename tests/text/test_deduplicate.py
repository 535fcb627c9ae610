import numpy as np
import pyarrow as pa

from paraphrastic.base.tables import RAW, indexed_schema
from paraphrastic.text.deduplicate import deduplicate, tokenize_tables


def test_distinct_texts_in_order_of_first_occurrence():
    texts, rows = deduplicate([pa.array(["b", "a", "b"]), pa.array(["c", "a", ""])])
    assert texts.to_pylist() == ["b", "a", "c", ""]
    assert [row.tolist() for row in rows] == [[0, 1, 0], [2, 1, 3]]
    assert all(row.dtype == np.int32 for row in rows)


def test_distinct_texts_of_chunked_and_sliced_columns():
    column = pa.chunked_array([["x"], [], ["b", "a", "b"], ["c"]]).slice(1)
    texts, rows = deduplicate([column, pa.array([], pa.string()), pa.array(["z", "c", "a"]).slice(1)])
    assert texts.to_pylist() == ["b", "a", "c"]
    assert [row.tolist() for row in rows] == [[0, 1, 0, 2], [], [2, 1]]


def test_distinct_texts_of_no_columns():
    texts, rows = deduplicate([])
    assert texts.equals(pa.array([], pa.string()))
    assert rows == []


def test_distinct_texts_of_empty_columns():
    empty = pa.array([], pa.string())
    texts, rows = deduplicate([empty, pa.chunked_array([], pa.string())])
    assert texts.equals(empty)
    assert [row.tolist() for row in rows] == [[], []]


def raw_table(kind, *rows):
    return pa.Table.from_pylist([dict(zip(RAW[kind].names, row, strict=True)) for row in rows], RAW[kind])


def test_tables_with_rows_of_tokenized_sentences():
    sentences, tables = tokenize_tables(
        {
            "similarity": raw_table("similarity", ("s", "test", "It's A.", "B", 3.0), ("s", "test", "b", "", 0.0)),
            "labelled_sentences": raw_table("labelled_sentences", ("t", "dev", "it's a.", 1)),
            "ranking": raw_table("ranking"),
            "tagged_tokens": raw_table("tagged_tokens", ("e", "train", 0, "It's", "PRP", None, None)),
        }
    )
    assert sentences.to_pylist() == ["it 's a .", "b", ""]
    assert tables["similarity"].select(["left", "right", "score"]).to_pydict() == {
        "left": [0, 1],
        "right": [1, 2],
        "score": [3.0, 0.0],
    }
    assert tables["labelled_sentences"]["left"].to_pylist() == [0]
    assert tables["tagged_tokens"]["token"].to_pylist() == ["It's"]
    assert all(table.schema.equals(indexed_schema(kind)) for kind, table in tables.items())
