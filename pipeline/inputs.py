"""Stage `inputs`: the content of the files that params.yaml names → data/inputs/, on which other stages depend.

DVC watches the files that dvc.yaml names, but not those that a parameter names. This stage runs every time and lists
them with their hashes: if a file has changed, its list has, and the stages that read the file run again. It also checks
the parameters, before DVC removes the outputs of a stage that would refuse them.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paraphrastic import models
from paraphrastic.base.errors import ParameterError, SourceError, unknown_name
from paraphrastic.base.files import fingerprint, sha256_of, watched, write_rows, write_text
from paraphrastic.base.parameters import FILES, PARAMS, Params, checked, load_params
from paraphrastic.base.reading import read_json
from paraphrastic.sources.catalogue import check_single_sentences, check_weights, corpus, suite
from paraphrastic.training import losses
from pipeline.stage import run

DATA, MODEL = Path("data/inputs/data.csv"), Path("data/inputs/model.csv")
TEACHER = Path("data/inputs/teacher.csv")
KNOWN_HASHES, CHECKED = Path(".checkpoints/inputs.json"), Path(".checkpoints/checked")
PATHS = ("vectors", "path")  # options of models that name a file or a folder


def main() -> None:
    """List the files of training pairs and evaluation sets, those of the model's options, and the teacher."""
    params = load_params()
    if params.model not in models.names():
        raise ParameterError(f"params.yaml: model: {unknown_name('model', params.model, models.names())}")
    _check_options(params)
    sources = corpus(params.corpus, params.tokenize.licences)
    check_single_sentences(sources, params.teacher)
    check_weights(params.train.source_weights or (), sources, params.tokenize.exchange)
    hashes = _Hashes()
    every = (*sources, *suite(params.benchmarks).sources)
    if own := [each for each in every if "own" in each.options]:
        from paraphrastic.base.parallel import start_command  # imports pyarrow, 0.3 s
        from paraphrastic.readers.own_data import check_files

        start_command()
        check_files(own, params.tokenize.limits_scores)  # before anything is downloaded
    _write(DATA, [Path(each.options["own"].path) for each in own], hashes)
    block = params.models[params.model]
    paths = {f"{params.model}.{key}": str(block[key]) for key in PATHS if block.get(key)}
    _write(MODEL, [_existing(FILES["models"], key, name) for key, name in paths.items()], hashes)
    models.check_student(params)
    _write(TEACHER, [_existing(str(PARAMS), "teacher.path", name) for name in params.teacher.path], hashes)
    hashes.save()


def _check_options(params: Params) -> None:
    """Check the options of model and loss, unless neither they nor the code has changed: most models import torch."""
    block = params.models[params.model]
    state = fingerprint((params.model, block, params.train.loss, params.train.loss_options)).encode()
    if not (CHECKED.is_file() and CHECKED.read_bytes() == state):
        config: Any = checked(models.config_class(params.model), block, "models", params.model)
        losses.options(params.train, config)
        _check_model(models.model_class(params.model), config)
        write_text(CHECKED, state.decode())


def _check_model(model_class: Any, config: Any) -> None:
    from paraphrastic.scoring.baseline import Baseline

    if not issubclass(model_class, Baseline):
        import torch

        from paraphrastic.training.pair_trainers import check_options

        check_options(model_class(config, torch.Generator()), config)


def _existing(file: str, key: str, name: str) -> Path:
    if not Path(name).exists():
        remedy = "name a file that exists; a queued experiment needs a whole path"
        raise SourceError(f"{file}: {key}: {name}: no such file; {remedy}")
    return Path(name)


def _write(out: Path, named: Iterable[Path], hashes: "_Hashes") -> None:
    files = [path for each in named for path in watched(each)]
    write_rows(("file", "sha256"), [{"file": path.as_posix(), "sha256": hashes.of(path)} for path in files], out)


class _Hashes:
    """Hashes of files, which are computed again only if a file's time, size or number on the disk has changed."""

    def __init__(self) -> None:
        try:
            self._known = dict(read_json(KNOWN_HASHES))
        except (OSError, ValueError, TypeError):  # the first run, or a damaged list
            self._known = {}
        self._used: dict[str, tuple[str, str]] = {}

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file."""
        status = path.stat()
        state = f"{status.st_mtime_ns} {status.st_size} {status.st_ino}"
        match self._known.get(str(path.resolve())):
            case [known, str(digest)] if known == state:
                pass
            case _:
                digest = sha256_of(path)
        self._used[str(path.resolve())] = state, digest
        return digest

    def save(self) -> None:
        """Keep the hashes that were asked for."""
        write_text(KNOWN_HASHES, json.dumps(self._used) + "\n")


if __name__ == "__main__":
    run(main)
