"""Milliseconds that processes take to share the embeddings of a step, in three ways.

Run `python -m tests.benchmarks.bench_exchange [--processes 1 2 4] [--batches N ...]` in the root of the repository, on
a machine that does nothing else. The mini-batches are those of `bench_processes`, divided as there; every process knows
the ids of all, so that only rows of 300 numbers are sent. Each process has one thread, or a GPU of its own if there are
GPUs.

* `added`: every process has the whole table. The gradients of all rows that the mini-batch uses are added (all-reduce).
  This is what training does.
* `gathered`: every process sends the gradients of the rows that its share uses to all (all-gather), which add them.
* `divided`: row i of the table is in process i modulo their number. A process fetches the rows that its share uses
  (all-to-all), and sends their gradients back.

`exchange` is the time until each process has the sums that it needs, MB what it receives, `rows` the number of rows
that it updates then: all of the mini-batch, or of a divided table those that it has.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed

from paraphrastic.base import devices
from paraphrastic.text.columns import Ragged
from paraphrastic.training.launching import join, local_rank, run_in_processes
from paraphrastic.training.processes import Processes, share_bounds
from paraphrastic.vocabulary.kinds import build_vocabulary
from tests.benchmarks.measuring import in_own_process
from tests.benchmarks.pair_corpus import PAIR_COUNT, PairCorpus, random_corpus

DIM, STEPS = 300, 20
KINDS = {"avg": "words", "charagram": "ngrams"}


class Cost(NamedTuple):
    """What was measured of a way in a process."""

    milliseconds: float
    megabytes: float
    rows: float


class Step(NamedTuple):
    """The rows of the table that the share of each process uses, ascending, and all of them."""

    shares: list[NDArray[np.int64]]
    all: NDArray[np.int64]


def main() -> None:
    """Print a row for each model, size of the mini-batch, number of processes and way."""
    parser = argparse.ArgumentParser(description="Time to share the embeddings of a step.")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--batches", type=int, nargs="+", default=[100, 800], help="pairs per mini-batch")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    options = parser.parse_args()
    cells, corpus = list(product(KINDS, options.batches)), random_corpus()
    print(f"{'':12}{'batch':>8}{'processes':>12}{'way':>10}{'exchange':>12}{'MB':>8}{'rows':>10}", flush=True)
    for count in options.processes:
        start: Callable[..., Any] = in_own_process if count == 1 else partial(run_in_processes, count)
        for (name, batch), costs in zip(cells, start(measure, corpus, cells, options.device), strict=True):
            for way, cost in costs.items():
                figures = f"{cost.milliseconds:9.2f} ms{cost.megabytes:8.1f}{cost.rows:10,.0f}"
                print(f"{name:12}{batch:8}{count:12}{way:>10}{figures}", flush=True)


def measure(corpus: PairCorpus, cells: Sequence[tuple[str, int]], device: str) -> list[dict[str, Cost]]:
    """Return the cost of each way for each model and size of the mini-batch."""
    torch.set_num_threads(1)
    chosen = devices.find(device, local_rank())
    processes = join(chosen)
    return [costs(corpus, name, batch, processes, chosen) for name, batch in cells]


def costs(corpus: PairCorpus, name: str, batch: int, processes: Processes, device: torch.device) -> dict[str, Cost]:
    counts = corpus.counts(KINDS[name])
    ragged = build_vocabulary(KINDS[name], counts["text"].combine_chunks()).lookup(corpus.sentences)
    table = torch.randn(len(counts) + 1, DIM, device=device)
    steps = list(mini_batches(ragged, batch, processes.size))
    found = {}
    for way in (added, gathered, divided):
        measured = [way(step, table, processes) for step in steps]
        found[way.__name__] = Cost(*(median(values) for values in zip(*measured, strict=True)))
    return found


def mini_batches(ragged: Ragged, batch: int, size: int) -> Iterator[Step]:
    for number in range(STEPS):
        left = np.arange(number * batch, (number + 1) * batch) % PAIR_COUNT
        sentences = ragged.take(np.concatenate([left, PAIR_COUNT + left]))
        bounds = sentences.offsets[share_bounds(sentences.offsets, size)]
        shares = [np.unique(part) for part in np.split(np.asarray(sentences.ids, np.int64), bounds[1:-1])]
        yield Step(shares, np.unique(sentences.ids).astype(np.int64))


def added(step: Step, table: Tensor, processes: Processes) -> Cost:
    gradient = table[to(step.all, table)]
    with timed(table, processes) as time:
        if processes.size > 1:
            distributed.all_reduce(gradient)
    return Cost(time[0], gradient.nbytes * 2 * (processes.size - 1) / processes.size / 1e6, len(step.all))


def gathered(step: Step, table: Tensor, processes: Processes) -> Cost:
    largest, own = max(map(len, step.shares)), step.shares[processes.rank]
    places = [to(np.searchsorted(step.all, share), table) for share in step.shares]
    gradient, sum_ = table[to(own, table)], table.new_zeros(len(step.all), DIM)
    with timed(table, processes) as time:
        received = [gradient]
        if processes.size > 1:
            received = [table.new_empty(largest, DIM) for _ in step.shares]
            distributed.all_gather(received, torch.nn.functional.pad(gradient, (0, 0, 0, largest - len(own))))
        for rows, place in zip(received, places, strict=True):
            sum_.index_add_(0, place, rows[: len(place)])
    return Cost(time[0], gradient[:1].nbytes * largest * (processes.size - 1) / 1e6, len(step.all))


def divided(step: Step, table: Tensor, processes: Processes) -> Cost:
    size, rank = processes.size, processes.rank
    wanted = [[share[share % size == owner] for owner in range(size)] for share in step.shares]  # [of whom][from whom]
    lent = [to(wanted[each][rank], table) for each in range(size)]
    fetched = [table.new_empty(len(wanted[rank][owner]), DIM) for owner in range(size)]
    returned = [table.new_empty(len(rows), DIM) for rows in lent]
    mine = step.all[step.all % size == rank]
    places = [to(np.searchsorted(mine, wanted[each][rank]), table) for each in range(size)]
    sum_ = table.new_zeros(len(mine), DIM)
    with timed(table, processes) as time:
        exchange(fetched, [table[rows] for rows in lent])
        exchange(returned, fetched)
        for rows, place in zip(returned, places, strict=True):
            sum_.index_add_(0, place, rows)
    others = [rows for number, rows in enumerate([*fetched, *returned]) if number % size != rank]
    return Cost(time[0], sum(rows.nbytes for rows in others) / 1e6, len(mine))


def exchange(received: list[Tensor], sent: list[Tensor]) -> None:
    """Send a tensor to each process, and receive one from each."""
    if len(sent) == 1:
        received[0].copy_(sent[0])
        return
    into = torch.cat(received)
    sizes = [[len(rows) for rows in each] for each in (received, sent)]
    distributed.all_to_all_single(into, torch.cat(sent), *sizes)
    for rows, part in zip(received, into.split(sizes[0]), strict=True):
        rows.copy_(part)


@contextmanager
def timed(table: Tensor, processes: Processes) -> Iterator[list[float]]:
    """Yield a list to which the milliseconds of the block are added; all processes begin together."""

    def wait() -> None:
        if table.device.type == "cuda":
            torch.cuda.synchronize()

    if processes.size > 1:
        distributed.barrier()
    wait()
    start, milliseconds = perf_counter(), list[float]()
    yield milliseconds
    wait()
    milliseconds.append(1000 * (perf_counter() - start))


def to(rows: NDArray[np.int64], table: Tensor) -> Tensor:
    return torch.from_numpy(rows).to(table.device)


if __name__ == "__main__":
    main()
