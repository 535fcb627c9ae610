"""The equations of encoders in plain NumPy, sentence by sentence and step by step.

Each function takes a sentence as rows of the embedding table, the table (rows, dim), the weights of the model by name,
and its options, and returns the sentence vector.
"""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "linear": lambda x: x}


def submodule_weights(weights, prefix):
    """Return the weights whose names begin with `prefix`, by the rest of their names."""
    return {name.removeprefix(prefix): weight for name, weight in weights.items() if name.startswith(prefix)}


def avg(sentence, embeddings, weights, block):
    return sum((embeddings[word] for word in sentence), np.zeros(embeddings.shape[1])) / max(len(sentence), 1)


def proj(sentence, embeddings, weights, block):
    return weights["dense.W"].T @ avg(sentence, embeddings, weights, block) + weights["dense.b"]


def dan(sentence, embeddings, weights, block):
    x, f = avg(sentence, embeddings, weights, block), ACTIVATIONS[block["activation"]]
    for layer in range(block["num_layers"]):
        x = f(weights[f"layers.{layer}.W"].T @ x + weights[f"layers.{layer}.b"])
    return x


def elman_states(words, weights, f):
    states, h = [], np.zeros(len(weights["b"]))
    for x in words:
        h = f(weights["W"].T @ x + weights["U"].T @ h + weights["b"])
        states.append(h)
    return states


def rnn(sentence, embeddings, weights, block):
    activation = ACTIVATIONS[block["activation"]]
    states = elman_states(embeddings[sentence], submodule_weights(weights, "rnn."), activation)
    return states[-1] if states else np.zeros(embeddings.shape[1])


def irnn(sentence, embeddings, weights, block):
    states = elman_states(embeddings[sentence], submodule_weights(weights, "rnn."), ACTIVATIONS["linear"])
    return states[-1] / len(sentence) if states else np.zeros(embeddings.shape[1])


def lstm_states(words, weights, output_gate):
    """Return the states of Gers et al. (2003), gate by gate."""
    names = ["i", "f", "z", "o"] if output_gate else ["i", "f", "z"]
    W, U = (dict(zip(names, np.split(weights[n], len(names), axis=1), strict=True)) for n in "WU")
    b, peephole = dict(zip(names, np.split(weights["b"], len(names)), strict=True)), weights["peepholes"]
    states, h, c = [], np.zeros(len(b["i"])), np.zeros(len(b["i"]))
    for x in words:
        i = sigmoid(x @ W["i"] + h @ U["i"] + c * peephole[0] + b["i"])
        f = sigmoid(x @ W["f"] + h @ U["f"] + c * peephole[1] + b["f"])
        c = f * c + i * np.tanh(x @ W["z"] + h @ U["z"] + b["z"])
        o = sigmoid(x @ W["o"] + h @ U["o"] + c * peephole[2] + b["o"]) if output_gate else 1.0
        h = o * np.tanh(c)
        states.append(h)
    return states


def lstm(sentence, embeddings, weights, block):
    states = lstm_states(embeddings[sentence], submodule_weights(weights, "lstm."), block["output_gate"])
    return states[-1] if states else np.zeros(embeddings.shape[1])


def lstmavg(sentence, embeddings, weights, block):
    states = lstm_states(embeddings[sentence], submodule_weights(weights, "lstm."), block["output_gate"])
    return np.mean(states, axis=0) if states else np.zeros(embeddings.shape[1])


def combine(forward, backward, weights, block):
    """Return the sum of both directions, or the output of one tanh layer on them: acl2017 §4.2."""
    if block["combine"] == "sum":
        return forward + backward
    return np.tanh(np.concatenate([forward, backward]) @ weights["combine.W"] + weights["combine.b"])


def bilstmavg(sentence, embeddings, weights, block):
    words = embeddings[sentence]
    forward = lstm_states(words, submodule_weights(weights, "forward_lstm."), block["output_gate"])
    backward = lstm_states(words[::-1], submodule_weights(weights, "backward_lstm."), block["output_gate"])[::-1]
    combined = [combine(f, b, weights, block) for f, b in zip(forward, backward, strict=True)]
    return np.mean(combined, axis=0) if combined else np.zeros(embeddings.shape[1])


def gran_states(words, lstm_weights, gate_weights, block):
    """Return all a_t of acl2017 Eq. 1 and of its four variants, and the gates of each."""
    outputs, gates, a = [], [], np.zeros(words.shape[1])
    for x, h in zip(words, lstm_states(words, lstm_weights, block["output_gate"]), strict=True):
        logits = x @ gate_weights["Wx"] + h @ gate_weights["Wh"] + gate_weights["b"]
        if block["variant"] == 4:
            logits = logits + a @ gate_weights["Wa"]
        g1, g2 = np.split(sigmoid(logits), [len(x)])
        gated = (h if block["variant"] == 2 else x) * g1
        second = {3: a, 4: a, 5: h}.get(block["variant"])
        a = gated if second is None else gated + second * g2
        outputs.append(a)
        gates.append(sigmoid(logits))
    return outputs, gates


def gran(sentence, embeddings, weights, block):
    own = submodule_weights(weights, "lstm."), submodule_weights(weights, "gates.")
    states, _ = gran_states(embeddings[sentence], *own, block)
    if not states:
        return np.zeros(embeddings.shape[1])
    return states[-1] / len(states) if block["variant"] in (3, 4) else np.mean(states, axis=0)


def bigran(sentence, embeddings, weights, block):
    (forward, _), (backward, _) = (
        gran_states(words, *(submodule_weights(weights, f"{direction}_{part}.") for part in ("lstm", "gates")), block)
        for direction, words in (("forward", embeddings[sentence]), ("backward", embeddings[sentence[::-1]]))
    )
    if block["variant"] in (3, 4):
        last = (states[-1] if states else np.zeros(embeddings.shape[1]) for states in (forward, backward))
        return combine(*last, weights, block) / max(len(sentence), 1)
    combined = [combine(f, b, weights, block) for f, b in zip(forward, backward[::-1], strict=True)]
    return np.mean(combined, axis=0) if combined else np.zeros(embeddings.shape[1])


def charagram(sentence, embeddings, weights, block):
    total = weights["bias"].copy()
    for ngram in set(sentence):
        count = sentence.count(ngram)
        total += (np.sqrt(count) if block["counts"] == "sqrt" else count) * embeddings[ngram]
    f = ACTIVATIONS[block["activation"]]
    return f(total) if block["num_layers"] == 1 else f(weights["dense.W"].T @ f(total) + weights["dense.b"])


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


ENCODERS = avg, proj, dan, rnn, irnn, lstm, lstmavg, bilstmavg, gran, bigran, charagram, charcnn
EQUATIONS = {f.__name__: f for f in ENCODERS} | {"charlstm": lstm}
