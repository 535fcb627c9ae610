"""A graph of ONNX operators, written as calls, and the layers of `paraphrastic.nn` in it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import make_tensor_value_info

OPSET, IR_VERSION = 17, 8  # read by onnxruntime 1.12 and later
_ACTIVATIONS = {"tanh": "Tanh", "relu": "Relu", "linear": "Identity"}
_ALWAYS_OPEN = 100.0  # bias of a gate that is 1 in float32


class Graph:
    """Collects operators and constants; a value is named by a string.

    Args:
        prefix: of the names of values, different in a graph and the bodies of its loops.
    """

    def __init__(self, prefix: str = "v") -> None:
        self._prefix, self._nodes, self._constants = prefix, list[Any](), dict[str, Any]()

    def constant(self, array: NDArray[Any] | float | Sequence[float]) -> str:
        """Return a value that is an array; floating-point numbers are float32, integers int64."""
        array = np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)
        array = array.astype(np.float32 if array.dtype.kind == "f" else np.int64)
        name = f"{self._prefix}_c{len(self._constants)}"
        self._constants[name] = onnx.numpy_helper.from_array(array, name)
        return name

    def __call__(self, operator: str, *inputs: str | float | Sequence[float] | NDArray[Any], **attributes: Any) -> str:
        """Return the only result of an operator; numbers become constants."""
        return self.results(operator, 1, *inputs, **attributes)[0]

    def results(self, operator: str, count: int, *inputs: Any, **attributes: Any) -> list[str]:
        """Return the first `count` results of an operator."""
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        outputs = [f"{self._prefix}_{len(self._nodes)}_{n}" for n in range(count)]
        self._nodes.append(onnx.helper.make_node(operator, names, outputs, **attributes))
        return outputs

    def rename(self, value: str, name: str) -> None:
        """Give a value the name `name`."""
        self._nodes.append(onnx.helper.make_node("Identity", [value], [name]))

    def build(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return the graph in the classes of the package onnx."""
        return onnx.helper.make_graph(self._nodes, name, inputs, outputs, [*self._constants.values()])


class Layers(Graph):
    """The layers on B sentences of at most T ids, from flat `ids` (N,) and `offsets` (B + 1,), padded to T ids each.

    Args:
        embeddings: the embedding table.
        weights: those of the layers, with the names of the torch modules.

    Attributes:
        lengths: (B,) int64.
        ids: (B, T) int64; 0 after the end of a sentence.
        inside: (B, T) bool, whether a position is in the sentence.
        mask: (B, T) float32, the same as 0 and 1.
        positions: (1, T) int64, numbers from 0.
        words: (B, T, dim), rows of the embedding table; zero after the end of a sentence.
    """

    def __init__(self, embeddings: NDArray[Any], weights: Mapping[str, NDArray[Any]]) -> None:
        super().__init__()
        self.weights = weights
        self._starts = self("Slice", "offsets", [0], [-1])  # (B,)
        self.lengths = self("Sub", self("Slice", "offsets", [1], [np.iinfo(np.int64).max]), self._starts)
        longest = self("Max", self("ReduceMax", self.lengths, keepdims=0), 1)
        self.positions = self("Unsqueeze", self("Range", 0, longest, 1), [0])
        self.inside = self("Less", self.positions, self("Unsqueeze", self.lengths, [1]))
        self.mask = self("Cast", self.inside, to=TensorProto.FLOAT)
        self.ids = self.spread("ids", np.zeros(1, np.int64))
        table = self.constant(embeddings)
        self.words = self("Mul", self("Gather", table, self.ids), self("Unsqueeze", self.mask, [2]))

    def spread(self, values: str, end: NDArray[Any]) -> str:
        """Return flat values (N,) as (B, T), with the value in `end` (1,) after the end of a sentence."""
        last = self.constant(end)
        at = self("Add", self("Unsqueeze", self._starts, [1]), self.positions)  # (B, T)
        at = self("Where", self.inside, at, self("Shape", "ids"))
        return self("Gather", self("Concat", values, last, axis=0), at)

    def total(self, vectors: str, weights: str | None = None) -> str:
        """Return the sum over the positions of a sentence, (B, dim) from (B, T, dim), weighted by (B, T) if given."""
        weights = self("Unsqueeze", weights or self.mask, [1])  # (B, 1, T)
        return self("Squeeze", self("MatMul", weights, vectors), [1])

    def divide_by_length(self, vectors: str) -> str:
        """Divide the vectors of sentences, (B, dim), by their lengths; those of empty ones by 1."""
        lengths = self("Cast", self("Max", self.lengths, 1), to=TensorProto.FLOAT)
        return self("Div", vectors, self("Unsqueeze", lengths, [1]))

    def mean(self, vectors: str) -> str:
        """Return the mean over the positions of a sentence, (B, dim) from (B, T, dim)."""
        return self.divide_by_length(self.total(vectors))

    def activate(self, values: str, name: str) -> str:
        """Return the activation function `name` of each element."""
        return self(_ACTIVATIONS[name], values)

    def linear(self, values: str, W: str, b: str) -> str:
        """Return `x W + b`, of weights with these names."""
        return self("Add", self("MatMul", values, self.weights[W]), self.weights[b])

    def dense(self, values: str, layer: str = "dense", activation: str = "linear") -> str:
        """Return `f(x W + b)`, see `nn.layers.Dense`."""
        return self.activate(self.linear(values, f"{layer}.W", f"{layer}.b"), activation)

    def combine(self, forward: str, backward: str) -> str:
        """Return the combination of two directions of `nn.layers.Combine`."""
        if "combine.W" not in self.weights:
            return self("Add", forward, backward)
        return self.dense(self("Concat", forward, backward, axis=-1), "combine", "tanh")

    def lstm(self, layer: str = "lstm", backward: bool = False) -> tuple[str, str]:
        """Return the states (B, T, hidden) and the last one (B, hidden) of `nn.peephole_lstm`.

        Backward, a sentence is read from its end, and the last state is that of its first token.
        """
        W, U, b, peepholes = (self.weights[f"{layer}.{name}"] for name in ("W", "U", "b", "peepholes"))
        gates = len(peepholes) + 1
        biases = _gate_order(b, gates, _ALWAYS_OPEN)
        p_i, p_f, *p_o = peepholes
        p = np.concatenate([p_i, p_o[0] if p_o else np.zeros_like(p_i), p_f])
        weights = _gate_order(W, gates).T, _gate_order(U, gates).T, np.concatenate([biases, np.zeros_like(biases)])
        return self._recur("LSTM", weights, len(p_i), [p], direction="reverse" if backward else "forward")

    def elman(self, activation: str) -> str:
        """Return the last state (B, hidden) of `nn.recurrent.Elman`."""
        W, U, b = (self.weights[f"rnn.{name}"] for name in ("W", "U", "b"))
        options: dict[str, Any] = {"activations": [_ACTIVATIONS[activation]]}
        if activation == "linear":
            options = {"activations": ["Affine"], "activation_alpha": [1.0], "activation_beta": [0.0]}
        weights = W.T, U.T, np.concatenate([b, np.zeros_like(b)])
        return self._recur("RNN", weights, len(b), direction="forward", **options)[1]

    def _recur(
        self,
        operator: str,
        weights: Sequence[NDArray[Any]],
        size: int,
        peepholes: Sequence[NDArray[Any]] = (),
        **options: Any,
    ) -> tuple[str, str]:
        """Return all states (B, T, size), and the last one (B, size), of a recurrent operator in one direction."""
        lengths = self("Cast", self("Max", self.lengths, 1), to=TensorProto.INT32)
        steps = self("Transpose", self.words, perm=[1, 0, 2])  # (T, B, dim)
        p = [self.constant(each[None]) for each in peepholes]
        inputs = [steps, *(each[None] for each in weights), lengths, *(["", "", *p] if p else [])]
        states, last = self.results(operator, 2, *inputs, hidden_size=size, **options)  # (T, 1, B, size), (1, B, size)
        return self("Transpose", self("Squeeze", states, [1]), perm=[1, 0, 2]), self("Squeeze", last, [0])

    def gran_gates(self, states: str, variant: int, layer: str = "gates", backward: bool = False) -> str:
        """Return all a_t (B, T, dim) of `nn.recurrent.GranGates`; in variants 3 and 4 the last one, (B, dim)."""
        of_words = self.linear(self.words, f"{layer}.Wx", f"{layer}.b")
        logits = self("Add", of_words, self("MatMul", states, self.weights[f"{layer}.Wh"]))
        if variant in (3, 4):
            return self._running_sum(logits, self.weights.get(f"{layer}.Wa"), backward)
        gates = self("Sigmoid", logits)
        if variant == 5:
            g1, g2 = self.results("Split", 2, gates, axis=2)
            return self("Add", self("Mul", self.words, g1), self("Mul", states, g2))
        return self("Mul", self.words if variant == 1 else states, gates)

    def _running_sum(self, logits: str, Wa: NDArray[Any] | None, backward: bool) -> str:
        """Return the last `a_t = x_t ⊙ g1 + a_{t−1} ⊙ g2`, (B, dim); after the end of a sentence it stays."""
        body = Graph("step")
        gates = "logits_t" if Wa is None else body("Add", "logits_t", body("MatMul", "a", Wa))
        g1, g2 = body.results("Split", 2, body("Sigmoid", gates), axis=1)  # (B, dim) each
        new = body("Add", body("Mul", "words_t", g1), body("Mul", "a", g2))
        body.rename(body("Where", "inside_t", new, "a"), "a_new")
        names = ("a", "words_t", "logits_t", "inside_t", "a_new")
        types = (TensorProto.BOOL if name == "inside_t" else TensorProto.FLOAT for name in names)
        *inputs, a_new = (
            make_tensor_value_info(name, type_, [None, None]) for name, type_ in zip(names, types, strict=True)
        )
        start = self("Mul", self("ReduceSum", self.words, [1], keepdims=0), 0.0)  # (B, dim)
        inside = self("Unsqueeze", self.inside, [2])
        axes = {"scan_input_axes": [1] * 3, "scan_input_directions": [int(backward)] * 3}
        step = body.build("step", inputs, [a_new])
        return self("Scan", start, self.words, logits, inside, body=step, num_scan_inputs=3, **axes)

    def conv_max_pool(self, widths: Mapping[int, int]) -> str:
        """Return the greatest response of each filter, (B, filters), widest first, as `nn.kernels.conv_max_pool`.

        The weights `filters` (dim, Σ reach) have a block of columns for each offset in a window.

        Args:
            widths: number of filters by width.
        """
        signal = self("Transpose", self.words, perm=[0, 2, 1])  # (B, dim, T)
        reach = [sum(count for width, count in widths.items() if width > j) for j in range(max(widths))]
        blocks = np.split(self.weights["filters"], np.cumsum(reach)[:-1], axis=1)  # (dim, reach[j]) each
        maxima, first = list[str](), 0
        for width, count in sorted(widths.items(), reverse=True):
            kernel = np.stack([block[:, first : first + count].T for block in blocks[:width]], axis=2)
            maxima.append(self._greatest(signal, kernel))
            first += count
        return self("Concat", *maxima, axis=1)

    def _greatest(self, signal: str, kernel: NDArray[Any]) -> str:
        """Return the greatest response (B, count) of filters (count, dim, width) in the windows of a sentence."""
        width = kernel.shape[2]
        responses = self("Conv", signal, kernel, pads=[0, width - 1])  # (B, count, T)
        ends = self("Add", self.positions, width)  # (1, T)
        is_window = self("LessOrEqual", ends, self("Unsqueeze", self.lengths, [1]))  # (B, T)
        is_window = self("Or", is_window, self("Equal", self.positions, 0))
        responses = self("Where", self("Unsqueeze", is_window, [1]), responses, float(np.finfo(np.float32).min))
        return self("ReduceMax", responses, axes=[2], keepdims=0)

    def model(self, name: str, dim: int, inputs: Mapping[str, int]) -> Any:
        """Return the graph as a checked model whose result is the value `vectors`, (B, dim), from inputs by name."""
        sizes = {"offsets": "sentences + 1"}
        infos = [make_tensor_value_info(key, type_, [sizes.get(key, "ids")]) for key, type_ in inputs.items()]
        vectors = make_tensor_value_info("vectors", TensorProto.FLOAT, ["sentences", dim])
        versions = {"opset_imports": [onnx.helper.make_opsetid("", OPSET)], "ir_version": IR_VERSION}
        model = onnx.helper.make_model(self.build(name, infos, [vectors]), producer_name="paraphrastic", **versions)
        onnx.checker.check_model(model)
        return model


def _gate_order(blocks: NDArray[Any], gates: int, output: float = 0.0) -> NDArray[Any]:
    """Return the blocks i, f, z and o of the last axis in the order of ONNX: i, o, f, z; a missing o is `output`."""
    i, f, z, *o = np.split(blocks, gates, axis=-1)
    return np.concatenate([i, o[0] if o else np.full_like(i, output), f, z], axis=-1)
