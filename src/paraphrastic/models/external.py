"""An encoder of sentence-transformers or model2vec in a folder, evaluated like the models of this package."""

from pathlib import Path
from typing import Annotated

import pyarrow as pa
from pydantic import BaseModel, Field

from paraphrastic.base.tables import TrainingSentences
from paraphrastic.scoring.baseline import Baseline, needed
from paraphrastic.scoring.external_encoder import ExternalEncoder


class Config(BaseModel, strict=True, extra="forbid"):
    """Options of external encoders."""

    # folder of the encoder
    path: Annotated[str, needed("set it to a folder of sentence-transformers or model2vec")]
    batch_size: int = Field(ge=1, lt=1 << 63)  # sentences per call of the encoder


class External(Baseline):
    """Cosine of the vectors that the encoder returns for tokenized, lower-cased text."""

    @staticmethod
    def fit(config: Config, sentences: TrainingSentences) -> ExternalEncoder:
        """Return the encoder; the training sentences are not used.

        Raises:
            ParameterError: the package that reads it is not installed.
            ModelError: the folder holds no encoder of either package.
        """
        encoder = ExternalEncoder(Path(config.path), config.batch_size)
        encoder.encode(pa.array([""]))  # fail before anything is written
        return encoder


MODEL = External
