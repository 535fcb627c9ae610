"""A graph of ONNX operators, written as calls, and sentences of different lengths in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

OPSET, IR_VERSION = 17, 8  # read by onnxruntime 1.12 and later


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

    def __call__(self, operator: str, *inputs: str | float | Sequence[int], **attributes: Any) -> str:
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


class Sentences:
    """B sentences of at most T ids, from flat ids (N,) and offsets (B + 1,); short ones are filled up.

    Attributes:
        lengths: (B,) int64.
        ids: (B, T) int64; 0 after the end of a sentence.
        inside: (B, T) bool, whether a position is in the sentence.
        mask: (B, T) float32, the same as 0 and 1.
        positions: (1, T) int64, numbers from 0.
    """

    def __init__(self, g: Graph, ids: str, offsets: str) -> None:
        self._g, self._ids = g, ids
        self._starts = g("Slice", offsets, [0], [-1])  # (B,)
        self.lengths = g("Sub", g("Slice", offsets, [1], [np.iinfo(np.int64).max]), self._starts)
        longest = g("Max", g("ReduceMax", self.lengths, keepdims=0), 1)
        self.positions = g("Unsqueeze", g("Range", 0, longest, 1), [0])
        self.inside = g("Less", self.positions, g("Unsqueeze", self.lengths, [1]))
        self.mask = g("Cast", self.inside, to=onnx.TensorProto.FLOAT)
        self.ids = self.spread(ids, g.constant(np.zeros(1, np.int64)))

    def spread(self, values: str, end: str) -> str:
        """Return flat values (N,) as (B, T), with the value in `end` (1,) after the end of a sentence."""
        g = self._g
        at = g("Add", g("Unsqueeze", self._starts, [1]), self.positions)  # (B, T)
        at = g("Where", self.inside, at, g("Shape", self._ids))
        return g("Gather", g("Concat", values, end, axis=0), at)

    def embed(self, embeddings: str) -> str:
        """Return the rows of an embedding table, (B, T, dim); zero after the end of a sentence."""
        return self._g("Mul", self._g("Gather", embeddings, self.ids), self._g("Unsqueeze", self.mask, [2]))

    def total(self, vectors: str, weights: str | None = None) -> str:
        """Return the sum over the positions of a sentence, (B, dim) from (B, T, dim), weighted by (B, T) if given."""
        weights = self._g("Unsqueeze", weights or self.mask, [1])  # (B, 1, T)
        return self._g("Squeeze", self._g("MatMul", weights, vectors), [1])

    def divide_by_length(self, vectors: str) -> str:
        """Divide the vectors of sentences, (B, dim), by their lengths; those of empty ones by 1."""
        g = self._g
        lengths = g("Cast", g("Max", self.lengths, 1), to=onnx.TensorProto.FLOAT)
        return g("Div", vectors, g("Unsqueeze", lengths, [1]))

    def mean(self, vectors: str) -> str:
        """Return the mean over the positions of a sentence, (B, dim) from (B, T, dim)."""
        return self.divide_by_length(self.total(vectors))


def model_of(graph: Any) -> Any:
    """Return a graph as a checked model.

    Raises:
        onnx.checker.ValidationError: the graph is no valid one, which is a bug.
    """
    opset = onnx.helper.make_opsetid("", OPSET)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="paraphrastic")
    onnx.checker.check_model(model)
    return model
