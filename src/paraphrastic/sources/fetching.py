"""Fetch the files of sources: from the mirror if it contains them, else from their addresses, through a shared cache.

All experiments and clones share the cache. `DataLocations` lists its folders.
"""

import asyncio
import errno
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filelock import AsyncFileLock

from paraphrastic.base.errors import SourceError
from paraphrastic.base.files import atomic_write, sha256_of
from paraphrastic.sources.http_download import Downloader, OnDownload, http_client
from paraphrastic.sources.locations import in_cache, in_mirror, mirror_folder, url_key
from paraphrastic.sources.source import File, Source

_CONCURRENT_FILES = 4


def fetch(
    sources: Sequence[Source],
    folder: Path | None,
    *,
    mirror: str | None,
    cache: Path,
    manual: Path | None = None,
    on_progress: OnDownload = lambda file, size, total: None,
    on_licence: Callable[[Source], None] = lambda source: None,
    on_failure: Callable[[Source, SourceError], None] | None = None,
    timeout: float = 30.0,
    pauses: Sequence[float] = (1.0, 2.0, 4.0),
) -> tuple[Source, ...]:
    """Copy every file of `sources` to folder/SOURCE/PATH, or only fetch them.

    Args:
        sources: the sources to fetch.
        folder: destination; files that exist there are replaced. None copies no files; `DataLocations.find` returns
            the local copies.
        mirror: a folder or file:// URL with files at HOST/PATH, which takes precedence over addresses.
        cache: folder of the cache; a file that it contains is not downloaded again.
        manual: folder with the files of manual sources at SOURCE/PATH.
        on_progress: called with the number of bytes while a file is downloaded, and once when the file is complete.
        on_licence: called with each source before its first file is copied from the mirror or downloaded.
        on_failure: called with each optional source of which a file cannot be fetched, in place of the error; None
            treats optional sources as all others.
        timeout: seconds without data after which a connection counts as stalled.
        pauses: seconds to wait before each retry after a temporary error.

    Returns:
        The manual sources of which a file is missing, of which no file is copied, and the optional sources that failed.

    Raises:
        SourceError: a file cannot be downloaded or does not have the pinned hash and its source is not optional, or the
            mirror does not exist. The cache keeps partial downloads. The next call resumes them if the server sent a
            validator, see `http_download`.
    """
    distinct = {source.name: source for source in sources}.values()
    absent = tuple(source for source in distinct if source.manual and not _is_provided(source, manual))
    files = [(source, file) for source in distinct if source not in absent for file in source.files]
    if not files:
        return absent
    resolved = mirror_folder(mirror) if mirror else None
    fetcher = _Fetcher(folder, resolved, cache, manual, on_progress, on_licence, on_failure)
    asyncio.run(fetcher.fetch(files, timeout, pauses))
    return (*absent, *(source for source in distinct if source.name in fetcher.failed))


def prune(sources: Sequence[Source], folder: Path) -> None:
    """Remove all files in `folder` except those of `sources`, and all folders that are then empty."""
    kept = {folder / source.name / file.path for source in sources for file in source.files}
    for path in sorted(folder.rglob("*"), reverse=True):  # the content of a folder precedes the folder
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in kept:
            path.unlink()


def _is_provided(source: Source, manual: Path | None) -> bool:
    return manual is not None and all((manual / source.name / file.path).is_file() for file in source.files)


@dataclass
class _Fetcher:
    """One call of `fetch`, which documents the attributes.

    `mirror` is the resolved folder. `announced` contains the names of the sources given to `on_licence`, `failed`
    those given to `on_failure`.
    """

    folder: Path | None
    mirror: Path | None
    cache: Path
    manual: Path | None
    on_progress: OnDownload
    on_licence: Callable[[Source], None]
    on_failure: Callable[[Source, SourceError], None] | None
    failed: set[str] = field(default_factory=set)
    announced: set[str] = field(default_factory=set)

    async def fetch(self, files: Sequence[tuple[Source, File]], timeout: float, pauses: Sequence[float]) -> None:
        """Fetch files concurrently; the first error cancels the others."""
        limit = asyncio.Semaphore(_CONCURRENT_FILES)
        try:
            async with http_client(timeout) as client, asyncio.TaskGroup() as group:
                downloader = Downloader(client, pauses, self.on_progress)
                for source, file in files:
                    group.create_task(self._try_file(source, file, downloader, limit))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _try_file(self, source: Source, file: File, downloader: Downloader, limit: asyncio.Semaphore) -> None:
        try:
            await self._fetch_file(source, file, downloader, limit)
        except SourceError as error:
            if not source.optional or self.on_failure is None:
                raise
            if source.name not in self.failed:
                self.failed.add(source.name)
                self.on_failure(source, error)

    async def _fetch_file(self, source: Source, file: File, downloader: Downloader, limit: asyncio.Semaphore) -> None:
        async with limit:
            with _os_errors_as_source_errors(self.cache):
                origin = await self._origin(source, file, downloader)
            if self.folder is not None:
                _copy(origin, self.folder / source.name / file.path)
            size = origin.stat().st_size
            self.on_progress(file, size, size)

    async def _origin(self, source: Source, file: File, downloader: Downloader) -> Path:
        """Return the path of a complete copy of a file; a pinned file has the pinned hash."""
        if source.manual and self.manual is not None:
            return await _provided(self.manual / source.name / file.path, file)
        mirrored = in_mirror(file, self.mirror)
        if mirrored and file.sha256 is None:  # not copied to the cache, because the file of the mirror may change
            self._announce(source)
            return mirrored
        part = self.cache / "parts" / f"{url_key(file)}.part"
        lock = self.cache / "locks" / f"{url_key(file)}.lock"
        for path in (part, lock):
            path.parent.mkdir(parents=True, exist_ok=True)
        # `run_in_executor=False`: an attempt does not block, and a cancelled task leaves no thread that takes the lock
        async with AsyncFileLock(lock, run_in_executor=False):
            return await self._cached(file) or await self._add_to_cache(source, file, part, mirrored, downloader)

    def _announce(self, source: Source) -> None:
        if source.name not in self.announced:
            self.announced.add(source.name)
            self.on_licence(source)

    async def _cached(self, file: File) -> Path | None:
        """Return the path of a file in the cache, or None; remove the file if it is damaged."""
        copy = in_cache(file, self.cache)
        if copy is None:
            return None
        if await asyncio.to_thread(copy.is_intact):
            return copy.path
        copy.path.unlink()
        return None

    async def _add_to_cache(
        self, source: Source, file: File, part: Path, mirrored: Path | None, downloader: Downloader
    ) -> Path:
        self._announce(source)
        if mirrored:
            shutil.copyfile(mirrored, part)
        else:
            await downloader.download(file, part)
        sha256 = await asyncio.to_thread(sha256_of, part)
        part.with_suffix(".etag").unlink(missing_ok=True)
        if file.sha256 and sha256 != file.sha256:
            part.unlink()
            raise SourceError(_wrong_hash(file, mirrored, sha256))
        return self._store(file, part, sha256)

    def _store(self, file: File, part: Path, sha256: str) -> Path:
        """Move a complete download to its place in the cache and return its new path."""
        if not file.sha256:
            with atomic_write(self.cache / "urls" / url_key(file)) as hash_file:
                hash_file.write_text(sha256)
        path = self.cache / "files" / sha256
        path.parent.mkdir(exist_ok=True)
        return part.replace(path)


async def _provided(path: Path, file: File) -> Path:
    """Return the path of a file of a manual source.

    Raises:
        SourceError: the file does not have the pinned hash.
    """
    if file.sha256:
        sha256 = await asyncio.to_thread(sha256_of, path)
        if sha256 != file.sha256:
            raise SourceError(_wrong_hash(file, path, sha256))
    return path


def _wrong_hash(file: File, local: Path | None, sha256: str) -> str:
    remedy = "replace it" if local else "run the same command again, or put the right file into a mirror"
    return f"{local or file.url}: not the pinned version: sha256 {sha256}, expected {file.sha256}; {remedy}"


@contextmanager
def _os_errors_as_source_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file system into one line that names `path` if the system names no file.

    Raises:
        SourceError: the block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SourceError(f"{path}: no space left; free some and run the same command again") from error
        raise SourceError(f"{error.filename or path}: {error.strerror or error}") from error


def _copy(origin: Path, target: Path) -> None:
    """Copy a file; a link would let a user who edits the file damage the cache."""
    with _os_errors_as_source_errors(target), atomic_write(target) as part:
        shutil.copyfile(origin, part)
