"""An HTTP server that can answer with faults, sources whose files it serves, the cache, and errors of downloads."""

import gzip
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from paraphrastic.base.errors import SourceError
from paraphrastic.sources.source import File, Source

BODY = bytes(range(256)) * 1000


@dataclass
class Fault:
    """The fault of one response."""

    status: int | None = None  # in place of the right one
    cut: int | None = None  # number of bytes after which the server closes the connection
    stall: int | None = None  # number of bytes after which the server sends nothing more
    length: int | None = 0  # error of the Content-Length header, in bytes; None: no such header
    content_range: str | None = None  # in place of the right one
    location: str | None = None  # address of a redirect
    etag: str | None = None  # in place of the right one


@dataclass
class Server:
    """The state of a running server."""

    address: str = ""  # http://HOST:PORT
    bodies: dict[str, bytes] = field(default_factory=dict)  # by path
    faults: list[Fault] = field(default_factory=list)  # of the next responses, in order
    ranges: bool = True  # whether the server sends ETags and supports byte ranges
    validators: dict[str, str] | None = None  # in place of the ETag; the server then ignores what range is requested
    requests: list[tuple[str, str | None, int]] = field(default_factory=list)  # path, Range header, status
    end_of_stall: threading.Event = field(default_factory=threading.Event)  # of the responses that stall

    def source(self, path: str = "/data.bin", body: bytes = BODY, pinned: bool = True, **changes: Any) -> Source:
        """Serve `body` at `path` and return a source with that one file."""
        self.bodies[path] = body
        sha256 = hashlib.sha256(body).hexdigest() if pinned else None
        return make_source([File(path.lstrip("/"), f"{self.address}{path}", sha256)], **changes)


def make_source(files: Sequence[File], **changes: Any) -> Source:
    """Return a source with these files, which have one address; `changes` replace the other attributes."""
    options = {"name": "texts", "title": "Texts", "licence": "CC0", "citation": "Nobody"}
    bases = {file.url.removesuffix(f"/{file.path}") for file in files if file.url}
    (url,) = bases or {"http://host"}
    origin = {} if "manual" in changes else {"url": url}
    return Source(**options | origin | {"files": {file.path: file.sha256 or "" for file in files}} | changes)


@contextmanager
def running_server() -> Iterator[Server]:
    """Run a server on a free port of this machine."""
    server = Server()
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    server.address = f"http://127.0.0.1:{http.server_port}"
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.end_of_stall.set()
        http.shutdown()
        http.server_close()


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = server.bodies.get(self.path)
            fault = server.faults.pop(0) if server.faults else Fault()
            status = fault.status or (404 if body is None else 200)
            start = self._start(body) if status == 200 and server.ranges else 0
            status = 206 if start else status
            if status == 206 and start >= len(body):
                status = 416
            server.requests.append((self.path, self.headers["Range"], status))
            self._respond(status, body[start:] if status < 300 else b"", start, fault)

        def _start(self, body: bytes) -> int:
            requested = self.headers["Range"]
            unchanged = self.headers["If-Range"] == _etag(body)
            return int(requested.removeprefix("bytes=").rstrip("-")) if requested and unchanged else 0

        def _respond(self, status: int, body: bytes, start: int, fault: Fault) -> None:
            self.send_response(status)
            if "gzip" in self.headers["Accept-Encoding"]:
                self.send_header("Content-Encoding", "gzip")
                body = gzip.compress(body)
            if fault.length is not None:
                self.send_header("Content-Length", str(len(body) + fault.length))
            whole = server.bodies.get(self.path, b"")
            if server.ranges and status < 300:
                for name, value in (server.validators or {"ETag": fault.etag or _etag(whole)}).items():
                    self.send_header(name, value)
            if status == 206:
                content_range = f"bytes {start}-{len(whole) - 1}/{len(whole)}"
                self.send_header("Content-Range", fault.content_range or content_range)
            if fault.location is not None:
                self.send_header("Location", fault.location)
            if fault.length != 0:
                self.send_header("Connection", "close")  # or the client may reuse the connection while it is closed
            self.end_headers()
            stop = fault.cut if fault.cut is not None else fault.stall
            self.wfile.write(body[:stop])
            if fault.stall is not None:
                server.end_of_stall.wait(30)
            self.close_connection = stop is not None or fault.length != 0

        def log_message(self, *args: object) -> None:
            pass

    return Handler


def _etag(body: bytes) -> str:
    return f'"{hashlib.md5(body).hexdigest()}"'


def source_error(call: Callable[..., object], *args: Any, **options: Any) -> str:
    """Return the message of the SourceError that `call` raises; it must be one line."""
    with pytest.raises(SourceError) as error:
        call(*args, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def cached_files(cache: Path) -> list[str]:
    """Return FOLDER/SUFFIX of each file in a cache except the empty lock files, sorted."""
    files = [path for path in cache.rglob("*") if path.is_file() and not _is_empty_lock(path)]
    return sorted(f"{path.parent.name}/{path.suffix}" for path in files)


def _is_empty_lock(path: Path) -> bool:
    return path.parent.name == "locks" and path.suffix == ".lock" and path.stat().st_size == 0
