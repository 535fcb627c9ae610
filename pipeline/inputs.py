"""Stage `inputs`: the content of the files that params.yaml names → data/inputs/, on which other stages depend.

DVC watches the files that dvc.yaml names, but not those that a parameter names. This stage runs every time and lists
them with their hashes: if a file has changed, its list has, and the stages that read the file run again. It also checks
the parameters, before DVC removes the outputs of a stage that would refuse them.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraphrastic import models
from paraphrastic.analysis import analysis
from paraphrastic.base import devices
from paraphrastic.base.errors import ParameterError, ParaphrasticError, unknown_name
from paraphrastic.base.files import fingerprint, sha256_of, watched, write_rows, write_text
from paraphrastic.base.parameters import (
    FILES,
    PARAMS,
    Name,
    Params,
    Section,
    checked,
    load_params,
    read_mapping,
)
from paraphrastic.base.reading import read_json
from paraphrastic.sources.catalogue import check_corpus, check_select, corpus, suite
from paraphrastic.sources.own_files import report_left_out
from paraphrastic.training import losses
from pipeline.stage import run

DATA, MODEL = Path("data/inputs/data.csv"), Path("data/inputs/model.csv")
TEACHER = Path("data/inputs/teacher.csv")
KNOWN_HASHES, CHECKED = Path(".checkpoints/inputs.json"), Path(".checkpoints/checked")
OTHERS = FILES["finetune"], FILES["taggers"], FILES["analyses"]


class Analyses(Section):
    """Content of analyze/params.yaml."""

    analyses: list[Name]


def main() -> None:
    """List the files of training pairs and evaluation sets, those of the model's options, and the teacher."""
    params = load_params()
    if params.model not in models.names():
        raise ParameterError(f"params.yaml: model: {unknown_name('model', params.model, models.names())}")
    _check_options(params)
    with _named("train.device"):
        if params.train.device not in (devices.AUTO, devices.CPU):
            devices.find(params.train.device)  # imports torch
    with _named("corpus"):
        sources = corpus(params.corpus, params.tokenize.licences)
    check_corpus(sources, params.tokenize, params.teacher, params.train.source_weights or ())
    hashes = _Hashes()
    with _named("benchmarks"):
        benchmarks = suite(params.benchmarks)
    check_select(params.train.select, benchmarks)
    report_left_out((*params.corpus, *params.benchmarks))
    every = (*sources, *benchmarks.sources)
    if own := [each for each in every if "own" in each.options]:
        from paraphrastic.base.parallel import skip_slow_imports  # imports pyarrow, 0.3 s
        from paraphrastic.readers.own_data import check_files

        skip_slow_imports()
        check_files(own, params.tokenize.limits_scores)  # before anything is downloaded
    _write(DATA, [Path(each.options["own"].path) for each in own], hashes)
    _write(MODEL, models.named_files(params), hashes)
    models.check_student(params)
    _write(TEACHER, models.teacher_folders(params), hashes)
    hashes.save()


def _check_options(params: Params) -> None:
    """Check options of model, loss and other files, unless they and the code are as before: they import torch."""
    block = params.models[params.model]
    others = [sha256_of(each) for each in map(Path, OTHERS) if each.is_file()]
    state = fingerprint((params.model, block, params.train.loss, params.train.loss_options, others)).encode()
    if not (CHECKED.is_file() and CHECKED.read_bytes() == state):
        from paraphrastic.training.pair_trainers import check_model

        config: Any = checked(models.config_class(params.model), block, "models", params.model)
        losses.options(params.train, config)
        check_model(models.model_class(params.model), config)
        _check_others()
        write_text(CHECKED, state.decode())


def _check_others() -> None:
    """Check the files of supervised tasks and of analyses; those of a project without them are missing."""
    if Path(FILES["finetune"]).is_file():
        from paraphrastic.finetuning.options import load_options

        task = load_options().task
        for each in task.by_task:
            task.of(each)
    if (path := Path(FILES["analyses"])).is_file():
        for each in checked(Analyses, read_mapping(path), "analyses").analyses:
            with _named("analyses", path):
                analysis(each)


@contextmanager
def _named(key: str, file: Path = PARAMS) -> Iterator[None]:
    """Say in an error which parameter it is about."""
    try:
        yield
    except ParaphrasticError as error:
        text = str(error).removeprefix(f"{key}: ")
        place = "" if text.startswith(f"{file}: ") else f"{file}: {key}: "
        raise type(error)(f"{place}{text}") from error


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
        self._used: dict[str, str] = {}

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file."""
        status = path.stat()
        state = f"{path.resolve()} {status.st_mtime_ns} {status.st_size} {status.st_ino}"
        known = self._known.get(state)
        self._used[state] = known if isinstance(known, str) else sha256_of(path)
        return self._used[state]

    def save(self) -> None:
        """Keep the hashes that were asked for."""
        write_text(KNOWN_HASHES, json.dumps(self._used) + "\n")


if __name__ == "__main__":
    run(main)
