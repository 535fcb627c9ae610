"""Training sentences and words → the vectors that a teacher gives to them."""

import json
import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from joblib import Parallel, delayed

from paraphrastic.atomic import atomic_folder, write_text
from paraphrastic.console import message, progress
from paraphrastic.errors import ModelError, ProcessError
from paraphrastic.parameters import Params
from paraphrastic.scoring.cosine import normalize_rows
from paraphrastic.scoring.external_encoder import ExternalEncoder, Float, usable_device, usable_processes
from paraphrastic.scoring.scorer import Vectors
from paraphrastic.sources.own_files import watched
from paraphrastic.tables import TEACHER_INFO, WORD_COUNTS, StoredSentences, read_table, teacher_schema, write_table
from paraphrastic.training.fingerprint import fingerprint

SHARD = 1 << 13  # texts in a file, after each of which an interrupted run goes on
_Options = tuple[Path, int, str, Float]  # of an `ExternalEncoder`

_encoder = lru_cache(1)(ExternalEncoder)  # each process reads it once


def teach(params: Params, corpus: Path, vocabulary: Path, work: Path, out: Path) -> None:
    """Write the vectors of all distinct training sentences and of all words; without a teacher, a note that says so.

    Several processes encode, see `usable_processes`. Vectors are scaled to length 1 and stored as float16, 2 bytes per
    number.

    Args:
        params: all parameters, which name the teacher.
        corpus: tables of sentences and pairs.
        vocabulary: tables of counts.
        work: where the files of an interrupted run are; it goes on from there.
        out: the folder, which appears whole or not at all.

    Raises:
        ModelError: there is no encoder in the teacher's folder, or it gives a vector that is not finite.
        ParameterError: the package that reads the teacher is not installed, or the teacher has no such precision.
        ProcessError: one of several processes died.
    """
    if params.teacher.path is None:
        with atomic_folder(out) as part:
            _write_info(part, None, 0)
        return
    folder = Path(params.teacher.path)
    device = usable_device(folder, params.train.device)
    options = folder, params.teacher.batch_size, device, params.teacher.precision
    files = corpus / "sentences.parquet", vocabulary / "words.parquet"
    shards = work / fingerprint((device, params.teacher.precision), *files, *watched(folder))
    sentences = StoredSentences(files[0])
    words = read_table(files[1], WORD_COUNTS)["text"].combine_chunks()
    count = min(usable_processes(folder, device), -(-len(sentences) // SHARD))
    message(f"{folder}: encodes {len(sentences):,} sentences and {len(words):,} words" + _in_processes(count))
    with progress() as bar:
        for kind, texts, total in (("words", [words], len(words)), ("sentences", sentences, len(sentences))):
            task = bar.add_task(kind, total=total)
            for done in _encode(options, count, kind, texts, shards / kind):
                bar.advance(task, done)
    _collect(shards, out, folder.resolve().name)


def _in_processes(count: int) -> str:
    return f" in {count} processes" if count > 1 else ""


def _encode(options: _Options, count: int, kind: str, texts: Iterable[pa.StringArray], shards: Path) -> Iterator[int]:
    """Write a table for each `SHARD` texts, unless it is there, in `count` processes; yield how many texts each has."""
    parts = (column[start : start + SHARD] for column in texts for start in range(0, len(column), SHARD))
    calls = (
        delayed(_write_shard)(os.getpid(), options, part, kind, shards / f"{number:06}.parquet")
        for number, part in enumerate(parts)
    )
    try:
        yield from Parallel(count, return_as="generator_unordered")(calls)
    except BrokenProcessPool as error:
        raise ProcessError(
            "a process that encodes with the teacher died, perhaps for want of memory; run the same command again to "
            "continue"
        ) from error


def _write_shard(starter: int, options: _Options, texts: pa.StringArray, kind: str, path: Path) -> int:
    if os.getpid() != starter:
        _end_with(starter)
    if not path.exists():
        vectors = _unit_vectors(_encoder(*options), texts)
        column = pa.FixedSizeListArray.from_arrays(vectors.astype(np.float16).ravel(), vectors.shape[1])
        write_table(pa.table({"text": texts, "vector": column}), path, teacher_schema(kind, vectors.shape[1]))
    return len(texts)


@cache
def _end_with(starter: int) -> None:
    """End this process soon after the one that started it; joblib's processes outlive one that was killed."""

    def watch() -> None:
        while os.getppid() == starter:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _unit_vectors(encoder: ExternalEncoder, texts: pa.StringArray) -> Vectors:
    vectors = encoder.encode(texts)
    if len(bad := np.flatnonzero(~np.isfinite(vectors).all(1))):
        raise ModelError(f"teacher: the vector of {texts[bad[0]].as_py()!r:.60} is not finite; choose another teacher")
    return normalize_rows(vectors)


def _collect(shards: Path, out: Path, name: str) -> None:
    dim = pq.read_schema(shards / "sentences/000000.parquet").field("vector").type.list_size
    with atomic_folder(out) as part:
        for kind in ("words", "sentences"):
            shutil.move(shards / kind, part / kind)
        _write_info(part, name, dim)
    shutil.rmtree(shards)


def _write_info(folder: Path, name: str | None, dim: int) -> None:
    write_text(folder / TEACHER_INFO, json.dumps({"name": name, "dim": dim}) + "\n")
