"""Where the files of sources lie once they are fetched: in the cache, or where a person or a mirror has them."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paraphrastic.atomic import atomic_write, sha256_of
from paraphrastic.errors import SourceError
from paraphrastic.sources.catalogue import File, Source


@dataclass(frozen=True)
class CachedFile:
    """A file of a source that is at hand.

    Attributes:
        path: where it lies.
        sha256: what its content should have; None accepts any content.
    """

    path: Path
    sha256: str | None

    def is_intact(self) -> bool:
        """Whether its content is the right one; reads all of it."""
        return self.sha256 is None or sha256_of(self.path) == self.sha256


@dataclass(frozen=True)
class DataLocations:
    """The folders that hold files of sources.

    Attributes:
        cache: whole files by their sha256 (`files/`), the sha256 of what an unpinned address held (`urls/`), and the
            names of files that were asked for (`sources/`).
        mirror: files at HOST/PATH; None for no mirror.
        manual: the files of manual sources, as SOURCE/PATH.
    """

    cache: Path
    mirror: Path | None
    manual: Path

    @classmethod
    def from_environment(cls) -> "DataLocations":
        """The folders that PARAPHRASTIC_CACHE and PARAPHRASTIC_MIRROR name.

        Raises:
            SourceError: there is no such mirror.
        """
        mirror = os.environ.get("PARAPHRASTIC_MIRROR")
        return cls(cache_folder(), mirror_folder(mirror) if mirror else None, manual_folder())

    def find(self, source: Source, file: File) -> CachedFile | None:
        """A file where `fetch` asks neither its address nor the mirror for a pinned one; None if there is none."""
        if source.manual:
            path = self.manual / source.name / file.path
            return CachedFile(path, file.sha256) if path.is_file() else None
        mirrored = in_mirror(file, self.mirror)
        return CachedFile(mirrored, None) if mirrored and file.sha256 is None else in_cache(file, self.cache)

    def paths(self, source: Source) -> list[Path]:
        """Where all files of `source` lie, under their own names.

        Raises:
            SourceError: one is not there, or the source is generated and has none.
        """
        if not source.files:
            raise SourceError(f"{source.name}: has no files; the pipeline generates it")
        return [self._path(source, file) for file in source.files]

    def _path(self, source: Source, file: File) -> Path:
        held = self.find(source, file)
        if held is None:
            remedy = how_to_provide(source, self.manual) or f"run `paraphrastic data fetch {source.name}`"
            raise SourceError(f"{source.name}: {file.path} is not there; {remedy}")
        if not held.path.is_relative_to(self.cache / "files"):
            return held.path
        link = self.cache / "sources" / source.name / file.path
        if link.resolve() != held.path.resolve():
            with atomic_write(link) as part:
                part.symlink_to(held.path.absolute())
        return link


def in_cache(file: File, cache: Path) -> CachedFile | None:
    """What the cache has for a file with an address."""
    note = cache / "urls" / key(file)
    digest = file.sha256 or (note.read_text() if note.is_file() else "")
    path = cache / "files" / digest
    return CachedFile(path, digest) if path.is_file() else None


def in_mirror(file: File, mirror: Path | None) -> Path | None:
    """What the mirror has for a file with an address."""
    url = urlsplit(file.url)
    path = mirror / url.netloc / unquote(url.path).lstrip("/") if mirror else None
    return path if path and path.is_file() else None


def key(file: File) -> str:
    """The name of an address in the cache."""
    return hashlib.sha256(file.url.encode()).hexdigest()


def how_to_provide(source: Source, manual: Path) -> str:
    """Of a manual source, what a person is to put where; "" of any other."""
    if not source.manual:
        return ""
    places = ", ".join(str(manual / source.name / file.path) for file in source.files)
    return f"{source.manual}. Put it at {places}"


def cache_folder() -> Path:
    """The cache that all experiments share: PARAPHRASTIC_CACHE, or a folder where XDG wants caches."""
    own = os.environ.get("PARAPHRASTIC_CACHE")
    shared = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "paraphrastic"
    return (Path(own) if own else shared).expanduser()


def manual_folder() -> Path:
    """Where a person puts what needs a licence: outside of any repository, so that every experiment finds it."""
    return cache_folder() / "licensed"


def mirror_folder(mirror: str) -> Path:
    """The folder that a path or file:// URL names.

    A relative path may start at the working directory or at any folder above it: DVC runs queued experiments
    deep inside the repository.

    Raises:
        SourceError: there is no such folder.
    """
    path = Path(unquote(mirror.removeprefix("file://")) if mirror.startswith("file://") else mirror).expanduser()
    for base in (Path.cwd(), *Path.cwd().parents):
        if (base / path).is_dir():
            return (base / path).resolve()
    raise SourceError(f"PARAPHRASTIC_MIRROR: no folder '{mirror}'; name one that holds HOST/PATH, or unset it")
