"""Read files of strangers: their format, kind and size, JSON, parquet, and limits of what they unpack to."""

import io
import json
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from paraphrastic.base.errors import DataError, ParaphrasticError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")  # of tables of the user
LINES = ".txt"  # of a file of the user with a sentence in each line
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
SMALL = 1 << 26  # bytes of a file that is read whole before it is checked: 64 MiB
FLOOR = 1 << 28  # bytes that any file may unpack to: 256 MiB
RATIO = 200  # times its size that a larger one may; text is compressed by 3 to 30 times
_LARGE_BATCHES = 4  # a batch of one text as long as its row group may take this many times what a file may unpack to
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
    kind = _KINDS.get(stat.filemode(status.st_mode)[0], "no regular file")
    if kind in _STREAMS and streams and not _is_endless(path, kind):
        return path
    if kind != "file":
        raise DataError(f"{path}: is a {kind}, where a file is expected; name a file")
    if limit is not None and status.st_size > limit:
        raise DataError(f"{path}: has {status.st_size:,} bytes, more than {limit:,}; name another file")
    return path


_KINDS = {
    "-": "file",
    "d": "folder",
    "p": "pipe",
    "c": "device",
    "b": "disk",
    "s": "socket",
}  # by the letter of `ls -l`
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
        """Count bytes, or raise a DataError if there are more than the file may unpack to."""
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


def open_bounded(path: Path, content: bytes | None = None, encoded: Sequence[str] = ()) -> "pq.ParquetFile":
    """Open a parquet file that may come from a stranger, after a check of its footer.

    Args:
        path: the file.
        content: its bytes, if they have been read.
        encoded: columns of text with few different ones, which are read as dictionaries.

    Raises:
        DataError: it is no regular file, or its footer says that it unpacks to more than `Unpacker` lets it.
        ArrowException, OSError: it is damaged.
    """
    import pyarrow as pa  # takes 0.2 s, which programs that read no table need not wait for
    import pyarrow.parquet as pq

    unpacker = Unpacker(path)
    file = pq.ParquetFile(path if content is None else pa.BufferReader(content), read_dictionary=list(encoded))
    unpacker.spend(max(sum(group_sizes(file.metadata)), file.metadata.num_rows))
    return file


def read_bounded(file: "pq.ParquetFile", path: Path) -> "pa.Table":
    """Return all rows of a file from `open_bounded`; errors are those of `bounded_batches`."""
    import pyarrow as pa

    return pa.Table.from_batches(bounded_batches(file, path), file.schema_arrow)


def bounded_batches(
    file: "pq.ParquetFile", path: Path, columns: Sequence[str] | None = None, most: int = 1 << 16
) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a file from `open_bounded`, in batches.

    Compression and dictionaries let a file of a megabyte hold gigabytes, so that what rows take is counted as they are
    read. A batch has few rows if a single text could be large.

    Args:
        file: the file.
        path: its path.
        columns: those that are read; None for all.
        most: rows of a batch.

    Raises:
        DataError: it unpacks to more than `Unpacker` lets it.
        ArrowException, OSError: it is damaged.
    """
    unpacker, largest = Unpacker(path), max(group_sizes(file.metadata), default=0)
    rows = max(1, min(most, _LARGE_BATCHES * unpacker.limit // (largest + 1)))
    for batch in file.iter_batches(rows, columns=None if columns is None else list(columns)):
        unpacker.spend(sum(map(_decoded_size, batch.columns)))
        yield batch


def _decoded_size(column: "pa.Array") -> int:
    """Return the bytes of a column; of a dictionary's text those that it has without the dictionary."""
    import pyarrow.compute as pc
    from pyarrow import types

    if not (types.is_dictionary(column.type) and types.is_string(column.type.value_type)):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices).cast("int64")
    return 4 * len(column) + int(pc.sum(lengths).as_py() or 0)  # and offsets of int32


def group_sizes(metadata: Any) -> list[int]:
    """Return the bytes of each row group without compression."""
    return [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]


def is_table(path: Path) -> bool:
    """Return whether the name of a file ends as a table does."""
    return _uncompressed(path).name.endswith(ENDINGS)


def name_of(path: Path) -> str:
    """Return the name of a file without the endings of its format and its compression."""
    plain = _uncompressed(path).name
    return next((plain.removesuffix(each) for each in (*ENDINGS, LINES) if plain.endswith(each)), path.name)


def format_of(path: Path) -> str:
    """Return `csv`, `tsv`, `jsonl`, `parquet` or `txt`, or `arrow` for a folder of `datasets`."""
    return "arrow" if path.is_dir() else _uncompressed(path).suffix.removeprefix(".")


def is_dataset_folder(path: Path) -> bool:
    """Return whether a folder was saved by Hugging Face `datasets`."""
    return any((path / name).is_file() for name in ("state.json", "dataset_info.json"))


def _uncompressed(path: Path) -> Path:
    """Return the path without the ending of compression, and with the ending of its format in lower case."""
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return plain.with_suffix(plain.suffix.lower()) if plain.suffix else plain
