"""Downloads by several processes, and after an interrupt or kill."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from paraphrastic.sources.locations import url_key
from tests.helpers.faulty_server import BODY, Fault, cached_files

pytestmark = pytest.mark.faults

REPOSITORY = Path(__file__).parents[2]

FETCH = """
import sys
from pathlib import Path
from paraphrastic.sources.source import Source
from paraphrastic.sources.fetching import fetch
from paraphrastic.sources.locations import DataLocations

url, sha256, folder, cache = sys.argv[1:]
files = {"data.bin": sha256}
texts = Source(name="texts", title="Texts", licence="CC0", citation="Nobody", url=url.rpartition("/")[0], files=files)
print("ready", flush=True)
fetch([texts], Path(folder), DataLocations(Path(cache)), pauses=[0.1])
"""


@pytest.fixture
def start(tmp_path):
    """Starts a process that fetches a source to a folder, with the cache tmp_path/cache; kills it at the end."""
    processes = []

    def start(source, folder):
        (file,) = source.files
        command = [sys.executable, "-c", FETCH, file.url, file.sha256, str(tmp_path / folder), str(tmp_path / "cache")]
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def wait_until_ready(process):
    assert process.stdout.readline() == b"ready\n"


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wait_for_part(tmp_path, size):
    wait_for(lambda: any(path.stat().st_size == size for path in (tmp_path / "cache").rglob("*.part")))


def assert_success(process, file):
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    assert file.read_bytes() == BODY


def test_download_by_two_processes(server, start, tmp_path):
    texts = server.source()
    server.faults = [Fault(stall=1000), Fault()]
    processes = [start(texts, folder) for folder in ("one", "two")]
    for process in processes:
        wait_until_ready(process)
    wait_for(lambda: server.requests)
    time.sleep(0.5)  # until both processes have tried to download the file
    assert len(server.requests) == 1
    server.end_of_stall.set()
    for process, folder in zip(processes, ("one", "two"), strict=True):
        assert_success(process, tmp_path / folder / "texts/data.bin")
    assert [requested for _, requested, _ in server.requests] == [None, "bytes=1000-"]
    assert cached_files(tmp_path / "cache") == ["files/"]


def test_download_after_kill_of_the_lock_holder(server, start, tmp_path):
    texts = server.source()
    server.faults = [Fault(stall=100_000)]
    holder = start(texts, "one")
    wait_for_part(tmp_path, 100_000)
    waiter = start(texts, "two")
    wait_until_ready(waiter)
    time.sleep(0.3)  # until the process waits for the lock
    assert len(server.requests) == 1
    holder.kill()
    assert_success(waiter, tmp_path / "two/texts/data.bin")
    assert server.requests[1][1] == "bytes=100000-"


def test_download_after_removal_of_the_lock_file(server, start, tmp_path):
    texts = server.source()
    lock = FileLock(tmp_path / "cache/locks" / f"{url_key(texts.files[0])}.lock")
    Path(lock.lock_file).parent.mkdir(parents=True)
    with lock:
        process = start(texts, "one")
        wait_until_ready(process)
        time.sleep(0.5)  # until the process waits for the lock
        assert server.requests == []
        Path(lock.lock_file).unlink()
    assert_success(process, tmp_path / "one/texts/data.bin")
    assert len(server.requests) == 1


def test_download_after_interrupt(server, start, tmp_path):
    texts = server.source()
    server.faults = [Fault(stall=100_000)]
    process = start(texts, "raw")
    wait_for_part(tmp_path, 100_000)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert b"KeyboardInterrupt" in errors
    assert cached_files(tmp_path / "cache") == ["parts/.etag", "parts/.part"]
    assert not (tmp_path / "raw").exists()
    assert_success(start(texts, "raw"), tmp_path / "raw/texts/data.bin")
    assert server.requests[1][1] == "bytes=100000-"
