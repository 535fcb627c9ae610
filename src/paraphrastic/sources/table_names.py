"""Names of the user's tables, which tell their format."""

from pathlib import Path

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_DATASET = ("state.json", "dataset_info.json")  # one of them is in a folder of Hugging Face `datasets`


def is_table(path: Path) -> bool:
    """Return whether the name of a file ends as a table does."""
    return name_of(path) != path.name


def name_of(path: Path) -> str:
    """Return the name of a file without the endings of its format and its compression."""
    plain = _uncompressed(path).name
    return next((plain.removesuffix(ending) for ending in ENDINGS if plain.endswith(ending)), path.name)


def format_of(path: Path) -> str:
    """Return `csv`, `tsv`, `jsonl` or `parquet`, or `arrow` for a folder of `datasets`."""
    return "arrow" if path.is_dir() else _uncompressed(path).suffix.removeprefix(".")


def is_dataset_folder(path: Path) -> bool:
    """Return whether a folder was saved by Hugging Face `datasets`."""
    return any((path / name).is_file() for name in _DATASET)


def _uncompressed(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in COMPRESSIONS else path
