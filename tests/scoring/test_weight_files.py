"""Files of weights and vocabulary, alone and in models that are stored in them."""

import json
import os
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from paraphrastic.base import reading
from paraphrastic.base.errors import ModelError
from paraphrastic.base.files import sha256_of
from paraphrastic.scoring.weight_files import read_weights, write_weights

TEXTS = pa.array(["the", "café", " a\u00a0b "])
ARRAYS = {"embeddings": np.arange(6, dtype=np.float32).reshape(3, 2), "idf": np.array([1.5, 2.5, 3.5])}


@pytest.fixture
def folder(tmp_path):
    write_weights(tmp_path, TEXTS, ARRAYS)
    return tmp_path


def test_weights_after_reading_and_a_change_in_memory(folder):
    before = (folder / "weights.safetensors").read_bytes()
    texts, arrays = read_weights(folder)
    assert texts.equals(TEXTS)
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
        arrays[name][:] = 0
    assert (folder / "weights.safetensors").read_bytes() == before


def test_array_without_contiguous_memory_and_permissions(tmp_path):
    write_weights(tmp_path, TEXTS, {"embeddings": ARRAYS["embeddings"].T})
    np.testing.assert_array_equal(read_weights(tmp_path)[1]["embeddings"], ARRAYS["embeddings"].T)
    (tmp_path / "other").touch()
    assert len({file.stat().st_mode for file in tmp_path.iterdir()}) == 1


@pytest.mark.parametrize("name", ["weights.safetensors", "vocabulary.parquet"])
def test_missing_file_and_pipe(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name}: missing or damaged; train the model again") as caught:
        read_weights(folder)
    assert "\n" not in str(caught.value)
    os.mkfifo(folder / name)
    with pytest.raises(ModelError, match=f"{name}: is a pipe, where a file is expected"):
        read_weights(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("weights.safetensors", r"weights\.safetensors: missing or damaged; train the model again"),
        ("vocabulary.parquet", "weights and vocabulary do not belong together; train the model again"),
    ],
)
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_truncated_file(folder, name, message, kept):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(kept * len(content))])
    with pytest.raises(ModelError, match=message) as caught:
        read_weights(folder)
    assert "\n" not in str(caught.value)


def test_vocabulary_of_another_training_and_weights_without_its_hash(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    write_weights(other, pa.array(["the", "other", "words"]), ARRAYS)
    (other / "vocabulary.parquet").replace(folder / "vocabulary.parquet")
    with pytest.raises(ModelError, match="weights and vocabulary do not belong together"):
        read_weights(folder)
    save_file(load_file(folder / "weights.safetensors"), folder / "weights.safetensors")
    with pytest.raises(ModelError, match="weights and vocabulary do not belong together"):
        read_weights(folder)


def replace_vocabulary(folder, table) -> None:
    pq.write_table(table, folder / "vocabulary.parquet", compression="zstd")
    save_file(ARRAYS, folder / "weights.safetensors", {"vocabulary": sha256_of(folder / "vocabulary.parquet")})


def test_vocabulary_with_other_columns(folder):
    replace_vocabulary(folder, pa.table({"word": TEXTS}))
    with pytest.raises(ModelError, match=r"vocabulary\.parquet: not the vocabulary of a model"):
        read_weights(folder)


def write_header(path, **changes) -> None:
    """Change the header of the array `idf` in a file of weights; its 24 bytes stay."""
    content = path.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    header["idf"] |= changes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + size :])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dtype": "BF16", "shape": [12]}, r"'idf' has the type BF16, none of F32, F16"),
        ({"dtype": "F8_E5M2", "shape": [24]}, r"'idf' has the type F8_E5M2, none of"),
        ({"dtype": "BOOL", "shape": [24]}, r"'idf' has the type BOOL, none of"),
        ({"dtype": "F8_E4M3", "shape": [24]}, r"'idf' has the type F8_E4M3, none of"),
        ({"unit": 1}, r"'idf' has the keys 'dtype', 'shape', 'data_offsets', 'unit'"),
        ({"shape": [4]}, "missing or damaged"),
        ({"data_offsets": [8, 32]}, "missing or damaged"),
        ({"data_offsets": [16, 40], "shape": [3]}, "missing or damaged"),
        ({"shape": [2**62, 4]}, "missing or damaged"),
    ],
)
def test_changed_header(folder, changes, message):
    write_header(folder / "weights.safetensors", **changes)
    with pytest.raises(ModelError, match=rf"weights\.safetensors: {message}") as caught:
        read_weights(folder)
    assert "\n" not in str(caught.value)


def test_header_nested_deep(folder):
    text = b'{"a":' * 100_000
    (folder / "weights.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    with pytest.raises(ModelError, match="missing or damaged"):
        read_weights(folder)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 70_000])
def test_number_that_is_not_finite(tmp_path, dtype, value, row):
    embeddings = np.ones((70_001, 1), dtype)
    write_weights(tmp_path, TEXTS, {"embeddings": embeddings})
    read_weights(tmp_path)
    embeddings[row] = value
    write_weights(tmp_path, TEXTS, {"embeddings": embeddings})
    with pytest.raises(ModelError, match="'embeddings' has a number that is not finite; train the model again"):
        read_weights(tmp_path)


def test_empty_table(tmp_path):
    write_weights(tmp_path, TEXTS, {"embeddings": np.ones((4, 0), np.float32)})
    with pytest.raises(ModelError, match=r"'embeddings' has the shape \[4, 0\], which holds no numbers"):
        read_weights(tmp_path)


@pytest.mark.parametrize("is_dictionary", [True, False])
@pytest.mark.parametrize(
    ("rows", "length", "message"),
    [(1_000_000, 4, "the weights of this model; .*vocabulary.parquet has 1,000,000 entries"), (6, 10**6, "unpacks to")],
)
def test_small_vocabulary_of_much_text(folder, monkeypatch, rows, length, message, is_dictionary):
    monkeypatch.setattr(reading, "FLOOR", 5 * 10**6)
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["a" * length])
    replace_vocabulary(folder, pa.table({"text": column if is_dictionary else column.dictionary_decode()}))
    assert (folder / "vocabulary.parquet").stat().st_size < 10_000
    with pytest.raises(ModelError, match=message):
        read_weights(folder)
