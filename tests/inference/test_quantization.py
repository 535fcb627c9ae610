"""Vectors as small integers or bits."""

import numpy as np
import pytest

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.base.reading import SMALL
from paraphrastic.inference.places import copy_model
from paraphrastic.inference.quantization import quantize, ranges_of
from paraphrastic.scoring.weight_files import RANGES, calibration_vectors, write_ranges
from tests.helpers.toy_training import SENTENCES

VECTORS = np.array([[-1, 0, 255, 3], [254, 0, 0, 3], [126, 0, 128, 3]], np.float32)


def test_steps_between_the_least_and_the_largest_number():
    ranges = ranges_of(VECTORS)
    assert ranges.tolist() == [[-1, 0, 0, 3], [254, 0, 255, 3]]
    assert quantize(VECTORS, "uint8", ranges).tolist() == [[0, 0, 255, 0], [255, 0, 0, 0], [127, 0, 128, 0]]
    signed = [[-128, -128, 127, -128], [127, -128, -128, -128], [-1, -128, 0, -128]]
    assert quantize(VECTORS, "int8", ranges).tolist() == signed


def test_bits_of_positive_numbers():
    assert quantize(VECTORS, "ubinary").tolist() == [[0b0011_0000], [0b1001_0000], [0b1011_0000]]
    assert quantize(VECTORS, "binary").tolist() == [[0b0011_0000 - 128], [0b1001_0000 - 128], [0b1011_0000 - 128]]
    assert quantize(np.ones((2, 9), np.float32), "ubinary").tolist() == [[255, 128]] * 2


@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "uint8", "binary", "ubinary"])
def test_data_types_also_of_no_vectors(precision):
    dtype = {"binary": "int8", "ubinary": "uint8"}.get(precision, precision)
    width = 1 if "binary" in precision else 4
    for vectors in (VECTORS, VECTORS[:0]):
        result = quantize(vectors, precision, ranges_of(VECTORS))
        assert (result.dtype, result.shape) == (dtype, (len(vectors), width))


def test_numbers_outside_of_the_ranges():
    expected = [[0, 127, 255, 0], [254, 127, 0, 0], [126, 127, 255, 0]]
    assert quantize(VECTORS, "uint8", [[0, -5, 0, 4], [255, 5, 25.5, 5]]).tolist() == expected


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (None, r"^integers of 8 bits need `ranges`, \(2, dim\); `ranges_of` returns those of vectors$"),
        (np.zeros((2, 3)), r"ranges of shape \(2, 3\) for vectors of size 4: should be \(2, 4\)"),
        (np.zeros(4), r"ranges of shape \(4,\)"),
        (np.full((2, 4), np.nan), "^ranges: each largest number should be finite, and not below the least one$"),
        ([[-3e38] * 4, [3e38] * 4], "^ranges: each largest number should be finite, and not below the least one$"),
        ([[1] * 4, [0] * 4], "^ranges: each largest number should be finite, and not below the least one$"),
        ("int8", r"^ranges that are no numbers: give \(2, dim\), as `ranges_of` returns them$"),
    ],
)
def test_wrong_ranges(ranges, message):
    with pytest.raises(ParameterError, match=message):
        quantize(VECTORS, "int8", ranges)


@pytest.mark.parametrize("vectors", [VECTORS[:0], VECTORS[0], np.full((2, 4), np.nan)])
def test_vectors_without_ranges(vectors):
    with pytest.raises(ParameterError, match="ranges"):
        ranges_of(vectors)


LINES = SENTENCES.to_pylist()


@pytest.fixture(scope="module")
def ranged(model):
    vectors = calibration_vectors(model.scorer, [SENTENCES[:9], SENTENCES[9:]], len(SENTENCES))
    write_ranges(model.folder, vectors)
    yield paraphrastic.load(model.folder)
    (model.folder / RANGES).unlink()


@pytest.mark.parametrize("precision", ["int8", "uint8"])
@pytest.mark.parametrize("normalize", [False, True])
def test_integers_of_a_text_beside_any_other_texts(ranged, precision, normalize):
    options = {"precision": precision, "normalize_embeddings": normalize}
    codes = ranged.encode(LINES, **options)
    for n in range(3):
        np.testing.assert_allclose(ranged.encode(LINES[n], **options), codes[n], atol=1)
        np.testing.assert_allclose(ranged.encode(LINES[n : n + 2], **options), codes[n : n + 2], atol=1)
    vectors = ranged.encode(LINES, normalize_embeddings=normalize)
    low, high = ranges_of(vectors)  # those of training sentences, which these are
    middles = low + (codes + (128.5 if precision == "int8" else 0.5)) * (high - low) / 255
    np.testing.assert_allclose(middles, vectors, atol=(high - low).max() / 250)


def test_given_ranges(ranged):
    ranges = np.stack([np.full(8, -9), np.full(8, 9)])
    expected = quantize(ranged.encode(LINES), "int8", ranges)
    np.testing.assert_array_equal(ranged.encode(LINES, precision="int8", ranges=ranges), expected)
    expected = quantize(ranged.encode(LINES, truncate_dim=3, normalize_embeddings=True), "int8", ranges[:, :3])
    options = {"truncate_dim": 3, "normalize_embeddings": True, "precision": "int8"}
    np.testing.assert_array_equal(ranged.encode(LINES, **options, ranges=ranges[:, :3]), expected)
    unit = {"normalize_embeddings": np.True_, "precision": "int8"}
    np.testing.assert_array_equal(ranged.encode(LINES, truncate_dim=ranged.dim, **unit), ranged.encode(LINES, **unit))
    np.testing.assert_array_equal(
        ranged.encode(LINES, truncate_dim=3, precision="int8"), ranged.encode(LINES, precision="int8")[:, :3]
    )
    with pytest.raises(ModelError, match=r"has no ranges for int8 of such vectors; give `ranges=ranges_of"):
        ranged.encode(LINES, **options)


def test_model_without_ranges(model):
    assert model.ranges is None
    message = r"uint8 of such vectors; give `ranges=ranges_of.*, see paraphrastic\.inference\.quantization$"
    with pytest.raises(ModelError, match=message) as caught:
        model.encode(LINES, precision="uint8")
    assert "\n" not in str(caught.value)


def test_damaged_ranges(ranged, tmp_path):
    copy_model(ranged.folder, tmp_path)
    truncated, weights = (tmp_path / RANGES).read_bytes()[:-4], (tmp_path / "weights.safetensors").read_bytes()
    too_large = bytes(SMALL + 1)
    for data in (b"", b"x" * 99, truncated, weights, too_large):
        (tmp_path / RANGES).write_bytes(data)
        with pytest.raises(ModelError, match=r"ranges\.safetensors: damaged; train the model again"):
            paraphrastic.load(tmp_path)
