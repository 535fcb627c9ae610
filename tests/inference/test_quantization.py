"""Vectors as small integers or bits."""

import numpy as np
import pytest

from paraphrastic.inference.quantization import quantize

VECTORS = np.array([[-1, 0, 255, 3], [254, 0, 0, 3], [126, 0, 128, 3]], np.float32)


def test_steps_between_the_least_and_the_largest_number():
    assert quantize(VECTORS, "uint8").tolist() == [[0, 0, 255, 0], [255, 0, 0, 0], [127, 0, 128, 0]]
    assert quantize(VECTORS, "int8").tolist() == [
        [-128, -128, 127, -128],
        [127, -128, -128, -128],
        [-1, -128, 0, -128],
    ]


def test_bits_of_positive_numbers():
    assert quantize(VECTORS, "ubinary").tolist() == [[0b0011_0000], [0b1001_0000], [0b1011_0000]]
    assert quantize(VECTORS, "binary").tolist() == [[0b0011_0000 - 128], [0b1001_0000 - 128], [0b1011_0000 - 128]]
    assert quantize(np.ones((2, 9), np.float32), "ubinary").tolist() == [[255, 128]] * 2


@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "uint8", "binary", "ubinary"])
def test_data_types_also_of_no_vectors(precision):
    dtype = {"binary": "int8", "ubinary": "uint8"}.get(precision, precision)
    width = 1 if "binary" in precision else 4
    for vectors in (VECTORS, VECTORS[:0]):
        result = quantize(vectors, precision)
        assert (result.dtype, result.shape) == (dtype, (len(vectors), width))
