"""Where the files of sources lie once they are fetched: in the cache, or where a person or a mirror has them."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paraphrastic.errors import SourceError
from paraphrastic.sources.catalogue import File, Source
from paraphrastic.tables import file_hash, replacing


@dataclass(frozen=True)
class Held:
    """A file of a source that is at hand.

    Attributes:
        path: where it lies.
        sha256: what its content should have; None accepts any content.
    """

    path: Path
    sha256: str | None

    def is_sound(self) -> bool:
        """Whether its content is the right one; reads all of it."""
        return self.sha256 is None or file_hash(self.path) == self.sha256


@dataclass(frozen=True)
class Places:
    """The folders that hold files of sources.

    Attributes:
        cache: whole files by their sha256 (`files/`), the sha256 of what an unpinned address held (`urls/`), and the
            names of files that were asked for (`sources/`).
        mirror: files at HOST/PATH; None for no mirror.
        brought: the files of manual sources, as SOURCE/PATH.
    """

    cache: Path
    mirror: Path | None
    brought: Path

    def held(self, source: Source, file: File) -> Held | None:
        """A file where `fetch` asks neither its address nor the mirror for a pinned one; None if there is none."""
        if source.manual:
            path = self.brought / source.name / file.path
            return Held(path, file.sha256) if path.is_file() else None
        mirrored = in_mirror(file, self.mirror)
        return Held(mirrored, None) if mirrored and file.sha256 is None else in_cache(file, self.cache)

    def named(self, source: Source) -> list[Path]:
        """Where all files of `source` lie, under their own names.

        Raises:
            SourceError: one is not there, or the source is generated and has none.
        """
        if not source.files:
            raise SourceError(f"{source.name}: has no files; the pipeline generates it")
        return [self._named(source, file) for file in source.files]

    def _named(self, source: Source, file: File) -> Path:
        held = self.held(source, file)
        if held is None:
            remedy = missing(source, self.brought) or f"run `paraphrastic data fetch {source.name}`"
            raise SourceError(f"{source.name}: {file.path} is not there; {remedy}")
        if not held.path.is_relative_to(self.cache / "files"):
            return held.path
        link = self.cache / "sources" / source.name / file.path
        if link.resolve() != held.path.resolve():
            with replacing(link) as part:
                part.symlink_to(held.path.absolute())
        return link


def in_cache(file: File, cache: Path) -> Held | None:
    """What the cache has for a file with an address."""
    note = cache / "urls" / key(file)
    digest = file.sha256 or (note.read_text() if note.is_file() else "")
    path = cache / "files" / digest
    return Held(path, digest) if path.is_file() else None


def in_mirror(file: File, mirror: Path | None) -> Path | None:
    """What the mirror has for a file with an address."""
    url = urlsplit(file.url)
    path = mirror / url.netloc / unquote(url.path).lstrip("/") if mirror else None
    return path if path and path.is_file() else None


def key(file: File) -> str:
    """The name of an address in the cache."""
    return hashlib.sha256(file.url.encode()).hexdigest()


def missing(source: Source, brought: Path) -> str:
    """Of a manual source, what a person is to put where; "" of any other."""
    if not source.manual:
        return ""
    places = ", ".join(str(brought / source.name / file.path) for file in source.files)
    return f"{source.manual}. Put it at {places}"
