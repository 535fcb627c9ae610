"""The equations of encoders that read characters, and the variants that are compared with them."""

import numpy as np

from tests.equations import ACTIVATIONS, lstm


def _charcnn(filters, filter_activation, activation):
    return {"filters": filters, "filter_activation": filter_activation, "activation": activation, "dropout": 0.0}


VARIANTS = [
    ("charcnn", _charcnn({2: 7, 3: 5}, "relu", "tanh")),
    ("charcnn", _charcnn({2: 7, 3: 5}, "tanh", "linear")),
    ("charcnn", _charcnn({1: 4, 2: 6, 5: 6}, "tanh", "tanh")),
    ("charcnn", _charcnn({1: 4, 2: 6, 5: 6}, "relu", "linear")),
    ("charlstm", {"output_gate": True, "products": "float32"}),
    ("charlstm", {"output_gate": False, "products": "float32"}),
]


def by_width(weights, filters):
    """The weights (w, dim, how many) of each width w, out of columns by offset and then widest first."""
    widths, start = sorted(filters, reverse=True), 0
    blocks = {w: [] for w in widths}
    for j in range(widths[0]):
        for w in widths:
            if j < w:
                blocks[w].append(weights[:, start : start + filters[w]])
                start += filters[w]
    assert start == weights.shape[1]
    return {w: np.stack(block) for w, block in blocks.items()}


def greatest_responses(sentence, table, weights, filters):
    """`max_t Σ_j F_j · x[t + j]` of each filter, widest first; windows do not leave a sentence that can hold them."""
    pooled = []
    for w, F in by_width(weights, filters).items():
        for k in range(filters[w]):
            responses = []
            for t in range(max(len(sentence) - w, 0) + 1):
                window = sentence[t : t + w]
                responses.append(sum(F[j, :, k] @ table[character] for j, character in enumerate(window)))
            pooled.append(max(responses))
    return np.array(pooled, float)


def charcnn(sentence, table, weights, block):
    if not sentence:
        return np.zeros(table.shape[1])
    responses = greatest_responses(sentence, table, weights["filters"], block["filters"])
    pooled = ACTIVATIONS[block["filter_activation"]](responses + weights["bias"])
    return ACTIVATIONS[block["activation"]](pooled @ weights["dense.W"] + weights["dense.b"])


EQUATIONS = {"charcnn": charcnn, "charlstm": lstm}
