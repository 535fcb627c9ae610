"""Export a trained model to the formats of other tools: one module per tool.

A module has `FORMATS`: for each of its formats the names that it writes into a folder (empty if it writes a file), and
the function that writes them.
"""

import re
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import ParameterError, missing, unknown_name
from paraphrastic.base.files import atomic_folder, atomic_write, write_text
from paraphrastic.base.reading import COMPRESSIONS
from paraphrastic.inference import CARD
from paraphrastic.inference.places import check_not_here

if TYPE_CHECKING:
    from paraphrastic.inference.model import Model


_MODULES = {"static-embedding": "sentence_transformers", "word2vec-binary": "word2vec"}  # others have the format's name

_HEADER = 64  # bytes that the first line of word2vec can have


class Format(StrEnum):
    """Formats that a model can be exported to."""

    SENTENCE_TRANSFORMERS = "sentence-transformers"
    STATIC_EMBEDDING = "static-embedding"
    MODEL2VEC = "model2vec"
    ONNX = "onnx"
    WORD2VEC = "word2vec"
    WORD2VEC_BINARY = "word2vec-binary"


def export(model: "Model", out: Path | str, to: Format | str, force: bool = False) -> str:
    """Write a model to `out`, a folder with the model's card or a file, whole or not at all.

    With `force`, what is there is replaced: a file that begins as word2vec, or a folder without files of other formats.

    Returns:
        One line that says how the export differs from the model.

    Raises:
        ModelError: the format cannot hold the model.
        ParameterError: there is no such format; `out` exists, and is something else or `force` is false; or a package
            is not installed.
        OSError: writing failed; `out` is as it was.
    """
    if to not in [*Format]:
        raise ParameterError(unknown_name("format", to, [*Format]))
    out = Path(out)
    module: Any = import_module(f"{__name__}.{_MODULES.get(to, to.replace('-', '_'))}")
    files, write = module.FORMATS[to]
    _check_place(model, out, to, files, force)
    with atomic_folder(out) if files else atomic_write(out.resolve() if out.is_symlink() else out) as part:
        note: str = write(model, part)
        return note + (_write_card(model, part / CARD) if files else "")


def card_of(folder: Path, sets: Path | None = None, corpus: Path | None = None) -> str:
    """Return the card that the folder of a model has; a new one if it has none or a table is given, see `model_card`.

    Raises:
        ModelError: the model is missing or damaged.
        ModuleNotFoundError: a new one needs a package of the extra `pipeline`.
    """
    from paraphrastic.inference.model_folder import read_config  # imports pyarrow, which help does not need

    read_config(folder)  # any folder may have a README
    if (card := folder / CARD).is_file() and sets is None and corpus is None:
        return card.read_text(encoding="utf-8", errors="replace")
    from paraphrastic.export.model_card import model_card

    return model_card(folder, sets, corpus)


def _write_card(model: "Model", path: Path) -> str:
    """Write the card of the model; return what a person is told if there is none."""
    try:
        write_text(path, card_of(model.folder))
    except ModuleNotFoundError as error:
        return f"; without {CARD}, which needs {missing(str(error.name), 'pipeline')}"
    return ""


def _check_place(model: "Model", out: Path, to: str, files: tuple[str, ...], force: bool) -> None:
    """Refuse a place in or around the folder of the model, one of another kind, and one that is not empty."""
    check_not_here(out)
    place, source = out.resolve(), model.folder.resolve()
    if place.is_relative_to(source) or source.is_relative_to(place):
        raise ParameterError(f"{out}: overlaps the folder of the model; name another place")
    if out.exists() and out.is_dir() != bool(files):
        raise ParameterError(f"{out}: {to} writes a {'folder' if files else 'file'}; name another place")
    if not files and out.suffix.lower() in COMPRESSIONS:
        raise ParameterError(f"{out}: {to} is written unpacked; leave out {out.suffix}, and pack the file")
    found = sorted(each.name for each in out.iterdir()) if out.is_dir() else [out.name] * out.exists()
    if found and not force:
        raise ParameterError(f"{out}: exists; name another place, or replace it with --force")
    if files and (others := set(found) - {*files, CARD}):
        raise ParameterError(f"{out}: has {min(others)}, which no export to {to} writes; name another folder")
    if not files and out.is_file() and out.stat().st_size and not _begins_as_word2vec(out):
        raise ParameterError(f"{out}: is no export to {to}; name another file")


def _begins_as_word2vec(path: Path) -> bool:
    with path.open("rb") as file:
        return re.fullmatch(rb"\d+ \d+\n", file.readline(_HEADER)) is not None
