"""Raw files that tests write, and the content of readings."""

import gzip
import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from paraphrastic.base.tables import RAW
from paraphrastic.readers.reading import PASS_ALL, PairFilter, Reading
from paraphrastic.readers.registry import READERS, read
from paraphrastic.sources.catalogue import source

Content: TypeAlias = str | bytes
Files: TypeAlias = Mapping[str, Content | Mapping[str, Content]]
EMPTY: Files = {}


def write_file(path: Path, data: Content) -> Path:
    """Write a file and the folders above it; text is encoded as UTF-8, without a change of line ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def write_archive(path: Path, members: Mapping[str, Content], kind: str) -> Path:
    """Write an archive of the kind `zip` or `gztar`; `members` maps a path in the archive to its content."""
    folder = path.parent / "unpacked"
    for name, data in members.items():
        write_file(folder / name, data)
    archive = Path(shutil.make_archive(str(path.parent / "packed"), kind, folder))
    shutil.rmtree(folder)
    return archive.rename(path)


def write_files(folder: Path, files: Files) -> Path:
    """Write files by name; a mapping becomes an archive, and text in NAME.gz is compressed. Return the folder."""
    for name, data in files.items():
        if isinstance(data, Mapping):
            write_archive(folder / name, data, "zip" if name.endswith(".zip") else "gztar")
        else:
            is_compressed = name.endswith(".gz") and isinstance(data, str)
            write_file(folder / name, gzip.compress(data.encode()) if is_compressed else data)
    return folder


def packed(members: Mapping[str, bytes], kind: str) -> bytes:
    """Return an archive without entries of folders; its kind is `zip`, or the compression of a tar archive, as `gz`."""
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return buffer.getvalue()
    with tarfile.open(fileobj=buffer, mode=f"w:{kind}") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def rows(readings: Iterable[Reading]) -> list[tuple]:
    """Return all rows of all readings as tuples in the order of the columns."""
    return [tuple(row.values()) for reading in readings for row in reading.table.to_pylist()]


def bad_rows(readings: Iterable[Reading]) -> list[tuple[str, int]]:
    """Return (file name, line number) of all bad rows."""
    return [(Path(row.file).name, row.line) for reading in readings for row in reading.bad]


def content(readings: Iterable[Reading]) -> tuple[list[tuple], list[tuple[str, int]]]:
    """Return `rows` and `bad_rows` of readings."""
    readings = list(readings)
    return rows(readings), bad_rows(readings)


def read_files(reader: str, folder: Path, files: Files = EMPTY, /, **options: Any) -> list[Reading]:
    """Return the readings of a reader from files that this writes; the tables must have the schemas of their kinds."""
    readings = list(READERS[reader](write_files(folder, files), options))
    assert all(reading.table.schema == RAW[reading.kind] for reading in readings)
    return readings


def read_source(name: str, folder: Path, files: Files = EMPTY, wanted: PairFilter = PASS_ALL) -> list[Reading]:
    """Return the readings of a source of the catalogue from files that this writes."""
    return list(read(source(name), write_files(folder, files), wanted))


def read_like(name: str, folder: Path, files: Files = EMPTY, **changes: Any) -> list[Reading]:
    """Return the readings of files, written by this, in the format of a source; `changes` name the files."""
    entry = source(name)
    options = {key: value for key, value in entry.options.items() if key not in ("archive", "splits", "sets")}
    return read_files(str(entry.reader), folder, files, **options | changes)
