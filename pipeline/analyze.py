"""Stage `analyze`: scores, model and benchmarks of a run → metrics/analysis/NAME.csv."""

from pathlib import Path

from paraphrastic.analysis import analysis
from paraphrastic.analysis.artifacts import Artifacts
from paraphrastic.base.files import write_csv
from paraphrastic.base.parameters import load_params
from pipeline.stage import run

DATA, TABLES = Path("data"), Path("metrics/analysis")


def main(name: str) -> None:
    """Write the table of one analysis, an entry of `analyses` in analyze/params.yaml."""
    params = load_params()
    write_csv(analysis(name)(Artifacts(DATA, params.train.device)), TABLES / f"{name}.csv")


if __name__ == "__main__":
    run(main)
