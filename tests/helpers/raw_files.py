"""Raw files that tests write, and the content of readings."""

import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paraphrastic.base.tables import RAW
from paraphrastic.readers.reading import Reading
from paraphrastic.readers.registry import READERS
from paraphrastic.sources.catalogue import source


def write_file(path: Path, data: str | bytes) -> Path:
    """Write a file and the folders above it; text is encoded as UTF-8, without a change of line ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def write_archive(path: Path, members: Mapping[str, str | bytes], kind: str) -> Path:
    """Write an archive of the kind `zip` or `gztar`; `members` maps a path in the archive to its content."""
    folder = path.parent / "unpacked"
    for name, data in members.items():
        write_file(folder / name, data)
    archive = Path(shutil.make_archive(str(path.parent / "packed"), kind, folder))
    shutil.rmtree(folder)
    return archive.rename(path)


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


def read_files(reader: str, folder: Path, **options: Any) -> list[Reading]:
    """Return the readings of a reader; the tables must have the schemas of their kinds."""
    readings = list(READERS[reader](folder, options))
    assert all(reading.table.schema == RAW[reading.kind] for reading in readings)
    return readings


def read_like(name: str, folder: Path, **changes: Any) -> list[Reading]:
    """Return the readings of files in the format of a source of the catalogue; `changes` name the files."""
    entry = source(name)
    options = {key: value for key, value in entry.options.items() if key not in ("archive", "splits", "sets")}
    return read_files(str(entry.reader), folder, **options | changes)
