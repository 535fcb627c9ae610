"""The directions in which rows vary most."""

import numpy as np
from numpy.typing import NDArray

Directions = NDArray[np.float64]


def principal_directions(products: NDArray[np.float64], count: int) -> Directions:
    """Return the first right singular vectors of X as rows, (min(count, n), n), orthonormal.

    Eigenvectors have no sign of their own: each gets that in which its largest number is positive.

    Args:
        products: (n, n), Xᵀ X of rows X, which are centred or not.
        count: how many.
    """
    _, vectors = np.linalg.eigh(products)  # ascending; one per column
    directions = vectors.T[::-1][:count]
    largest = np.take_along_axis(directions, np.abs(directions).argmax(1)[:, None], 1)
    signed: Directions = directions * np.sign(largest)
    return signed
