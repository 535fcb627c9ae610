"""Training on a GPU: pairs per second, and the share of time in which the GPU is busy.

Run as `python -m tests.benchmarks.bench_device [--data data] [--steps N] [--only NAME ...]` in the root of the
repository. Text, batches and blocks are those of `bench_training`; `cpu` is what the same process reaches with the
blocks' number of threads. Steps are timed by wall clock after a warm-up, the median of five windows. Busy time is
that of kernels and copies as PyTorch's profiler sees them, in windows of their own, since the profiler slows the CPU
down: their sum per step over the seconds of an undisturbed step.
"""

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from pipeline.params import load_params
from tests.benchmarks.bench_training import BATCH, WINDOWS, Text, made_up, of_run, ours, shape

MODELS = (
    *("avg", "proj", "dan", "rnn", "irnn", "lstm", "lstmavg", "bilstmavg", "gran", "bigran"),
    *("charagram", "charcnn", "charlstm", "ldc"),
)


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description="Pairs per second in training on a GPU.")
    parser.add_argument("--steps", type=int, default=40, help="in each window")
    parser.add_argument("--data", type=Path, help="folder `data` of a run, whose text to take")
    parser.add_argument("--only", nargs="+", choices=MODELS, metavar="NAME", default=MODELS)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("bench_device: no GPU on this machine")
    text = of_run(options.data) if options.data else made_up()
    print(torch.cuda.get_device_name(), shape(text), sep="; ")
    print(f"{'':12}{'cpu pairs/s':>14}{'pairs/s':>14}{'ratio':>10}{'busy':>10}", flush=True)
    for name in options.only:
        cpu = BATCH / seconds(name, text, max(options.steps // 8, 3), "cpu")
        step = seconds(name, text, options.steps, "cuda")
        busy = busy_seconds(name, text, options.steps) / step
        print(f"{name:12}{cpu:14,.0f}{BATCH / step:14,.0f}{BATCH / step / cpu:10.1f}{busy:10.0%}", flush=True)


def seconds(name: str, text: Text, steps: int, device: str) -> float:
    """Of one step."""
    torch.set_num_threads(load_params().models[name]["num_threads"])
    times: list[float] = []

    def on_step(step: int) -> None:
        if step % steps:  # a step does not wait for the one before
            return
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(perf_counter())

    ours(name, text, steps * (WINDOWS + 1), on_step, device=device)
    return median(np.diff(times)) / steps


def busy_seconds(name: str, text: Text, steps: int) -> float:
    """Of one step on the GPU, by the profiler, which looks at the second half of a run: no start, no compiling."""
    profiler = profile(activities=[ProfilerActivity.CUDA])

    def on_step(step: int) -> None:
        if step == steps:
            torch.cuda.synchronize()
            profiler.start()

    ours(name, text, 2 * steps, on_step, device="cuda")
    torch.cuda.synchronize()
    profiler.stop()
    own = (event for event in profiler.events() if event.device_type == DeviceType.CUDA)
    return sum(event.time_range.elapsed_us() for event in own) / 1e6 / steps


if __name__ == "__main__":
    main()
