"""The mean of given word vectors, without training: iclr2016 Table 2 (GloVe, PARAGRAM-SL999)."""

from pathlib import Path

from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.baseline import Baseline, PretrainedConfig, pretrained_mean
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.vocabulary.pretrained import read_vectors


class Config(PretrainedConfig):
    """Options of the mean of given vectors: those of `PretrainedConfig`."""


class GivenVectors(Baseline):
    """`g(s) = 1/|s| Σ_w x_w`; unknown words share the vector of `UUUNKKK`, or zero if the file lacks it."""

    @staticmethod
    def fit(config: Config, sentences: TrainingSentences) -> StaticEncoder:
        """Return an encoder with all vectors of the file; errors are those of `read_vectors`."""
        return pretrained_mean(*read_vectors(Path(config.vectors), config.dim))


MODEL = GivenVectors
