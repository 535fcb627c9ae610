"""The equations of encoders that read characters, in plain NumPy; arguments are those of `word_equations`."""

import numpy as np

from tests.helpers.word_equations import ACTIVATIONS, lstm


def filters_by_width(weights, filters):
    """Return the filters (width, dim, count) of each width, from columns by offset and then widest first."""
    widths, start = sorted(filters, reverse=True), 0
    blocks = {width: [] for width in widths}
    for offset in range(widths[0]):
        for width in widths:
            if offset < width:
                blocks[width].append(weights[:, start : start + filters[width]])
                start += filters[width]
    assert start == weights.shape[1]
    return {width: np.stack(block) for width, block in blocks.items()}


def max_responses(sentence, embeddings, weights, filters):
    """Return `max_t Σ_j F_j · x[t + j]` of each filter, widest first.

    A window does not leave the sentence, unless the sentence is shorter than the filter.
    """
    pooled = []
    for width, F in filters_by_width(weights, filters).items():
        for k in range(filters[width]):
            responses = []
            for t in range(max(len(sentence) - width, 0) + 1):
                window = sentence[t : t + width]
                responses.append(sum(F[j, :, k] @ embeddings[character] for j, character in enumerate(window)))
            pooled.append(max(responses))
    return np.array(pooled, float)


def charcnn(sentence, embeddings, weights, block):
    if not sentence:
        return np.zeros(embeddings.shape[1] if block["dense"] else sum(block["filters"].values()))
    responses = max_responses(sentence, embeddings, weights["filters"], block["filters"])
    pooled = ACTIVATIONS[block["filter_activation"]](responses + weights["bias"])
    if not block["dense"]:
        return pooled
    return ACTIVATIONS[block["activation"]](pooled @ weights["dense.W"] + weights["dense.b"])


EQUATIONS = {"charcnn": charcnn, "charlstm": lstm}
