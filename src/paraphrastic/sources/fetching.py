"""Fetch the files of sources: from the mirror if it contains them, else from their addresses, through a shared cache.

All experiments and clones share the cache. `DataLocations` lists its folders.
"""

import errno
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread

import httpx
from filelock import FileLock
from rich.progress import Progress

from paraphrastic.base.console import message, progress
from paraphrastic.base.errors import SourceError
from paraphrastic.base.files import atomic_write, sha256_of
from paraphrastic.sources.http_download import Downloader, OnDownload
from paraphrastic.sources.locations import DataLocations, url_key
from paraphrastic.sources.source import File, Source

_THREADS = 4
_STARTS = {".gz": b"\x1f\x8b", ".tgz": b"\x1f\x8b", ".bz2": b"BZh", ".zip": b"PK"}  # first bytes by ending

OnFailure = Callable[[Source, SourceError], None]
_Job = tuple[Source, File]


def download(sources: Sequence[Source], folder: Path, again: str) -> list[Source]:
    """Copy the files of sources to folder/SOURCE/PATH, from PARAPHRASTIC_MIRROR first, and name those left out.

    Args:
        sources: the sources.
        folder: where to.
        again: what to run after a person has provided the files of a source, or if an optional one has failed.

    Returns:
        The sources whose files are there.

    Raises:
        SourceError: a file cannot be fetched, and its source is not optional.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not any(source.files for source in sources):
        return list(sources)
    locations = DataLocations.from_environment()

    def on_failure(source: Source, error: SourceError) -> None:
        message(f"{source.name} is left out: {error}; run {again} to have it")

    absent = fetch_visibly(sources, folder, locations, on_failure)
    for source in (source for source in absent if source.manual):
        message(f"{source.name} is left out: {locations.how_to_provide(source)} and run {again}")
    return [source for source in sources if source not in absent]


def fetch_visibly(
    sources: Sequence[Source], folder: Path | None, locations: DataLocations, on_failure: OnFailure | None = None
) -> tuple[Source, ...]:
    """Call `fetch`, and show its progress and the licences on the terminal."""
    with progress() as bar:
        return fetch(
            sources,
            folder,
            locations,
            on_progress=progress_callback(bar, len({file for source in sources for file in source.files})),
            on_licence=lambda source: message(f"{source.name}: {source.title}. Licence: {source.licence}"),
            on_failure=on_failure,
        )


def progress_callback(bar: Progress, files: int) -> OnDownload:
    """Return a callback for `fetch` that shows the number of complete files, of `files`, and of received bytes."""
    task = bar.add_task("download", total=files)
    received: dict[File, int] = {}
    complete: set[File] = set()

    def on_progress(file: File, size: int, total: int | None) -> None:
        received[file] = size
        if size == total:
            complete.add(file)
        bar.update(task, completed=len(complete), description=f"download {sum(received.values()) / 1e6:.0f} MB")

    return on_progress


def fetch(
    sources: Sequence[Source],
    folder: Path | None,
    locations: DataLocations,
    *,
    on_progress: OnDownload = lambda file, size, total: None,
    on_licence: Callable[[Source], None] = lambda source: None,
    on_failure: OnFailure | None = None,
    timeout: float = 30.0,
    pauses: Sequence[float] = (1.0, 2.0, 4.0),
) -> tuple[Source, ...]:
    """Copy every file of `sources` to folder/SOURCE/PATH, or only fetch them.

    Args:
        sources: the sources to fetch.
        folder: destination; files that exist there are replaced. None copies no files; `DataLocations.find` returns
            the local copies.
        locations: the mirror, which takes precedence over addresses, and the cache; a file that it contains is not
            downloaded again.
        on_progress: called with the number of bytes while a file is downloaded, and once when the file is complete;
            by one thread at a time, as `on_licence`.
        on_licence: called with each source before its first file is copied from the mirror or downloaded.
        on_failure: called with each optional source of which a file cannot be fetched, in place of the error; None
            treats optional sources as all others.
        timeout: seconds without data after which a connection counts as stalled.
        pauses: seconds to wait before each retry after a temporary error.

    Returns:
        The manual sources of which a file is missing, of which no file is copied, and the optional sources that failed.

    Raises:
        SourceError: a file cannot be downloaded or does not have the pinned hash and its source is not optional. The
            cache keeps partial downloads. The next call resumes them if the server sent a validator, see
            `http_download`.
    """
    distinct = {source.name: source for source in sources}.values()
    absent = tuple(source for source in distinct if source.manual and not locations.has(source))
    jobs = [(source, file) for source in distinct if source not in absent for file in source.files]
    if not jobs:
        return absent
    failed, lock = dict[str, Source](), Lock()

    def report(file: File, size: int, total: int | None) -> None:
        with lock:
            on_progress(file, size, total)

    headers = {"Accept-Encoding": "identity"}  # ranges and length of a compressed response are not those of the file
    with httpx.Client(headers=headers, follow_redirects=True, timeout=timeout) as client:
        origins = _Origins(Downloader(client, pauses, report), locations, on_licence)
        with closing(_in_threads(origins, jobs)) as done:
            for (source, file), origin in done:
                try:
                    if isinstance(origin, Exception):
                        raise origin
                    if folder is not None:
                        _copy(origin, folder / source.name / file.path)
                    size = origin.stat().st_size
                    report(file, size, size)
                except SourceError as error:
                    if not source.optional or on_failure is None:
                        raise
                    if source.name not in failed:
                        failed[source.name] = source
                        on_failure(source, error)
    return (*absent, *failed.values())


def _copy(origin: Path, target: Path) -> None:
    """Copy a file; a link would let a user who edits it damage the cache."""
    with _os_errors_as_source_errors(target), atomic_write(target) as part:
        shutil.copyfile(origin, part)


def prune(sources: Sequence[Source], folder: Path) -> None:
    """Remove all files in `folder` except those of `sources`, and all folders that are then empty."""
    kept = {folder / source.name / file.path for source in sources for file in source.files}
    for path in sorted(folder.rglob("*"), reverse=True):  # the content of a folder precedes the folder
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in kept:
            path.unlink()


def _in_threads(origins: "_Origins", jobs: Sequence[_Job]) -> Generator[tuple[_Job, Path | Exception], None, None]:
    """Yield for each file its complete copy or the error, in the order in which threads are done with them.

    If the caller stops earlier, as after an error or Ctrl-C, downloads stop at their next chunk. The threads are
    daemons and not joined, because one that waits for a server or a lock of another process can wait for long.
    """
    waiting, done = iter(jobs), SimpleQueue[tuple[_Job, Path | Exception]]()
    lock, stopped = Lock(), origins.downloader.stopped

    def work() -> None:
        while not stopped.is_set():
            with lock:
                job = next(waiting, None)
            if job is None:
                return
            try:
                done.put((job, origins.find(*job)))
            except Exception as error:  # raised by the caller, in its thread
                done.put((job, error))

    for _ in range(min(_THREADS, len(jobs))):
        Thread(target=work, daemon=True).start()
    try:
        for _ in jobs:
            yield done.get()
    finally:
        stopped.set()


@dataclass
class _Origins:
    """Finds or fetches complete copies of files, for one call of `fetch`; several threads share it."""

    downloader: Downloader
    locations: DataLocations
    on_licence: Callable[[Source], None]
    _announced: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def find(self, source: Source, file: File) -> Path:
        """Return the path of a complete copy of a file; a pinned file has the pinned hash.

        Raises:
            SourceError: there is none.
        """
        cache = self.locations.cache
        with _os_errors_as_source_errors(cache):
            if source.manual:
                provided = self.locations.manual / source.name / file.path
                if file.sha256 and (sha256 := sha256_of(provided)) != file.sha256:
                    raise SourceError(_wrong_hash(file, provided, sha256))
                return provided
            mirrored = self.locations.mirrored(file)
            if mirrored and file.sha256 is None:  # not copied to the cache, because the file of the mirror may change
                self._announce(source)
                return mirrored
            if (copy := self.locations.cached(file)) and copy.is_intact():
                return copy.path  # also of a cache that is read-only
            part, lock = (cache / f"{name}s" / f"{url_key(file)}.{name}" for name in ("part", "lock"))
            for path in (part, lock):
                path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(lock):
                if copy := self.locations.cached(file):
                    if copy.is_intact():
                        return copy.path
                    copy.path.unlink()
                self._announce(source)
                return self._add_to_cache(file, part, mirrored)

    def _announce(self, source: Source) -> None:
        with self._lock:
            if source.name not in self._announced:
                self._announced.add(source.name)
                self.on_licence(source)

    def _add_to_cache(self, file: File, part: Path, mirrored: Path | None) -> Path:
        if mirrored:
            shutil.copyfile(mirrored, part)
        else:
            self.downloader.download(file, part)
        sha256 = sha256_of(part)
        part.with_suffix(".etag").unlink(missing_ok=True)
        if file.sha256 and sha256 != file.sha256:
            part.unlink()
            raise SourceError(_wrong_hash(file, mirrored, sha256))
        with part.open("rb") as stream:
            is_other = not stream.read(4).startswith(_STARTS.get(Path(file.path).suffix, b""))
        if is_other and not mirrored:  # such as the page of a network that asks for a password
            part.unlink()
            raise SourceError(f"{file.url}: the server sent another format; try later, or put the file into a mirror")
        if not file.sha256:
            with atomic_write(self.locations.cache / "urls" / url_key(file)) as hash_file:
                hash_file.write_text(sha256, encoding="utf-8")
        path = self.locations.cache / "files" / sha256
        path.parent.mkdir(exist_ok=True)
        return part.replace(path)


def _wrong_hash(file: File, local: Path | None, sha256: str) -> str:
    remedy = "replace it" if local else "run the same command again, or put the right file into a mirror"
    return f"{local or file.url}: not the pinned version: sha256 {sha256}, expected {file.sha256}; {remedy}"


@contextmanager
def _os_errors_as_source_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file system into one line that names `path` if the system names no file."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SourceError(f"{path}: no space left; free some and run the same command again") from error
        raise SourceError(f"{error.filename or path}: {error.strerror or error}") from error
