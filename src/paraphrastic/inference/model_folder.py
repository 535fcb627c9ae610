"""Folders that hold a trained model: `config.json`, and weights and vocabulary if the model has any."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from paraphrastic.base import devices
from paraphrastic.base.errors import ModelError, ParameterError, missing
from paraphrastic.base.files import write_text
from paraphrastic.inference.model import Model
from paraphrastic.inference.quantization import read_ranges
from paraphrastic.scoring import TableFormat
from paraphrastic.scoring.scorer import Scorer
from paraphrastic.scoring.weight_files import read_weights, wrong_config, wrong_weights

if TYPE_CHECKING:
    from pydantic import BaseModel

    from paraphrastic.scoring.neural import TrainedEncoder, TrainedPairModel

FORMAT = 2
_KEYS = {"format", "model", "config"}  # of `config.json` in every format
_WITH_TORCH = ("encoder", "pair-model")  # kinds of scorers


@dataclass(frozen=True)
class ModelInfo:
    """Content of `config.json`.

    Attributes:
        model: name of the model in params.yaml.
        options: the options that it was trained with.
        scorer: the kind of scorer that encodes with it, and the options of that scorer.
        selection: names of the evaluation sets that selected its epoch.
        teacher: name of the encoder whose vectors it learned; None if it had no teacher.
        sources: training pairs by source; empty if the model has none.
        members: how many trained models it is merged from; 1 if it is one itself.
    """

    model: str
    options: Mapping[str, Any]
    scorer: Mapping[str, Any]
    selection: Sequence[str] = ()
    teacher: str | None = None
    sources: Mapping[str, int] = field(default_factory=dict)
    members: int = 1


def save(
    scorer: Scorer,
    name: str,
    config: "BaseModel",
    folder: Path,
    selection: Sequence[str] = (),
) -> None:
    """Write a model to `folder`.

    Args:
        scorer: the model.
        name: its name in params.yaml.
        config: its options.
        folder: where to; created if it does not exist.
        selection: names of the evaluation sets that selected its epoch; empty if none did.
    """
    write_model(scorer, ModelInfo(name, config.model_dump(), {}, selection), folder)


def write_model(scorer: Scorer, info: ModelInfo, folder: Path) -> None:
    """Write a model to `folder`, which is created if it does not exist; `info.scorer` is not read."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"format": FORMAT, "model": info.model, "config": {**info.options}, "selection": [*info.selection]}
    content |= {"teacher": info.teacher} if info.teacher else {}
    content |= {"sources": {**info.sources}} if info.sources else {}
    content |= {"members": info.members} if info.members > 1 else {}
    write_text(folder / "config.json", json.dumps(content | scorer.save(folder), indent=2) + "\n")


def load(folder: Path | str, table: TableFormat | None = None, device: str = devices.CPU) -> Model:
    """Load the model in `folder`, for example data/model, where the stage `train` writes it.

    Averages, Charagram and untrained baselines need no torch, and are computed on the CPU.

    Args:
        folder: of the model.
        table: format of the embeddings in memory, `float32`, `float16` or `int8`, of averages and Charagram; None for
            that of the folder.
        device: where the model is computed: `cpu`, `cuda`, `cuda:N`, or `auto`, a GPU if there is one and the model
            can use it.

    Raises:
        ModelError: the model is missing, damaged, of another format or unknown to this version, or it needs a package
            that is not installed; or `table` is given for a model that is no sum of embeddings.
        ParameterError: `table` is no format, there is no such device, or it is a GPU and the model needs no torch.
    """
    folder = Path(folder)
    if folder.is_file():
        raise ModelError(f"{folder}: is a file; a model is a folder, such as data/model")
    scorer, info = load_scorer(folder, device), read_info(folder)
    if table is not None:
        from paraphrastic.scoring.static import with_table_format

        scorer = with_table_format(scorer, info.model, folder, table)
    about = info.selection, info.teacher, info.members
    return Model(folder, info.model, info.options, scorer, *about, ranges=read_ranges(folder))


def load_scorer(folder: Path, device: str = devices.CPU) -> Scorer:
    """Load the model in `folder` for encoding and scoring.

    Averages, Charagram and untrained baselines need no torch, and are computed on the CPU.

    Args:
        folder: of the model.
        device: where the model is computed, see `devices.find`.

    Raises:
        ModelError: the model is missing, damaged, of another format or unknown to this version, or it needs a package
            that is not installed.
        ParameterError: there is no such device, or it is a GPU and the model is computed without torch.
    """
    info = read_info(folder)
    kind, options = info.scorer["kind"], {key: value for key, value in info.scorer.items() if key != "kind"}
    if device not in (devices.AUTO, devices.CPU):
        devices.check(device)
        if kind not in (*_WITH_TORCH, "external"):
            devices.refuse_gpu(device, f"{folder}: {info.model}")
    if kind in _WITH_TORCH:
        return load_trained(folder).to(devices.find(device))
    if kind == "external":
        from paraphrastic.scoring.external_encoder import ExternalEncoder

        return ExternalEncoder.load(folder, options, device)
    if kind == "static":
        from paraphrastic.scoring.static import StaticEncoder

        return StaticEncoder.load(folder, options)
    if kind == "tfidf":
        from paraphrastic.scoring.bags import TfidfScorer

        return TfidfScorer.load(folder, options)
    if kind == "overlap":
        from paraphrastic.scoring.bags import OverlapScorer

        return OverlapScorer()
    raise wrong_config(folder)


def usable_device(folder: Path, device: str) -> str:
    """Return where the model in `folder` is computed if `device` is where models are: there, or on the CPU.

    Raises:
        ModelError: as for `read_info`.
    """
    scorer = read_info(folder).scorer
    if scorer["kind"] == "external":
        from paraphrastic.scoring import external_encoder

        return external_encoder.usable_device(Path(scorer.get("path", "")), device)
    return device if scorer["kind"] in _WITH_TORCH else devices.CPU


def load_trained(
    folder: Path, changes: Mapping[str, Any] = MappingProxyType({})
) -> "TrainedEncoder | TrainedPairModel":
    """Load the model in `folder` as a torch module, which can be trained further.

    Args:
        folder: what `save` wrote.
        changes: options with another value than the one that it was trained with, such as `dropout`.

    Raises:
        ModelError: as for `load_scorer`, or the model is a baseline.
    """
    info = read_info(folder)
    try:
        import torch
        from pydantic import ValidationError

        from paraphrastic import models
        from paraphrastic.nn.encoder import TrainableModel
        from paraphrastic.scoring.neural import load_weights
    except ModuleNotFoundError as error:
        needed = "PyTorch" if error.name == "torch" else str(error.name)
        raise ModelError(f"{folder}: {info.model} needs {missing(needed, 'torch')}") from error
    try:
        module_class: Any = models.model_class(info.model)
        config_class = models.config_class(info.model)
        config = config_class(**{**info.options, **changes})
    except (ParameterError, ValidationError, TypeError) as error:
        raise ModelError(f"{folder}/config.json: {str(error).splitlines()[0]}; train the model again") from error
    if not issubclass(module_class, TrainableModel):
        raise ModelError(f"{folder}: {info.model} is not trained; choose an encoder")
    _check_size(folder, module_class, config)
    return load_weights(folder, module_class(config, torch.Generator()))


def _check_size(folder: Path, module_class: Any, config: "BaseModel") -> None:
    """Refuse options that ask for more parameters than the weights have bytes, before memory is taken.

    Raises:
        ModelError: they do.
    """
    import torch

    weights = folder / "weights.safetensors"
    try:
        with torch.device("meta"):  # shapes without memory
            numbers = sum(each.numel() for each in module_class(config, torch.Generator()).parameters())
    except (RuntimeError, TypeError, OverflowError) as error:  # a size beyond 63 bits
        raise wrong_config(folder) from error
    if weights.is_file() and numbers > weights.stat().st_size:
        read_weights(folder)  # a damaged file is reported as such
        raise wrong_weights(folder)


def copy_model(folder: Path, out: Path) -> None:
    """Copy the files of a model to another folder, with the permissions of new files."""
    out.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.is_file():
            copyfile(file, out / file.name)


def is_model_folder(folder: Path) -> bool:
    """Return whether `save` of this or another version wrote a folder."""
    try:
        content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.keys() >= _KEYS


def read_info(folder: Path) -> ModelInfo:
    """Read `config.json`.

    Raises:
        ModelError: it is missing, damaged or of another format.
    """
    path = folder / "config.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{folder}: no model here; `dvc repro train` creates data/model") from error
    except ValueError as error:
        raise ModelError(f"{path}: damaged; train the model again") from error
    if not isinstance(content, dict) or not content.keys() >= _KEYS:
        raise wrong_config(folder)
    if content["format"] != FORMAT:
        is_older = isinstance(content["format"], int) and content["format"] < FORMAT
        remedy = "train the model again" if is_older else "update the package"
        raise ModelError(f"{folder}: model format {content['format']!r}, this version reads {FORMAT}; {remedy}")
    scorer, selection, sources = content.get("scorer"), content.get("selection"), content.get("sources", {})
    teacher, members = content.get("teacher"), content.get("members", 1)
    if not (
        isinstance(scorer, dict)
        and "kind" in scorer
        and isinstance(selection, list)
        and all(isinstance(name, str) for name in selection)
        and isinstance(teacher, str | None)
        and isinstance(sources, dict)
        and all(isinstance(count, int) for count in sources.values())
        and isinstance(members, int)
    ):
        raise wrong_config(folder)
    return ModelInfo(content["model"], content["config"], scorer, selection, teacher, sources, members)
