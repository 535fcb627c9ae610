"""The mean of given word vectors, untrained: iclr2016 Table 2 (GloVe, PARAGRAM-SL999)."""

from typing import Self

import numpy as np
import pyarrow as pa

from paraphrastic.encoding.weighted import GivenConfig, WeightedMean


class Config(GivenConfig):
    """Averages of given vectors have no options of their own."""


class Vectors(WeightedMean):
    """`v(s) = 1/|s| Σ_w x_w`."""

    @classmethod
    def fit(cls, config: Config, sentences: pa.StringArray) -> Self:
        """A scorer with all vectors of the file; the training corpus is not looked at.

        Raises:
            ParameterError: no file is named.
            DataError: it is missing, damaged or of another dimension.
        """
        words, table = config.read()
        return cls(words, np.pad(table, ((1, 0), (0, 0))), np.empty((0, config.dim), np.float32))


MODEL = Vectors
