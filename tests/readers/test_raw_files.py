"""Missing, damaged and superfluous files."""

import gzip

import pytest

from paraphrastic.base.errors import DataError, SourceError
from paraphrastic.readers.lines import read_lines
from paraphrastic.readers.raw_files import find_file, find_files, read_archive, read_bytes, read_files
from tests.helpers.raw_files import write_archive


def test_empty_and_missing_files(tmp_path):
    (tmp_path / "a.txt").touch()
    with pytest.raises(DataError, match=r"a\.txt: the file is empty; remove it and run `dvc repro`$"):
        read_lines(tmp_path, "a.txt")
    with pytest.raises(SourceError, match=r"contains no b\.txt; run `dvc repro`"):
        read_lines(tmp_path, "b.txt")
    with pytest.raises(SourceError, match=r"contains no \*\.tsv; run `dvc repro`"):
        find_files(tmp_path, "*.tsv")
    with pytest.raises(SourceError, match="cannot be read"):
        read_bytes(tmp_path)


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: b"<html>" + data, lambda data: data[:9]])
def test_damaged_gzip_file(tmp_path, damage):
    path = tmp_path / "a.gz"
    path.write_bytes(damage(gzip.compress(b"line\n" * 1000)))
    with pytest.raises(DataError, match=r"a\.gz: damaged or truncated .*; remove it and run `dvc repro`$"):
        read_lines(tmp_path, path.name)


@pytest.mark.parametrize(("kind", "suffix"), [("gztar", ".tar.gz"), ("zip", ".zip")])
@pytest.mark.parametrize("damage", [lambda data: data[:-30], lambda data: data[40:], lambda data: data[:50]])
def test_damaged_archive(tmp_path, kind, suffix, damage):
    members = {"deep/a.txt": b"\x00\xff" * 500, "deep/b.txt": b""}
    path = write_archive(tmp_path / f"archive{suffix}", members, kind)
    assert read_archive(path) == {"a.txt": b"\x00\xff" * 500, "b.txt": b""}
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match=r"/archive\.\S+: damaged or truncated .*; remove it and run `dvc repro`$"):
        read_archive(path)


def test_member_without_a_name(tmp_path):
    path = tmp_path / "a.zip"
    data = write_archive(path, {"a": b"text"}, "zip").read_bytes()
    entry = data.rindex(b"PK\x01\x02")  # its length of the name is at 28, the name at 46
    path.write_bytes(data[: entry + 28] + b"\0\0\1\0" + data[entry + 32 :])  # the name becomes an extra field
    with pytest.raises(DataError, match=r"a\.zip: damaged or truncated"):
        read_archive(path)


def test_missing_member_of_an_archive(tmp_path):
    write_archive(tmp_path / "a.zip", {"b.txt": b""}, "zip")
    with pytest.raises(DataError, match=r"a\.zip: the archive contains no c\.txt; remove it and run `dvc repro`$"):
        read_lines(tmp_path, "c.txt", archive="a.zip")


@pytest.mark.parametrize(("kind", "suffix"), [("gztar", ".tar.gz"), ("zip", ".zip")])
@pytest.mark.parametrize("other", ["dev/a.txt", "dev/a.txt.gz"])
def test_members_with_the_same_name_in_several_folders(tmp_path, kind, suffix, other):
    members = {"train/a.txt": b"1", other: gzip.compress(b"2") if other.endswith(".gz") else b"2", "b.txt": b"3"}
    write_archive(tmp_path / f"x{suffix}", members, kind)
    with pytest.raises(
        DataError, match=r"/x\.\S+: several members of the archive have the name a\.txt; keep one of them$"
    ):
        read_files(tmp_path, ["a.*"], "x.*")
    assert [data for _, data in read_files(tmp_path, ["b.*"], "x.*")] == [b"3"]


def test_equal_members_with_the_same_name(tmp_path):
    write_archive(tmp_path / "x.zip", {"train/a.txt": b"1", "copy/a.txt": b"1"}, "zip")
    assert [data for _, data in read_files(tmp_path, ["a.txt"], "x.zip")] == [b"1"]


def test_two_files_in_place_of_one(tmp_path):
    (tmp_path / "a.gz").touch()
    assert find_file(tmp_path, "*.gz") == tmp_path / "a.gz"
    (tmp_path / "b.gz").touch()
    with pytest.raises(DataError, match=r"2 files match \*\.gz"):
        find_file(tmp_path, "*.gz")
