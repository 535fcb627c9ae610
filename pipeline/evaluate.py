"""Stage `evaluate`: data/model and data/benchmarks → metrics/evaluate.json, metrics/sets.csv, data/scores.parquet."""

from pathlib import Path

from rich.table import Table

from paraphrastic.base.console import console, message
from paraphrastic.base.files import flat, write_json, write_rows
from paraphrastic.base.parameters import load_params
from paraphrastic.base.tables import SCORES, write_table
from paraphrastic.evaluation.suite import COLUMNS, OPTIONAL, Benchmarks, evaluate
from paraphrastic.inference.model_folder import load_scorer, usable_device
from pipeline.stage import run

MODEL, BENCHMARKS = Path("data/model"), Path("data/benchmarks")
METRICS, SETS, SCORES_FILE = Path("metrics/evaluate.json"), Path("metrics/sets.csv"), Path("data/scores.parquet")


def main() -> None:
    """Score the trained model on all evaluation sets."""
    params = load_params()
    scorer = load_scorer(MODEL, usable_device(MODEL, params.train.device))
    results = evaluate(Benchmarks.load(BENCHMARKS), scorer)
    write_json(METRICS, results.metrics)
    columns = [name for name in COLUMNS if name != OPTIONAL or any(name in row for row in results.sets)]
    write_rows(columns, [{name: row.get(name) for name in columns} for row in results.sets], SETS)
    write_table(results.scores, SCORES_FILE, SCORES)
    table = Table(box=None, show_header=False, pad_edge=False)
    for section, values in results.metrics.items():
        table.add_row(section, "  ".join(f"{name}={value}" for name, value in flat(values).items()))
    console.print(table)
    for row in results.sets:
        if "not_defined" in row:
            message(f"{row['set']}: {row['not_defined']}")


if __name__ == "__main__":
    run(main)
