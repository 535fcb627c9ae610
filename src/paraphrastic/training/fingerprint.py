"""Names of runs, by which a run finds its checkpoint and no other."""

from hashlib import sha256
from pathlib import Path

from paraphrastic.atomic import sha256_of

CODE = Path(__file__).parents[1]

_COMPILED = "__pycache__"  # left by Python and numba, derived from the code


def fingerprint(settings: object, *paths: Path) -> str:
    """Return a name for a run, derived from everything that determines it, and from the code of this package.

    Args:
        settings: parameters, as any object with a stable `repr`.
        paths: files, and folders of which every file counts, that the run reads.
    """
    hasher = sha256(repr(settings).encode())
    for path in (*paths, CODE):
        for file in [path] if path.is_file() else _files_of(path):
            hasher.update(f"{file.relative_to(path).as_posix()}\0".encode())
            hasher.update(bytes.fromhex(sha256_of(file)))
    return hasher.hexdigest()[:16]


def _files_of(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.rglob("*")) if file.is_file() and _COMPILED not in file.parts]
