"""Write files and folders so that they appear whole or not at all; their hashes.

If writing fails, for example because the disk is full, the OSError names the path, unless another file is the cause.
"""

import csv
import errno
import glob
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from shutil import rmtree
from stat import S_IMODE, S_IWUSR
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import file_of
from paraphrastic.base.reading import regular

if TYPE_CHECKING:
    import pandas as pd

# ends the names of parts: computers that share a folder do not know which processes of each other are running
_HERE = f"@{re.sub(r'[^0-9A-Za-z-]', '-', platform.node())}.part"
CODE = Path(__file__).parents[1]

_COMPILED = "__pycache__"  # left by Python and numba, derived from the code


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it to `path` at the end of the block, or remove it after an error.

    A file that is there hands its permissions on. A device or a pipe is yielded itself, as a file would take its place.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield path
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    part, mode = _part(path), S_IMODE(path.stat().st_mode) if path.is_file() else None
    try:
        with _named_os_errors(path, part):
            if mode is not None:
                part.touch(mode | S_IWUSR)
            yield part
            if mode is not None and not part.is_symlink():
                part.chmod(mode)
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`; it replaces `path` at the end of the block, or is removed after an error.

    Of a link, its target is replaced.
    """
    path = path.resolve() if path.is_symlink() else path
    with scratch_folder(path) as scratch:
        part, old = scratch / "new", scratch / "old"
        part.mkdir()
        yield part
        try:
            if path.exists():
                path.replace(old)  # a folder that is not empty cannot be replaced
            part.replace(path)
        except BaseException:  # an interrupt too
            if old.exists() and not path.exists():
                old.replace(path)
            raise


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path` for files that nothing needs after the block; it is removed at the end."""
    _remove_abandoned(path)
    part = _part(path)
    try:
        with _named_os_errors(path, part):
            part.mkdir(parents=True)
            yield part
    finally:
        rmtree(part, ignore_errors=True)


@contextmanager
def locked(path: Path, work: str) -> Iterator[None]:
    """Let one process at a time do the block; others say which one they wait for. The lock ends with its process.

    Args:
        path: what the block reads or writes, beside which the file of the lock is.
        work: what the block does, for the message of those that wait.
    """
    if os.name != "posix":
        yield  # no lock that a killed process gives back
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    name = path.with_name(f".{path.name}.lock")
    descriptor = _lock(name, work)
    try:
        yield
    finally:
        name.unlink(missing_ok=True)  # while it is locked: those that wait look whether it is still there
        os.close(descriptor)


def _lock(name: Path, work: str) -> int:
    """Return a descriptor of the locked file `name`, which it creates."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    while True:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            from paraphrastic.base.console import message  # imports rich, which encoding does not need

            owner = os.pread(descriptor, 200, 0).decode(errors="replace") or "another process"
            message(f"{owner} {work} already; waiting until it ends")
            flock(descriptor, LOCK_EX)
        except OSError:
            return descriptor  # some shared file systems have no locks
        with suppress(FileNotFoundError):  # the one that was waited for has removed it
            if os.path.samestat(os.fstat(descriptor), name.stat()):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"process {os.getpid()} on {platform.node()}".encode(), 0)
                return descriptor
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8 and with newlines (LF) on every system."""
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: object) -> None:
    """Write a JSON file atomically, indented, with characters of all scripts as they are; it has no NaN."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of nested mappings by dotted key, each with `prefix` before it."""
    values: dict[str, Any] = {}
    for key, value in tree.items():
        values |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return values


def unwritable(path: Path) -> OSError:
    """Return the error for a file that a library could not write, for libraries that do not say why."""
    return OSError(errno.EIO, "cannot be written; is the disk full?", str(path))


def watched(path: Path) -> list[Path]:
    """Return the files whose content a path stands for: itself, or all files below a folder, sorted."""
    return sorted(filter(Path.is_file, path.rglob("*"))) if path.is_dir() else [path]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal.

    Raises:
        DataError: it is no regular file.
        OSError: it cannot be read.
    """
    with regular(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}{_HERE}")


def _remove_abandoned(path: Path) -> None:
    """Remove what killed processes of this computer left of `path`, also one that had the id of this process."""
    start = f".{path.name}."
    for part in path.parent.glob(f"{glob.escape(start)}*{_HERE}"):
        process = part.name.removeprefix(start).removesuffix(_HERE)
        if process.isdecimal() and (int(process) == os.getpid() or not _is_running(int(process))):
            if (part / "new").is_dir() and (part / "old").is_dir() and not path.exists():
                with suppress(OSError):  # another process was first
                    (part / "old").replace(path)  # it was killed between both moves of `atomic_folder`
            rmtree(part, ignore_errors=True) if part.is_dir() else part.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # no signal without effect exists; what is left of a killed process stays there
    try:
        with suppress(PermissionError):  # it is of another user
            os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    return True


@contextmanager
def _named_os_errors(path: Path, part: Path) -> Iterator[None]:
    """Name the file in an OSError of the block; in place of `part` or a file in it, and if nothing tells it, `path`."""
    try:
        yield
    except OSError as error:
        found = file_of(error)
        error.filename = str(path) if not found or found.startswith(str(part)) else found
        raise


def write_csv(frame: "pd.DataFrame", path: Path) -> None:
    """Write a CSV file atomically, with the same bytes on every system."""
    with atomic_write(path) as part:
        frame.to_csv(part, index=False, lineterminator="\n", encoding="utf-8")


def write_rows(columns: Sequence[str], rows: Iterable[Mapping[str, object]], path: Path) -> None:
    """Write a CSV file as `write_csv` does, without pandas, whose import takes 0.3 s; a missing value is empty."""
    with atomic_write(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_curve(path: Path, columns: tuple[str, str], points: Sequence[tuple[float, float]], digits: int) -> None:
    """Write a curve as CSV: the names of x and y, then both of each point, y with `digits` decimals."""
    rows = ((f"{x:.12g}", f"{y:.{digits}f}") for x, y in points)
    write_rows(columns, (dict(zip(columns, row, strict=True)) for row in rows), path)


def digests(settings: object, paths: Mapping[str, Path]) -> dict[str, str]:
    """Return a hash of each thing that determines a run: `parameters`, all that it reads, and `code`, this package.

    Args:
        settings: parameters, as any object with a stable `repr`.
        paths: files, and folders of which every file counts, that the run reads, by name.
    """
    read = {name: _digest(path) for name, path in {**paths, "code": CODE}.items()}
    return {"parameters": sha256(repr(settings).encode()).hexdigest(), **read}


def run_name(run: Mapping[str, str]) -> str:
    """Return a name for the run that has these `digests`."""
    return sha256(json.dumps(run).encode()).hexdigest()[:16]


def fingerprint(settings: object, *paths: Path) -> str:
    """Return a name for a run, derived from its settings, as in `digests`, and from `paths` in order."""
    return run_name(digests(settings, {str(number): path for number, path in enumerate(paths)}))


def _digest(path: Path) -> str:
    hasher = sha256()
    files = watched(path) if path.exists() else []
    for file in (file for file in files if _COMPILED not in file.parts):
        hasher.update(f"{file.relative_to(path).as_posix()}\0".encode())
        hasher.update(bytes.fromhex(sha256_of(file)))
    return hasher.hexdigest()
