"""The sentence encoders as ONNX operators: each function has the equations of the model of that name."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paraphrastic.export.onnx_graph import Graph, Sentences
from paraphrastic.export.onnx_layers import (
    Weights,
    activate,
    combine,
    conv_max_pool,
    dense,
    elman,
    gran_gates,
    lstm,
)
from paraphrastic.nn.static_form import StaticForm

Options = Mapping[str, Any]


def static(g: Graph, words: str, sentences: Sentences, weights: Weights, form: StaticForm, counts: str | None) -> str:
    """Return the vectors of a `StaticForm`; `counts` (N,) belongs to the ids, None stands for ones."""
    if counts is not None:
        values = g("Sqrt", counts) if form.counts == "sqrt" else counts
        counts = sentences.spread(values, g.constant(np.zeros(1, np.float32)))
    sums = sentences.total(words, counts)
    vectors = sentences.divide_by_length(sums) if form.pooling == "mean" else sums
    vectors = g("Add", vectors, g.constant(weights["bias"])) if "bias" in weights else vectors
    vectors = activate(g, vectors, form.activation)
    vectors = dense(g, vectors, weights, "dense", form.activation) if "dense.W" in weights else vectors
    if not len(weights.get("directions", ())):
        return vectors
    directions = weights["directions"]
    projected = g("MatMul", g("MatMul", vectors, g.constant(directions.T)), g.constant(directions))
    return g("Sub", vectors, projected)


def _proj(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    return dense(g, sentences.mean(words), weights, "dense", "linear")


def _dan(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    vectors = sentences.mean(words)
    for layer in range(options["num_layers"]):
        vectors = dense(g, vectors, weights, f"layers.{layer}", options["activation"])
    return vectors


def _rnn(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    return elman(g, words, sentences, weights, options["activation"])


def _irnn(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    return sentences.divide_by_length(elman(g, words, sentences, weights, "linear"))


def _lstm(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    return lstm(g, words, sentences, weights)[1]


def _lstmavg(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    return sentences.mean(lstm(g, words, sentences, weights)[0])


def _bilstmavg(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    forward, _ = lstm(g, words, sentences, weights, "forward_lstm")
    backward, _ = lstm(g, words, sentences, weights, "backward_lstm", backward=True)
    return sentences.mean(combine(g, forward, backward, weights))


def _gran(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    states, _ = lstm(g, words, sentences, weights)
    gated = gran_gates(g, words, states, sentences, weights, options["variant"])
    return sentences.divide_by_length(gated) if options["variant"] in (3, 4) else sentences.mean(gated)


def _bigran(g: Graph, words: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    def gated(direction: str) -> str:
        backward = direction == "backward"
        states, _ = lstm(g, words, sentences, weights, f"{direction}_lstm", backward)
        return gran_gates(g, words, states, sentences, weights, options["variant"], f"{direction}_gates", backward)

    combined = combine(g, gated("forward"), gated("backward"), weights)
    return sentences.divide_by_length(combined) if options["variant"] in (3, 4) else sentences.mean(combined)


def _charcnn(g: Graph, characters: str, sentences: Sentences, weights: Weights, options: Options) -> str:
    widths = {int(width): count for width, count in options["filters"].items()}
    maxima = conv_max_pool(g, characters, sentences, weights["filters"], widths)
    pooled = activate(g, g("Add", maxima, g.constant(weights["bias"])), options["filter_activation"])
    return dense(g, pooled, weights, "dense", options["activation"]) if "dense.W" in weights else pooled


ENCODERS: dict[str, Callable[[Graph, str, Sentences, Weights, Options], str]] = {
    "bigran": _bigran,
    "bilstmavg": _bilstmavg,
    "charcnn": _charcnn,
    "charlstm": _lstm,
    "dan": _dan,
    "gran": _gran,
    "irnn": _irnn,
    "lstm": _lstm,
    "lstmavg": _lstmavg,
    "proj": _proj,
    "rnn": _rnn,
}
