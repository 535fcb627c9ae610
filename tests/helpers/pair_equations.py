"""Lexical decomposition and composition in plain NumPy, word by word: ldc2016 Eq. 4–10."""

import numpy as np

from tests.helpers.equations import filters_by_width, sigmoid


def cosine(x, y):
    """Eq. 5; 0 if one of the vectors is zero."""
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    return x @ y / lengths if lengths else 0.0


def match_of(s, T, match, window):
    """Return ŝ of Eq. 6 for the word s (d,) and the words T (n, d) of the other sentence."""
    if not len(T):
        return np.zeros_like(s)
    a = [cosine(s, t) for t in T]
    k = int(np.argmax(np.round(a, 12)))
    if match == "max":
        return T[k]
    near = range(len(T)) if match == "global" else range(max(k - window, 0), min(k + window + 1, len(T)))
    total = sum(a[j] for j in near)
    return sum(a[j] * T[j] for j in near) / total if total else np.zeros_like(s)


def decompose(s, match, decomposition):
    """Return s⁺ and s⁻ of Eq. 7–9."""
    if decomposition == "rigid":
        similar = s if np.array_equal(s, match) else np.zeros_like(s)
    elif decomposition == "linear":
        similar = cosine(s, match) * s
    else:
        similar = (s @ match) / (match @ match) * match if match.any() else np.zeros_like(s)
    return similar, s - similar


def components(S, T, block):
    """Return the similar and the dissimilar components of the words of S (m, d), (m, d) each."""
    parts = [decompose(s, match_of(s, T, block["match"], block["window"]), block["decompose"]) for s in S]
    return [np.reshape(part, S.shape) for part in zip(*parts, strict=True)] or [S, S]  # [S, S] if S has no words


def compose(similar, dissimilar, weights, block):
    """Return the features of Eq. 10: the maximum over i, with separate weights for each channel of a filter."""
    features, bias = [], weights["conv.bias"]
    counts = dict.fromkeys(range(1, block["max_window"] + 1), block["filters_per_width"])
    for width, both in filters_by_width(weights["conv.filters"], counts).items():  # (width, 2 d, filters)
        filters = np.moveaxis(both.reshape(width, 2, -1, both.shape[2]), (3, 1), (0, 1))  # (filters, 2, width, d)
        missing = np.zeros((max(width - len(similar), 0), similar.shape[1]))
        plus, minus = (np.concatenate([channel, missing]) for channel in (similar, dissimilar))
        for w in filters:
            b = bias[len(features)]
            starts = range(len(plus) - width + 1)
            c = [np.tanh((w[0] * plus[i : i + width]).sum() + (w[1] * minus[i : i + width]).sum() + b) for i in starts]
            features.append(max(c))
    return features


def ldc(left, right, embeddings, weights, block):
    """Return the probability that two sentences, given as rows of the embedding table, match (Eq. 4)."""
    S, T = embeddings[left], embeddings[right]
    sides = components(S, T, block), components(T, S, block)
    features = [feature for side in sides for feature in compose(*side, weights, block)]
    return sigmoid(weights["similarity.W"][:, 0] @ features + weights["similarity.b"][0])


def naive_mask(ids, groups):
    """Return the mask: excluded for k are copies of it and of its partner, its group, and partners of its copies."""
    pairs = len(groups)
    partner = {k: (k + pairs) % (2 * pairs) for k in range(2 * pairs)}
    return np.array(
        [
            [
                ids[n] in (ids[k], ids[partner[k]])
                or groups[k % pairs] == groups[n % pairs]
                or ids[partner[n]] == ids[k]
                for n in partner
            ]
            for k in partner
        ]
    )
