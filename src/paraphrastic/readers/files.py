"""Read plain files, gzip files, and tar and zip archives; errors state the remedy."""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paraphrastic.errors import DataError, SourceError

REMEDY = "remove it and run `dvc repro`"

_DAMAGE = (
    EOFError,
    gzip.BadGzipFile,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    ValueError,  # raised by zipfile for an offset before the start of the file
    RuntimeError,  # raised by zipfile for an unknown flag or compression method
)


@contextmanager
def report_damage(path: Path) -> Iterator[None]:
    """Turn errors while `path` is read into errors with a message of one line.

    Raises:
        SourceError: the file does not exist or cannot be read.
        DataError: the file is compressed, and damaged or truncated.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise SourceError(f"{path}: no such file; run `dvc repro` to download it") from error
    except _DAMAGE as error:
        raise DataError(f"{path}: damaged or truncated ({error}); {REMEDY}") from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends in `.gz` or `.tgz`."""
    with report_damage(path):
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix in {".gz", ".tgz"} else data


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the content of each file in a zip archive or gzipped tar archive, by its name without folders."""
    members = _zip_members if path.suffix == ".zip" else _tar_members
    with report_damage(path):
        return dict(members(read_bytes(path)))


def _zip_members(data: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield Path(info.filename).name, archive.read(info)


def _tar_members(data: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for info in archive:
            member = archive.extractfile(info) if info.isfile() else None
            if member is not None:
                yield Path(info.name).name, member.read()


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files below `folder` whose names match `pattern`, sorted by path.

    Raises:
        SourceError: no file matches.
    """
    paths = sorted(path for path in folder.rglob(pattern) if path.is_file())
    if not paths:
        raise SourceError(f"{folder}: contains no {pattern}; run `dvc repro` to download it")
    return paths


def find_file(folder: Path, pattern: str) -> Path:
    """Return the only file below `folder` whose name matches `pattern`.

    Raises:
        SourceError: no file matches.
        DataError: several files match.
    """
    first, *others = find_files(folder, pattern)
    if others:
        raise DataError(f"{folder}: {len(others) + 1} files match {pattern}; {REMEDY}")
    return first
