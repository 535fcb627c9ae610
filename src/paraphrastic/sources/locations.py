"""The folders that contain the files of sources: the cache, the mirror, and the folder of manual files."""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from platformdirs import user_cache_path

from paraphrastic.base.errors import SourceError
from paraphrastic.base.files import atomic_write, sha256_of
from paraphrastic.sources.source import File, Source


@dataclass(frozen=True)
class LocalFile:
    """A local copy of a file of a source."""

    path: Path  # path of the copy
    sha256: str | None  # hash that its content should have; None accepts any content

    def is_intact(self) -> bool:
        """Return whether the content has the expected hash; reads the whole file."""
        return self.sha256 is None or sha256_of(self.path) == self.sha256


@dataclass(frozen=True)
class DataLocations:
    """The folders that contain the files of sources."""

    # contains complete files named by their SHA-256 (`files/`), for each unpinned address the SHA-256 of its content
    # (`urls/`), partial downloads (`parts/`), one empty lock file per address (`locks/`), links with the original file
    # names (`sources/`), and the files of manual sources (`licensed/`)
    cache: Path
    mirror: Path | None = None  # contains files at HOST/PATH; None if there is no mirror

    @classmethod
    def from_environment(cls) -> "DataLocations":
        """Return the folders that PARAPHRASTIC_CACHE and PARAPHRASTIC_MIRROR name.

        Raises:
            SourceError: the folder of the mirror does not exist, or `~` in a variable names no home folder.
        """
        mirror = os.environ.get("PARAPHRASTIC_MIRROR")
        return cls(cache_folder(), mirror_folder(mirror) if mirror else None)

    @property
    def manual(self) -> Path:
        """The files of manual sources at SOURCE/PATH; outside of any repository, so that all experiments share them."""
        return self.cache / "licensed"

    def has(self, source: Source) -> bool:
        """Return whether all files of a source are local."""
        return all(self.find(source, file) for file in source.files)

    def find(self, source: Source, file: File) -> LocalFile | None:
        """Return the local copy of a file, or None if it was not fetched yet.

        An unpinned file of the mirror counts as local, because `fetch` does not copy it to the cache.
        """
        if source.manual:
            path = self.manual / source.name / file.path
            return LocalFile(path, file.sha256) if path.is_file() else None
        mirrored = self.mirrored(file)
        return LocalFile(mirrored, None) if mirrored and file.sha256 is None else self.cached(file)

    def cached(self, file: File) -> LocalFile | None:
        """Return the copy of a file in the cache, or None."""
        hash_file = self.cache / "urls" / url_key(file)
        sha256 = file.sha256 or (hash_file.read_bytes().decode("ascii", "replace") if hash_file.is_file() else "")
        path = self.cache / "files" / sha256
        return LocalFile(path, sha256) if re.fullmatch("[0-9a-f]{64}", sha256) and path.is_file() else None

    def mirrored(self, file: File) -> Path | None:
        """Return the path of a file in the mirror, or None."""
        url = urlsplit(file.url)
        path = self.mirror / url.netloc / unquote(url.path).lstrip("/") if self.mirror else None
        return path if path and path.is_file() else None

    def paths(self, source: Source) -> list[Path]:
        """Return the paths of all files of a source, with their original file names.

        Raises:
            SourceError: a file was not fetched yet, or the package has the source, which has no files.
        """
        if not source.files:
            raise SourceError(f"{source.name}: has no files; its tables are in the package")
        return [self._path(source, file) for file in source.files]

    def _path(self, source: Source, file: File) -> Path:
        copy = self.find(source, file)
        if copy is None:
            remedy = self.how_to_provide(source) or f"run `paraphrastic data fetch {source.name}`"
            raise SourceError(f"{source.name}: {file.path} is not there; {remedy}")
        if not copy.path.is_relative_to(self.cache / "files"):
            return copy.path
        link = self.cache / "sources" / source.name / file.path
        if link.resolve() != copy.path.resolve():
            with atomic_write(link) as part:
                part.unlink(missing_ok=True)
                part.symlink_to(copy.path.absolute())
        return link

    def how_to_provide(self, source: Source) -> str:
        """Return instructions for the files of a manual source; an empty string for any other source."""
        paths = ", ".join(str(self.manual / source.name / file.path) for file in source.files)
        return f"{source.manual}. Put it at {paths}" if source.manual else ""


def url_key(file: File) -> str:
    """Return the file name that the cache uses for the address of a file."""
    return hashlib.sha256(file.url.encode()).hexdigest()


def cache_folder() -> Path:
    """Return the cache that all experiments share: PARAPHRASTIC_CACHE, or the cache folder of the operating system.

    Raises:
        SourceError: `~` in PARAPHRASTIC_CACHE names no home folder.
    """
    folder = os.environ.get("PARAPHRASTIC_CACHE")
    return _expand_home("PARAPHRASTIC_CACHE", folder) if folder else user_cache_path("paraphrastic", appauthor=False)


def mirror_folder(mirror: str) -> Path:
    """Return the absolute path of a mirror.

    DVC runs queued experiments in a subfolder of the repository. A relative path is therefore resolved against the
    working directory and then against each folder above it.

    Args:
        mirror: a path or file:// URL.

    Raises:
        SourceError: the folder does not exist, or `~` names no home folder.
    """
    folder = unquote(mirror.removeprefix("file://")) if mirror.startswith("file://") else mirror
    path = _expand_home("PARAPHRASTIC_MIRROR", folder)
    for base in (Path.cwd(), *Path.cwd().parents):
        if (base / path).is_dir():
            return (base / path).resolve()
    raise SourceError(f"PARAPHRASTIC_MIRROR: no folder '{mirror}'; name one with files at HOST/PATH, or unset it")


def _expand_home(variable: str, folder: str) -> Path:
    """Return the path of a folder, with `~` and `~USER` replaced by a home folder."""
    try:
        return Path(folder).expanduser()
    except RuntimeError as error:
        raise SourceError(f"{variable}: no home folder for '{folder}'; name an absolute path") from error
