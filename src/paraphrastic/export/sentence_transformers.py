"""Encoders of this package in sentence-transformers.

Example:
    from paraphrastic.export.sentence_transformers import load

    model = load("data/model")  # a SentenceTransformer
    model.encode(["A sentence."])

sentence-transformers 6 loads classes of other packages only with `trust_remote_code=True`. `load` does without: it
imports nothing that a file names. Means of word vectors, with or without dense layers, can do without this package.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import ParameterError, missing
from paraphrastic.base.files import write_json
from paraphrastic.export.model_parts import UNKNOWN_SENTENCE, DenseLayer, check_encoder, word_mean
from paraphrastic.export.tokenizer_json import boundary_steps, tokenizer_json, word_level
from paraphrastic.inference.model import Model
from paraphrastic.inference.places import EXPORTED, copy_model
from paraphrastic.scoring.weight_files import write_arrays

CLASS = "EncoderModule"
_LAYERS = "1_Dense", "2_Dense"
_ACTIVATIONS = {
    "linear": "torch.nn.modules.linear.Identity",
    "tanh": "torch.nn.modules.activation.Tanh",
    "relu": "torch.nn.modules.activation.ReLU",
}


def load(folder: Path | str, **options: Any) -> Any:
    """Return the model in `folder` as a `SentenceTransformer`.

    Args:
        folder: of a model, such as data/model, or what `paraphrastic export --to sentence-transformers` wrote.
        options: of `SentenceTransformer`, such as `prompts`.

    Raises:
        ModelError: the model is missing, damaged or compares pairs.
        ParameterError: sentence-transformers is not installed.
    """
    module = _encoder_module()
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(modules=[module(folder)], **options)


def write_encoder(model: Model, folder: Path) -> str:
    """Write a `SentenceTransformer` of `EncoderModule`, with the folder of the model.

    Raises:
        ModelError: the model compares pairs, or belongs to another package.
    """
    check_encoder(model)
    copy_model(model.folder, folder / EXPORTED)
    _write_modules(folder, {EXPORTED: f"{__name__}.{CLASS}"})
    return "the vectors are those of the model; loading needs paraphrastic, see the documentation"


def write_static_embedding(model: Model, folder: Path) -> str:
    """Write a `SentenceTransformer` of its own modules `StaticEmbedding` and `Dense`.

    Raises:
        ModelError: the model has other parts than a mean of word vectors and dense layers.
    """
    mean = word_mean(model)
    content = tokenizer_json(word_level(mean.words), boundary_steps(mean.boundary_tokens))
    write_json(folder / "tokenizer.json", content)
    write_arrays(folder / "model.safetensors", {"embedding.weight": mean.embeddings})
    layers = dict(zip(_LAYERS, mean.layers, strict=False))
    for name, layer in layers.items():
        _write_layer(folder / name, layer)
    types = {"": "StaticEmbedding"} | dict.fromkeys(layers, "Dense")
    _write_modules(folder, {path: f"sentence_transformers.models.{kind}" for path, kind in types.items()})
    return UNKNOWN_SENTENCE


def _write_layer(folder: Path, layer: DenseLayer) -> None:
    inputs, outputs = layer.W.shape
    folder.mkdir()
    sizes = {"in_features": inputs, "out_features": outputs}
    write_json(folder / "config.json", {**sizes, "bias": True, "activation_function": _ACTIVATIONS[layer.activation]})
    write_arrays(folder / "model.safetensors", {"linear.weight": layer.W.T, "linear.bias": layer.b})


def _write_modules(folder: Path, types: Mapping[str, str]) -> None:
    """Write the types of the modules by their folders."""
    modules = [{"idx": n, "name": f"{n}", "path": path, "type": kind} for n, (path, kind) in enumerate(types.items())]
    write_json(folder / "modules.json", modules)
    write_json(folder / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})


_FILES = "modules.json", "config_sentence_transformers.json"
FORMATS = {
    "sentence-transformers": ((*_FILES, EXPORTED), write_encoder),
    "static-embedding": ((*_FILES, "tokenizer.json", "model.safetensors", *_LAYERS), write_static_embedding),
}


def __getattr__(name: str) -> Any:
    """Import the class that `modules.json` names on first use: the rest works without sentence-transformers."""
    if name == CLASS:
        return _encoder_module()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def _encoder_module() -> Any:
    try:
        from paraphrastic.export.encoder_module import EncoderModule
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise ParameterError(f"this needs {missing(package, 'external')}") from error
    EncoderModule.__module__ = __name__  # `save` of sentence-transformers, and pickle, write this address
    return EncoderModule
