"""Texts of users in the containers in which they keep them."""

from collections import ChainMap, Counter, OrderedDict, UserDict, deque
from email.message import Message
from types import MappingProxyType

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from paraphrastic.base.errors import ParameterError
from paraphrastic.text.tokenizer import text_column

TEXTS = ["a dog", "", "日本"]
ROWS = {"id": [1, 2, 3], "text": TEXTS}
FRAME = pd.DataFrame(ROWS)


class Table:
    """Iterates over the names of its columns, as tables do of which this package knows nothing."""

    columns = property(lambda self: [*ROWS])

    def __iter__(self):
        return iter(self.columns)


def dataset(form):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict(ROWS)
    forms = {"rows": rows, "splits": datasets.DatasetDict({"train": rows}), "stream": rows.to_iterable_dataset()}
    return forms[form] if form in forms else rows["text"]


def polars_frame():
    return pytest.importorskip("polars").DataFrame(ROWS)


SEQUENCES = {
    "list": lambda: TEXTS,
    "tuple": lambda: (*TEXTS,),
    "deque": lambda: deque(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "values of a mapping": lambda: dict(enumerate(TEXTS)).values(),
    "array": lambda: np.array(TEXTS),
    "array of objects": lambda: np.array(TEXTS, object),
    "elements of an array": lambda: list(np.array(TEXTS)),
    "column of a 2-d array": lambda: np.array([TEXTS, TEXTS]).T[:, 0],
    "Series": lambda: FRAME["text"],
    "Series of objects": lambda: FRAME["text"].astype(object),
    "Series with other labels": lambda: pd.Series(TEXTS, ["columns", "keys", "ndim"]),
    "categories": lambda: FRAME["text"].astype("category"),
    "Index": lambda: pd.Index(TEXTS),
    "Arrow": lambda: pa.array(TEXTS),
    "column of a Table": lambda: pa.table(ROWS)["text"],
    "column of a Dataset": lambda: dataset("column"),
    "Series of polars": lambda: polars_frame()["text"],
}


@pytest.mark.parametrize("kind", SEQUENCES)
def test_sequences_of_texts(kind):
    column = text_column(SEQUENCES[kind]())
    assert column.type == pa.string()
    assert column.to_pylist() == TEXTS


def message_with_text():
    message = Message()
    message["text"] = "a dog"
    return message


NO_SEQUENCES = {
    "DataFrame": (lambda: FRAME, r'a table, DataFrame, .* name one column, such as df\["text"\]'),
    "DataFrame of one column": (lambda: FRAME[["text"]], "a table, DataFrame"),
    "DataFrame without rows": (lambda: FRAME[:0], "a table, DataFrame"),
    "DataFrame of polars": (polars_frame, "a table, DataFrame"),
    "Table": (lambda: pa.table(ROWS), "a table, Table"),
    "RecordBatch": (lambda: pa.record_batch(ROWS), "a table, RecordBatch"),
    "Dataset": (lambda: dataset("rows"), "a table, Dataset"),
    "DatasetDict": (lambda: dataset("splits"), "a table, DatasetDict"),
    "IterableDataset": (lambda: dataset("stream"), "a table, IterableDataset"),
    "unknown table": (Table, "a table, Table"),
    "structured array": (lambda: np.array([("a", 1)], [("text", "U1"), ("n", int)]), "a table, ndarray"),
    "records": (lambda: FRAME.to_records(), "a table, recarray"),
    "dict": (lambda: {"text": TEXTS}, r'a mapping, dict, .* name the key of the texts, such as d\["text"\]'),
    "OrderedDict": (lambda: OrderedDict(text=TEXTS), "a mapping, OrderedDict"),
    "UserDict": (lambda: UserDict(text=TEXTS), "a mapping, UserDict"),
    "mappingproxy": (lambda: MappingProxyType({"text": TEXTS}), "a mapping, mappingproxy"),
    "ChainMap": (lambda: ChainMap({"text": TEXTS}), "a mapping, ChainMap"),
    "Counter": (lambda: Counter(TEXTS), "a mapping, Counter"),
    "empty dict": (dict, "a mapping, dict"),
    "mapping of another class": (message_with_text, "a mapping, Message"),
    "set": (lambda: {*TEXTS}, "texts of a set have no order"),
    "frozenset": (lambda: frozenset(TEXTS), "texts of a frozenset have no order"),
    "2-d array": (lambda: np.array([TEXTS]), r"an array of shape \(1, 3\) .* choose a column, such as array\[:, 0\]"),
    "0-d array": (lambda: np.array("a"), r"an array of shape \(\)"),
    "vectors": (lambda: np.zeros((0, 3)), r"an array of shape \(0, 3\)"),
    "None": (lambda: None, "a value of type NoneType where texts are expected"),
    "number": (lambda: 1.5, "a value of type float where texts are expected"),
    "text": (lambda: "a dog", r"^one string where a list of sentences is expected: put it in brackets, \[sentence\]$"),
    "bytes": (lambda: b"a dog", r"bytes where text is expected; decode it, such as data\.decode\(\)"),
    "bytearray": (lambda: bytearray(b"a"), "bytearray where text is expected"),
    "rows": (lambda: ["a", {"text": "a"}], r'expected str; take its text, such as \[row\["text"\] for row in rows\]$'),
    "list of lists": (lambda: ["a", ["b"]], r"sentences\[1\] is of type list, expected str"),
    "tuples": (lambda: zip(TEXTS, TEXTS, strict=True), r"sentences\[0\] is of type tuple, expected str"),
    "list of bytes": (lambda: ["a", b"b"], r"sentences\[1\] is of type bytes, expected str; decode it"),
    "None in a list": (lambda: ["a", "b", None], r"\[2\] .*NoneType, expected str; fill missing texts or drop them$"),
    "NaN in a list": (lambda: ["a", float("nan")], r"sentences\[1\] is of type float, .*; fill missing texts"),
    "NaN in a Series": (lambda: pd.Series(["a", None]), r"sentences\[1\] is of type .*; fill missing texts"),
    "NA in a Series": (lambda: pd.Series(["a", pd.NA], dtype=object), r"sentences\[1\] .*; fill missing texts"),
    "numbers": (lambda: ["a", 1], r"sentences\[1\] is of type int, expected str$"),
    "array of numbers": (lambda: np.arange(3), r"sentences\[0\] is of type int, expected str"),
    "Series of numbers": (lambda: FRAME["id"], r"sentences\[0\] is of type int, expected str"),
    "labels of several levels": (lambda: pd.MultiIndex.from_tuples([("a", "b")]), r"sentences\[0\] is of type tuple"),
    "lists of Arrow": (lambda: pa.array([["a"]]), "a column of type list<.*> where text is expected"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_SEQUENCES)
def test_no_sequences_of_texts(kind):
    make, message = NO_SEQUENCES[kind]
    with pytest.raises(ParameterError, match=message) as caught:
        text_column(make())
    assert "\n" not in str(caught.value)
