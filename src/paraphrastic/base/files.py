"""Write files and folders so that they appear whole or not at all; their hashes; read files that may be damaged."""

import errno
import glob
import hashlib
import io
import json
import os
import platform
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import IO, TYPE_CHECKING, Any

from paraphrastic.base.errors import DataError, ParaphrasticError

if TYPE_CHECKING:
    import pandas as pd
from hashlib import sha256

SMALL = 1 << 26  # bytes of a file that is read whole before it is checked: 64 MiB
FLOOR = 1 << 28  # bytes that any file may unpack to: 256 MiB
RATIO = 200  # times its size that a larger one may; text is compressed by 3 to 30 times

# ends the names of parts: computers that share a folder do not know which processes of each other are running
_HERE = f"@{re.sub(r'[^0-9A-Za-z-]', '-', platform.node())}.part"
CODE = Path(__file__).parents[1]
_DEPTH = 64  # levels of lists and mappings in JSON

_COMPILED = "__pycache__"  # left by Python and numba, derived from the code


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it to `path` at the end of the block, or remove it after an error.

    Raises:
        OSError: writing failed, for example because the disk is full; names `path` unless another file is the cause.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    part = _part(path)
    try:
        with _named_os_errors(path, part):
            yield part
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`; it replaces `path` at the end of the block, or is removed after an error.

    Raises:
        OSError: writing failed, for example because the disk is full; names `path` unless another file is the cause.
    """
    with scratch_folder(path) as scratch:
        part, old = scratch / "new", scratch / "old"
        part.mkdir()
        yield part
        if path.exists():
            path.replace(old)  # a folder that is not empty cannot be replaced
        try:
            part.replace(path)
        except OSError:
            if old.exists():
                old.replace(path)
            raise


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path` for files that nothing needs after the block; it is removed at the end.

    Raises:
        OSError: writing failed, for example because the disk is full; names `path` unless another file is the cause.
    """
    _remove_abandoned(path)
    part = _part(path)
    try:
        with _named_os_errors(path, part):
            part.mkdir(parents=True)
            yield part
    finally:
        rmtree(part, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8 and with newlines (LF) on every system."""
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: object) -> None:
    """Write a JSON file atomically, indented, with characters of all scripts as they are."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def regular(path: Path, limit: int | None = None, streams: bool = False) -> Path:
    """Return `path`, of a file that can be read to its end; every file of a stranger is opened through here.

    Args:
        path: the file.
        limit: bytes that it may have; None for no limit.
        streams: a pipe, a terminal and the null device are read too, as they are line by line.

    Raises:
        DataError: it is a folder, a pipe, a device or a socket, or larger than `limit`.
        OSError: it does not exist or must not be read.
    """
    status = path.stat()
    kind = next((name for name, is_kind in _KINDS.items() if is_kind(status.st_mode)), "no regular file")
    if kind in _STREAMS and streams and not _is_endless(path, kind):
        return path
    if kind != "file":
        raise DataError(f"{path}: is a {kind}, where a file is expected; name a file")
    if limit is not None and status.st_size > limit:
        raise DataError(f"{path}: has {status.st_size:,} bytes, more than {limit:,}; name another file")
    return path


_KINDS = {
    "file": stat.S_ISREG,
    "folder": stat.S_ISDIR,
    "pipe": stat.S_ISFIFO,
    "device": stat.S_ISCHR,
    "disk": stat.S_ISBLK,
    "socket": stat.S_ISSOCK,
}
_STREAMS = "pipe", "device"


def _is_endless(path: Path, kind: str) -> bool:
    """Return whether a stream is a device such as /dev/zero: neither a terminal nor the null device."""
    if kind == "pipe" or path.samefile(os.devnull):
        return False
    with path.open("rb") as file:
        return not file.isatty()


def parse_json(text: str | bytes) -> Any:
    """Return the content of JSON.

    Raises:
        ValueError: the text is no JSON, or not in UTF-8, or nested deeper than `_DEPTH`.
    """
    text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise ValueError(f"nested deeper than {_DEPTH} levels") from error
    if text.count("[") + text.count("{") > _DEPTH and _depth(content) > _DEPTH:
        raise ValueError(f"nested deeper than {_DEPTH} levels")
    return content


def _depth(content: object) -> int:
    """Return how many lists and mappings lie in each other, without recursion; `_DEPTH` + 1 if there are more."""
    level, depth = [content], -1
    while level and depth <= _DEPTH:
        nested = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level, depth = [each for values in nested for each in values], depth + 1
    return depth


def read_json(path: Path, failure: type[ParaphrasticError] = DataError, remedy: str = "restore it") -> Any:
    """Return the content of a file of JSON.

    Args:
        path: the file.
        failure: class of the error for what it holds.
        remedy: what the user can do about it.

    Raises:
        FileNotFoundError: there is no such file.
        OSError: it must not be read.
        ParaphrasticError: of class `failure`: it is damaged, nested deeply, large, or no file.
    """
    try:
        return parse_json(regular(path, SMALL).read_bytes())
    except DataError as error:
        raise failure(f"{error}") from error
    except ValueError as error:
        raise failure(f"{path}: damaged; {remedy} ({error})") from error


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of nested mappings by dotted key, each with `prefix` before it."""
    values: dict[str, Any] = {}
    for key, value in tree.items():
        values |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return values


def unwritable(path: Path) -> OSError:
    """Return the error for a file that a library could not write, for libraries that do not say why."""
    return OSError(errno.EIO, "cannot be written; is the disk full?", str(path))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal.

    Raises:
        DataError: it is no regular file.
        OSError: it cannot be read.
    """
    with regular(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}{_HERE}")


def _remove_abandoned(path: Path) -> None:
    """Remove what killed processes of this computer left of `path`, also one that had the id of this process."""
    start = f".{path.name}."
    for part in path.parent.glob(f"{glob.escape(start)}*{_HERE}"):
        process = part.name.removeprefix(start).removesuffix(_HERE)
        if process.isdecimal() and (int(process) == os.getpid() or not _is_running(int(process))):
            rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # no signal without effect exists; what is left of a killed process stays there
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _named_os_errors(path: Path, part: Path) -> Iterator[None]:
    """Name `path` in an OSError of the block that names no file, or `part` or a file in it."""
    try:
        yield
    except OSError as error:
        if not error.filename or str(error.filename).startswith(str(part)):
            error.filename = str(path)
        raise


class Unpacker:
    """Reads streams of one compressed file, of which all together are limited.

    Args:
        path: the compressed file.

    Attributes:
        limit: bytes that it may unpack to.

    Raises:
        DataError: it is no regular file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self.limit = path, max(FLOOR, RATIO * regular(path).stat().st_size)
        self._left = self.limit

    def stream(self, stream: IO[bytes]) -> io.BufferedReader:
        """Return a stream of the same bytes, which raises a DataError beyond the limit."""
        return io.BufferedReader(_Limited(stream, self))

    def spend(self, size: int) -> None:
        """Count bytes.

        Raises:
            DataError: there are more than the file may unpack to.
        """
        self._left -= size
        if self._left < 0:
            remedy = "unpack it by hand if its source is trustworthy"
            raise DataError(
                f"{self._path}: unpacks to more than {self.limit:,} bytes, {RATIO} times its size; {remedy}"
            )


class _Limited(io.RawIOBase):
    """The bytes of a stream, counted by an unpacker."""

    def __init__(self, stream: IO[bytes], unpacker: Unpacker) -> None:
        self._stream, self._unpacker = stream, unpacker

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        self._unpacker.spend(len(data))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def write_csv(frame: "pd.DataFrame", path: Path) -> None:
    """Write a CSV file atomically, with the same bytes on every system."""
    with atomic_write(path) as part:
        frame.to_csv(part, index=False, lineterminator="\n", encoding="utf-8")


def write_curve(path: Path, columns: tuple[str, str], points: Sequence[tuple[float, float]], digits: int) -> None:
    """Write a curve as CSV.

    Args:
        path: the file.
        columns: names of x and y.
        points: (x, y) of each point.
        digits: decimals of y.
    """
    import pandas as pd

    rows = [(f"{x:.12g}", f"{y:.{digits}f}") for x, y in points]
    write_csv(pd.DataFrame(rows, columns=columns), path)


def digests(settings: object, paths: Mapping[str, Path]) -> dict[str, str]:
    """Return a hash of each thing that determines a run: `parameters`, all that it reads, and `code`, this package.

    Args:
        settings: parameters, as any object with a stable `repr`.
        paths: files, and folders of which every file counts, that the run reads, by name.
    """
    read = {name: _digest(path) for name, path in {**paths, "code": CODE}.items()}
    return {"parameters": sha256(repr(settings).encode()).hexdigest(), **read}


def name_of(run: Mapping[str, str]) -> str:
    """Return a name for the run that has these `digests`."""
    return sha256(json.dumps(run).encode()).hexdigest()[:16]


def fingerprint(settings: object, *paths: Path) -> str:
    """Return a name for a run, derived from everything that determines it; arguments are those of `digests`."""
    return name_of(digests(settings, {str(number): path for number, path in enumerate(paths)}))


def _digest(path: Path) -> str:
    hasher = sha256()
    inside = (file for file in sorted(path.rglob("*")) if file.is_file() and _COMPILED not in file.parts)
    for file in [path] if path.is_file() else inside:
        hasher.update(f"{file.relative_to(path).as_posix()}\0".encode())
        hasher.update(bytes.fromhex(sha256_of(file)))
    return hasher.hexdigest()
