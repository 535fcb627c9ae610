"""Text in SVG and its width, and positions on an axis."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from paraphrastic.papers.markup import element

SIZE = 12  # of the font, in user units

_NARROW, _WIDE = set("ijlftrI.,:;'|!()[]/ -"), set("mwMW%@—−±≤≥×→…")


def text(content: str, x: float, y: float, *classes: str, anchor: str = "start") -> str:
    """Return a line of text at a baseline position."""
    named = {"class_": " ".join(classes)} if classes else {}
    anchored = {"text_anchor": anchor} if anchor != "start" else {}
    return element("text", escape(content, quote=False), x=x, y=y, **named, **anchored)


def text_width(content: str) -> float:
    """Return an upper estimate of the width of a text in common sans-serif fonts, in user units."""
    return SIZE * sum(map(_character_width, content))


def shortened(content: str, width: float) -> str:
    """Return a text, cut with … if it is wider than `width`."""
    if text_width(content) <= width:
        return content
    while content and text_width(f"{content}…") > width:
        content = content[:-1]
    return f"{content.rstrip()}…"


@dataclass(frozen=True)
class Scale:
    """A mapping from values to positions.

    Attributes:
        low: value at `start`.
        high: value at `end`.
        start: position of `low`, in user units.
        end: position of `high`.
        log: whether it is logarithmic.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the position of a value; the middle if there is only one value."""
        low, high, value = ((math.log(each) if self.log else each) for each in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about `count` round values that enclose `low` and `high`."""
    if low == high:
        low, high = low - 1, high + 1
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def tick_text(value: float) -> str:
    """Return the label of a tick: 1,000,000 as 1M, 50,000 as 50k, 1/512 as 0.00195."""
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{suffix}".replace("-", "−")
    return f"{value:.3g}" if 0 < value < 0.1 else f"{value:g}".replace("-", "−")


def spaced(labels: Iterable[tuple[float, str]], start: float, end: float, gap: float = 6) -> list[tuple[float, str]]:
    """Return those of the labels, centred at their positions, that stay within an axis and do not overlap."""
    kept, free = [], start
    for position, label in sorted(labels):
        half = text_width(label) / 2
        if position - half >= free and position + half <= end:
            kept.append((position, label))
            free = position + half + gap
    return kept


def lines_of(entries: Sequence[float], width: float, gap: float) -> list[list[int]]:
    """Return the numbers of entries on each line, for entries with these widths side by side."""
    rows: list[list[int]] = [[]]
    used = 0.0
    for number, entry in enumerate(entries):
        if rows[-1] and used + entry > width:
            rows.append([])
            used = 0.0
        rows[-1].append(number)
        used += entry + gap
    return rows


def _character_width(character: str) -> float:
    if character in _NARROW:
        return 0.45
    if character in _WIDE:
        return 1.0
    return 0.68 if character.isascii() and not character.isupper() else 0.8
