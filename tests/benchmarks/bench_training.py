"""Pairs per second in training, compared with sentence-transformers and plain PyTorch.

Run `python -m tests.benchmarks.bench_training [--threads 2] [--steps N] [--data data] [--only NAME ...]` in the root
of the repository. All models take the same batches of 100 pairs, which the first line of the output describes, and
learn vectors of 300 dimensions. The text is random; with `--data` it is 20,000 pairs from a run of the pipeline, with
the vocabularies of that run, whose size determines how long dense Adam takes.

Each number comes from a process of its own. It is the wall-clock time of the median of five windows of steps, after
one window that compiles and touches memory for the first time. `--threads` sets the threads of the CPU for all models.
Two columns divide the speed by that of sentence-transformers (s-t) and of PyTorch: averages are compared with
averages, recurrent models of words with an LSTM whose states are averaged.

* This package: the trainer of the stage `train` with the options of params.yaml, without noise. Models with the option
  `matmul_dtype` are measured with bfloat16 and with float32.
* sentence-transformers (`pip install sentence-transformers`): its own modules, its collator, which tokenizes each
  batch, its in-batch loss, and dense Adam. Its LSTM reads one direction, like the one of this package.
* PyTorch: its own modules on ids that were looked up before, padded batches for the LSTM, the loss of this package,
  and dense Adam.

The last two columns compare models of characters with the arithmetic that they need. To multiply a vector of 300
numbers by a matrix of n columns takes 600 n floating-point operations:

* charlstm: 2.16 million per character. The state is multiplied with 1,200 columns, once forward and twice backward:
  for the gradient of the state and for that of the matrix. Inputs are multiplied once per distinct character.
* charcnn: 0.945 million per character, if 175 filters of each width 2, 3 and 4 were matrix products at every position,
  1,575 columns, forward only, because only maxima have a gradient. The model computes no product per position, so
  that its share may exceed 100 %.

The bound is the speed of torch for such matrices in the same data type and on the same threads, with 200 rows (the
sentences of a step) or 16,384 rows (about the characters of a batch), whichever is faster.
"""

import argparse
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from paraphrastic import models
from paraphrastic.base.parameters import load_params
from paraphrastic.scoring.neural import TrainedPairModel, trained_model
from paraphrastic.training.batches import Paraphrases
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.pair_trainers import EncoderTrainer, MatchTrainer
from paraphrastic.training.processes import Processes
from tests.benchmarks.measuring import in_own_process
from tests.benchmarks.pair_corpus import BATCH, PAIR_COUNT, PairCorpus, corpus_of_run, describe, random_corpus
from tests.benchmarks.peer_training import (
    DIM,
    OnStep,
    train_static_embedding,
    train_torch_avg,
    train_torch_charagram,
    train_torch_lstmavg,
    train_word_lstm,
)

WINDOWS = 5
WITHOUT_NOISE = {"scramble": 0.0, "dropout": 0.0, "word_dropout": 0.0}
IN_ORDER = {"epochs": 1, "curriculum": True, "dim": DIM, "negatives": "max"}
INSTALL = "sentence-transformers is not installed; its rows are left out: pip install sentence-transformers"

Train = Callable[[PairCorpus, int, OnStep], None]


@dataclass(frozen=True)
class Row:
    """A row of the output.

    Attributes:
        train: trains a model for a number of steps and reports each.
        steps: steps per window, unless the command line says otherwise.
        sentence_transformers: name of the row of sentence-transformers to compare with.
        torch: name of the row of PyTorch to compare with.
        operations: floating-point operations per character.
        product: data type and columns of the matrix product that bounds the speed.
    """

    train: Train
    steps: int
    sentence_transformers: str = ""
    torch: str = ""
    operations: int = 0
    product: tuple[str, int] = ("float32", 0)


def main() -> None:
    """Print all rows, the ones to compare with first."""
    options = parse_arguments()
    names, speeds = names_to_measure(options.only), dict[str, float]()
    corpus = corpus_of_run(options.data) if options.data else random_corpus()
    print(describe(corpus), f"{options.threads} thread(s)", sep="; ")
    print(format_row("", "pairs/s", "x s-t", "x torch", "characters/s", "of bound"), flush=True)
    for name in names:
        steps = options.steps or ROWS[name].steps
        speeds[name] = in_own_process(pairs_per_second, ROWS[name].train, corpus, steps, options.threads)
        print(format_row(name, *columns(name, speeds, corpus, options.threads)), flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pairs per second in training.")
    parser.add_argument("--threads", type=int, default=2, help="threads of the CPU for each model")
    parser.add_argument("--steps", type=int, help="steps per window; default: about two seconds")
    parser.add_argument("--data", type=Path, help="folder `data` of a run of the pipeline, whose text is used")
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="NAME", help=f"of {', '.join(ROWS)}")
    return parser.parse_args()


def names_to_measure(only: list[str] | None) -> list[str]:
    """Return the chosen rows; without the package sentence-transformers, say so and leave its rows out."""
    names = [name for name in ROWS if not only or name in only]
    if find_spec("sentence_transformers") is not None:
        return names
    kept = [name for name in names if not name.startswith("sentence-transformers")]
    if len(kept) < len(names):
        print(INSTALL)
    return kept


def format_row(name: str, *columns: str) -> str:
    return f"{name:29}" + "".join(f"{column:>14}" for column in columns)


def columns(name: str, speeds: dict[str, float], corpus: PairCorpus, threads: int) -> Iterator[str]:
    """Yield the columns of one row; a dash if there is nothing to compare with."""
    row, speed = ROWS[name], speeds[name]
    yield f"{speed:,.0f}"
    for other in (row.sentence_transformers, row.torch):
        yield f"{speed / speeds[other]:.2f}" if other in speeds else "-"
    if row.operations:
        characters = speed * 2 * corpus.characters_per_sentence
        yield f"{characters:,.0f}"
        yield f"{characters * row.operations / in_own_process(operations_per_second, *row.product, threads):.0%}"


def pairs_per_second(train: Train, corpus: PairCorpus, steps: int, threads: int) -> float:
    """Return the speed in the median window."""
    os.environ["RAYON_NUM_THREADS"] = str(threads)  # of the tokenizer of sentence-transformers
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    times: list[float] = []
    train(corpus, steps * (WINDOWS + 1), lambda _: times.append(perf_counter()))
    return BATCH * steps / median(np.diff(times[steps - 1 :: steps]))


def operations_per_second(matmul_dtype: str, columns: int, threads: int) -> float:
    """Return the speed of torch's matrix product with few or with many rows, whichever is faster."""
    torch.set_num_threads(threads)
    dtype = getattr(torch, matmul_dtype)
    return max(
        product_speed(torch.randn(rows, DIM, dtype=dtype), torch.randn(DIM, columns, dtype=dtype))
        for rows in (200, 16_384)
    )


def product_speed(left: Tensor, right: Tensor) -> float:
    """Return floating-point operations per second of `left @ right`, in the median of windows of about 0.1 s."""
    out, operations = left @ right, 2 * left.numel() * right.shape[1]
    repetitions, seconds = math.ceil(1e10 / operations), []
    for _ in range(WINDOWS + 1):
        start = perf_counter()
        for _ in range(repetitions):
            torch.mm(left, right, out=out)
        seconds.append(perf_counter() - start)
    return repetitions * operations / median(seconds[1:])


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
    trainer = MatchTrainer if isinstance(model, TrainedPairModel) else EncoderTrainer
    with TemporaryDirectory() as folder:
        trainer(model, pairs, config, 1, None, processes=processes).run(Checkpoint(Path(folder)), math.inf, on_step)
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


def train_float32(name: str) -> Train:
    return partial(train_model, name, matmul_dtype="float32")


STATIC, WORD_LSTM = "sentence-transformers-avg", "sentence-transformers-lstmavg"
RECURRENT = {"sentence_transformers": WORD_LSTM, "torch": "torch-lstmavg"}
CHARLSTM_OPERATIONS = 3 * 2 * DIM * 4 * DIM
ROWS = {
    STATIC: Row(train_static_embedding, 30, torch="torch-avg"),
    WORD_LSTM: Row(train_word_lstm, 8, torch="torch-lstmavg"),
    "torch-avg": Row(train_torch_avg, 20, STATIC),
    "torch-lstmavg": Row(train_torch_lstmavg, 10, WORD_LSTM),
    "torch-charagram": Row(train_torch_charagram, 10),
    "avg": Row(partial(train_model, "avg"), 500, STATIC, "torch-avg"),
    "lstm": Row(partial(train_model, "lstm"), 30, **RECURRENT),
    "lstm-float32": Row(train_float32("lstm"), 20, **RECURRENT),
    "lstmavg": Row(partial(train_model, "lstmavg"), 30, **RECURRENT),
    "lstmavg-float32": Row(train_float32("lstmavg"), 20, **RECURRENT),
    "gran": Row(partial(train_model, "gran"), 20, **RECURRENT),
    "gran-float32": Row(train_float32("gran"), 15, **RECURRENT),
    "charagram": Row(partial(train_model, "charagram"), 80, torch="torch-charagram"),
    "charcnn": Row(partial(train_model, "charcnn"), 20, operations=2 * DIM * 1575, product=("float32", 1575)),
    "charlstm": Row(partial(train_model, "charlstm"), 6, operations=CHARLSTM_OPERATIONS, product=("bfloat16", 4 * DIM)),
    "charlstm-float32": Row(train_float32("charlstm"), 4, operations=CHARLSTM_OPERATIONS, product=("float32", 4 * DIM)),
}


if __name__ == "__main__":
    main()
