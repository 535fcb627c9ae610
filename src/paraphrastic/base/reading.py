"""Read files that a stranger may have made: their format, kind and size, JSON, and limits of what they unpack to."""

import io
import json
import os
import stat
from pathlib import Path
from typing import IO, Any

from paraphrastic.base.errors import DataError, ParaphrasticError

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")  # of tables of the user
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
SMALL = 1 << 26  # bytes of a file that is read whole before it is checked: 64 MiB
FLOOR = 1 << 28  # bytes that any file may unpack to: 256 MiB
RATIO = 200  # times its size that a larger one may; text is compressed by 3 to 30 times
_DEPTH = 64  # levels of lists and mappings in JSON


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


def is_table(path: Path) -> bool:
    """Return whether the name of a file ends as a table does."""
    return name_of(path) != path.name


def name_of(path: Path) -> str:
    """Return the name of a file without the endings of its format and its compression."""
    plain = _uncompressed(path).name
    return next((plain.removesuffix(ending) for ending in ENDINGS if plain.endswith(ending)), path.name)


def format_of(path: Path) -> str:
    """Return `csv`, `tsv`, `jsonl` or `parquet`, or `arrow` for a folder of `datasets`."""
    return "arrow" if path.is_dir() else _uncompressed(path).suffix.removeprefix(".")


def is_dataset_folder(path: Path) -> bool:
    """Return whether a folder was saved by Hugging Face `datasets`."""
    return any((path / name).is_file() for name in ("state.json", "dataset_info.json"))


def _uncompressed(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in COMPRESSIONS else path
