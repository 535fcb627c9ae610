"""Download a file over HTTP: retry after temporary errors, and resume from the bytes received so far.

`PART` contains the first bytes of a file, and `PART` with the suffix `.etag` contains the validator of its version: the
ETag or modification date that the server sent, or nothing if neither can be used. The next request asks for the missing
bytes with `Range`, and with `If-Range` for the whole file in case that it has changed (RFC 9110, sections 13.1.5 and
14.2). Without a validator the next request asks for the whole file.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import httpx

from paraphrastic.base.errors import SourceError
from paraphrastic.sources.source import File

OnDownload = Callable[[File, int, int | None], None]
"""Called with a file, the bytes of it received so far, and its length in bytes or None if the length is unknown."""

_RETRIED = {408, 429}  # status codes that may be temporary, besides 500 and above


class StoppedError(Exception):
    """The download was stopped; it can be resumed."""


class _TemporaryError(Exception):
    """The server responded without the requested bytes; a retry may succeed."""


@dataclass(frozen=True)
class Downloader:
    """Downloads files; several threads can share it."""

    client: httpx.Client  # open; it asks for content without compression
    pauses: Sequence[float]  # seconds to wait before each retry
    on_progress: OnDownload  # called after each chunk
    stopped: Event = field(default_factory=Event)  # set to stop all downloads

    def download(self, file: File, part: Path) -> None:
        """Complete `part`, or write it anew if the server cannot resume.

        Raises:
            SourceError: all attempts failed; `part` keeps the bytes received so far.
            StoppedError: `stopped` was set.
            OSError: `part` cannot be written.
        """
        for pause in (*self.pauses, None):
            try:
                self._attempt(file, part)
                return
            except httpx.InvalidURL as error:
                raise SourceError(f"{file.url}: leads to an address that is none ({error}); use a mirror") from error
            except (httpx.RequestError, _TemporaryError) as error:
                if pause is None:
                    raise SourceError(self._failure(file, part, error)) from error
                self.stopped.wait(pause)

    def _attempt(self, file: File, part: Path) -> None:
        self._check_stopped()
        with self.client.stream("GET", file.url, headers=_range_headers(part)) as response:
            start, total = _extent(response, part)
            with part.open("ab" if start else "wb") as out:
                part.with_suffix(".etag").write_text(_validator(response.headers), encoding="utf-8")
                for chunk in response.iter_raw():
                    self._check_stopped()
                    out.write(chunk)
                    out.flush()  # a killed process then loses nothing that it received
                    self.on_progress(file, out.tell(), total)
        if total not in (None, _size(part)):
            raise _TemporaryError(f"the response ended after {_size(part)} of {total} bytes")

    def _check_stopped(self) -> None:
        if self.stopped.is_set():
            raise StoppedError

    def _failure(self, file: File, part: Path, error: Exception) -> str:
        """Return the message for the error of the last attempt."""
        reason = str(error) or type(error).__name__
        position = f" to resume from byte {_size(part)}" if _range_headers(part) else ""
        resume = f"run the same command again{position}"
        match error:
            case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.ProxyError():
                remedy = "check the network, or set PARAPHRASTIC_MIRROR to a folder with files at HOST/PATH"
                return f"cannot reach {urlsplit(file.url).netloc} ({reason}) for {file.url}; {remedy}"
            case httpx.TimeoutException():
                return f"{file.url}: stalled: no data received for {self.client.timeout.read:g} s; {resume}"
            case _TemporaryError():
                return f"{file.url}: {reason}; run the same command again later, or put the file into a mirror"
            case _:
                return f"{file.url}: the connection failed: {reason}; {resume}"


def _range_headers(part: Path) -> dict[str, str]:
    """Return the headers that request the bytes missing from `part`; empty if it cannot be resumed."""
    validator = _stored_validator(part)
    return {"Range": f"bytes={_size(part)}-", "If-Range": validator} if validator and _size(part) else {}


def _stored_validator(part: Path) -> str:
    """Return the validator of what is in `part`; empty if there is none, or it is damaged."""
    etag = part.with_suffix(".etag")
    stored = etag.read_bytes().decode("ascii", "replace") if etag.is_file() else ""
    return stored if stored.isascii() and stored.isprintable() else ""


def _validator(headers: httpx.Headers) -> str:
    """Return the header that identifies this version of the file, or an empty string.

    A weak ETag does not guarantee equal bytes and is therefore not used. `If-Range` allows a date only if the server
    sent no ETag (RFC 9110, section 13.1.5). A request cannot contain a value outside of ASCII.
    """
    etag: str = headers.get("ETag", "")
    modified: str = headers.get("Last-Modified", "")
    validator = etag if etag.startswith('"') else "" if etag else modified
    return validator if validator.isascii() else ""


def _extent(response: httpx.Response, part: Path) -> tuple[int, int | None]:
    """Return the position in the file at which a response starts, and the length of the file if known."""
    status = f"the server answers {response.status_code} {response.reason_phrase}"
    if response.status_code == 200:
        length = response.headers.get("Content-Length")
        return 0, int(length) if length else None
    if response.status_code == 206:
        extent = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
        is_same = _validator(response.headers) in ("", _stored_validator(part))  # some servers ignore `If-Range`
        if extent and int(extent[1]) == _size(part) and is_same:
            return int(extent[1]), int(extent[2])
    if response.status_code in (206, 416):
        part.unlink(missing_ok=True)
        raise _TemporaryError(f"{status}, without the requested bytes")
    if response.status_code >= 500 or response.status_code in _RETRIED:
        raise _TemporaryError(status)
    raise SourceError(f"{response.url}: {status}; put the file into a mirror (PARAPHRASTIC_MIRROR) if you have it")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
