"""Pairs per second of training in 1, 2 and 4 processes, by model and size of the mini-batch.

Run `python -m tests.benchmarks.bench_processes [--processes 1 2 4] [--models NAME ...] [--batches N ...]` in the root
of the repository, on a machine that does nothing else; it takes about two minutes. Text and options are those of
`bench_training`, products are of float32. Each process has one thread, or a GPU of its own if there are GPUs. The time
is that of the median of three windows of steps, after one that is not counted.

* `efficiency`: the speed divided by that of one process and by the number of processes.
* `exchange`: share of the time in which the first process exchanges vectors and gradients or waits for the others.
* `MB`: what a process sends and receives in a step: the vectors of the mini-batch, the gradients of the parameters, and
  those of the embeddings that the mini-batch uses. `of table` is the share of the rows that these are: what a dense
  gradient would take more, and the bound on what a table that is divided among processes could save.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from torch import distributed

from paraphrastic.base import devices
from paraphrastic.training.launching import join, local_rank, run_in_processes
from paraphrastic.training.processes import Processes
from tests.benchmarks.bench_training import train_model
from tests.benchmarks.measuring import in_own_process
from tests.benchmarks.pair_corpus import PAIR_COUNT, PairCorpus, random_corpus

WINDOWS = 3
PAIRS = {"avg": 12_000, "charagram": 4_000, "charcnn": 2_000, "lstmavg": 1_200, "gran": 1_000}  # of a window


class Speed(NamedTuple):
    """What was measured."""

    pairs: float  # per second
    exchange: float  # share of the time
    megabytes: float  # per step
    touched: float  # share of the rows of the embedding table that a step uses


def main() -> None:
    """Print a row for each model, size of the mini-batch and number of processes."""
    options = parse_arguments()
    cells = list(product(options.models, options.batches))
    corpus, alone = random_corpus(), dict[tuple[str, int], float]()
    print(f"{'':12}{'batch':>8}{'processes':>12}{'pairs/s':>12}{'efficiency':>12}", end="")
    print(f"{'exchange':>10}{'MB':>8}{'of table':>10}", flush=True)
    for count in options.processes:
        start = in_own_process if count == 1 else partial(run_in_processes, count)
        for (name, batch), speed in zip(cells, start(measure, corpus, cells, options.device), strict=True):
            one = alone.setdefault((name, batch), speed.pairs / count)
            print(
                f"{name:12}{batch:8}{count:12}{speed.pairs:12,.0f}{speed.pairs / count / one:12.0%}"
                f"{speed.exchange:10.0%}{speed.megabytes:8.1f}{speed.touched:10.0%}",
                flush=True,
            )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pairs per second in training in several processes.")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--models", nargs="+", choices=PAIRS, metavar="NAME", default=["avg", "charagram", "lstmavg"])
    parser.add_argument("--batches", type=int, nargs="+", default=[100, 800], help="pairs per mini-batch")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    return parser.parse_args()


def measure(corpus: PairCorpus, cells: Sequence[tuple[str, int]], device: str) -> list[Speed]:
    """Return the speed of each model and size of the mini-batch, in each process of the group."""
    torch.set_num_threads(1)
    chosen = devices.find(device, local_rank())
    processes = join(chosen)
    return [speed(name, corpus, batch, processes, chosen) for name, batch in cells]


def speed(name: str, corpus: PairCorpus, batch: int, processes: Processes, device: torch.device) -> Speed:
    steps = max(PAIRS[name] // batch, 2)
    times, exchanges = [], []
    with exchanged() as total:

        def on_step(step: int) -> None:
            if step % steps == 0:
                if device.type == "cuda":
                    torch.cuda.synchronize()
                times.append(perf_counter())
                exchanges.append((total["seconds"], total["bytes"]))

        model = train_model(
            name, corpus, steps * (WINDOWS + 1), on_step, "float32", str(device), batch, processes=processes
        )
    seconds = np.diff(times)
    waited, sent = np.diff(exchanges, axis=0).T
    ids = model.vocabulary.lookup(corpus.sentences.take(np.r_[:batch, PAIR_COUNT : PAIR_COUNT + batch])).ids
    touched = len(np.unique(ids)) / len(model.embeddings)
    return Speed(steps * batch / median(seconds), median(waited / seconds), median(sent) / steps / 1e6, touched)


@contextmanager
def exchanged() -> Iterator[dict[str, Any]]:
    """Yield the seconds and the bytes of all collective operations so far."""
    total = {"seconds": 0.0, "bytes": 0}

    def timed(original: Callable[..., Any], *tensors: Any) -> None:
        start = perf_counter()
        original(*tensors)
        total["seconds"] += perf_counter() - start
        total["bytes"] += sum(each.nbytes for each in tensors[0]) if isinstance(tensors[0], list) else tensors[0].nbytes

    timed_ones = {name: partial(timed, getattr(distributed, name)) for name in ("all_gather", "all_reduce")}
    with patch.multiple(distributed, **timed_ones):
        yield total


if __name__ == "__main__":
    main()
