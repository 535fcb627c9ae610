"""Open compressed files; turn errors of damaged ones into messages that state the remedy."""

import csv
import errno
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraphrastic.base.errors import DataError, ParaphrasticError, SourceError
from paraphrastic.base.reading import Unpacker, regular

COMPRESSED: dict[str, tuple[bytes, Callable[..., Any]]] = {  # by ending: a pattern of the first bytes, and how to open
    ".gz": (rb"\x1f\x8b\x08", gzip.open),
    # the bz2 module takes a damaged stream after the first for trailing bytes
    ".bz2": (rb"BZh[1-9](1AY&SY|\x17rE8P\x90)", partial(pa.input_stream, compression="bz2")),
    ".xz": (rb"\xfd7zXZ\0", lzma.open),
    ".zst": (rb"\x28\xb5\x2f\xfd", partial(pa.input_stream, compression="zstd")),
}
REMEDY = "remove it and run `dvc repro`"

_DAMAGE = (
    EOFError,
    csv.Error,
    lzma.LZMAError,
    pa.ArrowException,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    LookupError,  # raised by zipfile for a member without a name
    ValueError,  # raised by zipfile for an offset before the start of the file
    RuntimeError,  # raised by zipfile for an unknown flag or compression method
)


@contextmanager
def report_damage(path: Path, own: bool = False, streams: bool = False) -> Iterator[None]:
    """Turn errors while `path` is read into errors with a message of one line.

    Args:
        path: the file.
        own: whether it is a file of the user, which cannot be downloaded again.
        streams: whether it can be a pipe or the name of standard input.

    Raises:
        SourceError: the file does not exist or cannot be read.
        DataError: the file is damaged, truncated or of another format.
    """
    try:
        if not (streams or path.is_dir()):  # a folder is a format too
            regular(path)
        yield
    except ParaphrasticError:
        raise
    except FileNotFoundError as error:
        raise SourceError(f"{path}: no such file{'' if own else '; run `dvc repro` to download it'}") from error
    except (*_DAMAGE, OSError) as error:
        reason = " ".join(str(error).split())
        # Arrow, and zipfile for an offset before the start, raise an OSError for damage
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise SourceError(f"{path}: cannot be read ({error.strerror}); check permissions and the disk") from error
        damage = f"of another format ({reason})" if own else f"truncated ({reason}); {REMEDY}"
        raise DataError(f"{path}: damaged or {damage}") from error


def unpacked(path: Path) -> io.BufferedReader:
    """Open a file of the user; one that is compressed, by its name or its first bytes, is decompressed.

    Raises:
        SourceError: the file cannot be read.
        DataError: the file unpacks to far more than its size; raised while the stream is read.
        OSError: the file cannot be opened.
    """
    with path.open("rb") as file, report_damage(path, own=True):
        start = file.read(16)
    for ending, (pattern, opened) in COMPRESSED.items():
        if path.suffix == ending or (path.suffix not in COMPRESSED and re.match(pattern, start)):
            return Unpacker(path).stream(opened(str(path)))
    return path.open("rb")
