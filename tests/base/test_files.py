"""Files and folders that appear completely or not at all, and names of runs by the files that they read."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest

from paraphrastic.base import files as module
from paraphrastic.base.files import (
    atomic_folder,
    atomic_write,
    fingerprint,
    locked,
    scratch_folder,
    sha256_of,
    unwritable,
    write_csv,
    write_text,
)


def test_file_after_writing(tmp_path):
    path = tmp_path / "new/file"
    with atomic_write(path) as part:
        part.write_text("content")
        assert not path.exists()
    assert path.read_text() == "content"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_of_a_file_that_is_replaced(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    with atomic_write(path) as part:
        part.write_text("new")
        assert part.stat().st_mode & 0o077 == mode & 0o077 & ~0o022
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)


def test_lines_of_a_csv_file_on_any_system(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "linesep", "\r\n")
    write_csv(pd.DataFrame({"a": ["é"], "b": [1]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == "a,b\né,1\n".encode()


def test_error_of_a_library_that_gives_no_reason():
    assert str(unwritable(Path("a/b"))) == "[Errno 5] cannot be written; is the disk full?: 'a/b'"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_file_after_an_error(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(error), atomic_write(path) as part:  # noqa: PT012 - the error occurs while the file is open
        part.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [atomic_write, atomic_folder, scratch_folder])
def test_path_in_an_error_without_a_file_name(tmp_path, write):
    with pytest.raises(OSError, match="No space left") as error, write(tmp_path / "path"):
        raise OSError(28, "No space left on device")
    assert error.value.filename == str(tmp_path / "path")


def test_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_folder_after_writing(tmp_path):
    path = tmp_path / "new/folder"
    for name in ("first", "second"):
        with atomic_folder(path) as part:
            (part / name).write_text(name)
            assert path.parent in part.parents
        assert [file.name for file in path.iterdir()] == [name]
    assert list(path.parent.iterdir()) == [path]


def test_folder_of_a_link_is_replaced_and_the_link_kept(tmp_path):
    folder, link = tmp_path / "disk/folder", tmp_path / "link"
    folder.mkdir(parents=True)
    link.symlink_to(folder)
    with atomic_folder(link) as part:
        (part / "new").touch()
    assert link.readlink() == folder
    assert [file.name for file in folder.iterdir()] == ["new"]
    assert sorted(tmp_path.iterdir()) == [tmp_path / "disk", link]


def test_folder_after_an_error(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()
    with pytest.raises(KeyboardInterrupt), atomic_folder(path) as part:  # noqa: PT012
        (part / "half").touch()
        raise KeyboardInterrupt
    assert [file.name for file in path.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_folder_after_an_interrupt_between_the_old_and_the_new(tmp_path, monkeypatch):
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").touch()
    replace = Path.replace

    def interrupted(self, target):
        if self.name == "new":
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_folder(path):
        pass
    assert [file.name for file in path.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_folder_of_a_process_killed_between_the_old_and_the_new(tmp_path):
    for name in ("old", "new"):
        folder = tmp_path / part_name("folder", os.getpid()) / name
        folder.mkdir(parents=True)
        (folder / "file").write_text(name)
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "folder"):
        raise KeyboardInterrupt
    assert [(path.name, path.read_text()) for path in (tmp_path / "folder").iterdir()] == [("file", "old")]
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_folder_after_a_killed_process_with_the_same_id(tmp_path):
    leftover = tmp_path / part_name("folder", os.getpid())
    leftover.mkdir()
    (leftover / "half").touch()
    with atomic_folder(tmp_path / "folder") as part:
        (part / "whole").touch()
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["whole"]
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def part_name(name, process):
    """Return the name of an unfinished file or folder that a process of this computer writes."""
    with TemporaryDirectory() as folder, atomic_write(Path(folder) / name) as part:
        part.touch()
        return part.name.replace(f".{os.getpid()}@", f".{process}@")


def test_what_killed_processes_left_is_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for process in (ended.pid, os.getpid(), 10**30):
        (tmp_path / part_name("file", process)).write_text("half")
        (tmp_path / part_name("folder", process)).mkdir()
    others = [part_name("file", os.getppid()), part_name("file.new", 1), part_name("file", "x")]
    others.append(part_name("file", ended.pid).replace("@", "@other-"))  # of a computer that shares the folder
    kept = [tmp_path / name for name in others]
    for path in kept:
        path.write_text("of another process or file")
    write_text(tmp_path / "file", "content")
    with atomic_folder(tmp_path / "folder"):
        pass
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "file", tmp_path / "folder", *kept])


def test_scratch_folder_is_removed(tmp_path):
    abandoned = tmp_path / "data" / part_name("texts", os.getpid())
    abandoned.mkdir(parents=True)
    (abandoned / "old").touch()
    with scratch_folder(tmp_path / "data" / "texts") as scratch:
        (scratch / "file").touch()
        assert list((tmp_path / "data").iterdir()) == [scratch]
        assert [path.name for path in scratch.iterdir()] == ["file"]
    assert list((tmp_path / "data").iterdir()) == []


def test_encoding_and_newlines_of_text(tmp_path):
    write_text(tmp_path / "file", "é\n日\n")
    assert (tmp_path / "file").read_bytes() == "é\n日\n".encode()
    (tmp_path / "file").write_bytes(b"abc")
    assert sha256_of(tmp_path / "file") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.skipif(os.name != "posix", reason="no lock that a killed process gives back")
def test_one_process_at_a_time(tmp_path, capsys):
    code = (
        "import sys, time, pathlib; from paraphrastic.base.files import locked\n"
        "with locked(pathlib.Path(sys.argv[1]), 'trains'):\n"
        "    print('inside', flush=True); time.sleep(float(sys.argv[2]))\n"
    )

    def start(seconds):
        command = [sys.executable, "-c", code, str(tmp_path / "work"), str(seconds)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "inside\n"
        return process

    with start(0.4) as first, locked(tmp_path / "work", "trains"):
        assert first.wait() == 0
        owner = f"process {first.pid} on {platform.node()}"
        assert capsys.readouterr().err == f"{owner} trains already; waiting until it ends\n"
    assert list(tmp_path.iterdir()) == []
    with start(60) as killed:
        killed.kill()
    with locked(tmp_path / "work", "trains"):
        pass
    assert capsys.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["pairs.parquet", "data.arrow", "weights.safetensors", "config.json", "module.py", "select.txt", "a/deep"]
)
def test_fingerprint_of_changed_file(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"one")
    first = fingerprint(1, tmp_path)
    assert re.fullmatch("[0-9a-f]{16}", first)
    assert fingerprint(1, tmp_path) == first
    file.write_bytes(b"two")
    assert fingerprint(1, tmp_path) != first
    file.write_bytes(b"one")
    assert fingerprint(1, tmp_path) == first


def test_fingerprint_of_settings_files_and_names(tmp_path):
    assert len({fingerprint(settings, tmp_path) for settings in (1, "1", (1, 2), {"a": 1})}) == 4
    (tmp_path / "words.parquet").write_bytes(b"one")
    first = fingerprint(1, tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/module.cpython-311.pyc").write_bytes(b"compiled")
    assert fingerprint(1, tmp_path) == first
    (tmp_path / "words.parquet").rename(tmp_path / "ngrams.parquet")
    assert fingerprint(1, tmp_path) != first
    file = tmp_path / "vectors.any"
    names = [file.write_text(text) and fingerprint(1, file) for text in ("a", "b")]
    assert len(set(names)) == 2


def test_fingerprint_of_changed_code(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CODE", tmp_path)
    first = fingerprint(1)
    (tmp_path / "module.py").write_text("changed = True")
    assert fingerprint(1) != first
