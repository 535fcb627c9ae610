"""An encoder of sentence-transformers or model2vec that lies in a folder, measured like our own."""

import json
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from paraphrastic.console import console
from paraphrastic.encoding.cosine import of_vectors
from paraphrastic.errors import ModelError, ParameterError


class Config(BaseModel, strict=True, extra="forbid"):
    """Options of external encoders.

    Attributes:
        path: folder of the encoder.
        batch_size: sentences that it is given at once.
    """

    path: str | None
    batch_size: int = Field(ge=1)


class External:
    """Cosine of the vectors that the encoder gives tokenized, lower-cased text; nothing is trained."""

    def __init__(self, config: Config) -> None:
        if not config.path:
            raise ParameterError(
                "`path` of the model names no folder: set it to one of sentence-transformers or model2vec"
            )
        self._folder, self._batch_size = Path(config.path), config.batch_size

    @classmethod
    def fit(cls, config: Config, sentences: pa.StringArray) -> Self:
        """The encoder as it is; the training corpus is not looked at.

        Raises:
            ParameterError: no folder is named, or the package that reads it is not installed.
            ModelError: the folder holds no encoder of either package.
        """
        scorer = cls(config)
        scorer.encode(pa.array([""]))  # what is wrong is told before anything is written
        return scorer

    def encode(self, sentences: pa.StringArray) -> NDArray[np.float32]:
        """Vectors of tokenized sentences, (n, dim)."""
        texts = sentences.to_pylist()
        return np.asarray(self._encoder.encode(texts, batch_size=self._batch_size, show_progress_bar=False), np.float32)

    def score(
        self, sentences: pa.StringArray, left: NDArray[np.integer], right: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Cosine of each pair, 0 where a vector is zero."""
        return of_vectors(self.encode(sentences), left, right)

    def unknown(self, sentences: pa.StringArray) -> NDArray[np.float64]:
        """Zero for each sentence, (n,): what the encoder knows is its own affair."""
        return np.zeros(len(sentences))

    def save(self, folder: Path) -> dict[str, Any]:
        """Nothing to write: the encoder stays where it is."""
        return {}

    @classmethod
    def load(cls, folder: Path, config: Config) -> Self:
        """The scorer; the encoder is read from `config.path`."""
        return cls(config)

    @cached_property
    def _encoder(self) -> Any:
        package, read = _reader(self._folder)
        try:
            return read(import_module(package), str(self._folder))
        except ImportError as error:
            raise ParameterError(f"{self._folder}: reading it needs {package}; pip install '.[external]'") from error


def _reader(folder: Path) -> tuple[str, Callable[[Any, str], Any]]:
    """The package that wrote `folder`, and how it reads it."""
    if (folder / "modules.json").is_file():
        return "sentence_transformers", _sentence_transformer
    if _model_type(folder) == "model2vec":
        return "model2vec", lambda package, path: package.StaticModel.from_pretrained(path)
    raise ModelError(
        f"{folder}: no encoder of sentence-transformers or model2vec; name the folder with its modules.json"
    )


def _sentence_transformer(package: Any, path: str) -> Any:
    if not console.is_terminal:
        import_module("transformers.utils.logging").disable_progress_bar()  # of weights that are read
    return package.SentenceTransformer(path)


def _model_type(folder: Path) -> object:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return config.get("model_type") if isinstance(config, dict) else None


MODEL = External
