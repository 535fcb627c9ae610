"""Read plain files, gzip and bzip2 files, and tar and zip archives; errors state the remedy."""

import io
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from paraphrastic.base.compressed import COMPRESSED, REMEDY, report_damage
from paraphrastic.base.errors import DataError, SourceError
from paraphrastic.base.reading import Unpacker


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends in `.gz`, `.tgz` or `.bz2`."""
    with report_damage(path), path.open("rb") as file:
        return _decompressed(path.name, file, Unpacker(path)).read()


def _decompressed(name: str, file: IO[bytes], unpacker: Unpacker) -> IO[bytes]:
    ending = Path(name).suffix.replace(".tgz", ".gz")
    return unpacker.stream(COMPRESSED[ending][1](file)) if ending in COMPRESSED else file


def read_archive(path: Path, pattern: str = "*") -> dict[str, bytes]:
    """Return the content of files in a zip archive or compressed tar archive, by their names without folders.

    Members that gzip or bzip2 compressed are decompressed; `.gz` is left out of their names. Files that macOS adds to
    zip archives (`__MACOSX/._NAME`) are left out.

    Args:
        path: path of the archive.
        pattern: of the names of the members that are read.
    """
    members = _zip_members if path.suffix == ".zip" else _tar_members
    with report_damage(path):
        unpacker = Unpacker(path)
        contents = ((name, io.BytesIO(data)) for name, data in members(path, pattern, unpacker))
        return {name.removesuffix(".gz"): _decompressed(name, file, unpacker).read() for name, file in contents}


def text_chunks(path: Path, pattern: str, size: int) -> Iterator[bytes]:
    """Yield the text of a file in chunks of whole lines, so that memory does not depend on the length of the file.

    Args:
        path: path of a plain file, of a gzip file, or of a zip archive.
        pattern: of the name of the member of the zip archive.
        size: bytes of text per chunk.

    Raises:
        SourceError: the file cannot be read.
        DataError: the file is damaged or truncated, or the archive does not have one member of that name.
    """
    with ExitStack() as stack, report_damage(path):
        stream = stack.enter_context(_open_text(path, pattern, stack))
        while chunk := stream.read(size) + stream.readline():
            yield chunk


def _open_text(path: Path, pattern: str, stack: ExitStack) -> IO[bytes]:
    if path.suffix != ".zip":
        return _decompressed(path.name, stack.enter_context(path.open("rb")), Unpacker(path))
    archive = stack.enter_context(zipfile.ZipFile(path))
    members = [info for info in archive.infolist() if _is_wanted(info.filename, pattern) and not info.is_dir()]
    if len(members) != 1:
        raise DataError(f"{path}: {len(members)} members of the archive match {pattern}, expected one; {REMEDY}")
    return Unpacker(path).stream(archive.open(members[0]))


def _is_wanted(name: str, pattern: str) -> bool:
    return fnmatchcase(Path(name).name, pattern) and not Path(name).name.startswith("._")


def _zip_members(path: Path, pattern: str, unpacker: Unpacker) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.is_dir() and _is_wanted(info.filename, pattern):
                with unpacker.stream(archive.open(info)) as stream:
                    yield Path(info.filename).name, stream.read()


def _tar_members(path: Path, pattern: str, unpacker: Unpacker) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(read_bytes(path)), mode="r:") as archive:
        for info in archive:
            member = archive.extractfile(info) if info.isfile() and _is_wanted(info.name, pattern) else None
            if member is not None:
                yield Path(info.name).name, unpacker.stream(member).read()


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
