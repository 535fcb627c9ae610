"""Widths of text, scales, ticks, and labels that do not overlap."""

import pytest

from paraphrastic.papers.svg import Scale, lines_of, shortened, spaced, text, text_width, tick_text, ticks


def test_text_is_escaped():
    assert text("a < b & c", 1.0, 2.25, "muted") == '<text x="1" y="2.2" class="muted">a &lt; b &amp; c</text>'


def test_shortened_text_fits():
    assert shortened("abc", 100) == "abc"
    short = shortened("a long label of a series", 60)
    assert short.endswith("…")
    assert text_width(short) <= 60


def test_scale():
    assert Scale(0, 10, 100, 200)(5) == 150
    assert Scale(1, 100, 0, 10, log=True)(10) == pytest.approx(5)
    assert Scale(3, 3, 0, 10)(3) == 5


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (58.3, 69.1, [57.5, 60, 62.5, 65, 67.5, 70]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.71, 0.74, [0.71, 0.72, 0.73, 0.74]),
        (5, 5, [4, 4.5, 5, 5.5, 6]),
        (-20, 20, [-20, -10, 0, 10, 20]),
    ],
)
def test_ticks_are_round_and_enclose(low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (1_000_000, "1M"),
        (50_000, "50k"),
        (1500, "1.5k"),
        (71.125, "71.125"),
        (1 / 512, "0.00195"),
        (0, "0"),
        (-3, "−3"),
    ],
)
def test_tick_text(value, label):
    assert tick_text(value) == label


def test_labels_that_would_overlap_are_left_out():
    kept = spaced([(10, "100k"), (20, "200k"), (100, "1M"), (199, "2M")], 0, 200)
    assert [label for _, label in kept] == ["200k", "1M"]  # the first and the last one would leave the axis


def test_entries_of_a_legend_are_broken_into_lines():
    assert lines_of([50, 40, 30, 200], 100, 5) == [[0, 1], [2], [3]]
