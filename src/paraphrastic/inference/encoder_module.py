"""The module of a `SentenceTransformer` that encodes with a model of this package."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from paraphrastic.base.errors import ModelError
from paraphrastic.inference.model import load
from paraphrastic.inference.model_folder import copy_model
from paraphrastic.scoring.scorer import VectorScorer
from paraphrastic.sentence_transformers import MODULE

try:
    from sentence_transformers.base.modules import InputModule  # 6
except ModuleNotFoundError:
    from sentence_transformers.models import InputModule  # 5


class Encoder(InputModule):  # type: ignore[misc, unused-ignore]  # sentence-transformers may not be installed
    """Returns the vectors of `Model.encode`, on the CPU; it has no parameters that could be trained.

    Args:
        folder: of the model.

    Raises:
        ModelError: the model is missing, damaged or compares pairs.
    """

    modalities: ClassVar[list[str]] = ["text"]
    save_in_root = False
    max_seq_length = math.inf
    tokenizer = None  # tokens are those of `text.tokenizer`

    def __init__(self, folder: Path | str) -> None:
        super().__init__()
        self.model = load(folder)
        if not isinstance(self.model.scorer, VectorScorer):
            raise ModelError(f"{folder}: {self.model.name} compares pairs and has no sentence vectors; load an encoder")

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None, **options: Any) -> dict[str, Any]:
        """Return the texts, with `prompt` before each."""
        return {"texts": [f"{prompt or ''}{text}" for text in inputs]}

    def tokenize(self, texts: Sequence[str], **options: Any) -> dict[str, Any]:
        """Return the texts, as sentence-transformers 5 calls it."""
        return self.preprocess(texts)

    def forward(self, features: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Add the vectors, (n, dim)."""
        vectors = self.model.encode(features["texts"], show_progress_bar=False)
        return features | {"sentence_embedding": torch.from_numpy(vectors)}

    def get_embedding_dimension(self) -> int:
        """Return the size of a vector."""
        return self.model.dim

    def get_sentence_embedding_dimension(self) -> int:
        """Return the size of a vector; the name of it in sentence-transformers 5."""
        return self.model.dim

    def save(self, output_path: str, *arguments: Any, **options: Any) -> None:
        """Copy the model to a folder."""
        copy_model(self.model.folder, Path(output_path))

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **options: Any) -> Self:
        """Load the model in a folder, or in a repository of a hub."""
        names = "token", "cache_folder", "revision", "local_files_only"
        hub = {name: options[name] for name in names if name in options}
        return cls(cls.load_dir_path(model_name_or_path, subfolder=subfolder, **hub))


Encoder.__module__ = MODULE.rpartition(".")[0]  # the name that `save` of sentence-transformers writes
