"""Downloads from a faulty server: resumed, repeated or refused, with an error of one line."""

import hashlib
import re

import pytest

from paraphrastic.sources.source import File
from tests.helpers.faulty_server import BODY, Fault, cached_files, make_source, source_error

pytestmark = pytest.mark.faults

CUT = Fault(cut=100_000)
REST = ("bytes=100000-", 206)


def test_progress_of_a_download(server, fetch_sources):
    calls = []
    texts = server.source()
    fetch_sources(texts, on_progress=lambda *call: calls.append(call))
    assert {file for file, _, _ in calls} == set(texts.files)
    assert [total for _, _, total in calls] == [len(BODY)] * len(calls)
    assert sorted(size for _, size, _ in calls) == [size for _, size, _ in calls]
    assert calls[-1][1] == len(BODY)


@pytest.mark.parametrize(
    ("faults", "requested"),
    [
        ([CUT, Fault(cut=50_000)], [(None, 200), REST, ("bytes=150000-", 206)]),
        ([CUT, Fault(status=416)], [(None, 200), ("bytes=100000-", 416), (None, 200)]),  # other bytes than requested
        ([CUT, Fault(content_range="bytes 7-8/9")], [(None, 200), REST, (None, 200)]),
        ([CUT, Fault(length=-10)], [(None, 200), REST, (f"bytes={len(BODY) - 10}-", 206)]),  # fewer bytes
        *(
            ([Fault(status=n) for n in each], [(None, n) for n in (*each, 200)])
            for each in ([500, 503], [429, 429], [408])
        ),
    ],
)
def test_request_after_each_fault(server, fetch_sources, content, faults, requested):
    texts = server.source()
    server.faults = faults
    fetch_sources(texts)
    assert content() == BODY
    assert [each[1:] for each in server.requests] == requested


def test_download_resumed_by_the_next_run(server, fetch_sources, content, tmp_path):
    texts = server.source(pinned=False)
    server.faults = [CUT]
    message = source_error(fetch_sources, texts, pauses=())
    assert message.startswith(f"{texts.files[0].url}: the connection failed: ")
    assert message.endswith("resume from byte 100000")
    assert cached_files(tmp_path / "cache") == ["parts/.etag", "parts/.part"]
    fetch_sources(texts)
    assert content() == BODY
    assert server.requests[1][1:] == ("bytes=100000-", 206)


@pytest.mark.parametrize(("ranges", "body"), [(True, b"new" * 100_000), (False, BODY)])
def test_resumed_download_of_a_changed_file_or_without_ranges(server, fetch_sources, content, ranges, body):
    texts = server.source(pinned=not ranges)
    server.faults = [CUT]
    source_error(fetch_sources, texts, pauses=())
    server.bodies["/data.bin"], server.ranges = body, ranges
    fetch_sources(texts)
    assert content() == body
    assert server.requests[1][1:] == ("bytes=100000-", 200)


@pytest.mark.parametrize("etag", [b"\xff", b"1\n2"])
def test_damaged_note_of_a_download(server, fetch_sources, content, tmp_path, etag):
    server.faults = [CUT]
    source_error(fetch_sources, server.source(), pauses=())
    (note,) = (tmp_path / "cache/parts").glob("*.etag")
    note.write_bytes(etag)
    fetch_sources(server.source())
    assert content() == BODY
    assert server.requests[1][1:] == (None, 200)


def test_rest_of_another_version(server, fetch_sources, content):
    texts = server.source(pinned=False)
    server.faults = [CUT, Fault(etag='"other"')]
    fetch_sources(texts)
    assert content() == BODY
    assert [each[1:] for each in server.requests] == [(None, 200), REST, (None, 200)]


def test_download_without_a_validator(server, fetch_sources, content):
    texts = server.source()
    server.ranges = False
    server.faults = [CUT]
    fetch_sources(texts)
    assert content() == BODY
    assert [requested for _, requested, _ in server.requests] == [None, None]


DATE = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("validators", "requested"),
    [
        ({"ETag": '"1"', "Last-Modified": DATE}, "bytes=100000-"),
        ({"Last-Modified": DATE}, "bytes=100000-"),
        ({"ETag": 'W/"1"', "Last-Modified": DATE}, None),
        ({"ETag": '"é"'}, None),
        ({"Last-Modified": "Mittwoch, 21. März"}, None),
    ],
)
def test_request_after_each_validator(server, fetch_sources, content, validators, requested):
    texts = server.source()
    server.validators = validators
    server.faults = [CUT]
    fetch_sources(texts)
    assert content() == BODY
    assert server.requests[1][1] == requested


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://host/file", "data:,text", "/data.bin", "http://[", ""]
)
def test_redirect_that_leads_nowhere(server, fetch_sources, tmp_path, location):
    server.faults = [Fault(status=302, location=location)] * 200  # the same place again and again
    source_error(fetch_sources, server.source())
    assert not list((tmp_path / "cache/files").glob("*"))


def test_missing_file_without_retry(server, fetch_sources, tmp_path):
    texts = server.source()
    server.bodies.clear()
    message = source_error(fetch_sources, texts)
    assert message.startswith(f"{server.address}/data.bin: the server answers 404 Not Found; ")
    assert len(server.requests) == 1
    assert cached_files(tmp_path / "cache") == []


def test_redirect_to_another_host(server, fetch_sources, content):
    texts = server.source()
    other = server.address.replace("127.0.0.1", "localhost")
    server.faults = [Fault(status=302, location=f"{other}/data.bin")]
    fetch_sources(texts)
    assert content() == BODY


def test_length_that_the_server_does_not_say(server, fetch_sources, content):
    texts, sizes = server.source(), []
    server.faults = [Fault(length=None)]
    fetch_sources(texts, on_progress=lambda file, size, total: sizes.append((size, total)))
    assert content() == BODY
    assert {total for _, total in sizes[:-1]} == {None}
    assert sizes[-1] == (len(BODY), len(BODY))


def test_number_of_retries_after_server_errors(server, fetch_sources):
    texts = server.source("/other.bin", b"other")
    server.faults = [Fault(status=500)] * 3
    message = source_error(fetch_sources, texts)
    expected = f"{server.address}/other.bin: the server answers 500 Internal Server Error; run the same command again"
    assert message.startswith(expected)
    assert [status for _, _, status in server.requests] == [500] * 3


def test_file_with_another_hash(server, fetch_sources, tmp_path):
    texts = server.source()
    server.bodies["/data.bin"] = b"something else"
    message = source_error(fetch_sources, texts)
    wrong = hashlib.sha256(b"something else").hexdigest()
    assert f": not the pinned version: sha256 {wrong}, expected {texts.files[0].sha256}; " in message
    assert message.endswith("; run the same command again, or put the right file into a mirror")
    assert cached_files(tmp_path / "cache") == []
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize(
    ("fault", "options", "message"),
    [
        (CUT, {"ranges": False}, r"data\.bin: the connection failed: .*; run the same command again$"),
        (Fault(length=10), {"pinned": False}, "resume from byte 256000"),
        (Fault(length=-10), {}, "not the pinned version"),
    ],
)
def test_error_of_a_single_try(server, fetch_sources, fault, options, message):
    server.ranges = options.pop("ranges", True)
    texts = server.source(**options)
    server.faults = [fault]
    assert re.search(message, source_error(fetch_sources, texts, pauses=()))


def test_stalled_connection(server, fetch_sources, content):
    texts = server.source()
    server.faults = [Fault(stall=1000)]
    message = source_error(fetch_sources, texts, pauses=(), timeout=0.2)
    assert "stalled: no data received for 0.2 s; " in message
    fetch_sources(texts)
    assert content() == BODY
    assert server.requests[1][1] == "bytes=1000-"


def test_unreachable_server(fetch_sources):
    texts = make_source([File("a.txt", "http://127.0.0.1:9/a.txt", None)])
    message = source_error(fetch_sources, texts)
    assert message.startswith("cannot reach 127.0.0.1:9 (")
    assert message.endswith("; check the network, or set PARAPHRASTIC_MIRROR to a folder with files at HOST/PATH")
