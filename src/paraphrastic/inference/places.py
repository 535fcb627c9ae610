"""Folders in which a model is, and those in which one may be written."""

from pathlib import Path
from shutil import copyfile

from paraphrastic.base.errors import ModelError, ParameterError, ParaphrasticError
from paraphrastic.base.reading import read_json
from paraphrastic.inference import CARD

EXPORTED = "0_EncoderModule"  # of the model in an export for sentence-transformers, which names it so
KEYS = {"format", "model", "config"}  # of `config.json` in every format
FILES = ["config.json", "vocabulary.parquet", "weights.safetensors", "ranges.safetensors", CARD]  # of a model


def is_model_folder(folder: Path) -> bool:
    """Return whether `write_model` of this or another version wrote a folder."""
    try:
        content = read_json(folder / "config.json")
    except (OSError, ParaphrasticError):
        return False
    return isinstance(content, dict) and content.keys() >= KEYS


def check_replaceable(folder: Path) -> None:
    """Check that a model can take the place of what is there: nothing, or a model.

    Raises:
        ParameterError: it is something else, or has a file or folder that no model has, which would be lost, or is the
            working directory or around it; or a model is around it.
    """
    if around := next(filter(is_model_folder, folder.resolve().parents), None):
        raise ParameterError(f"{folder}: is in {around}, the folder of a model; name another folder")
    if not folder.exists():
        return
    if not is_model_folder(folder):
        raise ParameterError(f"{folder}: exists and is no model; name another folder")
    if others := [each.name for each in folder.iterdir() if each.is_dir() or each.name not in FILES]:
        raise ParameterError(f"{folder}: has {min(others)}, which no model has, and would lose it; name another folder")
    check_not_here(folder)


def check_not_here(path: Path) -> None:
    """Raise a ParameterError for the working directory and those around it: what is written would take their place."""
    if Path.cwd().is_relative_to(path.resolve()):
        raise ParameterError(f"{path}: is the working directory, or around it; name a place in it")


def copy_model(folder: Path, out: Path) -> None:
    """Copy the files of a model, and no others, to a folder, which is created, with the permissions of new files.

    Raises:
        ModelError: the model is no longer there.
    """
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder}: the model is no longer there, seen from {Path.cwd()}; load it again")
    if out.exists() and out.samefile(folder):
        return  # they are there
    out.mkdir(parents=True, exist_ok=True)
    for file in filter(Path.is_file, (folder / name for name in FILES)):
        copyfile(file, out / file.name)
