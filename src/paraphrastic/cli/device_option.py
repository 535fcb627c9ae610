"""The option of commands that compute with a model: where they do."""

from typing import Annotated

from typer import Option

from paraphrastic.base import devices

HELP = f"Where the model is computed: {devices.NAMES}; `auto` is a GPU if there is one."

Device = Annotated[str, Option("--device", metavar="DEVICE", help=HELP)]
