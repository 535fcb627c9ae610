"""Arguments and options that several commands have, and what they refuse."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from paraphrastic.base import devices
from paraphrastic.base.errors import ParameterError

_DEVICE = f"Where the model is computed: {devices.NAMES}; `auto` is a GPU if there is one."

Device = Annotated[str, Option("--device", metavar="DEVICE", help=_DEVICE)]
ModelFolder = Annotated[Path, Argument(metavar="MODEL", help="Folder of a model, such as data/model.")]
InputFile = Annotated[
    str, Argument(metavar="FILE", help="Text file, UTF-8; `-` is standard input.", show_default=False)
]


def refuse_new_folder(path: Path) -> None:
    """Refuse to write to a folder that does not exist: its name may be misspelt.

    Raises:
        ParameterError: it does not.
    """
    if not path.parent.is_dir():
        raise ParameterError(f"{path.parent}: no such folder; create it first")
