"""Pairs per second in training.

Run `python -m tests.benchmarks.bench_training [--threads 2] [--steps N] [--data data] [--only NAME ...]` in the root
of the repository. All models take the same batches of 100 pairs, which the first line of the output describes, and
learn vectors of 300 dimensions, by the trainer of the stage `train` with the options of models.yaml, without noise.
Models with the option `matmul_dtype` are measured with bfloat16 and with float32. The text is random; with `--data` it
is 20,000 pairs from a run of the pipeline, with the vocabularies of that run.

Each number comes from a process of its own. It is the wall-clock time of the median of five windows of steps, after
one window that compiles and touches memory for the first time. `--threads` sets the threads of the CPU.
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import torch

from paraphrastic import models
from paraphrastic.base.parameters import load_params
from paraphrastic.scoring.neural import TrainedPairModel, trained_model
from paraphrastic.training.batches import Paraphrases
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.pair_trainers import MatchTrainer
from paraphrastic.training.processes import Processes
from paraphrastic.training.trainer import Checkpoint
from tests.benchmarks.measuring import in_own_process
from tests.benchmarks.pair_corpus import BATCH, PAIR_COUNT, PairCorpus, corpus_of_run, describe, random_corpus
from tests.helpers.toy_training import encoder_trainer, watch

WINDOWS = 5
WITHOUT_NOISE = {"scramble": 0.0, "dropout": 0.0, "word_dropout": 0.0}
IN_ORDER = {"epochs": 1, "curriculum": True, "dim": 300, "negatives": "max"}
FLOAT32 = "-float32"
STEPS = {  # per window, about two seconds; without the suffix, products are of bfloat16
    "avg": 500, "charagram": 80, "charcnn": 20, "charlstm": 6, "charlstm-float32": 4, "lstm": 30, "lstm-float32": 20,
    "lstmavg": 30, "lstmavg-float32": 20, "gran": 20, "gran-float32": 15,
}  # fmt: skip

OnStep = Callable[[int], None]


def main() -> None:
    """Print a row for each model."""
    options = parse_arguments()
    corpus = corpus_of_run(options.data) if options.data else random_corpus()
    print(describe(corpus), f"{options.threads} thread(s)", "pairs/s", sep="; ", flush=True)
    for name in options.only:
        speed = in_own_process(pairs_per_second, name, corpus, options.steps or STEPS[name], options.threads)
        print(f"{name:20}{speed:12,.0f}", flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pairs per second in training.")
    parser.add_argument("--threads", type=int, default=2, help="threads of the CPU for each model")
    parser.add_argument("--steps", type=int, help="steps per window; default: about two seconds")
    parser.add_argument("--data", type=Path, help="folder `data` of a run of the pipeline, whose text is used")
    parser.add_argument("--only", nargs="+", choices=STEPS, metavar="NAME", default=STEPS)
    return parser.parse_args()


def pairs_per_second(name: str, corpus: PairCorpus, steps: int, threads: int) -> float:
    """Return the speed in the median window."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    times: list[float] = []
    matmul_dtype = "float32" if name.endswith(FLOAT32) else "bfloat16"
    train_model(
        name.removesuffix(FLOAT32), corpus, steps * (WINDOWS + 1), lambda _: times.append(perf_counter()), matmul_dtype
    )
    return BATCH * steps / median(np.diff(times[steps - 1 :: steps]))


def train_model(
    name: str,
    corpus: PairCorpus,
    steps: int,
    on_step: OnStep,
    matmul_dtype: str = "bfloat16",
    device: str = "cpu",
    batch: int = BATCH,
    noise: bool = False,
    processes: Processes | None = None,
) -> Any:
    """Train the model `name` of this package, and return it."""
    changes = {"matmul_dtype": matmul_dtype, "batch_size": batch} | ({} if noise else WITHOUT_NOISE)
    model, config = untrained(name, corpus, changes, device)
    rows = np.arange(steps * batch) % PAIR_COUNT
    pairs = Paraphrases(model.vocabulary.lookup(corpus.sentences), rows, PAIR_COUNT + rows, np.zeros_like(rows), rows)
    trainer: Any = MatchTrainer if isinstance(model, TrainedPairModel) else encoder_trainer
    with TemporaryDirectory() as folder:
        trainer(model, pairs, config, 1, None, processes=processes).run(
            Checkpoint(Path(folder)), math.inf, watch(lambda t: on_step(t.step))
        )
    return model


def untrained(name: str, corpus: PairCorpus, changes: dict[str, Any], device: str) -> tuple[Any, Any]:
    """Return the model `name` of this package before training, and its options: those of params.yaml, with changes."""
    block = load_params().models[name]
    changes = {key: value for key, value in changes.items() if key in block}
    config: Any = models.config_class(name)(**block | IN_ORDER | changes)
    generator = torch.Generator().manual_seed(1)
    module_class: Any = models.model_class(name)
    module = module_class(config, generator)
    counts = corpus.counts(module.vocabulary)
    texts, embeddings = initial_embeddings(module, config, counts, corpus.sentences, generator)
    return trained_model(module, embeddings, texts).to(torch.device(device)), config


if __name__ == "__main__":
    main()
