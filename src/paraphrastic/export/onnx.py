"""An encoder as an ONNX graph: ids and offsets in, vectors out; with its vocabulary and a description of its inputs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paraphrastic.base.errors import ModelError, ParameterError, missing
from paraphrastic.base.files import write_json
from paraphrastic.base.tables import VOCABULARY, write_table
from paraphrastic.export.model_parts import check_encoder
from paraphrastic.export.tokenizer_json import Json, boundary_steps, tokenizer_json, word_level
from paraphrastic.inference.model import Model
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.scoring.static import StaticEncoder
from paraphrastic.vocabulary.kinds import BoundaryTokens, boundary_widths

if TYPE_CHECKING:
    from paraphrastic.export.onnx_graph import Layers

Options = Mapping[str, Any]
_MAX_BYTES = 2_000_000_000  # of a protobuf message
_IDS = {
    "words": "row of each word in vocabulary.parquet, from 1; 0 for others; tokenizer.json makes them from text",
    "characters": "row of each character in vocabulary.parquet, from 1; 0 for others; tokenizer.json makes them",
    "ngrams": "row, from 0, of each distinct entry of vocabulary.parquet that the text has; the text is the tokens, "
    "separated by single spaces, with a space at each end; without tokens it is empty",
}
_IDS["words+ngrams"] = _IDS["ngrams"] + ". With a space at each end, an entry is a word, or, with one inside, two"
_COUNTS = "float32 (N,), occurrences of each entry in its sentence"


def write_graph(model: Model, folder: Path) -> str:
    """Write `model.onnx`, `inputs.json`, the vocabulary, and for words and characters a `tokenizer.json`.

    Raises:
        ModelError: the model is no encoder of this package, or is too large for the format.
        ParameterError: the package onnx is not installed.
    """
    check_encoder(model)
    if not isinstance(model.scorer, StaticEncoder) and model.name not in ENCODERS:
        known = f"{__name__}.ENCODERS has {', '.join(ENCODERS)}"
        raise ModelError(f"{model.folder}: {model.name} has no graph; {known}; add it there")
    scorer: Any = model.scorer  # a `StaticEncoder` or a `TrainedEncoder`
    if scorer.embedding_array().nbytes > _MAX_BYTES:
        raise ModelError(f"{model.folder}: the embeddings exceed the 2 GB of an ONNX file; train a smaller vocabulary")
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise ParameterError(f"export to onnx needs the package {missing('onnx', 'external')}") from error
    onnx.save_model(_graph(model, scorer), folder / "model.onnx")
    write_json(folder / "inputs.json", _description(model, scorer))
    write_table(pa.table({"text": scorer.texts}), folder / "vocabulary.parquet", VOCABULARY)
    if scorer.vocabulary_kind == "words":
        steps = boundary_steps(_boundary_tokens(scorer))
        write_json(folder / "tokenizer.json", tokenizer_json(word_level(scorer.texts), steps))
    elif scorer.vocabulary_kind == "characters":
        write_json(folder / "tokenizer.json", tokenizer_json(word_level(scorer.texts), splits="characters"))
    return "the vectors are those of the model to 1e-5; inputs.json says how ids are made"


def _boundary_tokens(scorer: Any) -> BoundaryTokens:
    return (scorer.form if isinstance(scorer, StaticEncoder) else scorer.module).boundary_tokens


def _description(model: Model, scorer: Any) -> Json:
    kind = scorer.vocabulary_kind
    counts = {"counts": _COUNTS} if "ngrams" in kind else {}
    return {
        "model": model.name,
        "vocabulary": kind,
        "boundary_tokens": _boundary_tokens(scorer),
        "inputs": {
            "ids": f"int64 (N,), the ids of all sentences: {_IDS[kind]}",
            "offsets": "int64 (B + 1,), sentence i has ids[offsets[i]:offsets[i + 1]], B > 0",
            **counts,
        },
        "outputs": {"vectors": f"float32 (B, {model.dim}), zero for a sentence of which nothing is known"},
    }


def _graph(model: Model, scorer: Any) -> Any:
    """Return the model of the package onnx."""
    from onnx import TensorProto

    from paraphrastic.export.onnx_graph import Layers

    is_static, counted = isinstance(scorer, StaticEncoder), "ngrams" in scorer.vocabulary_kind
    g = Layers(scorer.embedding_array(), scorer.arrays if is_static else scorer.arrays())
    vectors = _static(g, scorer.form, counted) if is_static else ENCODERS[model.name](g, model.options)
    known = g("Unsqueeze", _known(g, scorer, TensorProto.INT64), [1])
    g.rename(g("Where", known, vectors, 0.0), "vectors")
    counts = {"counts": TensorProto.FLOAT} if counted else {}
    return g.model(model.name, model.dim, {"ids": TensorProto.INT64, "offsets": TensorProto.INT64} | counts)


def _known(g: "Layers", scorer: Any, int64: int) -> str:
    """Return whether a sentence has a known entry, (B,), as the vocabularies define it."""
    space, counted = scorer.texts.index(" ").as_py(), "ngrams" in scorer.vocabulary_kind  # −1 if it is not there
    if counted and space < 0:
        return g("Greater", g.lengths, 0)
    is_known = g("And", g.inside, g("Not", g("Equal", g.ids, space if counted else 0)))
    always = sum(boundary_widths(_boundary_tokens(scorer)))
    if scorer.vocabulary_kind == "characters":
        is_known, always = g("And", is_known, g("Not", g("Equal", g.ids, 1 + space))), 0
    return g("Greater", g("ReduceSum", g("Cast", is_known, to=int64), [1], keepdims=0), always)


def _static(g: "Layers", form: StaticForm, counted: bool) -> str:
    """Return the vectors of a `StaticForm`; with the counts of the ids if they are `counted`."""
    weights, counts = g.weights, None
    if counted:
        counts = g.spread(g("Sqrt", "counts") if form.counts == "sqrt" else "counts", np.zeros(1, np.float32))
    sums = g.total(g.words, counts)
    vectors = g.divide_by_length(sums) if form.pooling == "mean" else sums
    vectors = g("Add", vectors, weights["bias"]) if "bias" in weights else vectors
    vectors = g.activate(vectors, form.activation)
    vectors = g.dense(vectors, "dense", form.activation) if "dense.W" in weights else vectors
    if not len(weights.get("directions", ())):
        return vectors
    directions = weights["directions"]
    return g("Sub", vectors, g("MatMul", g("MatMul", vectors, directions.T), directions))


def _dan(g: "Layers", options: Options) -> str:
    vectors = g.mean(g.words)
    for layer in range(options["num_layers"]):
        vectors = g.dense(vectors, f"layers.{layer}", options["activation"])
    return vectors


def _bigran(g: "Layers", options: Options) -> str:
    variant = options["variant"]
    forward = g.gran_gates(g.lstm("forward_lstm")[0], variant, "forward_gates")
    backward = g.gran_gates(g.lstm("backward_lstm", True)[0], variant, "backward_gates", True)
    return _pooled(g, g.combine(forward, backward), options)


def _pooled(g: "Layers", gated: str, options: Options) -> str:
    return g.divide_by_length(gated) if options["variant"] in (3, 4) else g.mean(gated)


def _charcnn(g: "Layers", options: Options) -> str:
    maxima = g.conv_max_pool({int(width): count for width, count in options["filters"].items()})
    pooled = g.activate(g("Add", maxima, g.weights["bias"]), options["filter_activation"])
    return g.dense(pooled, "dense", options["activation"]) if "dense.W" in g.weights else pooled


ENCODERS: dict[str, Callable[["Layers", Options], str]] = {  # each has the equations of the model of that name
    "bigran": _bigran,
    "bilstmavg": lambda g, _: g.mean(g.combine(g.lstm("forward_lstm")[0], g.lstm("backward_lstm", True)[0])),
    "charcnn": _charcnn,
    "charlstm": lambda g, _: g.lstm()[1],
    "dan": _dan,
    "gran": lambda g, options: _pooled(g, g.gran_gates(g.lstm()[0], options["variant"]), options),
    "irnn": lambda g, _: g.divide_by_length(g.elman("linear")),
    "lstm": lambda g, _: g.lstm()[1],
    "lstmavg": lambda g, _: g.mean(g.lstm()[0]),
    "proj": lambda g, _: g.dense(g.mean(g.words)),
    "rnn": lambda g, options: g.elman(options["activation"]),
}

FORMATS = {"onnx": (("model.onnx", "inputs.json", "vocabulary.parquet", "tokenizer.json"), write_graph)}
