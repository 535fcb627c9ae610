"""Limit what a compressed file may unpack to, so that a small file cannot fill the memory or the disk."""

import io
from pathlib import Path
from typing import IO

from paraphrastic.errors import DataError

FLOOR = 1 << 28  # bytes that any file may unpack to: 256 MiB
RATIO = 200  # times its size that a larger one may; text is compressed by 3 to 30 times


class Unpacker:
    """Reads streams of one compressed file, of which all together are limited.

    Args:
        path: the compressed file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._limit = path, max(FLOOR, RATIO * path.stat().st_size)
        self._left = self._limit

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
                f"{self._path}: unpacks to more than {self._limit:,} bytes, {RATIO} times its size; {remedy}"
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
