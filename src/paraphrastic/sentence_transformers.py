"""Encoders of this package in sentence-transformers.

Example:
    from paraphrastic.sentence_transformers import load

    model = load("data/model")  # a SentenceTransformer
    model.encode(["A sentence."])

sentence-transformers 6 loads classes of other packages only with `trust_remote_code=True`. `load` does without: it
imports nothing that a file names.
"""

from pathlib import Path
from typing import Any

from paraphrastic.base.errors import ParameterError

FOLDER = "0_Encoder"  # of the model in an exported folder; the name that sentence-transformers gives it
MODULE = "paraphrastic.sentence_transformers.Encoder"


def load(folder: Path | str, **options: Any) -> Any:
    """Return the model in `folder` as a `SentenceTransformer`.

    Args:
        folder: of a model, such as data/model, or what `paraphrastic export --to sentence-transformers` wrote.
        options: of `SentenceTransformer`, such as `prompts`.

    Raises:
        ModelError: the model is missing, damaged or compares pairs.
        ParameterError: sentence-transformers is not installed.
    """
    module = _encoder_class()
    from sentence_transformers import SentenceTransformer

    exported = Path(folder, FOLDER)
    return SentenceTransformer(modules=[module(exported if exported.is_dir() else folder)], **options)


def __getattr__(name: str) -> Any:
    """Define the class on first use, so that this module can be imported without sentence-transformers."""
    if name == "Encoder":
        return _encoder_class()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def _encoder_class() -> Any:
    try:
        from paraphrastic.inference.encoder_module import Encoder
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("paraphrastic"):
            raise
        package = error.name.partition(".")[0]
        raise ParameterError(f"this needs {package}; pip install 'paraphrastic[external]'") from error
    return Encoder
