"""A mean of word vectors, with or without dense layers, in modules that sentence-transformers has itself."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from paraphrastic.export.averages import UNKNOWN_SENTENCE, Layer, word_mean
from paraphrastic.export.json_file import write_json
from paraphrastic.export.tokenizer_json import Json, boundary_steps, tokenizer_json, word_level
from paraphrastic.inference.model import Model
from paraphrastic.scoring.weight_files import write_arrays

_LAYERS = "1_Dense", "2_Dense"
FILES = "tokenizer.json", "modules.json", "config_sentence_transformers.json", "model.safetensors", *_LAYERS
_MODULES = "sentence_transformers.models"
_ACTIVATIONS = {
    "linear": "torch.nn.modules.linear.Identity",
    "tanh": "torch.nn.modules.activation.Tanh",
    "relu": "torch.nn.modules.activation.ReLU",
}


def write(model: Model, folder: Path) -> str:
    """Write a `SentenceTransformer` of the modules `StaticEmbedding` and `Dense` to `folder`.

    Raises:
        ModelError: the model has other parts than a mean of word vectors and dense layers.
    """
    mean = word_mean(model)
    content = tokenizer_json(word_level(mean.words), boundary_steps(mean.boundary_tokens))
    write_json(folder / "tokenizer.json", content)
    write_arrays(folder / "model.safetensors", {"embedding.weight": mean.embeddings})
    for name, layer in zip(_LAYERS, mean.layers, strict=False):
        _write_layer(folder / name, layer)
    write_json(folder / "modules.json", [*_modules(len(mean.layers))])
    write_json(folder / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
    return UNKNOWN_SENTENCE


def _modules(layers: int) -> Iterator[Json]:
    for number, path in enumerate(["", *_LAYERS[:layers]]):
        kind = "Dense" if number else "StaticEmbedding"
        yield {"idx": number, "name": str(number), "path": path, "type": f"{_MODULES}.{kind}"}


def _write_layer(folder: Path, layer: Layer) -> None:
    inputs, outputs = layer.W.shape
    folder.mkdir()
    sizes = {"in_features": inputs, "out_features": outputs}
    write_json(folder / "config.json", {**sizes, "bias": True, "activation_function": _ACTIVATIONS[layer.activation]})
    weights = {"linear.weight": np.ascontiguousarray(layer.W.T), "linear.bias": layer.b}
    write_arrays(folder / "model.safetensors", weights)
