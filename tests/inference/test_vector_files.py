"""Files of sentence vectors in each format."""

import json
import os
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.inference import vector_files
from paraphrastic.inference.quantization import ranges_of
from paraphrastic.inference.vector_files import FORMATS, write_vectors
from paraphrastic.scoring.weight_files import Ranges
from tests.helpers.small_models import save_baseline
from tests.helpers.toy_training import SENTENCES

LINES = [*SENTENCES.to_pylist()[:5], "", 'quotes " and \\ and \u2028 日本']


def parts(size):
    """Yield LINES, some at a time."""
    yield from (pa.array(LINES[start : start + size]) for start in range(0, len(LINES), size))


def read_json_lines(text):
    """Return the texts and the vectors of JSON lines."""
    rows = [json.loads(line) for line in text.split("\n")[:-1]]
    return [row["text"] for row in rows], np.array([row["vector"] for row in rows], np.float32)


@pytest.mark.parametrize("normalize", [False, True])
def test_vectors_in_each_format(model, tmp_path, capfdbinary, normalize):
    expected = model.encode(LINES, normalize_embeddings=normalize, batch_size=3)
    for suffix in FORMATS:
        write_vectors(model, parts(3), str(tmp_path / f"new/out{suffix}"), normalize)
    array, table = np.load(tmp_path / "new/out.npy"), pq.read_table(tmp_path / "new/out.parquet")
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, expected)
    assert table["text"].to_pylist() == LINES
    assert table.schema.field("vector").type == pa.list_(pa.float32(), 8)
    np.testing.assert_array_equal(table["vector"].to_pylist(), expected)
    content = (tmp_path / "new/out.jsonl").read_bytes()
    texts, vectors = read_json_lines(content.decode())
    assert texts == LINES
    np.testing.assert_array_equal(vectors, expected)
    capfdbinary.readouterr()
    write_vectors(model, parts(3), "-", normalize)
    assert capfdbinary.readouterr().out == content


@pytest.mark.parametrize("precision", ["float16", "int8", "uint8", "binary", "ubinary"])
def test_types_of_numbers(avg, tmp_path, shown, precision):
    ranged = replace(avg, ranges=Ranges(*[ranges_of(avg.encode(LINES))] * 2))
    expected = ranged.encode(LINES, precision=precision)
    for suffix in FORMATS:
        result = write_vectors(ranged, parts(2), str(tmp_path / f"out{suffix}"), False, precision)
        assert result == (len(LINES), 2)
    assert shown() == [("sentences", len(LINES), None)] * len(FORMATS)
    array, column = np.load(tmp_path / "out.npy"), pq.read_table(tmp_path / "out.parquet")["vector"]
    assert array.dtype == expected.dtype
    assert column.type == pa.list_(pa.from_numpy_dtype(expected.dtype), expected.shape[1])
    for written in (array, column.to_pylist(), read_json_lines((tmp_path / "out.jsonl").read_text())[1]):
        np.testing.assert_array_equal(written, expected)


def test_no_file_without_ranges(avg, tmp_path):
    with pytest.raises(ModelError, match="has no ranges for int8"):
        write_vectors(avg, parts(2), str(tmp_path / "out.npy"), False, "int8")
    assert not [*tmp_path.iterdir()]


def test_files_of_sentences_in_parts(avg, tmp_path, monkeypatch):
    for size, name in ((len(LINES), "whole"), (2, "parts")):
        monkeypatch.setattr(vector_files, "_JSON_ROWS", size // 2)
        for suffix in FORMATS:
            write_vectors(avg, parts(size), str(tmp_path / f"{name}{suffix}"), normalize=False)
    for suffix in (".npy", ".jsonl"):
        assert (tmp_path / f"whole{suffix}").read_bytes() == (tmp_path / f"parts{suffix}").read_bytes()
    assert pq.read_table(tmp_path / "whole.parquet").equals(pq.read_table(tmp_path / "parts.parquet"))


def test_progress_of_a_stream_of_unknown_length(avg, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    write_vectors(avg, parts(2), str(tmp_path / "out.npy"), normalize=False)
    shown = capsys.readouterr().err
    assert "sentences" in shown
    assert "100" not in shown


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_sentences(avg, tmp_path, suffix):
    write_vectors(avg, [], str(tmp_path / f"out{suffix}"), normalize=False)
    if suffix == ".npy":
        assert np.load(tmp_path / "out.npy").shape == (0, 8)
    elif suffix == ".parquet":
        assert pq.read_table(tmp_path / "out.parquet").num_rows == 0
    else:
        assert (tmp_path / "out.jsonl").read_bytes() == b""


@pytest.mark.parametrize("suffix", FORMATS)
def test_file_after_failed_run(avg, tmp_path, suffix):
    def failing_parts():
        yield from parts(2)
        raise OSError(28, "No space left on device")

    (tmp_path / f"out{suffix}").write_text("earlier content")
    with pytest.raises(OSError, match="No space"):
        write_vectors(avg, failing_parts(), str(tmp_path / f"out{suffix}"), normalize=False)
    assert [file.name for file in tmp_path.iterdir()] == [f"out{suffix}"]
    assert (tmp_path / f"out{suffix}").read_text() == "earlier content"


def test_array_in_a_pipe(avg, tmp_path):
    os.mkfifo(tmp_path / "x.npy")
    reader = os.open(tmp_path / "x.npy", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(ParameterError, match=r"x\.npy: \.npy is written to a file, not to a pipe; name"):
        write_vectors(avg, parts(2), str(tmp_path / "x.npy"), normalize=False)
    assert os.read(reader, 9) == b""
    os.close(reader)


def test_model_without_vectors(tmp_path):
    overlap = save_baseline(tmp_path / "model", "overlap")
    with pytest.raises(ModelError, match="overlap compares pairs and has no sentence vectors"):
        write_vectors(overlap, parts(2), str(tmp_path / "out.npy"), normalize=False)
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
