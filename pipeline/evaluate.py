"""`data/model` and `data/benchmarks` → `metrics/evaluate.json`, `metrics/sets.csv` and every pair's score."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.table import Table

from paraphrastic import models
from paraphrastic.evaluation import COLUMNS, Benchmarks, Results, evaluate
from paraphrastic.tables import SCORES, replacing, write_table
from pipeline.stage import console, run

MODEL, BENCHMARKS = Path("data/model"), Path("data/benchmarks")
METRICS, SETS, PAIRS = Path("metrics/evaluate.json"), Path("metrics/sets.csv"), Path("data/scores.parquet")


def main() -> None:
    """Score the trained model on all evaluation sets."""
    results = evaluate(Benchmarks.load(BENCHMARKS), models.load(MODEL))
    _write(results)
    console.print(_summary(results.metrics))


def _write(results: Results) -> None:
    with replacing(METRICS) as part:
        part.write_text(json.dumps(results.metrics, indent=2) + "\n", encoding="utf-8", newline="\n")
    with replacing(SETS) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(results.sets)
    write_table(results.scores, PAIRS, SCORES)


def _summary(metrics: dict[str, Any]) -> Table:
    """A row for each section of the metrics."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for section, figures in metrics.items():
        table.add_row(section, "  ".join(f"{name}={value}" for name, value in _flat(figures)))
    return table


def _flat(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


if __name__ == "__main__":
    run(main)
