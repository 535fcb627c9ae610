"""Folders that hold a trained model: `config.json`, and weights and vocabulary if the model has any."""

import math
import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from paraphrastic.base import devices
from paraphrastic.base.errors import DataError, ModelError, ParameterError, did_you_mean, first_problem, missing
from paraphrastic.base.files import write_json
from paraphrastic.base.reading import read_json
from paraphrastic.inference import SHIPPED
from paraphrastic.inference.model import Model, ModelInfo
from paraphrastic.inference.places import EXPORTED, KEYS, is_model_folder
from paraphrastic.nn.static_form import StaticForm
from paraphrastic.scoring import TableFormat
from paraphrastic.scoring.scorer import Scorer
from paraphrastic.scoring.weight_files import read_ranges, wrong_config

if TYPE_CHECKING:
    from paraphrastic.scoring.neural import TrainedEncoder, TrainedPairModel

FORMAT = 2
_WITH_TORCH = ("encoder", "pair-model")  # kinds of scorers
_SHOWN = 4  # models that a message names


def write_model(scorer: Scorer, info: ModelInfo, folder: Path) -> None:
    """Write a model to `folder`, which is created if it does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"format": FORMAT, "model": info.name, "config": {**info.options}, "selection": [*info.selection]}
    optional = {"teacher": info.teacher, "sources": {**info.sources}, "members": info.members, "loss": {**info.loss}}
    content |= {name: value for name, value in optional.items() if value != _OPTIONAL[name]}
    write_json(folder / "config.json", content | scorer.save(folder))


def load(model: Path | str | None = None, table: TableFormat | None = None, device: str = devices.CPU) -> Model:
    """Load a model: the encoder of the package, or the model in a folder such as data/model.

    Averages, Charagram and untrained baselines need no torch, and are computed on the CPU.

    Args:
        model: a folder, or the name of an encoder in the package; None for the first of these, `small`.
        table: format that the embeddings of averages and Charagram have in memory, one of `scoring.TABLE_FORMATS`; None
            for that of the folder, which stays as it is: `export.compact` writes a smaller one.
        device: where the model is computed: `cpu`, `cuda`, `cuda:N`, or `auto`, a GPU if there is one and the model
            can use it.

    Raises:
        ModelError: the model is missing, damaged, of another format or unknown to this version, or it needs a package
            that is not installed; or `table` is given for a model that is no sum of embeddings.
        ParameterError: `table` is no format or cannot hold the vectors, there is no such device, or it is a GPU and the
            model needs no torch.
    """
    folder = folder_of(model)
    if folder.is_file():
        raise ModelError(f"{folder}: is a file; a model is a folder, such as data/model")
    scorer, config = load_scorer(folder, device), read_config(folder)
    if table is not None:
        from paraphrastic.scoring.static import with_table_format

        try:
            scorer = with_table_format(scorer, config["model"], folder, table)
        except OverflowError as error:
            raise ParameterError(f"{folder}: {table} cannot hold its vectors; choose another table") from error
    training = {name: config[name] for name in ("selection", "teacher", "sources", "members", "loss")}
    ranges = read_ranges(folder)
    return Model(config["model"], config["config"], **training, folder=folder, scorer=scorer, ranges=ranges)


def folder_of(model: Path | str | None) -> Path:
    """Return the folder of a model: a path, or the name of an encoder in the package; None for the first of these.

    In what `paraphrastic export --to sentence-transformers` wrote, that is the folder of its module.

    Raises:
        ModelError: the package has lost its encoder, or a model in this folder has the same name.
    """
    name = SHIPPED[0] if model is None else str(model)
    if name not in SHIPPED or (isinstance(model, Path) and model.exists()):
        exported = Path(name, EXPORTED)
        return exported if exported.is_dir() else Path(name)
    if model is not None and is_model_folder(Path(name)):
        raise ModelError(f"{model}: an encoder of the package and a folder here; write ./{model} for the folder")
    folder = Path(__file__).parents[1] / "encoders" / name
    if not folder.is_dir():
        raise ModelError(f"{folder}: the encoder of the package is missing; install the package again")
    return folder


def load_scorer(folder: Path, device: str = devices.CPU) -> Scorer:
    """Load the model in `folder` for encoding and scoring of tokenized text; arguments and errors as for `load`."""
    config = read_config(folder)
    options = dict(config["scorer"])
    kind = options.pop("kind")
    if device not in (devices.AUTO, devices.CPU):
        devices.check(device)
        if kind not in (*_WITH_TORCH, "external"):
            devices.refuse_gpu(device, f"{folder}: {config['model']}")
    try:
        return _load_kind(kind, folder, options, device)
    except DataError as error:  # of a vocabulary
        raise ModelError(f"{folder}: {error}; train the model again") from error


def _load_kind(kind: str, folder: Path, options: Mapping[str, Any], device: str) -> Scorer:
    if kind in _WITH_TORCH:
        return load_trained(folder).to(devices.find(device))
    if kind == "external":
        from paraphrastic.scoring.external_encoder import ExternalEncoder

        return ExternalEncoder.load(folder, options, device)
    if kind == "static":
        from paraphrastic.scoring.static import StaticEncoder

        return StaticEncoder.load(folder, options)
    from paraphrastic.scoring.bags import OverlapScorer, TfidfScorer

    return TfidfScorer.load(folder, options) if kind == "tfidf" else OverlapScorer()


def usable_device(folder: Path, device: str) -> str:
    """Return where the model in `folder` is computed if `device` is where models are: there, or on the CPU.

    Raises:
        ModelError: as for `read_config`.
    """
    scorer = read_config(folder)["scorer"]
    if scorer["kind"] == "external":
        from paraphrastic.scoring import external_encoder

        return external_encoder.usable_device(Path(scorer.get("path", "")), device)
    return device if scorer["kind"] in _WITH_TORCH else devices.CPU


def load_trained(
    folder: Path, changes: Mapping[str, Any] = MappingProxyType({})
) -> "TrainedEncoder | TrainedPairModel":
    """Load the model in `folder` as a torch module, which can be trained further.

    Args:
        folder: what `write_model` wrote.
        changes: options with another value than the one that it was trained with, such as `dropout`.

    Raises:
        ModelError: as for `load_scorer`, or the model is a baseline.
    """
    content = read_config(folder)
    name, options = content["model"], content["config"]
    try:
        import torch
        from pydantic import ValidationError

        from paraphrastic import models
        from paraphrastic.nn.layers import TrainableModel
        from paraphrastic.scoring.neural import load_weights
    except ModuleNotFoundError as error:
        needed = "PyTorch" if error.name == "torch" else str(error.name)
        raise ModelError(f"{folder}: {name} needs {missing(needed, 'torch')}") from error
    try:
        module_class: Any = models.model_class(name)
        config_class: Any = models.config_class(name)
        config = config_class(**{**options, **changes})
    except ValidationError as error:
        raise wrong_config(folder, first_problem(error)) from error
    except (ParameterError, TypeError) as error:
        raise ModelError(f"{folder}/config.json: {error}; train the model again") from error
    if not issubclass(module_class, TrainableModel):
        raise ModelError(f"{folder}: {name} is not trained; choose an encoder")
    return load_weights(folder, lambda: module_class(config, torch.Generator()), config.embedding_dim)


def read_config(folder: Path) -> dict[str, Any]:
    """Return the content of `config.json`, with values in place of what it may lack.

    Raises:
        ModelError: it is missing, damaged or of another format.
    """
    try:
        content = read_json(folder / "config.json", ModelError, "train the model again")
    except (FileNotFoundError, NotADirectoryError) as error:
        known = [*SHIPPED, *sorted(str(file.parent) for file in folder.parent.glob("*/config.json"))]
        remedy = f"{did_you_mean(str(folder), known)}known are {', '.join(known[:_SHOWN])}"
        raise ModelError(f"{folder}: no model here; `dvc repro train` creates data/model; {remedy}") from error
    if not isinstance(content, dict) or not content.keys() >= KEYS:
        raise wrong_config(folder)
    if type(content["format"]) is not int or content["format"] != FORMAT:
        is_older = isinstance(content["format"], int) and content["format"] < FORMAT
        remedy = "train the model again" if is_older else "update the package"
        other = reprlib.repr(content["format"])
        raise ModelError(f"{folder}: model format {other}, this version reads {FORMAT}; {remedy}")
    if lacking := _CHECKS.keys() - _OPTIONAL.keys() - content.keys():
        raise wrong_config(folder, f"it lacks {', '.join(sorted(lacking))}")
    for name, value in content.items():
        if not (name in _CHECKS and _CHECKS[name](value)):
            raise wrong_config(folder, f"{reprlib.repr(name)} is {reprlib.repr(value)}")
    return _OPTIONAL | content


def _is_name(value: object) -> bool:
    """Return whether a value is a text of one line, which messages and tables can show."""
    return isinstance(value, str) and re.fullmatch(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]+", value) is not None


def _is_count(value: object, least: int = 0) -> bool:
    return type(value) is int and least <= value < 1 << 63


def _is_option(value: object, least: int = 0) -> bool:
    """Return whether a value can be that of an option: a text, a number, or a flat list or mapping of these."""
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return all(
        (least <= each < 1 << 63 if isinstance(each, int) else math.isfinite(each))
        if isinstance(each, int | float)
        else each is None or each == "" or _is_name(each)
        for each in inner
    )


def _are_options(value: object, least: int = 0) -> bool:
    return isinstance(value, dict) and all(_is_option(each, least) for each in (*value, *value.values()))


def _is_scorer(value: object) -> bool:
    """Return whether a value names a kind of scorer, and has options that its kind can have."""
    if not (isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"] in _SCORERS):
        return False
    checks = {"kind": _is_name, **_SCORERS[value["kind"]]}
    return all(name in checks and checks[name](option) for name, option in value.items())


_SCORERS: dict[str, Mapping[str, Callable[[Any], bool]]] = {  # the options of each kind; its class finds missing ones
    "encoder": {},
    "external": {"path": _is_name, "batch_size": partial(_is_count, least=1)},
    "overlap": {},
    "pair-model": {},
    "static": dict.fromkeys((each.name for each in fields(StaticForm)), _is_name),
    "tfidf": {"tokens": _is_name},
}
_CHECKS: dict[str, Callable[[Any], bool]] = {  # of the members of `config.json`
    "format": lambda value: value == FORMAT,
    "model": _is_name,
    "config": _are_options,
    "loss": partial(_are_options, least=-1 << 63),
    "scorer": _is_scorer,
    "selection": lambda value: isinstance(value, list) and all(map(_is_name, value)),
    "teacher": lambda value: value is None or _is_name(value),
    "sources": lambda value: (
        isinstance(value, dict) and all(map(_is_name, value)) and all(map(_is_count, value.values()))
    ),
    "members": partial(_is_count, least=1),
    "vocabulary": _is_name,  # its hash; a person may compare it with the file
}
_OPTIONAL: dict[str, Any] = {"teacher": None, "sources": {}, "members": 1, "loss": {}, "vocabulary": None}
