"""Bring the files of sources to a folder: from a mirror, or from their address through one cache.

The cache is shared by all experiments and clones. It holds whole files by their sha256 (`files/`), the sha256 of
what an unpinned address held (`urls/`), and beginnings of files that a later run goes on with (`parts/`).
"""

import asyncio
import errno
import fcntl
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import httpx

from paraphrastic.atomic import atomic_write, sha256_of
from paraphrastic.errors import SourceError
from paraphrastic.sources.catalogue import File, Source
from paraphrastic.sources.locations import in_cache, in_mirror, key, mirror_folder

Progress = Callable[[File, int, int | None], None]
"""Told of a file, the bytes of it that have arrived, and all its bytes or None where the server does not say."""

_AT_ONCE = 4
_LOCK_POLL = 0.1  # seconds
_RETRIED = {408, 429}  # besides 500 and above


def fetch(
    sources: Sequence[Source],
    folder: Path | None,
    *,
    mirror: str | None,
    cache: Path,
    manual: Path | None = None,
    on_progress: Progress = lambda file, done, total: None,
    on_licence: Callable[[Source], None] = lambda source: None,
    timeout: float = 30.0,
    pauses: Sequence[float] = (1.0, 2.0, 4.0),
) -> tuple[Source, ...]:
    """Bring every file of `sources` to folder/SOURCE/PATH, or to the cache only.

    Args:
        sources: what to bring.
        folder: where to; a file that is there already is replaced. None leaves files in the cache, and where else
            `DataLocations.held` finds them.
        mirror: a folder or file:// URL with files at HOST/PATH, which is looked into before any address.
        cache: a folder that outlives `folder`: what it holds is not manual again.
        manual: the folder where a person puts the files of `manual` sources, as SOURCE/PATH.
        on_progress: told of bytes as they arrive, and of each file once it is in its place.
        on_licence: told of a source before the first of its files is taken from the mirror or its address.
        timeout: seconds without a byte after which a connection counts as stalled.
        pauses: seconds to wait before each further try of what failed for no fault of the request.

    Returns:
        The manual sources of which a person has yet to bring a file; nothing is written for them.

    Raises:
        SourceError: a file cannot be had or is not the pinned one, or there is no such mirror. What has arrived
            of a file stays in the cache, and the next call goes on from there.
    """
    distinct = {source.name: source for source in sources}.values()
    absent = tuple(source for source in distinct if source.manual and not _is_manual(source, manual))
    wanted = [(source, file) for source in distinct if source not in absent for file in source.files]
    if wanted:
        where = mirror_folder(mirror) if mirror else None
        fetcher = _Fetcher(folder, where, cache, manual, on_progress, on_licence, timeout, pauses)
        asyncio.run(fetcher.fetch(wanted))
    return absent


def prune(sources: Sequence[Source], folder: Path) -> None:
    """Remove everything in `folder` that is no file of `sources`."""
    kept = {folder / source.name / file.path for source in sources for file in source.files}
    for path in sorted(folder.rglob("*"), reverse=True):  # what a folder holds comes before the folder
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in kept:
            path.unlink()


def _is_manual(source: Source, manual: Path | None) -> bool:
    return manual is not None and all((manual / source.name / file.path).is_file() for file in source.files)


class _PassingError(Exception):
    """The server answered, but not with what was asked for, which may pass."""


@dataclass
class _Fetcher:
    """One call of `fetch`; its arguments are described there."""

    folder: Path | None
    mirror: Path | None
    cache: Path
    manual: Path | None
    on_progress: Progress
    on_licence: Callable[[Source], None]
    timeout: float
    pauses: Sequence[float]
    announced: set[str] = field(default_factory=set)
    client: httpx.AsyncClient = field(init=False)

    async def fetch(self, wanted: Sequence[tuple[Source, File]]) -> None:
        limit = asyncio.Semaphore(_AT_ONCE)
        # `identity`: a compressed answer has another length than the file, and cannot be gone on with
        headers, options = {"Accept-Encoding": "identity"}, {"follow_redirects": True, "timeout": self.timeout}
        try:
            async with httpx.AsyncClient(headers=headers, **options) as self.client, asyncio.TaskGroup() as group:
                for source, file in wanted:
                    group.create_task(self._place(source, file, limit))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _place(self, source: Source, file: File, limit: asyncio.Semaphore) -> None:
        async with limit:
            with _one_line(self.cache):
                origin = await self._origin(source, file)
            if self.folder is not None:
                _copy(origin, self.folder / source.name / file.path)
            size = origin.stat().st_size
            self.on_progress(file, size, size)

    async def _origin(self, source: Source, file: File) -> Path:
        """A file that is whole and, if pinned, the right one."""
        if source.manual:
            return self.manual / source.name / file.path
        mirrored = in_mirror(file, self.mirror)
        if mirrored and file.sha256 is None:  # it may change, and a copy in the cache would not
            self._announce(source)
            return mirrored
        part = self.cache / "parts" / f"{key(file)}.part"
        async with _locked(part.with_suffix(".lock")):
            return await self._cached(file) or await self._bring(source, file, part, mirrored)

    def _announce(self, source: Source) -> None:
        if source.name not in self.announced:
            self.announced.add(source.name)
            self.on_licence(source)

    async def _cached(self, file: File) -> Path | None:
        held = in_cache(file, self.cache)
        if held is None:
            return None
        if await asyncio.to_thread(held.is_intact):
            return held.path
        held.path.unlink()
        return None

    async def _bring(self, source: Source, file: File, part: Path, mirrored: Path | None) -> Path:
        self._announce(source)
        if mirrored:
            shutil.copyfile(mirrored, part)
        else:
            await self._download(file, part)
        return self._keep(file, part, await _sha256(part), mirrored)

    def _keep(self, file: File, part: Path, digest: str, mirrored: Path | None) -> Path:
        part.with_suffix(".etag").unlink(missing_ok=True)
        if file.sha256 and digest != file.sha256:
            part.unlink()
            remedy = "replace it" if mirrored else "run the same command again, or put the right file into a mirror"
            raise SourceError(
                f"{mirrored or file.url}: is not the pinned file: sha256 {digest}, expected {file.sha256}; {remedy}"
            )
        if not file.sha256:
            with atomic_write(self.cache / "urls" / key(file)) as note:
                note.write_text(digest)
        held = self.cache / "files" / digest
        held.parent.mkdir(exist_ok=True)
        return part.replace(held)

    async def _download(self, file: File, part: Path) -> None:
        for pause in (*self.pauses, None):
            try:
                await self._attempt(file, part)
                return
            except (httpx.RequestError, _PassingError) as error:
                if pause is None:
                    raise SourceError(_failure(file, part, error, self.timeout)) from error
                await asyncio.sleep(pause)

    async def _attempt(self, file: File, part: Path) -> None:
        """Go on with `part` if the server still has the file that it is the beginning of, or start anew."""
        async with self.client.stream("GET", file.url, headers=_resuming(part)) as answer:
            start, total = _extent(answer, part)
            with part.open("ab" if start else "wb") as out:
                part.with_suffix(".etag").write_text(_validator(answer.headers))
                async for chunk in answer.aiter_raw():
                    out.write(chunk)
                    self.on_progress(file, out.tell(), total)
        if total not in (None, _size(part)):
            raise _PassingError(f"ended after {_size(part)} of {total} bytes")


def _resuming(part: Path) -> dict[str, str]:
    validator = _text(part.with_suffix(".etag"))
    return {"Range": f"bytes={_size(part)}-", "If-Range": validator} if validator and _size(part) else {}


def _validator(headers: httpx.Headers) -> str:
    """What tells this version of the file from others, byte by byte; a weak tag does not."""
    etag = headers.get("ETag", "")
    return etag if etag.startswith('"') else headers.get("Last-Modified", "")


def _extent(answer: httpx.Response, part: Path) -> tuple[int, int | None]:
    """Where the bytes of `answer` begin in the file, and the file's length; a part of no use to that is removed."""
    status = f"the server answers {answer.status_code} {answer.reason_phrase}"
    if answer.status_code == 200:
        length = answer.headers.get("Content-Length")
        return 0, int(length) if length else None
    if answer.status_code == 206:
        where = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
        if where and int(where[1]) == _size(part):
            return int(where[1]), int(where[2])
    if answer.status_code in (206, 416):
        part.unlink(missing_ok=True)
        raise _PassingError(f"{status}, and not with what is missing")
    if answer.status_code >= 500 or answer.status_code in _RETRIED:
        raise _PassingError(status)
    raise SourceError(f"{answer.url}: {status}; put the file into a mirror (PARAPHRASTIC_MIRROR) if you have it")


def _failure(file: File, part: Path, error: Exception, timeout: float) -> str:
    why = str(error) or type(error).__name__
    go_on = f"run the same command again to go on from byte {_size(part)}"
    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.ProxyError():
            remedy = "check the network, or set PARAPHRASTIC_MIRROR to a folder that holds HOST/PATH"
            return f"cannot reach {urlsplit(file.url).netloc} ({why}) for {file.url}; {remedy}"
        case httpx.TimeoutException():
            return f"{file.url}: stalled: nothing arrived for {timeout:g} s; {go_on}"
        case _PassingError():
            return f"{file.url}: {why}; run the same command again later, or put the file into a mirror"
        case _:
            return f"{file.url}: broke off: {why}; {go_on}"


@asynccontextmanager
async def _locked(path: Path) -> AsyncIterator[None]:
    """One process or task at a time; the others wait. The file is gone when nobody holds or awaits the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("w") as lock:
            if _is_mine(lock, path):
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return
        await asyncio.sleep(_LOCK_POLL)


def _is_mine(lock: IO[str], path: Path) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return path.stat().st_ino == os.fstat(lock.fileno()).st_ino
    except (BlockingIOError, FileNotFoundError):  # held, or released and removed since it was opened
        return False


@contextmanager
def _one_line(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SourceError(f"{place}: no space left; free some and run the same command again") from error
        raise SourceError(f"{error.filename or place}: {error.strerror or error}") from error


def _copy(origin: Path, target: Path) -> None:
    with _one_line(target), atomic_write(target) as part:
        shutil.copyfile(origin, part)  # no link: who edits the file must not damage the origin


async def _sha256(path: Path) -> str:
    return await asyncio.to_thread(sha256_of, path)


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
