"""The three forms of a comparison: for a terminal, in Markdown, and as JSON."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from paraphrastic.analysis.comparison.by_set import RunComparison, compare
from paraphrastic.analysis.comparison.formats import HEADER, as_json, cells, colour, latex_table, markdown
from tests.helpers.score_tables import noisy_run

RUN = noisy_run(1.0, 1)


@pytest.fixture(scope="module")
def comparison():
    return compare([noisy_run(1.5, 1)], [noisy_run(0.5, 2)], samples=100)


def test_rows_of_all_forms(comparison):
    content = as_json(comparison)
    assert content.startswith('{\n  "rows": [\n')
    rows = json.loads(content)["rows"]
    assert [row["set"] for row in rows] == [row.name for row in comparison.rows]
    lines = markdown(comparison).splitlines()
    assert len(lines) == 2 + len(rows)
    assert f"**{rows[0]['difference']:+.2f}**" in lines[2]
    assert [len(cells(row)) for row in comparison.rows] == [len(HEADER)] * len(rows)
    expected = comparison.rows[1]
    assert rows[1] == {
        "set": "sts.2012.MSRpar",
        "metric": "pearson",
        "n": 200,
        "a": [100 * expected.a.points[0]],
        "b": [100 * expected.b.points[0]],
        "difference": 100 * expected.change.value,
        "low": 100 * expected.change.low,
        "high": 100 * expected.change.high,
        "p": expected.change.p,
        "p_holm": expected.p,
        "williams": {"t": expected.williams.t, "p": expected.williams.p},
    }


@pytest.mark.parametrize(("seeds", "shown"), [((1,), "68.49"), ((1, 2), "69.83 ± 1.89")])
def test_whole_row(seeds, shown):
    row = compare([noisy_run(1.0, seed) for seed in seeds], [RUN] * len(seeds), samples=50).rows[1]
    name = "| sts.2012.MSRpar | pearson | 200 |"
    assert markdown(RunComparison([row], [], {})).splitlines()[2].startswith(f"{name} {shown} | 68.49")


def test_markdown_of_several_seeds():
    a, b = [noisy_run(1.0, seed) for seed in (1, 2, 3)], [noisy_run(1.0, 4)]
    comparison = compare(a, b, samples=50)
    row = next(row for row in comparison.rows if row.name == "sts.2013.FNWN")
    assert f"{100 * row.a.points.mean():.2f} ± {100 * row.a.points.std(ddof=1):.2f}" in markdown(comparison)
    assert cells(row)[-1] == f"{row.p:.3f}"
    assert "**" not in markdown(compare([RUN], [RUN], samples=50))


@pytest.mark.parametrize(
    ("p", "cell"), [(0.0, "<0.001"), (0.0007, "<0.001"), (0.001, "0.001"), (0.0456, "0.046"), (1.0, "1.000")]
)
def test_p_value(comparison, p, cell):
    assert cells(replace(comparison.rows[1], p=p))[-1] == cell


def test_colours_of_significant_differences(comparison):
    colours = {row.change.value > 0: colour(row) for row in comparison.rows if row.is_significant}
    assert colours[True] == "green"  # B is significantly better
    worse = compare([noisy_run(0.5, 2)], [noisy_run(1.5, 1)], samples=100)
    assert {colour(row) for row in worse.rows if row.is_significant} == {"red"}
    assert colour(compare([RUN], [RUN], samples=50).rows[0]) == "dim"


def test_latex_has_names_as_they_are_and_signs_in_math_mode():
    row = ["gsap min_share=50% 1e-05 a-b", "60.50 ± 0.40", "-1.30 … +0.25", "<0.001"]
    assert latex_table(pd.DataFrame([row], columns=["configuration", "STS", "95 %", "p"])) == (
        "\\begin{tabular}{lrrr}\n\\toprule\nconfiguration & STS & 95 \\% & p \\\\\n\\midrule\n"
        "gsap min\\_share=50\\% 1e-05 a-b & 60.50 $\\pm$ 0.40 & $-$1.30 … $+$0.25 & $<$0.001 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )
