"""Arguments and options that several commands have, and what they refuse."""

import re
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from paraphrastic.base import devices
from paraphrastic.base.console import STANDARD_STREAM
from paraphrastic.base.errors import ParameterError

_DEVICE = f"{devices.NAMES}; `auto`: a GPU if there is one."

Device = Annotated[str, Option("--device", metavar="DEVICE", help=_DEVICE)]
ModelFolder = Annotated[str, Argument(metavar="MODEL", help="Folder, such as data/model, or the packaged `small`.")]
ModelOption = Annotated[
    str | None, Option("--model", metavar="MODEL", help="Folder.  [default: small, in the package]")
]
InputFile = Annotated[
    str, Argument(metavar="FILE", help="Lines in UTF-8, or a table; `-` is standard input.", show_default=False)
]
Column = Annotated[str | None, Option("--column", metavar="NAME", help="Text in FILE.csv, .tsv, .jsonl or .parquet.")]


Md = Annotated[bool, Option("--md", help="Print a table in Markdown.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]
Csv = Annotated[bool, Option("--csv", help="Print CSV.")]


def refuse_new_folder(path: Path) -> None:
    """Raise a ParameterError for a place in a folder that does not exist, whose name may be misspelt, and for `-`."""
    if str(path) == STANDARD_STREAM:
        raise ParameterError(f"{path}: is standard output, which is no place for this; name a file or folder")
    if not path.parent.is_dir():
        raise ParameterError(f"{path.parent}: no such folder; create it first")


def output_file(out: str, file: str | None) -> str:
    """Return the path of a file that is written from the one that is read: of a link, its target; `-` is no file.

    Raises:
        ParameterError: its folder does not exist, or it is `file` itself, of which nothing else would be left.
    """
    if out == STANDARD_STREAM:
        return out
    path = Path(out)
    refuse_new_folder(path)
    if path.is_dir():
        raise ParameterError(f"{out}: is a folder; name a file")
    if file and path.is_file() and Path(file).exists() and path.samefile(file):
        raise ParameterError(f"{out}: is the file that is read; name another one")
    return str(path.resolve()) if path.is_symlink() else out


def refuse_several(**formats: bool) -> None:
    """Raise a ParameterError if more than one option of the format of a table is given."""
    if len(given := [f"--{name}" for name, is_given in formats.items() if is_given]) > 1:
        raise ParameterError(f"{' and '.join(given)} exclude each other; give one of them")


def data_entry(text: str) -> Any:
    """Return the file or name that an argument stands for; `{path: …, columns: …}` is YAML, see `yaml_value`."""
    return yaml_value(text, text) if text.startswith("{") else text


def yaml_value(text: str, argument: str) -> Any:
    """Return the value of a text in YAML.

    Args:
        text: the value.
        argument: of the command, for messages.

    Raises:
        ParameterError: it is not YAML.
    """
    from ruamel.yaml import YAML

    from paraphrastic.base.parameters import MALFORMED

    try:
        return YAML(typ="safe", pure=True).load(text)
    except MALFORMED as error:
        remedy = "; put a space after each colon" if re.search(r":[^\s/\\]", text) else ""
        raise ParameterError(f"{argument}: the value is not YAML{remedy}") from error
