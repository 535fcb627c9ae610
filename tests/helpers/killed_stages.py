"""Stages in processes that can be killed, without the seconds that a new interpreter takes to import them."""

import importlib
import multiprocessing
import os
import resource
import signal
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.helpers.repository import isolated_environment

SECONDS = 0.02  # between two checkpoints, so that most kills come after one
STAGES = ["inputs", "download", "tokenize", "vocabulary", "teach", "train", "evaluate"]


def start_stage(folder: Path, stage: str, *arguments: str, file_size: int = resource.RLIM_INFINITY) -> BaseProcess:
    """Start a stage as `python -m pipeline.STAGE` does, in a folder with a params.yaml.

    Args:
        folder: the working directory; `errors` in it gets what the stage prints.
        stage: its name.
        arguments: those of the command.
        file_size: bytes that a file may have, beyond which writing fails as on a full disk.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"pipeline.{name}" for name in [*STAGES, "finetune", "analyze"]])
    process = context.Process(target=_run_stage, args=(folder, stage, arguments, file_size))
    process.start()
    return process


def run_stage(folder: Path, stage: str, *arguments: str) -> float:
    """Run a stage to its end, check that it succeeds, and return its seconds."""
    start = time.monotonic()
    process = start_stage(folder, stage, *arguments)
    process.join()
    assert process.exitcode == 0, (folder / "errors").read_text()
    return time.monotonic() - start


def kill_stage(seconds: float, folder: Path, stage: str, *arguments: str) -> bool:
    """Kill a stage after some seconds; return whether it was still running."""
    process = start_stage(folder, stage, *arguments)
    process.join(seconds)
    running = process.is_alive()
    process.kill()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), (folder / "errors").read_text()
    return running


def content_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files of a run by path, hidden ones too."""
    files = [path for name in ("data", "metrics", ".checkpoints") for path in (folder / name).rglob("*")]
    names = {path.relative_to(folder).as_posix(): path for path in files if path.is_file()}
    return {name: path.read_bytes() for name, path in names.items() if name != ".checkpoints/inputs.json"}


def _run_stage(folder: Path, stage: str, arguments: tuple[str, ...], file_size: int) -> None:
    os.chdir(folder)
    environment = isolated_environment(folder / "cache")
    os.environ.clear()
    os.environ.update(environment)
    with (folder / "errors").open("w") as errors:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
    module = importlib.import_module(f"pipeline.{stage}")
    importlib.import_module("paraphrastic.training.checkpoint").CHECKPOINT_SECONDS = SECONDS  # type: ignore[attr-defined]
    if stage == "finetune":
        module.CHECKPOINT_SECONDS = SECONDS  # type: ignore[attr-defined]
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, resource.RLIM_INFINITY))
    sys.argv = [f"pipeline.{stage}", *arguments]
    module.run(module.main)
