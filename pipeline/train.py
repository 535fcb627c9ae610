"""Stage `train`: training pairs and vocabulary → data/model, with the curves of loss and selection."""

from pathlib import Path

from paraphrastic.base.parameters import load_params
from paraphrastic.training.processes import announced_errors
from paraphrastic.training.train_model import Tables, train_model
from pipeline.stage import CHECKPOINTS, run

TABLES = Tables(Path("data/corpus"), Path("data/vocabulary"), Path("data/benchmarks"), Path("data/teacher"))
MODEL = Path("data/model")
LOSS, SELECTION = Path("metrics/loss.csv"), Path("metrics/selection.csv")


def main() -> None:
    """Train the chosen model on the paraphrase pairs."""
    with announced_errors():
        train_model(load_params(), TABLES, CHECKPOINTS, MODEL, files=(LOSS, SELECTION))


if __name__ == "__main__":
    run(main)
