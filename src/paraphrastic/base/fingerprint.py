"""Names of runs, by which a run finds its checkpoint and no other."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from paraphrastic.base.files import sha256_of

CODE = Path(__file__).parents[1]

_COMPILED = "__pycache__"  # left by Python and numba, derived from the code


def digests(settings: object, paths: Mapping[str, Path]) -> dict[str, str]:
    """Return a hash of each thing that determines a run: `parameters`, all that it reads, and `code`, this package.

    Args:
        settings: parameters, as any object with a stable `repr`.
        paths: files, and folders of which every file counts, that the run reads, by name.
    """
    read = {name: _digest(path) for name, path in {**paths, "code": CODE}.items()}
    return {"parameters": sha256(repr(settings).encode()).hexdigest(), **read}


def name_of(run: Mapping[str, str]) -> str:
    """Return a name for the run that has these `digests`."""
    return sha256(json.dumps(run).encode()).hexdigest()[:16]


def fingerprint(settings: object, *paths: Path) -> str:
    """Return a name for a run, derived from everything that determines it; arguments are those of `digests`."""
    return name_of(digests(settings, {str(number): path for number, path in enumerate(paths)}))


def _digest(path: Path) -> str:
    hasher = sha256()
    inside = (file for file in sorted(path.rglob("*")) if file.is_file() and _COMPILED not in file.parts)
    for file in [path] if path.is_file() else inside:
        hasher.update(f"{file.relative_to(path).as_posix()}\0".encode())
        hasher.update(bytes.fromhex(sha256_of(file)))
    return hasher.hexdigest()
