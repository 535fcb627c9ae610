"""The registry of models: `model: NAME` in params.yaml selects `models/NAME.py`.

A model file defines `Config`, the pydantic class of its options, and `MODEL`, which is one of

* a subclass of `Encoder`: trained, returns sentence vectors;
* a subclass of `PairModel`: trained, scores pairs of sentences;
* a subclass of `Baseline`: not trained.

A file is imported when its model is used, so that torch is imported only for models that need it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraphrastic.base.errors import ParameterError, ParaphrasticError, SourceError, unknown_name

if TYPE_CHECKING:
    from pydantic import BaseModel

    from paraphrastic.base.parameters import Params
    from paraphrastic.nn.layers import TrainableModel
    from paraphrastic.scoring.baseline import Baseline


def names() -> list[str]:
    """Return the names of all models in alphabetical order."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def model_class(name: str) -> type[TrainableModel] | type[Baseline]:
    """Return the class of the model `name`.

    Raises:
        ParameterError: there is no such model, or its file does not define one.
    """
    model: type[TrainableModel] | type[Baseline] = _module(name).MODEL
    return model


def config_class(name: str) -> type[BaseModel]:
    """Return the class that checks and holds the options of the model `name`.

    Raises:
        ParameterError: there is no such model, or its file does not define one.
    """
    config: type[BaseModel] = _module(name).Config
    return config


def named_files(params: Params) -> list[Path]:
    """Return the files and folders that the options of the chosen model name.

    Raises:
        SourceError: one is not there, or a folder is where a file of vectors is expected.
    """
    named = {key: params.models[params.model].get(key) for key in ("vectors", "path")}
    return [_existing(f"models.yaml: {params.model}.{key}", name) for key, name in named.items() if name]


def teacher_folders(params: Params) -> list[Path]:
    """Return the folders of the teacher.

    Raises:
        SourceError: one is not there.
        ModelError: one has no encoder of sentence-transformers or model2vec.
        ParameterError: the package of one has no such device or precision.
    """
    folders = [_existing("params.yaml: teacher.path", name) for name in params.teacher.path]
    if folders:
        from paraphrastic.scoring.external_encoder import loader, usable_device  # imports pyarrow

        try:
            for folder in folders:
                loader(folder, usable_device(folder, params.train.device), params.teacher.precision)
        except ParaphrasticError as error:
            raise type(error)(f"params.yaml: teacher.path: {error}") from error
    return folders


def _existing(key: str, name: str) -> Path:
    """Return the path `name` that a parameter names; raise a SourceError if it is not there, or no file of vectors."""
    if not Path(name).exists():
        remedy = "name a file that exists; a queued experiment needs a whole path"
        raise SourceError(f"{key}: {name}: no such file; {remedy}")
    if key.endswith(".vectors") and Path(name).is_dir():
        raise SourceError(f"{key}: {name}: is a folder; name a file of word vectors")
    return Path(name)


def check_student(params: Params) -> None:
    """Refuse a teacher, and another loss than the usual one, for a model that has no vectors to train.

    Raises:
        ParameterError: the model is a baseline or compares pairs of sentences, or the teacher's vectors would take the
            place of the initial vectors that its options ask for.
    """
    from paraphrastic.base.parameters import LOSS  # imports ruamel.yaml, which loading a model must not need

    if params.teacher.path:
        key, usual = "teacher.path", "empty"
    elif params.train.loss != LOSS:
        key, usual = "train.loss", f"at {LOSS}"
    elif params.train.loss_options:
        key, usual = "train.loss_options", "empty"
    else:
        return
    from paraphrastic.nn.layers import Encoder

    init = params.models[params.model].get("init")
    if params.teacher.path and params.teacher.initial_words and init == "cooccurrence":
        remedy = "set it to idf, or teacher.initial_words to false"
        raise ParameterError(
            f"models.yaml: {params.model}.init = {init}: words start from the teacher's vectors; {remedy}"
        )
    if not issubclass(model_class(params.model), Encoder):
        raise ParameterError(
            f"params.yaml: {key}: {params.model} has no sentence vectors that are trained; leave it {usual}, or choose "
            "an encoder"
        )


def _module(name: str) -> Any:
    if name not in names():
        raise ParameterError(unknown_name("model", name, names()))
    module = import_module(f"paraphrastic.models.{name}")
    if missing := [each for each in ("Config", "MODEL") if not hasattr(module, each)]:
        raise ParameterError(f"{module.__file__}: defines no {missing[0]}; a file of a model has Config and MODEL")
    return module
