"""Speed on a GPU, and the share of time in which the GPU is busy.

Run `python -m tests.benchmarks.bench_device [--batch 100 1000] [--noise] [--data data] [--steps N] [--only NAME ...]`
in the root of the repository. Each model has a row for each size of mini-batches in training, in pairs per second, and
one for encoding all sentences of the text, in sentences per second; `ldc` scores all pairs, in pairs per second.

Text and options are those of `bench_training`; with `--noise`, dropout and scrambling are those of params.yaml. The
column `cpu` is the speed of the same process on the CPU, with the number of threads in params.yaml. Steps are timed by
wall clock after a warm-up; the median of five windows counts. The GPU is busy while it runs kernels or copies, as
PyTorch's profiler reports them. The profiler slows the CPU down, so busy time is measured in windows of its own, and
divided by the time without the profiler.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from paraphrastic.base.parameters import load_params
from paraphrastic.scoring.neural import TrainedPairModel
from tests.benchmarks.bench_training import WINDOWS, train_model, untrained
from tests.benchmarks.pair_corpus import BATCH, PAIR_COUNT, PairCorpus, corpus_of_run, describe, random_corpus

MODELS = (
    *("avg", "proj", "dan", "rnn", "irnn", "lstm", "lstmavg", "bilstmavg", "gran", "bigran"),
    *("charagram", "charcnn", "charlstm", "ldc"),
)


def main() -> None:
    """Print the rows of each model."""
    options = parse_arguments()
    if not torch.cuda.is_available():
        raise SystemExit("bench_device: no GPU on this machine")
    corpus = corpus_of_run(options.data) if options.data else random_corpus()
    print(torch.cuda.get_device_name(), describe(corpus), sep="; ")
    print(f"{'':12}{'batch':>10}{'cpu':>14}{'gpu':>14}{'ratio':>10}{'busy':>10}", flush=True)
    for name in options.only:
        torch.set_num_threads(load_params().models[name].get("num_threads", 1))
        for batch in options.batch:
            train = partial(train_model, name, corpus, batch=batch, noise=options.noise)
            cpu_steps = max(options.steps * BATCH // batch // 8, 3)
            cpu_step, step = seconds_per_step(train, cpu_steps, "cpu"), seconds_per_step(train, options.steps, "cuda")
            busy = busy_seconds_per_step(train, options.steps)
            print(format_row(name, f"{batch:,}", batch, cpu_step, step, busy), flush=True)
        print(format_row(name, "encoding", *encoding(name, corpus)), flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Speed of training and encoding on a GPU.")
    parser.add_argument("--batch", type=int, nargs="+", default=[100, 1000], help="pairs per mini-batch")
    parser.add_argument("--noise", action="store_true", help="with the dropout and the scrambling of models.yaml")
    parser.add_argument("--steps", type=int, default=40, help="steps per window")
    parser.add_argument("--data", type=Path, help="folder `data` of a run of the pipeline, whose text is used")
    parser.add_argument("--only", nargs="+", choices=MODELS, metavar="NAME", default=MODELS)
    return parser.parse_args()


def format_row(name: str, kind: str, items: int, cpu_seconds: float, seconds: float, busy_seconds: float) -> str:
    """Return a row: items per second on the CPU and on the GPU, their ratio, and the share of time it is busy."""
    speeds = f"{items / cpu_seconds:14,.0f}{items / seconds:14,.0f}{cpu_seconds / seconds:10.1f}"
    return f"{name:12}{kind:>10}{speeds}{busy_seconds / seconds:10.0%}"


def seconds_per_step(train: Callable[..., None], steps: int, device: str) -> float:
    """Return the wall-clock time of a step in the median window."""
    times: list[float] = []

    def on_step(step: int) -> None:
        if step % steps:  # within a window a step does not wait for the previous one
            return
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(perf_counter())

    train(steps * (WINDOWS + 1), on_step, device=device)
    return median(np.diff(times)) / steps


def busy_seconds_per_step(train: Callable[..., None], steps: int) -> float:
    """Return the time per step in which the GPU runs kernels or copies.

    The profiler sees the second half of a run only, after everything is compiled.
    """
    profiler = profile(activities=[ProfilerActivity.CUDA])

    def on_step(step: int) -> None:
        if step == steps:
            torch.cuda.synchronize()
            profiler.start()

    train(2 * steps, on_step, device="cuda")
    torch.cuda.synchronize()
    profiler.stop()
    return busy_seconds(profiler) / steps


def busy_seconds(profiler: profile) -> float:
    events = (event for event in profiler.events() if event.device_type == DeviceType.CUDA)
    return sum(event.time_range.elapsed_us() for event in events) / 1e6


def encoding(name: str, corpus: PairCorpus) -> tuple[int, float, float, float]:
    """Return how much is encoded, the seconds that it takes on the CPU and on the GPU, and those the latter is busy."""
    run = {device: encoder(name, corpus, device) for device in ("cpu", "cuda")}
    seconds = {device: median(seconds_of(each) for _ in range(WINDOWS)) for device, each in run.items()}
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        run["cuda"]()
    items = PAIR_COUNT if name == "ldc" else len(corpus.sentences)
    return items, seconds["cpu"], seconds["cuda"], busy_seconds(profiler)


def encoder(name: str, corpus: PairCorpus, device: str) -> Callable[[], object]:
    """Return a function that encodes all sentences of the text, or scores all its pairs; it has run once.

    The results are read back, which waits for the device.
    """
    model, _ = untrained(name, corpus, {}, device)
    left = np.arange(PAIR_COUNT)
    if isinstance(model, TrainedPairModel):
        run = partial(model.score, corpus.sentences, left, PAIR_COUNT + left)
    else:
        run = partial(model.encode, corpus.sentences)
    run()
    return run


def seconds_of(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


if __name__ == "__main__":
    main()
