"""Read plain files, gzip and bzip2 files, and tar and zip archives; errors state the remedy."""

import io
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import IO

from paraphrastic.base.compressed import COMPRESSED, REMEDY, report_damage, unpacked
from paraphrastic.base.errors import DataError, SourceError
from paraphrastic.base.reading import Unpacker


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if it is compressed."""
    with report_damage(path), unpacked(path) as file:
        return file.read()


def read_files(folder: Path, patterns: Iterable[str], archive: str | None = None) -> list[tuple[str, bytes]]:
    """Return name and content of files, in the order of the patterns and those of a pattern by name.

    Args:
        folder: contains the files, or the archive.
        patterns: of the names of files; in an archive, names are without folders.
        archive: pattern of the name of the archive; None if there is none.

    Raises:
        SourceError: a file is missing or cannot be read.
        DataError: a file is damaged; in an archive, no member matches a pattern, or two different ones
            with the same name do.
    """
    if archive is None:
        return [(str(path), read_bytes(path)) for pattern in patterns for path in find_files(folder, pattern)]
    path, contents = find_file(folder, archive), list[tuple[str, bytes]]()
    members = sorted(set(_members(path)))
    for pattern in patterns:
        if not (found := [(name, data) for name, data in members if fnmatchcase(name, pattern)]):
            raise DataError(f"{path}: the archive contains no {pattern}; {REMEDY}")
        if twice := [name for (name, _), (following, _) in pairwise(found) if name == following]:
            raise DataError(f"{path}: several members of the archive have the name {twice[0]}; keep one of them")
        contents += [(f"{path}!{name}", data) for name, data in found]
    return contents


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the content of files in a zip archive or compressed tar archive, by their names without folders.

    Members that gzip or bzip2 compressed are decompressed; `.gz` is left out of their names. Files that macOS adds to
    zip archives (`__MACOSX/._NAME`) are left out. Of members with the same name, the last one counts.
    """
    return dict(_members(path))


def _members(path: Path) -> list[tuple[str, bytes]]:
    members = _zip_members if path.suffix == ".zip" else _tar_members
    with report_damage(path):
        unpacker = Unpacker(path)
        contents = members(path, unpacker)
        return [(name.removesuffix(".gz"), _decompressed(name, data, unpacker)) for name, data in contents]


def _decompressed(name: str, data: bytes, unpacker: Unpacker) -> bytes:
    ending = Path(name).suffix
    return unpacker.stream(COMPRESSED[ending][1](io.BytesIO(data))).read() if ending in COMPRESSED else data


def text_chunks(path: Path, pattern: str, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield the text of a file in chunks of whole lines, and the number of the first line of each.

    Memory does not depend on the length of the file.

    Args:
        path: path of a plain file, of a gzip file, or of a zip archive.
        pattern: of the name of the member of the zip archive.
        size: bytes of text per chunk.

    Raises:
        SourceError: the file cannot be read.
        DataError: the file is damaged or truncated, or the archive does not have one member of that name.
    """
    first = 1
    with report_damage(path), ExitStack() as stack:
        stream = stack.enter_context(_open_text(path, pattern, stack))
        while chunk := stream.read(size) + stream.readline():
            yield chunk, first
            first += chunk.count(b"\n")


def _open_text(path: Path, pattern: str, stack: ExitStack) -> IO[bytes]:
    if path.suffix != ".zip":
        return unpacked(path)
    archive = stack.enter_context(zipfile.ZipFile(path))
    members = [info for info in archive.infolist() if _is_file(info) and fnmatchcase(_name(info), pattern)]
    if len(members) != 1:
        raise DataError(f"{path}: {len(members)} members of the archive match {pattern}, expected one; {REMEDY}")
    return Unpacker(path).stream(archive.open(members[0]))


def _name(info: zipfile.ZipInfo) -> str:
    return Path(info.filename).name


def _is_file(info: zipfile.ZipInfo) -> bool:
    return not info.is_dir() and not _name(info).startswith("._")


def _zip_members(path: Path, unpacker: Unpacker) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in filter(_is_file, archive.infolist()):
            with unpacker.stream(archive.open(info)) as stream:
                yield _name(info), stream.read()


def _tar_members(path: Path, unpacker: Unpacker) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(read_bytes(path)), mode="r:") as archive:
        for info in archive:
            if info.isfile() and not Path(info.name).name.startswith("._") and (member := archive.extractfile(info)):
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
