"""Lexical decomposition and composition in plain NumPy, word by word: ldc2016 Eq. 4–10."""

import numpy as np

from tests.equations import sigmoid


def cosine(x, y):
    """Eq. 5; 0 where one of them is zero."""
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    return x @ y / lengths if lengths else 0.0


def matched(s, T, match, window):
    """ŝ of Eq. 6."""
    if not len(T):
        return np.zeros_like(s)
    a = [cosine(s, t) for t in T]
    k = int(np.argmax(np.round(a, 12)))
    if match == "max":
        return T[k]
    near = range(len(T)) if match == "global" else range(max(k - window, 0), min(k + window + 1, len(T)))
    total = sum(a[j] for j in near)
    return sum(a[j] * T[j] for j in near) / total if total else np.zeros_like(s)


def decomposed(s, match, how):
    """s⁺ and s⁻ of Eq. 7–9."""
    if how == "rigid":
        similar = s if np.array_equal(s, match) else np.zeros_like(s)
    elif how == "linear":
        similar = cosine(s, match) * s
    else:
        similar = (s @ match) / (match @ match) * match if match.any() else np.zeros_like(s)
    return similar, s - similar


def components(S, T, block):
    """The similar and the dissimilar components of the words of S (m, d), each (m, d)."""
    parts = [decomposed(s, matched(s, T, block["match"], block["window"]), block["decompose"]) for s in S]
    return [np.reshape(side, S.shape) for side in zip(*parts, strict=True)] or [S, S]  # of no words


def slices(weights, block):
    """For each width from the widest on, its filters as (filters, channels, width, d)."""
    many, widest = block["filters"], block["max_window"]
    columns, at = weights["channels.filters"], 0
    out = {width: [] for width in range(widest, 0, -1)}
    for offset in range(widest):
        for width in range(widest, offset, -1):
            out[width].append(columns[:, at : at + many].reshape(2, -1, many).transpose(2, 0, 1))
            at += many
    return {width: np.stack(parts, axis=2) for width, parts in out.items()}


def composed(similar, dissimilar, weights, block):
    """S⃗ of Eq. 10 with a slice of each filter for each channel, and the maximum over i."""
    features, bias = [], weights["channels.bias"]
    for width, filters in slices(weights, block).items():
        missing = np.zeros((max(width - len(similar), 0), similar.shape[1]))
        plus, minus = (np.concatenate([channel, missing]) for channel in (similar, dissimilar))
        for w in filters:
            b = bias[len(features)]
            patches = range(len(plus) - width + 1)
            c = [np.tanh((w[0] * plus[i : i + width]).sum() + (w[1] * minus[i : i + width]).sum() + b) for i in patches]
            features.append(max(c))
    return features


def ldc(left, right, table, weights, block):
    """The probability that a pair of sentences, given as rows of the table, matches (Eq. 4)."""
    S, T = table[left], table[right]
    sides = components(S, T, block), components(T, S, block)
    features = [feature for side in sides for feature in composed(*side, weights, block)]
    return sigmoid(weights["similarity.W"][:, 0] @ features + weights["similarity.b"][0])
