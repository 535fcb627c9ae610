"""Stage `teach`: training sentences and words → data/teacher, the vectors that an encoder gives to them."""

from pathlib import Path

import pyarrow as pa

from paraphrastic.base.parameters import load_params
from paraphrastic.scoring.teaching import teach
from pipeline.stage import CHECKPOINTS, run

CORPUS, VOCABULARY, TEACHER = Path("data/corpus"), Path("data/vocabulary"), Path("data/teacher")


def main() -> None:
    """Encode the training sentences with the encoder that params.yaml names, if it names one."""
    teach(load_params(), CORPUS, VOCABULARY, CHECKPOINTS, TEACHER, pa.cpu_count())


if __name__ == "__main__":
    run(main)
