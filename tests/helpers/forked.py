"""Stages and commands in processes that can be killed, without the seconds that imports of a new interpreter take."""

import ctypes
import importlib
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.repository import isolated_environment

SECONDS = 0.02  # between two checkpoints, so that most kills come after one
STAGES = ["inputs", "download", "tokenize", "vocabulary", "teach", "train", "evaluate"]
_PRELOADED = [
    *(f"pipeline.{name}" for name in [*STAGES, "finetune", "analyze"]),
    "paraphrastic.cli.main",
    "paraphrastic.inference.model_folder",
    "paraphrastic.inference.mining",
    "paraphrastic.training.standalone",
]
_ERRORS = "errors"  # file in a folder, with what its last process has printed
_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}


@dataclass(frozen=True)
class Limits:
    """What a process may do."""

    file_size: int | None = None  # bytes of a file, beyond which writing fails as on a full disk
    changes: int | None = None  # of files and folders in the working directory, before the next of which it is killed
    is_privileged: bool = True  # whether root may do what permissions forbid


def start(folder: Path, limits: Limits, function: Callable[..., object], *arguments: Any) -> BaseProcess:
    """Start a function of a module in a folder, whose file `errors` gets what it prints, without personal settings."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    process = context.Process(target=_run, args=(folder, limits, function, arguments))
    process.start()
    return process


def start_stage(folder: Path, stage: str, *arguments: str, limits: Limits = Limits()) -> BaseProcess:
    """Start a stage as `python -m pipeline.STAGE` does, in a folder with a params.yaml."""
    return start(folder, limits, _run_stage, stage, arguments)


def start_command(folder: Path, *arguments: str, limits: Limits = Limits()) -> BaseProcess:
    """Start a command as `paraphrastic` does."""
    return start(folder, limits, _run_command, arguments)


def printed(folder: Path) -> str:
    """Return what the last process in a folder has printed."""
    return (folder / _ERRORS).read_text(errors="replace")


def changes(folder: Path) -> int:
    """Return how many changes the last process in a folder has made, which was not killed."""
    return int(printed(folder).splitlines()[-1].split()[0])


def refusal(process: BaseProcess, folder: Path, *statuses: int) -> str:
    """Wait for a process, check its status, 1 or one of these, and return its only line about an error; "" for 0."""
    process.join()
    assert process.exitcode in (statuses or (1,)), printed(folder)
    lines = [line for line in printed(folder).splitlines() if line.startswith(("error", "Error", "Traceback"))]
    assert len(lines) == bool(process.exitcode), printed(folder)
    assert all(line.casefold().startswith("error: ") for line in lines), printed(folder)
    return "".join(lines)


def content_of(folder: Path, *prefixes: str) -> dict[str, bytes]:
    """Return the bytes of the files of a folder by path, hidden ones too; with prefixes, of those that have one."""
    names = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    kept = {name: path for name, path in names.items() if name.startswith(prefixes or ("",)) and name != _ERRORS}
    return {name: path.read_bytes() for name, path in kept.items()}


def run_content(folder: Path) -> dict[str, bytes]:
    """Return the bytes of what stages have written."""
    content = content_of(folder, "data/", "metrics/", ".checkpoints/")
    return {name: each for name, each in content.items() if name != ".checkpoints/inputs.json"}


def succeeds(process: BaseProcess, folder: Path) -> float:
    """Wait for a process, check that it succeeds, and return its seconds from now."""
    begin = time.monotonic()
    process.join()
    assert process.exitcode == 0, printed(folder)
    return time.monotonic() - begin


def is_killed(process: BaseProcess, folder: Path, seconds: float | None = None) -> bool:
    """Kill a process after some seconds, or wait for it; return whether it was killed and did not end before."""
    process.join(seconds)
    process.kill()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL), printed(folder)
    return process.exitcode != 0


def protect(path: Path) -> None:
    """Let nobody write a file, or a folder and all below it."""
    for each in (*path.rglob("*"), path):
        each.chmod(each.stat().st_mode & ~0o222)


def permit(path: Path) -> None:
    """Let the owner read and write a folder and all below it."""
    path.chmod(0o700)
    for each in path.iterdir():
        if each.is_dir():
            permit(each)
        else:
            each.chmod(0o600)


def skip_if_root_stays_privileged() -> None:
    """Skip a test of permissions where root cannot give up what permissions forbid."""
    if os.geteuid() == 0 and not hasattr(ctypes.CDLL(None), "capset"):
        pytest.skip("root ignores permissions, and only Linux lets it give that up")


def _run(folder: Path, limits: Limits, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    os.chdir(folder)
    environment = isolated_environment(folder / "cache")
    os.environ.clear()
    os.environ.update(environment)
    with (folder / _ERRORS).open("w") as errors:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
    importlib.import_module("paraphrastic.training.checkpoint").CHECKPOINT_SECONDS = SECONDS  # type: ignore[attr-defined]
    if not limits.is_privileged and os.geteuid() == 0:
        _drop_capabilities()
    if limits.file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_size, resource.RLIM_INFINITY))
    changed = _kill_after(limits.changes, folder)
    try:
        function(*arguments)
    finally:
        sys.stderr.write(f"{len(changed)} changes\n")


def _run_stage(stage: str, arguments: tuple[str, ...]) -> None:
    module = importlib.import_module(f"pipeline.{stage}")
    if stage == "finetune":
        module.CHECKPOINT_SECONDS = SECONDS  # type: ignore[attr-defined]
    sys.argv = [f"pipeline.{stage}", *arguments]
    module.run(module.main)


def _run_command(arguments: tuple[str, ...]) -> None:
    from paraphrastic.cli.main import main

    sys.argv = ["paraphrastic", *arguments]
    main()


def _drop_capabilities() -> None:
    """Let permissions hold for root as for any other owner of files."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the interface, this thread
    if ctypes.CDLL(None, use_errno=True).capset(header, (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "capset")


def _kill_after(limit: int | None, folder: Path) -> list[Path]:
    """Kill this process before the change below `folder` that comes after `limit` others; return a list of changes."""
    changed = list[Path]()

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if (writes or event in _CHANGES) and isinstance(arguments[0], str | bytes | os.PathLike):
            path = Path(os.fsdecode(arguments[0])).absolute()
            if path.is_relative_to(folder):
                if len(changed) == limit:
                    os.kill(os.getpid(), signal.SIGKILL)
                changed.append(path)

    sys.addaudithook(count)
    return changed
