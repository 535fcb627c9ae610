"""The layers of `paraphrastic.nn` as ONNX operators, on sentences that are filled up to the same length.

B sentences have at most T tokens; weights have the names of the torch modules.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from paraphrastic.export.onnx_graph import Graph, Sentences

Weights = Mapping[str, NDArray[Any]]
_ACTIVATIONS = {"tanh": "Tanh", "relu": "Relu", "linear": "Identity"}
_ALWAYS_OPEN = 100.0  # bias of a gate that is 1 in float32


def activate(g: Graph, values: str, name: str) -> str:
    """Return the activation function `name` of each element."""
    return g(_ACTIVATIONS[name], values)


def linear(g: Graph, values: str, W: NDArray[Any], b: NDArray[Any]) -> str:
    """Return `x W + b`."""
    return g("Add", g("MatMul", values, g.constant(W)), g.constant(b))


def dense(g: Graph, values: str, weights: Weights, layer: str, activation: str) -> str:
    """Return `f(x W + b)`, see `nn.dense`."""
    return activate(g, linear(g, values, weights[f"{layer}.W"], weights[f"{layer}.b"]), activation)


def lstm(
    g: Graph, words: str, sentences: Sentences, weights: Weights, layer: str = "lstm", backward: bool = False
) -> tuple[str, str]:
    """Return the states (B, T, hidden) and the last one (B, hidden) of `nn.peephole_lstm`.

    Backward, a sentence is read from its end, and the last state is that of its first token.
    """
    W, U, b, peepholes = (weights[f"{layer}.{name}"] for name in ("W", "U", "b", "peepholes"))
    gates = len(peepholes) + 1
    biases = _gate_order(b, gates, _ALWAYS_OPEN)
    p_i, p_f, *p_o = peepholes
    constants = (
        _gate_order(W, gates).T[None],
        _gate_order(U, gates).T[None],
        np.concatenate([biases, np.zeros_like(biases)])[None],
    )
    last = np.concatenate([p_i, p_o[0] if p_o else np.zeros_like(p_i), p_f])[None]
    return _recur(g, "LSTM", words, sentences, constants, backward, last, hidden_size=len(p_i))


def _gate_order(blocks: NDArray[Any], gates: int, output: float = 0.0) -> NDArray[Any]:
    """Return the blocks i, f, z and o of the last axis in the order of ONNX: i, o, f, z; a missing o is `output`."""
    i, f, z, *o = np.split(blocks, gates, axis=-1)
    return np.concatenate([i, o[0] if o else np.full_like(i, output), f, z], axis=-1)


def elman(g: Graph, words: str, sentences: Sentences, weights: Weights, activation: str) -> str:
    """Return the last state (B, hidden) of `nn.elman`."""
    W, U, b = (weights[f"rnn.{name}"] for name in ("W", "U", "b"))
    constants = W.T[None], U.T[None], np.concatenate([b, np.zeros_like(b)])[None]
    options: dict[str, Any] = {"activations": [_ACTIVATIONS[activation]]}
    if activation == "linear":
        options = {"activations": ["Affine"], "activation_alpha": [1.0], "activation_beta": [0.0]}
    return _recur(g, "RNN", words, sentences, constants, hidden_size=len(b), **options)[1]


def _recur(
    g: Graph,
    operator: str,
    words: str,
    sentences: Sentences,
    weights: tuple[NDArray[Any], ...],
    backward: bool = False,
    peepholes: NDArray[Any] | None = None,
    **options: Any,
) -> tuple[str, str]:
    """Return all states (B, T, hidden), and the last one (B, hidden), of a recurrent operator in one direction."""
    lengths = g("Cast", g("Max", sentences.lengths, 1), to=TensorProto.INT32)
    steps = g("Transpose", words, perm=[1, 0, 2])  # (T, B, dim)
    start = [] if peepholes is None else ["", "", g.constant(peepholes)]
    direction = "reverse" if backward else "forward"
    inputs = [steps, *map(g.constant, weights), lengths, *start]
    states, last = g.results(operator, 2, *inputs, direction=direction, **options)  # (T, 1, B, hidden), (1, B, hidden)
    return g("Transpose", g("Squeeze", states, [1]), perm=[1, 0, 2]), g("Squeeze", last, [0])


def gran_gates(
    g: Graph,
    words: str,
    states: str,
    sentences: Sentences,
    weights: Weights,
    variant: int,
    layer: str = "gates",
    backward: bool = False,
) -> str:
    """Return all a_t (B, T, dim) of `nn.gran_gates`; in variants 3 and 4 the last one, (B, dim)."""
    logits = g(
        "Add",
        linear(g, words, weights[f"{layer}.Wx"], weights[f"{layer}.b"]),
        _product(g, states, weights, f"{layer}.Wh"),
    )
    if variant in (3, 4):
        return _running_sum(g, words, logits, sentences, weights.get(f"{layer}.Wa"), backward)
    gates = g("Sigmoid", logits)
    if variant == 5:
        g1, g2 = g.results("Split", 2, gates, axis=2)
        return g("Add", g("Mul", words, g1), g("Mul", states, g2))
    return g("Mul", words if variant == 1 else states, gates)


def _product(g: Graph, values: str, weights: Weights, name: str) -> str:
    return g("MatMul", values, g.constant(weights[name]))


def _running_sum(
    g: Graph, words: str, logits: str, sentences: Sentences, Wa: NDArray[Any] | None, backward: bool
) -> str:
    """Return the last `a_t = x_t ⊙ g1 + a_{t−1} ⊙ g2`, (B, dim); after the end of a sentence it stays."""
    body = Graph("step")
    gates = "logits_t" if Wa is None else body("Add", "logits_t", body("MatMul", "a", body.constant(Wa)))
    g1, g2 = body.results("Split", 2, body("Sigmoid", gates), axis=1)  # (B, dim) each
    new = body("Add", body("Mul", "words_t", g1), body("Mul", "a", g2))
    body.rename(body("Where", "inside_t", new, "a"), "a_new")
    inputs = [_tensor("a"), _tensor("words_t"), _tensor("logits_t"), _tensor("inside_t", TensorProto.BOOL)]
    step = body.build("step", inputs, [_tensor("a_new")])
    start = g("Mul", g("ReduceSum", words, [1], keepdims=0), 0.0)  # (B, dim)
    scanned = words, logits, g("Unsqueeze", sentences.inside, [2])
    options = {"scan_input_axes": [1] * 3, "scan_input_directions": [int(backward)] * 3}
    return g("Scan", start, *scanned, body=step, num_scan_inputs=3, **options)


def _tensor(name: str, data_type: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, data_type, [None, None])


def combine(g: Graph, forward: str, backward: str, weights: Weights) -> str:
    """Return the combination of two directions of `nn.bidirectional`."""
    if "combine.W" not in weights:
        return g("Add", forward, backward)
    return dense(g, g("Concat", forward, backward, axis=-1), weights, "combine", "tanh")


def conv_max_pool(
    g: Graph, characters: str, sentences: Sentences, filters: NDArray[Any], widths: dict[int, int]
) -> str:
    """Return the greatest response of each filter, (B, filters), widest first, as `nn.kernels.conv_max_pool`.

    Args:
        g: the graph.
        characters: (B, T, dim).
        sentences: of the characters.
        filters: (dim, Σ reach), a block of columns for each offset in a window.
        widths: number of filters by width.
    """
    signal = g("Transpose", characters, perm=[0, 2, 1])  # (B, dim, T)
    reach = [sum(count for width, count in widths.items() if width > j) for j in range(max(widths))]
    blocks = np.split(filters, np.cumsum(reach)[:-1], axis=1)  # (dim, reach[j]) each
    maxima, first = list[str](), 0
    for width, count in sorted(widths.items(), reverse=True):
        kernel = np.stack([block[:, first : first + count].T for block in blocks[:width]], axis=2)
        maxima.append(_greatest(g, signal, sentences, kernel))
        first += count
    return g("Concat", *maxima, axis=1)


def _greatest(g: Graph, signal: str, sentences: Sentences, kernel: NDArray[Any]) -> str:
    """Return the greatest response (B, count) of filters (count, dim, width) in windows that a sentence contains.

    A sentence shorter than the filters is one window.
    """
    width = kernel.shape[2]
    responses = g("Conv", signal, g.constant(kernel), pads=[0, width - 1])  # (B, count, T)
    ends = g("Add", sentences.positions, width)  # (1, T)
    is_window = g("LessOrEqual", ends, g("Unsqueeze", sentences.lengths, [1]))  # (B, T)
    is_window = g("Or", is_window, g("Equal", sentences.positions, 0))
    responses = g("Where", g("Unsqueeze", is_window, [1]), responses, float(np.finfo(np.float32).min))
    return g("ReduceMax", responses, axes=[2], keepdims=0)
