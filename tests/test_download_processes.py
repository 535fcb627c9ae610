"""What other processes and an interrupt see of a download."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paraphrastic.sources.fetching import _is_mine
from tests.faulty_server import BODY, Fault, serving

REPOSITORY = Path(__file__).parents[1]

FETCH = """
import sys
from pathlib import Path
from paraphrastic.sources.catalogue import File, Source
from paraphrastic.sources.fetching import fetch

url, sha256, folder, cache = sys.argv[1:]
files = (File("data.bin", url, sha256),)
texts = Source("texts", "Texts", "CC0", "Nobody", None, {}, files, {}, False, False, False, None)
print("ready", flush=True)
fetch([texts], Path(folder), mirror=None, cache=Path(cache), pauses=[0.1])
"""


def start(texts, folder, cache):
    (file,) = texts.files
    command = [sys.executable, "-c", FETCH, file.url, file.sha256, str(folder), str(cache)]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cached(cache):
    return sorted(f"{path.parent.name}/{path.suffix}" for path in cache.rglob("*") if path.is_file())


@pytest.fixture
def server():
    with serving() as it:
        yield it


def test_two_processes_download_a_file_once(server, tmp_path):
    texts = server.source()
    server.faults = [Fault(stall=1000), Fault()]
    running = [start(texts, tmp_path / name, tmp_path / "cache") for name in ("one", "two")]
    assert [process.stdout.readline() for process in running] == [b"ready\n"] * 2
    wait_for(lambda: server.seen)
    time.sleep(0.5)  # for the second process to come to the same file
    assert len(server.seen) == 1
    server.over.set()
    for process in running:
        _, told = process.communicate(timeout=20)
        assert process.returncode == 0, told
    assert [(tmp_path / name / "texts/data.bin").read_bytes() for name in ("one", "two")] == [BODY, BODY]
    assert [asked for _, asked, _ in server.seen] == [None, "bytes=1000-"]
    assert cached(tmp_path / "cache") == ["files/"]


def test_a_lock_that_was_removed_while_it_was_awaited_locks_nothing(tmp_path):
    path = tmp_path / "data.lock"
    with path.open("w") as awaited:
        assert _is_mine(awaited, path)
        path.unlink()
        assert not _is_mine(awaited, path)
        with path.open("w") as current:
            assert not _is_mine(awaited, path)
            assert _is_mine(current, path)
            with path.open("w") as other:
                assert not _is_mine(other, path)


def test_an_interrupt_leaves_only_what_the_next_run_goes_on_with(server, tmp_path):
    texts = server.source()
    server.faults = [Fault(stall=100_000)]
    process = start(texts, tmp_path / "raw", tmp_path / "cache")
    wait_for(lambda: any(path.stat().st_size == 100_000 for path in (tmp_path / "cache").rglob("*.part")))
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=10)
    assert b"KeyboardInterrupt" in told
    assert cached(tmp_path / "cache") == ["parts/.etag", "parts/.part"]
    assert not (tmp_path / "raw").exists()
    assert start(texts, tmp_path / "raw", tmp_path / "cache").wait(20) == 0
    assert (tmp_path / "raw/texts/data.bin").read_bytes() == BODY
    assert server.seen[1][1] == "bytes=100000-"
