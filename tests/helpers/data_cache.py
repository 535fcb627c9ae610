"""The content of a download cache."""

from pathlib import Path


def cached_files(cache: Path) -> list[str]:
    """Return FOLDER/SUFFIX of each file in a cache except the empty lock files, sorted."""
    files = [path for path in cache.rglob("*") if path.is_file() and not _is_empty_lock(path)]
    return sorted(f"{path.parent.name}/{path.suffix}" for path in files)


def _is_empty_lock(path: Path) -> bool:
    return path.parent.name == "locks" and path.suffix == ".lock" and path.stat().st_size == 0
