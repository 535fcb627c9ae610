"""How far the change of a number may lie from its true value, from the number of items alone; numbers are × 100."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from math import atanh, hypot, sqrt, tanh
from statistics import NormalDist

from paraphrastic.base.files import flat

Margins = tuple[float, float]  # what the 95 % interval of a change extends below and above it

_Z = NormalDist().inv_cdf(0.975)
_MOST = 0.99995  # a correlation of 1 up to rounding, of which Fisher's z is finite
_UNIT = 10_000  # so that `headline`, which rounds to 2 decimals, returns weights with 8


def margins_of_n(measure: str, old: float, old_n: float, new: float, new_n: float) -> Margins | None:
    """Return the margins of the change from `old` to `new`; None if n does not determine them, as for MAP, MRR and F1.

    Both versions are treated as if they had different items. As models err on the same items for the most part, the
    interval is wider than one from scores. With (l, u) the interval of one version, the margins are `√((b − l_b)² +
    (u_a − a)²)` and `√((u_b − b)² + (a − l_a)²)` (Newcombe 1998, Statistics in Medicine 17(8); for correlations Zou
    2007, Psychological Methods 12(4)).
    """
    a, b = _alone(measure, old / 100, old_n), _alone(measure, new / 100, new_n)
    return (hypot(b[0], a[1]), hypot(b[1], a[0])) if a and b else None


def _alone(measure: str, value: float, n: float) -> Margins | None:
    """Return the margins of one version: of accuracy by Wilson's interval, of a correlation by Fisher's z.

    The variance of z is 1 / (n − 3); of ranks (1 + ρ² / 2) / (n − 3) (Bonett and Wright 2000, Psychometrika 65(1)).
    """
    if measure == "accuracy" and n > 0:
        shift, half = _Z**2 / (2 * n), _Z * sqrt(max(0, value * (1 - value)) / n + _Z**2 / (4 * n**2))
        low, high = ((value + shift + end) / (1 + 2 * shift) for end in (-half, half))
    elif measure in ("pearson", "spearman") and n > 3:
        z = atanh(max(-_MOST, min(_MOST, value)))
        half = _Z * sqrt((1 + (value**2 / 2 if measure == "spearman" else 0)) / (n - 3))
        low, high = tanh(z - half), tanh(z + half)
    else:
        return None
    return 100 * (value - low), 100 * (high - value)


def bonferroni(tests: int) -> float:
    """Return the factor of margins beyond which one of several changes is significant."""
    return NormalDist().inv_cdf(1 - 0.025 / tests) / _Z


def margins_of_sum(parts: Iterable[tuple[float, Margins | None]]) -> Margins | None:
    """Return the margins of a weighted sum of changes in disjoint sets; None if there is none or one has none."""
    weighted = [each and (weight * each[0], weight * each[1]) for weight, each in parts]
    known = [each for each in weighted if each]
    return (hypot(*(a for a, _ in known)), hypot(*(b for _, b in known))) if known and known == weighted else None


def headline_weights(numbers: Collection[str]) -> dict[str, dict[str, float]]:
    """Return the weights with which numbers of sets, `SET.MEASURE`, enter each number of `headline`, by its name.

    `headline` is linear, so that a weight is its value where one number is 1 and all others are 0.

    Raises:
        ImportError: a package that `paraphrastic.evaluation` needs is missing.
    """
    from paraphrastic.evaluation.headline import headline

    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for unit in numbers:
        metrics: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))  # older files lack measures
        for name in numbers:
            set_name, _, measure = name.rpartition(".")
            metrics[set_name][measure] = _UNIT * float(name == unit)
        for metric, value in flat(headline(metrics)).items():
            if isinstance(value, float) and value:  # numbers of sets are ints
                weights[metric][unit] = value / (100 * _UNIT)
    return weights
