"""The papers' equations in plain NumPy, sentence by sentence and step by step.

Each takes a sentence as row numbers, the table (rows, dim), the model's weights by name, and its options.
"""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "linear": lambda x: x}


def within(weights, prefix):
    """The weights of one part of a model."""
    return {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}


def avg(sentence, table, weights, block):
    return sum((table[w] for w in sentence), np.zeros(table.shape[1])) / max(len(sentence), 1)


def proj(sentence, table, weights, block):
    return weights["dense.W"].T @ avg(sentence, table, weights, block) + weights["dense.b"]


def dan(sentence, table, weights, block):
    x, f = avg(sentence, table, weights, block), ACTIVATIONS[block["activation"]]
    for layer in range(block["layers"]):
        x = f(weights[f"layers.{layer}.W"].T @ x + weights[f"layers.{layer}.b"])
    return x


def elman_states(words, w, f):
    states, h = [], np.zeros(len(w["b"]))
    for x in words:
        h = f(w["W"].T @ x + w["U"].T @ h + w["b"])
        states.append(h)
    return states


def rnn(sentence, table, weights, block):
    states = elman_states(table[sentence], within(weights, "rnn."), ACTIVATIONS[block["activation"]])
    return states[-1] if states else np.zeros(table.shape[1])


def irnn(sentence, table, weights, block):
    states = elman_states(table[sentence], within(weights, "rnn."), ACTIVATIONS["linear"])
    return states[-1] / len(sentence) if states else np.zeros(table.shape[1])


def lstm_states(words, w, output_gate):
    """Gers et al. (2003), gate by gate."""
    names = ["i", "f", "z", "o"] if output_gate else ["i", "f", "z"]
    W, U = (dict(zip(names, np.split(w[n], len(names), axis=1), strict=True)) for n in "WU")
    b, peep = dict(zip(names, np.split(w["b"], len(names)), strict=True)), w["peepholes"]
    states, h, c = [], np.zeros(len(b["i"])), np.zeros(len(b["i"]))
    for x in words:
        i = sigmoid(x @ W["i"] + h @ U["i"] + c * peep[0] + b["i"])
        f = sigmoid(x @ W["f"] + h @ U["f"] + c * peep[1] + b["f"])
        c = f * c + i * np.tanh(x @ W["z"] + h @ U["z"] + b["z"])
        h = (sigmoid(x @ W["o"] + h @ U["o"] + c * peep[2] + b["o"]) if output_gate else 1.0) * np.tanh(c)
        states.append(h)
    return states


def lstm(sentence, table, weights, block):
    states = lstm_states(table[sentence], within(weights, "lstm."), block["output_gate"])
    return states[-1] if states else np.zeros(table.shape[1])


def lstmavg(sentence, table, weights, block):
    states = lstm_states(table[sentence], within(weights, "lstm."), block["output_gate"])
    return np.mean(states, axis=0) if states else np.zeros(table.shape[1])


def combined(ahead, back, weights, block):
    """acl2017 §4.1.4: the sum, or one tanh layer."""
    if block["combine"] == "sum":
        return ahead + back
    return np.tanh(np.concatenate([ahead, back]) @ weights["combine.W"] + weights["combine.b"])


def bilstmavg(sentence, table, weights, block):
    words = table[sentence]
    ahead = lstm_states(words, within(weights, "ahead."), block["output_gate"])
    back = lstm_states(words[::-1], within(weights, "back."), block["output_gate"])[::-1]
    both = [combined(f, b, weights, block) for f, b in zip(ahead, back, strict=True)]
    return np.mean(both, axis=0) if both else np.zeros(table.shape[1])


def gran_states(words, w, block):
    """a_t of acl2017 Eq. 1 and of the four variants."""
    states, a = [], np.zeros(words.shape[1])
    for x, h in zip(words, lstm_states(words, within(w, "lstm."), block["output_gate"]), strict=True):
        opening = x @ w["Wx"] + h @ w["Wh"] + w["b"]
        if block["variant"] == 4:
            opening = opening + a @ w["Wa"]
        gate = sigmoid(opening)
        first, second = gate[: len(x)], gate[len(x) :]
        gated = (h if block["variant"] == 2 else x) * first
        kept = {3: a, 4: a, 5: h}.get(block["variant"])
        a = gated if kept is None else gated + kept * second
        states.append(a)
    return states


def gran(sentence, table, weights, block):
    states = gran_states(table[sentence], within(weights, "gran."), block)
    if not states:
        return np.zeros(table.shape[1])
    return states[-1] / len(states) if block["variant"] in (3, 4) else np.mean(states, axis=0)


def bigran(sentence, table, weights, block):
    words = table[sentence]
    ahead, back = (within(weights, f"{way}.") for way in ("ahead", "back"))
    ahead, back = gran_states(words, ahead, block), gran_states(words[::-1], back, block)
    if block["variant"] in (3, 4):
        last = (states[-1] if states else np.zeros(table.shape[1]) for states in (ahead, back))
        return combined(*last, weights, block) / max(len(sentence), 1)
    both = [combined(f, b, weights, block) for f, b in zip(ahead, back[::-1], strict=True)]
    return np.mean(both, axis=0) if both else np.zeros(table.shape[1])


def charagram(sentence, table, weights, block):
    total = weights["bias"].copy()
    for ngram in set(sentence):
        count = sentence.count(ngram)
        total += (np.sqrt(count) if block["counts"] == "sqrt" else count) * table[ngram]
    f = ACTIVATIONS[block["activation"]]
    return f(total) if block["layers"] == 1 else f(weights["second.W"].T @ f(total) + weights["second.b"])


EQUATIONS = {f.__name__: f for f in (avg, proj, dan, rnn, irnn, lstm, lstmavg, bilstmavg, gran, bigran, charagram)}
