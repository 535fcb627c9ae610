"""Archives of a hostile source: names and links that lead out of a folder, and files that unpack to very much."""

import bz2
import gzip
import tarfile
import tracemalloc
from contextlib import suppress

import pyarrow as pa
import pytest

from paraphrastic.base import reading
from paraphrastic.base.errors import DataError
from paraphrastic.readers.own_tables import OwnTable
from paraphrastic.readers.raw_files import read_archive, read_bytes, text_chunks
from paraphrastic.sources.own_files import OwnFile
from paraphrastic.vocabulary.pretrained import read_vectors
from tests.helpers.raw_files import packed, write_file

pytestmark = [pytest.mark.faults, pytest.mark.slow]

BOMB = b"a " * 5_000_000  # 10 MB, packed into less than 20 KB
NAMES = ["../../out.txt", "/out.txt", "a/../../out.txt", "C:\\out.txt", "..", "a\0b", "."]


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_member_outside_of_the_folder(tmp_path, kind, name):
    path = write_file(tmp_path / f"a/b/archive.{kind}", packed({name: b"x"}, kind.removeprefix("tar.")))
    with suppress(DataError):
        read_archive(path)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [path]  # archives are read, not unpacked


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_links_and_devices_are_no_files(tmp_path, kind):
    (tmp_path / "secret").write_text("secret")
    info = tarfile.TarInfo("a.txt")
    info.type, info.linkname = kind, str(tmp_path / "secret")
    path = write_file(tmp_path / "archive.tar", packed({"b.txt": b"text"}, ""))
    with tarfile.open(path, "a") as archive:
        archive.addfile(info)
    assert read_archive(path) == {"b.txt": b"text"}


def read_own(path):
    return [len(rows) for rows in OwnTable(OwnFile(path=str(path))).parts(["a"])]


BOMBS = {  # how a file is packed, when it is needed, and what reads it
    "a.gz": (lambda: gzip.compress(BOMB), read_bytes),
    "a.bz2": (lambda: bz2.compress(BOMB), read_bytes),
    "a.tar.gz": (lambda: packed({"a.txt": BOMB}, "gz"), read_archive),
    "nested.tar.gz": (lambda: packed({"a.gz": gzip.compress(BOMB)}, "gz"), read_archive),
    "a.zip": (lambda: packed({"a.txt": BOMB}, "zip"), read_archive),
    "nested.zip": (lambda: packed({"a.gz": gzip.compress(BOMB)}, "zip"), read_archive),
    "lines.gz": (lambda: gzip.compress(BOMB), lambda path: list(text_chunks(path, "*", 1000))),
    "lines.zip": (lambda: packed({"a.txt": BOMB}, "zip"), lambda path: list(text_chunks(path, "*", 1000))),
    "own.csv.gz": (lambda: gzip.compress(b"a,b\n" + BOMB), read_own),
    "own.jsonl.zst": (lambda: pa.Codec("zstd").compress(b'{"a": 1}\n' + BOMB, asbytes=True), read_own),
    "vectors.zip": (lambda: packed({"a.txt": b"a 1 2\n" + BOMB}, "zip"), lambda path: read_vectors(path, 2)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(tmp_path, monkeypatch, name):
    pack, reader = BOMBS[name]
    path = write_file(tmp_path / name, pack())
    monkeypatch.setattr(reading, "FLOOR", 1000)
    monkeypatch.setattr(reading, "RATIO", 10)
    tracemalloc.start()
    remedy = "unpack it by hand if its source is trustworthy$"
    with pytest.raises(DataError, match=rf"{name}: unpacks to more than [\d,]+ bytes, 10 times its size; {remedy}"):
        reader(path)
    assert tracemalloc.get_traced_memory()[1] < len(BOMB) / 2
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["a.gz", "a.bz2", "a.tar.gz", "a.zip"])
def test_files_below_the_limit(tmp_path, name):
    pack, reader = BOMBS[name]
    read = reader(write_file(tmp_path / name, pack()))
    assert BOMB in (read.values() if isinstance(read, dict) else [read])
