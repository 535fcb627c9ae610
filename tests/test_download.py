import errno
import hashlib
import os

import pytest

from paraphrastic.errors import SourceError
from paraphrastic.sources.catalogue import File
from paraphrastic.sources.fetching import fetch
from tests.faulty_server import BODY, Fault, made, serving


@pytest.fixture
def server():
    with serving() as it:
        yield it


@pytest.fixture
def bring(tmp_path):
    def run(*sources, pauses=(0.0, 0.0), timeout=5.0, mirror=None, **changes):
        settings = {"cache": tmp_path / "cache", "mirror": mirror, "timeout": timeout, "pauses": pauses}
        return fetch(sources, tmp_path / "raw", **settings, **changes)

    return run


def arrived(tmp_path, path="data.bin"):
    return (tmp_path / "raw" / "texts" / path).read_bytes()


def cached(tmp_path):
    """Folder/suffix of every file in the cache."""
    files = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    return sorted(f"{path.parent.name}/{path.suffix}" for path in files)


def refusal(call, *args, **options):
    with pytest.raises(SourceError) as error:
        call(*args, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_nothing_is_downloaded_twice(server, bring, tmp_path):
    files = [server.source(f"/{n}/a.txt", b"%d" % n).files[0] for n in range(9)]
    texts = made(files)
    bring(texts)
    assert [arrived(tmp_path, f"{n}/a.txt") for n in range(9)] == [b"%d" % n for n in range(9)]
    bring(texts)
    assert sorted(path for path, *_ in server.seen) == [f"/{n}/a.txt" for n in range(9)]


def test_an_unpinned_file_is_downloaded_once_too(server, bring, tmp_path):
    texts = server.source(pinned=False)
    bring(texts)
    (tmp_path / "raw/texts/data.bin").unlink()
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert len(server.seen) == 1


def test_the_licence_is_told_once_and_only_when_something_is_brought(server, bring):
    server.source("/b.txt", b"b")
    texts = made([*server.source().files, *server.source("/b.txt", b"b").files])
    told = []
    bring(texts, on_licence=lambda each: told.append((each.name, len(server.seen))))
    assert told == [("texts", 0)]
    bring(texts, on_licence=told.append)
    assert len(told) == 1


def test_progress_is_told_in_bytes_and_ends_with_all_of_them(server, bring):
    told = []
    bring(server.source(), on_progress=lambda *now: told.append(now))
    assert [total for _, _, total in told] == [len(BODY)] * len(told)
    assert sorted(done for _, done, _ in told) == [done for _, done, _ in told]
    assert told[-1][1] == len(BODY)


def test_a_connection_that_breaks_off_is_gone_on_with(server, bring, tmp_path):
    texts = server.source()
    server.faults = [Fault(cut=100_000), Fault(cut=50_000)]
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert [(asked, status) for _, asked, status in server.seen] == [
        (None, 200),
        ("bytes=100000-", 206),
        ("bytes=150000-", 206),
    ]


def test_the_next_run_goes_on_from_what_has_arrived(server, bring, tmp_path):
    texts = server.source(pinned=False)
    server.faults = [Fault(cut=100_000)]
    told = refusal(bring, texts, pauses=())
    assert told.startswith(f"{texts.files[0].url}: broke off: ")
    assert told.endswith("go on from byte 100000")
    assert cached(tmp_path) == ["parts/.etag", "parts/.part"]
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert server.seen[1][1:] == ("bytes=100000-", 206)


def test_a_file_that_changed_in_between_is_begun_anew(server, bring, tmp_path):
    texts = server.source(pinned=False)
    server.faults = [Fault(cut=100_000)]
    refusal(bring, texts, pauses=())
    server.bodies["/data.bin"] = b"new" * 100_000
    bring(texts)
    assert arrived(tmp_path) == b"new" * 100_000


def test_a_server_that_does_not_know_ranges_begins_anew(server, bring, tmp_path):
    texts = server.source()
    server.faults = [Fault(cut=100_000)]
    refusal(bring, texts, pauses=())
    server.ranges = False
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert server.seen[1][1:] == ("bytes=100000-", 200)


def test_without_a_version_from_the_server_nothing_is_gone_on_with(server, bring, tmp_path):
    texts = server.source()
    server.ranges = False
    server.faults = [Fault(cut=100_000)]
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert [asked for _, asked, _ in server.seen] == [None, None]


@pytest.mark.parametrize("fault", [Fault(status=416), Fault(content_range="bytes 7-8/9")])
def test_an_answer_with_other_bytes_than_asked_for_is_not_appended(server, bring, tmp_path, fault):
    texts = server.source()
    server.faults = [Fault(cut=100_000), fault]
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert [asked for _, asked, _ in server.seen] == [None, "bytes=100000-", None]


def test_an_answer_with_fewer_bytes_than_asked_for_is_gone_on_with(server, bring, tmp_path):
    texts = server.source()
    server.faults = [Fault(cut=100_000), Fault(length=-10)]
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert [asked for _, asked, _ in server.seen] == [None, "bytes=100000-", f"bytes={len(BODY) - 10}-"]


def test_a_missing_file_is_told_at_once(server, bring, tmp_path):
    texts = server.source()
    server.bodies.clear()
    told = refusal(bring, texts)
    assert told.startswith(f"{server.address}/data.bin: the server answers 404 Not TaskRows; ")
    assert len(server.seen) == 1
    assert cached(tmp_path) == []


def test_a_failing_server_is_tried_again_and_then_told(server, bring, tmp_path):
    texts = server.source()
    server.faults = [Fault(status=500), Fault(status=503)]
    bring(texts)
    assert arrived(tmp_path) == BODY
    server.faults = [Fault(status=500)] * 3
    told = refusal(bring, server.source("/other.bin", b"other"))
    assert told.startswith(f"{server.address}/other.bin: the server answers 500 Internal Server Error; run the same ")
    assert [status for path, _, status in server.seen if path == "/other.bin"] == [500] * 3


def test_wrong_bytes_are_refused_and_forgotten(server, bring, tmp_path):
    texts = server.source()
    server.bodies["/data.bin"] = b"something else"
    told = refusal(bring, texts)
    wrong = hashlib.sha256(b"something else").hexdigest()
    assert f"is not the pinned file: sha256 {wrong}, expected {texts.files[0].sha256}; " in told
    assert cached(tmp_path) == []
    assert not (tmp_path / "raw").exists()


def test_a_file_shorter_than_its_stated_length_is_refused(server, bring):
    texts = server.source(pinned=False)
    server.faults = [Fault(length=10)]
    assert "go on from byte 256000" in refusal(bring, texts, pauses=())


def test_a_file_cut_at_its_stated_length_is_refused(server, bring):
    texts = server.source()
    server.faults = [Fault(length=-10)]
    assert "is not the pinned file" in refusal(bring, texts, pauses=())


def test_a_stalled_connection_is_told_and_gone_on_with(server, bring, tmp_path):
    texts = server.source()
    server.faults = [Fault(stall=1000)]
    told = refusal(bring, texts, pauses=(), timeout=0.2)
    assert "stalled: nothing arrived for 0.2 s; " in told
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert server.seen[1][1] == "bytes=1000-"


def test_without_a_network_the_mirror_is_named(bring):
    texts = made([File("a.txt", "http://127.0.0.1:9/a.txt", None)])
    told = refusal(bring, texts)
    assert told.startswith("cannot reach 127.0.0.1:9 (")
    assert "PARAPHRASTIC_MIRROR" in told


def test_a_damaged_file_in_the_cache_is_brought_anew(server, bring, tmp_path):
    for texts in (server.source(), server.source("/other.bin", pinned=False)):
        bring(texts)
        (held,) = (tmp_path / "cache/files").iterdir()
        held.write_bytes(BODY[:-1] + b"?")
        bring(texts)
        assert arrived(tmp_path, texts.files[0].path) == BODY
        held.unlink()
    assert len(server.seen) == 4


def test_editing_what_was_brought_does_not_damage_the_cache(server, bring, tmp_path):
    texts = server.source()
    bring(texts)
    with (tmp_path / "raw/texts/data.bin").open("r+b") as file:
        file.write(b"edited")
    bring(texts)
    assert arrived(tmp_path) == BODY
    assert len(server.seen) == 1


def in_mirror(tmp_path, texts, body):
    (file,) = texts.files
    path = tmp_path / "mirror" / file.url.removeprefix("http://")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_mirror_needs_no_network(server, bring, tmp_path, scheme):
    texts = server.source("/a%20b.txt")
    in_mirror(tmp_path, texts, b"").rename(tmp_path / "mirror" / server.address.removeprefix("http://") / "a b.txt")
    (tmp_path / "mirror" / server.address.removeprefix("http://") / "a b.txt").write_bytes(BODY)
    told = []
    bring(texts, mirror=f"{scheme}{tmp_path / 'mirror'}", on_licence=told.append)
    assert arrived(tmp_path, "a%20b.txt") == BODY
    assert told == [texts]
    assert server.seen == []


def test_what_the_mirror_lacks_is_downloaded(server, bring, tmp_path):
    (tmp_path / "mirror").mkdir()
    bring(server.source(), mirror=str(tmp_path / "mirror"))
    assert arrived(tmp_path) == BODY
    assert len(server.seen) == 1


def test_a_wrong_file_in_the_mirror_stops_the_run(server, bring, tmp_path):
    texts = server.source()
    path = in_mirror(tmp_path, texts, b"wrong")
    told = refusal(bring, texts, mirror=str(tmp_path / "mirror"))
    assert told.startswith(f"{path}: is not the pinned file: ")
    assert server.seen == []


def test_an_unpinned_file_of_the_mirror_is_taken_as_it_is_now(server, bring, tmp_path):
    texts = server.source(pinned=False)
    for body in (b"first", b"second"):
        in_mirror(tmp_path, texts, body)
        bring(texts, mirror=str(tmp_path / "mirror"))
        assert arrived(tmp_path) == body
    bring(texts)
    assert arrived(tmp_path) == BODY


def test_a_full_disk_is_told(server, bring, tmp_path):
    texts = server.source()
    part = tmp_path / "cache/parts" / f"{hashlib.sha256(texts.files[0].url.encode()).hexdigest()}.part"
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    told = refusal(bring, texts)
    assert told == f"{tmp_path / 'cache'}: no space left; free some and run the same command again"


def test_a_cache_that_cannot_be_written_is_told(server, bring, tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert refusal(bring, server.source()).endswith(os.strerror(errno.ENOTDIR))
