"""Time and memory of each stage on corpora of millions of pairs, and how they grow.

Writes random pairs in the format of PPDB 1.0 (phrases) or of ParaNMT-50M (sentences of 15 tokens), runs the stages on
them, each in a process of its own, the training for some steps and a checkpoint, and prints a row for each stage and
size:

    python -m tests.benchmarks.bench_size --pairs 1e5 3e5 --models avg charagram --folder /tmp/size

`exponent` is the slope of log time, or log memory, against log pairs from the smallest size to this one. `CPU` is the
seconds of all threads, `disk` GB of files. `OMP_NUM_THREADS=1` before the command measures one thread.
"""

import argparse
import gzip
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.measuring import in_own_process
from tests.benchmarks.pair_corpus import random_words
from tests.helpers.parameter_files import copy_parameters
from tests.helpers.repository import ROOT

WORDS, BLOCK = 300_000, 200_000  # distinct words; pairs that are written at a time
FEATURES = "p(LHS|e)=3.14159 p(LHS|f)=3.14159 p(e|LHS)=3.14159 p(e|f)=3.14159 p(e|f,LHS)=3.14159 p(f|e)=3.14159"
LENGTHS = {"ppdb": 3.0, "paranmt": 15.0}  # mean number of tokens
FILES = {
    "ppdb": "mirror/www.cis.upenn.edu/~ccb/ppdb/release-1.0/ppdb-1.0-xxl-phrasal.gz",
    "paranmt": "cache/licensed/paranmt/para-nmt-50m.txt",
}
CORPUS = {"ppdb": "ppdb-xxl-phrasal", "paranmt": "paranmt"}
STAGES = ("download", "tokenize", "vocabulary")
TRAIN = """
import sys, time
from pathlib import Path
begin = time.perf_counter()
from paraphrastic.base.parameters import load_params
from paraphrastic.training import train_model as training
from paraphrastic.training.trainer import Callback, Checkpoint
from paraphrastic.training.train_model import Tables, train_model
times = []
class Timed(Callback):
    def on_step(self, trainer):
        times.append(time.perf_counter())
        if trainer.step == trainer.steps:
            Checkpoint(Path("checkpoint")).save(trainer.state())
            times.append(time.perf_counter())
    def __init__(self):
        make = training._trainer
        def shortened(*arguments):
            trainer = make(*arguments)
            trainer.steps, batches = int(sys.argv[2]), trainer.batches
            trainer.batches = lambda epoch: batches(epoch)[: trainer.steps - epoch * trainer.steps_per_epoch]
            return trainer
        training._trainer = shortened
params = load_params(Path("params.yaml"), {"model": sys.argv[1], "train.select": "none"})
tables = Tables(*(Path("data") / name for name in Tables._fields))
train_model(params, tables, Path("c"), Path("data/model"), [Timed()])
print(times[0] - begin, (times[-2] - times[0]) / (len(times) - 2), times[-1] - times[-2])
"""


class Measured(NamedTuple):
    """What a process took."""

    seconds: float  # from its start to its end
    cpu: float  # seconds of all its threads
    gigabytes: float  # its largest memory
    disk: float  # GB by which the files of the folder grew, at most; files without a name do not count
    output: str  # what it printed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=LENGTHS, default="ppdb")
    parser.add_argument("--pairs", type=float, nargs="+", default=[1e6])
    parser.add_argument("--models", nargs="*", default=["avg", "charagram"])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--folder", type=Path, required=True, help="with space for text and tables; emptied")
    options = parser.parse_args()
    first: dict[str, tuple[float, Measured]] = {}
    print(
        f"{'pairs':>10} {'stage':18} {'seconds':>8} {'exponent':>8} {'CPU':>7} {'GB':>6} {'exponent':>8} {'disk':>6}"
        "  first step, ms per step, checkpoint"
    )
    for pairs in sorted(options.pairs):
        for stage, measured in measure(options.folder, options.format, int(pairs), options.models, options.steps):
            first.setdefault(stage, (pairs, measured))
            growth = [exponent(first[stage], (pairs, measured), field) for field in ("seconds", "gigabytes")]
            time = f"{measured.seconds:8.1f} {growth[0]:>8} {measured.cpu:7.1f}"
            space = f"{measured.gigabytes:6.2f} {growth[1]:>8} {measured.disk:6.2f}"
            print(f"{int(pairs):10} {stage:18} {time} {space}  {measured.output}", flush=True)


def measure(folder: Path, kind: str, pairs: int, models: Sequence[str], steps: int) -> Iterator[tuple[str, Measured]]:
    """Yield what each stage takes on a corpus of `pairs` pairs."""
    shutil.rmtree(folder, ignore_errors=True)
    # in a process of its own: a child counts the largest memory of the process that starts it as its own
    in_own_process(write_pairs, folder / FILES[kind], kind, pairs)
    copy_parameters(folder, corpus=CORPUS[kind])
    for stage in STAGES:
        yield stage, run(folder, "-m", f"pipeline.{stage}")._replace(output="")
    for model in models:
        measured = run(folder, "-c", TRAIN, model, str(steps))
        start, step, checkpoint = map(float, measured.output.split())
        yield f"train {model}", measured._replace(output=f"{start:.1f} s, {1000 * step:.1f} ms, {checkpoint:.1f} s")
        yield f"evaluate {model}", run(folder, "-m", "pipeline.evaluate")._replace(output="")


def run(folder: Path, *arguments: str) -> Measured:
    """Run Python in `folder` and measure the process."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}/src:{ROOT}", "PARAPHRASTIC_CACHE": str(folder / "cache")}
    environment |= {"PARAPHRASTIC_MIRROR": str(folder / "mirror")}
    (folder / "mirror").mkdir(exist_ok=True)
    start, before = perf_counter(), used(folder)
    options = {"cwd": folder, "env": environment, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, *arguments], stderr=subprocess.PIPE, **options) as process:
        disk, ended = before, 0
        while not ended:
            disk = max(disk, used(folder))
            sleep(0.1)
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        output, errors = process.stdout.read(), process.stderr.read()
    if process.returncode:
        raise SystemExit(errors)
    cpu = usage.ru_utime + usage.ru_stime
    grown = (max(disk, used(folder)) - before) / 1e9
    return Measured(perf_counter() - start, cpu, usage.ru_maxrss / 1e6, grown, output.strip())


def used(folder: Path) -> int:
    """Return the bytes of all files below `folder`; of those that are replaced meanwhile, some can be missed."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def exponent(first: tuple[float, Measured], last: tuple[float, Measured], field: str) -> str:
    """Return the slope of the logarithm of a field between two sizes; an empty string for one size."""
    if first[0] == last[0]:
        return ""
    growth = getattr(last[1], field) / getattr(first[1], field)
    return f"{math.log(growth) / math.log(last[0] / first[0]):.2f}"


def write_pairs(path: Path, kind: str, pairs: int) -> None:
    """Write a file of random pairs whose sides share half of their words."""
    path.parent.mkdir(parents=True)
    generator, words = np.random.default_rng(1), np.array(random_words(WORDS))
    with gzip.open(path, "wb", compresslevel=1) if path.suffix == ".gz" else path.open("wb") as file:
        for start in range(0, pairs, BLOCK):
            sides = list(phrases(generator, words, min(BLOCK, pairs - start), LENGTHS[kind]))
            form = "[X] ||| {} ||| {} ||| " + FEATURES + " ||| 0-0\n" if kind == "ppdb" else "{}\t{}\t0.8\n"
            file.write("".join(form.format(*pair) for pair in zip(*sides, strict=True)).encode())


def phrases(generator: np.random.Generator, words: NDArray[np.str_], count: int, mean: float) -> Iterator[list[str]]:
    """Yield both sides of `count` pairs; a word of rank r occurs in proportion to 1/r."""
    lengths = 1 + generator.poisson(mean - 1, count)
    ends = np.cumsum(lengths)
    ranks = np.exp(generator.random(ends[-1]) * math.log(len(words))).astype(int) - 1
    for _ in range(2):
        changed = generator.random(ends[-1]) < 0.5
        fresh = np.exp(generator.random(ends[-1]) * math.log(len(words))).astype(int) - 1
        text = words[np.where(changed, fresh, ranks)].tolist()
        yield [" ".join(text[end - length : end]) for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]


if __name__ == "__main__":
    main()
