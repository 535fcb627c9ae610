"""The models, one file each, by the name that `model:` takes: `models/NAME.py` is the model NAME.

A model file defines `Config`, the pydantic class of its options, and `MODEL`: a subclass of `Encoder` or
`PairEncoder`, or a scorer that has `fit` instead of training. It is imported when it is used, torch with it; a
new file changes no result of another.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from paraphrastic.encoding.scorer import Scorer
from paraphrastic.errors import ModelError, ParameterError, unknown

FORMAT = 1


def names() -> list[str]:
    """All models, in alphabetical order."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def implementation(name: str) -> type:
    """The class of the model `name`.

    Raises:
        ParameterError: there is no such model.
    """
    return _module(name).MODEL


def options(name: str) -> type[BaseModel]:
    """What checks and holds the options of the model `name`.

    Raises:
        ParameterError: there is no such model.
    """
    return _module(name).Config


def _module(name: str) -> Any:
    if name not in names():
        raise ParameterError(unknown("model", name, names()))
    return import_module(f"paraphrastic.models.{name}")


def save(scorer: Scorer, name: str, config: BaseModel, folder: Path) -> None:
    """Write the model `name` to `folder`, so that `load` gives it back."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"format": FORMAT, "model": name, "config": config.model_dump(), **scorer.save(folder)}
    (folder / "config.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8", newline="\n")


def load(folder: Path) -> Scorer:
    """The model that `save` wrote to `folder`.

    Raises:
        ModelError: it is missing, damaged, of a newer format, or of a model that this version lacks.
    """
    about = _read_config(folder / "config.json")
    if about["format"] != FORMAT:
        raise ModelError(f"{folder}: model format {about['format']}, this version reads {FORMAT}; update the package")
    try:
        cls, config = implementation(about["model"]), options(about["model"])(**about["config"])
    except (ParameterError, ValidationError, TypeError) as error:
        raise ModelError(f"{folder}/config.json: {str(error).splitlines()[0]}; train the model again") from error
    if hasattr(cls, "units"):
        from paraphrastic.encoding.trained import as_scorer

        return as_scorer(cls).load(folder, cls, config)
    return cls.load(folder, config)


def name_of(folder: Path) -> str:
    """Which model `save` wrote to `folder`.

    Raises:
        ModelError: there is none, or it is damaged.
    """
    return _read_config(folder / "config.json")["model"]


def _read_config(path: Path) -> dict[str, Any]:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{path.parent}: no model here; `dvc repro train` makes data/model") from error
    except ValueError as error:
        raise ModelError(f"{path}: damaged; train the model again") from error
    if not isinstance(about, dict) or not about.keys() >= {"format", "model", "config"}:
        raise ModelError(f"{path}: not the config of a model; train the model again")
    return about
