"""Archives of a hostile source: names and links that lead out of a folder, and files that unpack to very much."""

import bz2
import gzip
import io
import tarfile
import tracemalloc
import zipfile
from contextlib import suppress

import pyarrow as pa
import pytest

from paraphrastic.base import reading
from paraphrastic.base.errors import DataError
from paraphrastic.readers.own_tables import OwnTable
from paraphrastic.readers.raw_files import read_archive, read_bytes, text_chunks
from paraphrastic.sources.own_files import OwnFile
from paraphrastic.vocabulary.pretrained import read_vectors

pytestmark = [pytest.mark.faults, pytest.mark.slow]

BOMB = b"a " * 5_000_000  # 10 MB, packed into less than 20 KB
NAMES = ["../../out.txt", "/out.txt", "a/../../out.txt", "C:\\out.txt", "..", "a\0b", "."]


def tar(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_member_outside_of_the_folder(tmp_path, kind, name):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    path = folder / f"archive.{kind}"
    path.write_bytes(zipped(name, b"x") if kind == "zip" else tar([(tarfile.TarInfo(name), b"x")]))
    with suppress(DataError):
        read_archive(path)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [path]  # archives are read, not unpacked


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_links_and_devices_are_no_files(tmp_path, kind):
    (tmp_path / "secret").write_text("secret")
    info = tarfile.TarInfo("a.txt")
    info.type, info.linkname = kind, str(tmp_path / "secret")
    path = tmp_path / "archive.tar.gz"
    path.write_bytes(tar([(info, b""), (tarfile.TarInfo("b.txt"), b"text")]))
    assert read_archive(path) == {"b.txt": b"text"}


def read_own(path):
    return [len(rows) for rows in OwnTable(OwnFile(path=str(path))).parts(["a"])]


BOMBS = {
    "a.gz": (gzip.compress(BOMB), read_bytes),
    "a.bz2": (bz2.compress(BOMB), read_bytes),
    "a.tar.gz": (tar([(tarfile.TarInfo("a.txt"), BOMB)]), read_archive),
    "nested.tar.gz": (tar([(tarfile.TarInfo("a.gz"), gzip.compress(BOMB))]), read_archive),
    "a.zip": (zipped("a.txt", BOMB), read_archive),
    "nested.zip": (zipped("a.gz", gzip.compress(BOMB)), read_archive),
    "lines.gz": (gzip.compress(BOMB), lambda path: list(text_chunks(path, "*", 1000))),
    "lines.zip": (zipped("a.txt", BOMB), lambda path: list(text_chunks(path, "*", 1000))),
    "own.csv.gz": (gzip.compress(b"a,b\n" + BOMB), read_own),
    "own.jsonl.zst": (pa.Codec("zstd").compress(b'{"a": 1}\n' + BOMB, asbytes=True), read_own),
    "vectors.zip": (zipped("a.txt", b"a 1 2\n" + BOMB), lambda path: read_vectors(path, 2)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(tmp_path, monkeypatch, name):
    content, reader = BOMBS[name]
    path = tmp_path / name
    path.write_bytes(content)
    monkeypatch.setattr(reading, "FLOOR", 1000)
    monkeypatch.setattr(reading, "RATIO", 10)
    tracemalloc.start()
    with pytest.raises(DataError, match=rf"{name}: unpacks to more than [\d,]+ bytes, 10 times its size; unpack it"):
        reader(path)
    assert tracemalloc.get_traced_memory()[1] < len(BOMB) / 2
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["a.gz", "a.bz2", "a.tar.gz", "a.zip"])
def test_files_below_the_limit(tmp_path, name):
    content, reader = BOMBS[name]
    path = tmp_path / name
    path.write_bytes(content)
    read = reader(path)
    assert BOMB in (read.values() if isinstance(read, dict) else [read])
