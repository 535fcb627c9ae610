"""Training on a GPU: pairs per second, and the share of time in which the GPU is busy.

Run `python -m tests.benchmarks.bench_device [--data data] [--steps N] [--only NAME ...]` in the root of the repository.
Text, batches and options are those of `bench_training`. The column `cpu` is the speed of the same process on the CPU,
with the number of threads in params.yaml. Steps are timed by wall clock after a warm-up; the median of five windows
counts. The GPU is busy while it runs kernels or copies, as PyTorch's profiler reports them. The profiler slows the CPU
down, so busy time is measured in windows of its own, and divided by the time of a step without the profiler.
"""

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from paraphrastic.parameters import load_params
from tests.benchmarks.bench_training import WINDOWS, train_model
from tests.benchmarks.pair_corpus import BATCH, PairCorpus, corpus_of_run, describe, random_corpus

MODELS = (
    *("avg", "proj", "dan", "rnn", "irnn", "lstm", "lstmavg", "bilstmavg", "gran", "bigran"),
    *("charagram", "charcnn", "charlstm", "ldc"),
)


def main() -> None:
    """Print a row for each model."""
    options = parse_arguments()
    if not torch.cuda.is_available():
        raise SystemExit("bench_device: no GPU on this machine")
    corpus = corpus_of_run(options.data) if options.data else random_corpus()
    print(torch.cuda.get_device_name(), describe(corpus), sep="; ")
    print(f"{'':12}{'cpu pairs/s':>14}{'pairs/s':>14}{'ratio':>10}{'busy':>10}", flush=True)
    for name in options.only:
        cpu_speed = BATCH / seconds_per_step(name, corpus, max(options.steps // 8, 3), "cpu")
        step = seconds_per_step(name, corpus, options.steps, "cuda")
        speed, busy = BATCH / step, busy_seconds_per_step(name, corpus, options.steps) / step
        print(f"{name:12}{cpu_speed:14,.0f}{speed:14,.0f}{speed / cpu_speed:10.1f}{busy:10.0%}", flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pairs per second in training on a GPU.")
    parser.add_argument("--steps", type=int, default=40, help="steps per window")
    parser.add_argument("--data", type=Path, help="folder `data` of a run of the pipeline, whose text is used")
    parser.add_argument("--only", nargs="+", choices=MODELS, metavar="NAME", default=MODELS)
    return parser.parse_args()


def seconds_per_step(name: str, corpus: PairCorpus, steps: int, device: str) -> float:
    """Return the wall-clock time of a step in the median window."""
    torch.set_num_threads(load_params().models[name]["num_threads"])
    times: list[float] = []

    def on_step(step: int) -> None:
        if step % steps:  # within a window a step does not wait for the previous one
            return
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(perf_counter())

    train_model(name, corpus, steps * (WINDOWS + 1), on_step, device=device)
    return median(np.diff(times)) / steps


def busy_seconds_per_step(name: str, corpus: PairCorpus, steps: int) -> float:
    """Return the time per step in which the GPU runs kernels or copies.

    The profiler sees the second half of a run only, after everything is compiled.
    """
    profiler = profile(activities=[ProfilerActivity.CUDA])

    def on_step(step: int) -> None:
        if step == steps:
            torch.cuda.synchronize()
            profiler.start()

    train_model(name, corpus, 2 * steps, on_step, device="cuda")
    torch.cuda.synchronize()
    profiler.stop()
    events = (event for event in profiler.events() if event.device_type == DeviceType.CUDA)
    return sum(event.time_range.elapsed_us() for event in events) / 1e6 / steps


if __name__ == "__main__":
    main()
