"""Fetched files: from the cache, the mirror, a server or the folder of manual files."""

import errno
import hashlib
import os
from shutil import rmtree

import pytest
from rich.progress import Progress

from paraphrastic.sources.fetching import progress_callback, prune
from paraphrastic.sources.locations import DataLocations
from paraphrastic.sources.source import File
from tests.helpers.faulty_server import BODY, make_source, source_error


def test_repeated_fetch_of_pinned_files(server, fetch_sources, content):
    files = [server.source(f"/{n}/a.txt", b"%d" % n).files[0] for n in range(9)]
    texts = make_source(files)
    fetch_sources(texts)
    assert [content(f"{n}/a.txt") for n in range(9)] == [b"%d" % n for n in range(9)]
    fetch_sources(texts)
    assert sorted(path for path, *_ in server.requests) == [f"/{n}/a.txt" for n in range(9)]


def test_repeated_fetch_of_an_unpinned_file(server, fetch_sources, content, tmp_path):
    texts = server.source(pinned=False)
    fetch_sources(texts)
    (tmp_path / "raw/texts/data.bin").unlink()
    fetch_sources(texts)
    assert content() == BODY
    assert len(server.requests) == 1


def test_page_in_place_of_an_unpinned_archive(server, fetch_sources, content):
    page = b"<html>log in</html>"
    fetch_sources(server.source("/page.txt", page, pinned=False))
    assert content("page.txt") == page
    for path in ("/data.zip", "/data.txt.gz", "/data.zip"):  # nothing of it stays in the cache
        error = source_error(fetch_sources, server.source(path, page, pinned=False))
        remedy = "try later, or put the file into a mirror"
        assert error == f"{server.address}{path}: the server sent another format; {remedy}"
    assert len(server.requests) == 4


def test_complete_cache_in_which_nothing_can_be_locked(server, fetch_sources, content, tmp_path):
    texts = server.source()
    fetch_sources(texts)
    rmtree(tmp_path / "cache/locks")
    (tmp_path / "cache/locks").touch()  # as if it were read-only, also for root
    (tmp_path / "raw/texts/data.bin").unlink()
    fetch_sources(texts)
    assert content() == BODY


@pytest.mark.parametrize("pinned", [True, False])
def test_two_sources_with_one_address(server, fetch_sources, content, tmp_path, pinned):
    texts, other = server.source(pinned=pinned), server.source(pinned=pinned, name="other")
    fetch_sources(texts, other)
    assert content() == (tmp_path / "raw/other/data.bin").read_bytes() == BODY
    assert len(server.requests) == 1


def test_licence_and_progress_callbacks(server, fetch_sources):
    texts = make_source([*server.source().files, *server.source("/b.txt", b"b").files])
    calls = []
    fetch_sources(texts, on_licence=lambda source: calls.append((source.name, len(server.requests))))
    assert calls == [("texts", 0)]
    progress = []
    fetch_sources(texts, on_licence=calls.append, on_progress=lambda *call: progress.append(call))
    assert len(calls) == 1
    assert sorted(call[1:] for call in progress) == [(1, 1), (len(BODY), len(BODY))]  # of cached files
    assert {file for file, *_ in progress} == {*texts.files}


def test_progress_of_two_files():
    first, second = (File(path, f"http://host/{path}", None) for path in ("a", "b"))
    bar = Progress(disable=True)
    on_progress = progress_callback(bar, 2)
    states = [(bar.tasks[0].completed, bar.tasks[0].total, bar.tasks[0].description)]
    sizes = [(first, 2, None), (second, 1, 9), (first, 4, 4), (second, 9, 9)]
    for call in [(file, size * 1_000_000, total and total * 1_000_000) for file, size, total in sizes]:
        on_progress(*call)
        states.append((bar.tasks[0].completed, bar.tasks[0].total, bar.tasks[0].description))
    expected = [(0, 2, 2), (0, 2, 3), (1, 2, 5), (2, 2, 13)]
    assert states == [(0, 2, "download")] + [(done, files, f"download {size} MB") for done, files, size in expected]


def test_damaged_file_in_the_cache(server, fetch_sources, content, tmp_path):
    for texts in (server.source(), server.source("/other.bin", pinned=False)):
        fetch_sources(texts)
        (copy,) = (tmp_path / "cache/files").iterdir()
        copy.write_bytes(BODY[:-1] + b"?")
        fetch_sources(texts)
        assert content(texts.files[0].path) == BODY
        with (tmp_path / "raw/texts" / texts.files[0].path).open("r+b") as file:
            file.write(b"edited")  # which leaves the cache as it is
        fetch_sources(texts)
        assert content(texts.files[0].path) == BODY
        copy.unlink()
    assert len(server.requests) == 4


def write_mirror(tmp_path, source, body):
    """Write the file of a source to the mirror tmp_path/mirror."""
    (file,) = source.files
    path = tmp_path / "mirror" / file.url.removeprefix("http://").replace("%20", " ")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


def test_mirror_without_network(server, fetch_sources, content, tmp_path):
    texts = server.source("/a%20b.txt")
    assert write_mirror(tmp_path, texts, BODY).name == "a b.txt"
    announced = []
    fetch_sources(texts, mirror=tmp_path / "mirror", on_licence=announced.append)
    assert content("a%20b.txt") == BODY
    assert announced == [texts]
    assert server.requests == []


def test_mirror_without_the_file(server, fetch_sources, content, tmp_path):
    (tmp_path / "mirror").mkdir()
    fetch_sources(server.source(), mirror=tmp_path / "mirror")
    assert content() == BODY
    assert len(server.requests) == 1


def test_mirror_with_another_file_than_pinned(server, fetch_sources, tmp_path):
    texts = server.source()
    path = write_mirror(tmp_path, texts, b"wrong")
    message = source_error(fetch_sources, texts, mirror=tmp_path / "mirror")
    assert message.startswith(f"{path}: not the pinned version: ")
    assert message.endswith("; replace it")
    assert server.requests == []


def test_changing_unpinned_file_of_the_mirror(server, fetch_sources, content, tmp_path):
    texts = server.source(pinned=False)
    for body in (b"first", b"second"):
        write_mirror(tmp_path, texts, body)
        fetch_sources(texts, mirror=tmp_path / "mirror")
        assert content() == body
    fetch_sources(texts)
    assert content() == BODY


def test_full_disk(server, fetch_sources, tmp_path):
    texts = server.source()
    part = tmp_path / "cache/parts" / f"{hashlib.sha256(texts.files[0].url.encode()).hexdigest()}.part"
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    message = source_error(fetch_sources, texts)
    assert message == f"{tmp_path / 'cache'}: no space left; free some and run the same command again"


def test_file_in_place_of_the_cache(server, fetch_sources, tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert source_error(fetch_sources, server.source()).endswith(os.strerror(errno.ENOTDIR))


def test_manual_source(fetch_sources, content, tmp_path):
    texts = make_source([File("a.tsv", "", None)], manual="licensed")
    several = texts.model_copy(update={"files": [*texts.files, File("b.tsv", "", None)]})
    assert DataLocations(tmp_path, None).how_to_provide(several) == (
        f"licensed. Put it at {tmp_path}/licensed/texts/a.tsv, {tmp_path}/licensed/texts/b.tsv"
    )
    assert fetch_sources(texts) == (texts,)
    assert not (tmp_path / "raw").exists()
    (tmp_path / "cache/licensed/texts").mkdir(parents=True)
    (tmp_path / "cache/licensed/texts/a.tsv").write_bytes(b"provided")
    assert fetch_sources(texts) == ()
    assert content("a.tsv") == b"provided"


def test_pinned_file_of_a_manual_source(fetch_sources, content, tmp_path):
    texts = make_source([File("a.tsv", "", hashlib.sha256(b"pinned").hexdigest())], manual="licensed")
    path = tmp_path / "cache/licensed/texts/a.tsv"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"edited")
    message = source_error(fetch_sources, texts)
    assert message.startswith(f"{path}: not the pinned version: sha256 {hashlib.sha256(b'edited').hexdigest()}, ")
    assert message.endswith("; replace it")
    assert not (tmp_path / "raw").exists()
    path.write_bytes(b"pinned")
    fetch_sources(texts)
    assert content("a.tsv") == b"pinned"


def test_optional_source_that_the_server_lacks(server, fetch_sources, content):
    texts = server.source()
    lost = server.source("/lost.zip", pinned=False, name="lost", optional=True)
    del server.bodies["/lost.zip"]
    failures = []
    absent = fetch_sources(texts, lost, on_failure=lambda source, error: failures.append((source.name, str(error))))
    assert absent == (lost,)
    assert content() == BODY
    ((name, error),) = failures
    assert name == "lost"
    assert error.startswith(f"{server.address}/lost.zip: the server answers 404 Not Found; ")
    assert source_error(fetch_sources, lost) == error  # nobody asked to go on
    needed = lost.model_copy(update={"optional": False})
    assert source_error(fetch_sources, needed, on_failure=print) == error


def test_files_after_prune(tmp_path):
    texts = make_source([File("a/b.txt", "", None)])
    for path in ("texts/a/b.txt", "texts/a/c.txt", "texts/d/e.txt", "other/f.txt", "g.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    prune([texts], tmp_path)
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert left == ["texts", "texts/a", "texts/a/b.txt"]
