"""Files of weights and vocabulary, alone and in models that are stored in them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from paraphrastic.base.errors import ModelError
from paraphrastic.base.files import sha256_of
from paraphrastic.scoring.weight_files import read_weights, write_weights

TEXTS = pa.array(["the", "café", " a\u00a0b "])
ARRAYS = {"embeddings": np.arange(6, dtype=np.float32).reshape(3, 2), "idf": np.array([1.5, 2.5, 3.5])}


@pytest.fixture
def folder(tmp_path):
    write_weights(tmp_path, TEXTS, ARRAYS)
    return tmp_path


def test_weights_after_reading(folder):
    texts, arrays = read_weights(folder)
    assert texts.equals(TEXTS)
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_change_of_arrays_in_memory(folder):
    before = (folder / "weights.safetensors").read_bytes()
    arrays = read_weights(folder)[1]
    for array in arrays.values():
        array[:] = 0
    assert (folder / "weights.safetensors").read_bytes() == before


def test_array_without_contiguous_memory(tmp_path):
    write_weights(tmp_path, TEXTS, {"embeddings": ARRAYS["embeddings"].T})
    np.testing.assert_array_equal(read_weights(tmp_path)[1]["embeddings"], ARRAYS["embeddings"].T)


def test_permissions_of_files(folder):
    (folder / "other").touch()
    assert len({file.stat().st_mode for file in folder.iterdir()}) == 1


@pytest.mark.parametrize("name", ["weights.safetensors", "vocabulary.parquet"])
def test_missing_file(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name}: missing or damaged; train the model again") as caught:
        read_weights(folder)
    assert "\n" not in str(caught.value)


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


def test_vocabulary_of_another_training(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    write_weights(other, pa.array(["the", "other", "words"]), ARRAYS)
    (other / "vocabulary.parquet").replace(folder / "vocabulary.parquet")
    with pytest.raises(ModelError, match="weights and vocabulary do not belong together"):
        read_weights(folder)


def test_weights_without_hash_of_vocabulary(folder):
    save_file(load_file(folder / "weights.safetensors"), folder / "weights.safetensors")
    with pytest.raises(ModelError, match="weights and vocabulary do not belong together"):
        read_weights(folder)


def test_bytes_of_equal_weights(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_weights(tmp_path / name, TEXTS, ARRAYS)
    first, second = ({f.name: f.read_bytes() for f in (tmp_path / name).iterdir()} for name in ("a", "b"))
    assert first == second
    assert first.keys() == {"vocabulary.parquet", "weights.safetensors"}


def test_vocabulary_with_other_columns(folder):
    pq.write_table(pa.table({"word": TEXTS}), folder / "vocabulary.parquet")
    digest = sha256_of(folder / "vocabulary.parquet")
    save_file(ARRAYS, folder / "weights.safetensors", metadata={"vocabulary": digest})
    with pytest.raises(ModelError, match=r"vocabulary\.parquet: not the vocabulary of a model"):
        read_weights(folder)
