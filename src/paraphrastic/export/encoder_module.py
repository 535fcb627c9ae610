"""The module of sentence-transformers that contains an encoder of this package; importing it needs both."""

import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import torch

from paraphrastic.inference import model_folder
from paraphrastic.inference.places import copy_model
from paraphrastic.text.tokenizer import text_column

try:
    _modules = import_module("sentence_transformers.base.modules")  # 6
except ModuleNotFoundError:
    _modules = import_module("sentence_transformers.models")  # 5


class EncoderModule(_modules.InputModule):  # type: ignore[misc,name-defined]  # of a package that is not always installed
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
        self.model = model_folder.load(folder)
        self.model.encoder("load an encoder")

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None, **options: Any) -> dict[str, Any]:
        """Return the texts, with `prompt` before each.

        Raises:
            ParameterError: an input is no text.
        """
        return {"texts": [f"{prompt or ''}{text}" for text in text_column(inputs).to_pylist()]}

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

    get_sentence_embedding_dimension = get_embedding_dimension  # its name in sentence-transformers 5

    def save(self, output_path: str, *arguments: Any, **options: Any) -> None:
        """Copy the model to a folder."""
        copy_model(self.model.folder, Path(output_path))

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **options: Any) -> Any:
        """Load the model in a folder, or in a repository of a hub."""
        names = "token", "cache_folder", "revision", "local_files_only"
        hub = {name: options[name] for name in names if name in options}
        return cls(cls.load_dir_path(model_name_or_path, subfolder=subfolder, **hub))
