"""Training sentences and words → the vectors that a teacher gives to them."""

import json
import os
import shutil
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import starmap
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.console import message, progress
from paraphrastic.base.errors import ProcessError
from paraphrastic.base.files import atomic_folder, fingerprint, locked, watched, write_text
from paraphrastic.base.parallel import end_with
from paraphrastic.base.parameters import Params
from paraphrastic.base.tables import TEACHER_INFO, WORD_COUNTS, StoredSentences, read_table, teacher_schema, write_table
from paraphrastic.scoring.external_encoder import ExternalEncoder, Float, usable_device, usable_processes
from paraphrastic.scoring.scorer import normalize_rows

SHARD = 1 << 13  # texts in a file, after each of which an interrupted run goes on
_Options = tuple[Path, int, str, Float]  # of an `ExternalEncoder`
_Kinds = dict[str, tuple[int, Iterable[pa.StringArray]]]  # how many texts of a kind there are, and the texts

_encoder = cache(ExternalEncoder)  # each process reads it once


def teach(params: Params, corpus: Path, vocabulary: Path, work: Path, out: Path, processes: int = 1) -> None:
    """Write the vectors of all distinct training sentences and of all words; without a teacher, a note that says so.

    Vectors are scaled to length 1 and stored as float16, 2 bytes per number. Those of k teachers stand side by side,
    each divided by √k: their cosine is the mean of the teachers' cosines.

    Args:
        params: name the teacher.
        corpus: tables of sentences and pairs.
        vocabulary: tables of counts.
        work: where the files of an interrupted run are; it goes on from there.
        out: the folder, which appears whole or not at all.
        processes: how many may encode, see `usable_processes`. Several import the main module of the program anew.

    Raises:
        ModelError: there is no encoder in the teacher's folder, or it gives a vector that is not finite.
        ParameterError: the package that reads the teacher is not installed, or the teacher has no such precision.
        ProcessError: one of several processes died.
    """
    if not params.teacher.path:
        with atomic_folder(out) as part:
            _write_info(part, None, 0)
        return
    folders, precision = [Path(name) for name in params.teacher.path], params.teacher.precision
    devices = [usable_device(folder, params.train.device) for folder in folders]
    options = [
        (folder, params.teacher.batch_size, device, precision) for folder, device in zip(folders, devices, strict=True)
    ]
    files = corpus / "sentences.parquet", vocabulary / "words.parquet"
    shards = work / fingerprint((devices, precision), *files, *(file for folder in folders for file in watched(folder)))
    sentences = StoredSentences(files[0])
    words = read_table(files[1], WORD_COUNTS)["text"].combine_chunks()
    count = min(processes, *map(usable_processes, folders, devices), -(-len(sentences) // SHARD))
    shared = f" in {count} processes" if count > 1 else ""
    verb = f"encode{'s' * (len(folders) == 1)}"
    named = " and ".join(params.teacher.path)
    message(f"{named}: {verb} {len(sentences):,} sentences and {len(words):,} words{shared}")
    kinds: _Kinds = {"words": (len(words), [words]), "sentences": (len(sentences), sentences)}
    with locked(shards, "encodes with the same teacher"):
        with progress() as bar:
            tasks = {kind: bar.add_task(kind, total=total) for kind, (total, _) in kinds.items()}
            for kind, done in _run(count, _shards(options, kinds, shards)):
                bar.advance(tasks[kind], done)
        dim = pq.read_schema(shards / "sentences/000000.parquet").field("vector").type.list_size
        with atomic_folder(out) as part:
            for kind in kinds:
                (part / kind).mkdir()
                for file in (shards / kind).glob("*.parquet"):
                    _link(file, part / kind / file.name)
            _write_info(part, " and ".join(folder.resolve().name for folder in folders), dim)
        shutil.rmtree(shards)


def _shards(options: Sequence[_Options], kinds: _Kinds, folder: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of `_write_shard` for each `SHARD` texts."""
    for kind, (_, columns) in kinds.items():
        parts = (column[start : start + SHARD] for column in columns for start in range(0, len(column), SHARD))
        for number, part in enumerate(parts):
            yield options, part, kind, folder / kind / f"{number:06}.parquet"


def _run(count: int, calls: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, int]]:
    """Yield the result of each call of `_write_shard`, in any order; `count` processes of their own, or this one."""
    if count == 1:
        yield from starmap(_write_shard, calls)
        return
    pool, pending = ProcessPoolExecutor(count, get_context("spawn"), _start, (os.getpid(),)), set[Future[Any]]()
    try:
        for call in calls:
            if len(pending) == 2 * count:  # so that few texts wait in memory
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in done)
            pending.add(pool.submit(_write_shard, *call))
        yield from (each.result() for each in as_completed(pending))
        pool.shutdown()  # its processes end by themselves, and give back the semaphores of their progress bars
    except BrokenProcessPool as error:
        raise ProcessError(
            "a process that encodes with the teacher died, perhaps for want of memory; run the same command again to "
            "continue"
        ) from error
    finally:
        for process in active_children():  # an interruption does not wait for their vectors
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _start(starter: int) -> None:
    """Prepare a process: it has one thread, and ends soon after the one that started it, which may be killed."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started it ends it
    end_with(starter)


def _write_shard(options: Sequence[_Options], texts: pa.StringArray, kind: str, path: Path) -> tuple[str, int]:
    """Write a table of vectors, unless it is there; return the kind and the number of its texts."""
    if not path.exists():
        parts = [normalize_rows(_encoder(*each).encode(texts)) for each in options]
        vectors = np.hstack(parts) / np.float32(len(parts)) ** 0.5
        column = pa.FixedSizeListArray.from_arrays(vectors.astype(np.float16).ravel(), vectors.shape[1])
        write_table(pa.table({"text": texts, "vector": column}), path, teacher_schema(kind, vectors.shape[1]))
    return kind, len(texts)


def _link(file: Path, place: Path) -> None:
    """Give a file a second place, on another file system as a copy: an error before the end loses no vectors."""
    try:
        place.hardlink_to(file)
    except OSError:
        shutil.copyfile(file, place)


def _write_info(folder: Path, name: str | None, dim: int) -> None:
    write_text(folder / TEACHER_INFO, json.dumps({"name": name, "dim": dim}) + "\n")
