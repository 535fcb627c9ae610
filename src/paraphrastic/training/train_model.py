"""Training pairs and vocabulary → a model, with the curves of loss and selection; and what a person sees of it."""

import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from rich.progress import Progress

from paraphrastic import models
from paraphrastic.base import devices
from paraphrastic.base.console import LOG_SECONDS, message, progress, quiet, silence, time_left
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.files import atomic_folder, digests, run_name, write_curve
from paraphrastic.base.parameters import FILES, LOSS, Params, Section, checked
from paraphrastic.base.tables import PAIRS, StoredSentences, read_table
from paraphrastic.evaluation.suite import Selection, load_selection
from paraphrastic.inference.model import ModelInfo
from paraphrastic.inference.model_folder import write_model
from paraphrastic.scoring.baseline import Baseline
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.scoring.scorer import Scorer, Vectors, VectorScorer, normalize_rows
from paraphrastic.scoring.weight_files import calibration_vectors, write_ranges
from paraphrastic.text.columns import warning_without_spaces
from paraphrastic.training import losses, processes
from paraphrastic.training.batches import Paraphrases
from paraphrastic.training.distillation import Distillation, DistillationTrainer, TeacherVectors, read_teacher
from paraphrastic.training.initial_embeddings import initial_model
from paraphrastic.training.pair_trainers import EncoderTrainer, MatchTrainer, PairTrainer
from paraphrastic.training.trainer import (
    CHECKPOINT_SECONDS,
    Callback,
    Checkpoint,
    Curves,
    Trainer,
    check_callbacks,
    naming_options,
)

_SILENCE = 10.0  # seconds, after which the start of the steps is a message
_SOME = 20_000  # sentences of a million, in which the script is looked at
_COLLAPSED = 0.9  # mean cosine of two sentences; the encoders trained on the sample have at most 0.47
_SELECTIONS_PER_EPOCH = {"epoch": 1, "quarter": 4}


class Tables(NamedTuple):
    """The folders of tables that training reads."""

    corpus: Path
    vocabulary: Path
    benchmarks: Path
    teacher: Path


def train_model(
    params: Params,
    tables: Tables,
    checkpoints: Path,
    out: Path,
    callbacks: Sequence[Callback] = (),
    files: tuple[Path, Path] | None = None,
) -> Curves:
    """Train the chosen model on the paraphrase pairs, or fit the chosen baseline, and write it to a folder.

    Args:
        params: all parameters.
        tables: what `tokenize_sources`, `count_vocabulary` and `teach` wrote.
        checkpoints: where the state of an interrupted training is; it goes on from there.
        out: the folder, which appears whole or not at all. Of several processes, the first writes it.
        callbacks: follow the steps of a model that is trained.
        files: where the first of several processes writes the curves of loss and selection as CSV; None for nowhere.

    Raises:
        ParameterError: a callback is none, `torchrun` has started several processes for a baseline, or
            `train.processes` are several and a callback cannot be pickled for them.
    """
    check_callbacks(callbacks, starts_processes(params))
    is_trained = not issubclass(models.model_class(params.model), Baseline)
    if processes.world_size() > 1 and not is_trained:
        raise ParameterError(f"params.yaml: model: {params.model} is not trained; start one process, without torchrun")
    if starts_processes(params):
        return processes.run_in_processes(
            params.train.processes, train_model, params, tables, checkpoints, out, callbacks, files
        )
    with quiet(processes.rank() > 0):
        if processes.nodes() > 1:
            host, size = socket.gethostname(), processes.world_size()
            message(f"only {host} gets the result: process 0 of {size} writes {out.resolve()}")
        curves, checkpoint = _train_here(params, tables, checkpoints, out, callbacks)
        if files and processes.rank() == 0:
            write_curve(files[0], ("step", "loss"), curves.loss, digits=6)
            write_curve(files[1], ("epoch", "score"), curves.selection, digits=2)
        if checkpoint:  # the disk may have been full until here
            checkpoint.remove()
    if processes.is_member() and is_trained:
        processes.leave()
    return curves


def starts_processes(params: Params) -> bool:
    """Return whether `train_model` starts `train.processes`: for no baseline, and not where a launcher did."""
    is_trained = not issubclass(models.model_class(params.model), Baseline)
    return params.train.processes > 1 and is_trained and not processes.is_member()


def _train_here(
    params: Params, tables: Tables, checkpoints: Path, out: Path, callbacks: Sequence[Callback]
) -> tuple[Curves, Checkpoint | None]:
    config = checked(models.config_class(params.model), params.models[params.model], "models", params.model)
    select = load_selection(tables.benchmarks, params.train.select)
    sentences = StoredSentences(tables.corpus / "sentences.parquet")
    model_class = models.model_class(params.model)
    selected_by: list[str] = []
    checkpoint: Checkpoint | None = None
    models.check_student(params)
    loss = losses.options(params.train, config)
    if issubclass(model_class, Baseline):
        scorer: Scorer = model_class.fit(config, sentences)
        _warn_of_words(scorer, sentences)
        curves = Curves(selection=[(0, select(scorer))] if select else [])
    else:
        if select:
            selected_by = select.names
            message(f"sets that select the epoch: {', '.join(selected_by)}")
        scorer, curves, checkpoint = _train(params, config, loss, sentences, tables, checkpoints, select, callbacks)
    teacher = read_teacher(tables.teacher)[0] if params.teacher.path else None
    counts = read_table(tables.corpus / "pairs.parquet", PAIRS, encoded=["source"])["source"].value_counts().to_pylist()
    sources = {each["values"]: each["counts"] for each in counts}
    is_usual = params.train.loss == LOSS and not params.train.loss_options
    named = {} if is_usual else loss.model_dump() | {"name": params.train.loss}
    info = ModelInfo(params.model, config.model_dump(), selected_by, teacher, sources, loss=named)
    if processes.rank() == 0:
        with atomic_folder(out) as part:
            write_model(scorer, info, part)
            if isinstance(scorer, VectorScorer) and params.model != "external":
                vectors = calibration_vectors(scorer, sentences, len(sentences))
                write_ranges(part, vectors)
                if isinstance(scorer, TrainedEncoder):
                    _warn_of_collapse(params.model, vectors)
    return curves, checkpoint


def _warn_of_words(scorer: Scorer, sentences: StoredSentences) -> None:
    """Warn of sentences whose words a model of words cannot tell apart."""
    if getattr(scorer, "vocabulary_kind", None) != "words":
        return
    some = pa.chunked_array([part.slice(0, _SOME) for part in sentences], pa.string())
    for line in warning_without_spaces(some):
        message(line)


def _warn_of_collapse(name: str, vectors: Vectors) -> None:
    """Warn of an encoder with nearly one vector for all sentences, for which Eq. 2 of acl2017 is twice the margin."""
    known = normalize_rows(vectors[vectors.any(axis=1)])  # (n, dim)
    n = len(known)
    cosine = (np.square(known.sum(axis=0, dtype=np.float64)).sum() - n) / max(1, n * (n - 1))
    if cosine > _COLLAPSED:
        remedy = "a lower `learning_rate`, or of the margin loss `negatives: mix`, can help"
        message(f"{name}: all sentences have nearly one vector, with a mean cosine of {cosine:.2f}; {remedy}")


def run_digests(params: Params, device: str, tables: Tables) -> dict[str, str]:
    """Return a hash of each thing that determines a run, which names its checkpoint and is the same in all processes.

    The state of a GPU's optimizers differs from that of the CPU's.
    """
    options = params.models[params.model]
    settings = params.seed, params.train, params.teacher, params.model, options
    files = {"vectors": Path(options["vectors"])} if options.get("vectors") else {}
    return digests(settings, {**tables._asdict(), **files}) | {"device": device}


def _train(
    params: Params,
    config: Any,
    loss: Section,
    sentences: StoredSentences,
    tables: Tables,
    checkpoints: Path,
    select: Selection | None,
    callbacks: Sequence[Callback],
) -> tuple[Scorer, Curves, Checkpoint]:
    torch.set_num_threads(config.num_threads)
    device = devices.find(params.train.device, processes.local_rank() if processes.is_member() else None)
    run = run_digests(params, device.type, tables)
    group = processes.join(device, run)
    distillation = None
    if params.teacher.path:
        distillation = Distillation(TeacherVectors(tables.teacher, len(sentences)), params.teacher)
    with progress() as bar:
        bar.add_task("initial embeddings", total=None)
        model = initial_model(params.model, config, tables.vocabulary, sentences, params.seed, device, distillation)
    _warn_of_words(model, sentences)
    pairs = read_table(tables.corpus / "pairs.parquet", PAIRS, encoded=["source"])
    examples = Paraphrases.of(pairs, sentences, model.vocabulary, params.train.source_weights or {})
    trainer_class: Callable[..., PairTrainer] = MatchTrainer
    if isinstance(model, TrainedEncoder):
        kind = partial(DistillationTrainer, distillation=distillation) if distillation else EncoderTrainer
        trainer_class = partial(kind, loss=partial(losses.function(params.train.loss), options=loss))
    selections = _SELECTIONS_PER_EPOCH[params.train.select_every]
    trainer = trainer_class(model, examples, config, params.seed, select, selections, processes=group)
    checkpoint = Checkpoint(checkpoints / run_name(run), group)
    if silence() > _SILENCE:
        message(f"{params.model}: {trainer.steps:,} steps begin")
    with progress(logged=False) as bar:
        shown = Shown(params.model, config.batch_size * config.accumulate, bar)
        with naming_options(f"{FILES['models']}: {params.model}"):
            curves = trainer.run(checkpoint, CHECKPOINT_SECONDS, shown, *(callbacks if group.rank == 0 else ()))
    if not any(value for _, value in curves.loss):
        message(f"{params.model}: the loss was 0 at every step: no sentence has a negative; see the pairs' groups")
    return model, curves, checkpoint


class Shown(Callback):
    """Shows loss, score, speed and time left of a training; what is not known yet is left out.

    A log gets a line for each selection, and one at most every minute.

    Args:
        name: of the model.
        batch_size: pairs of a step.
        bar: on a terminal.
    """

    def __init__(self, name: str, batch_size: int, bar: Progress) -> None:
        self._name, self._batch_size, self._bar, self._task = name, batch_size, bar, bar.add_task(name, total=None)
        self._start = self._last = time.monotonic()
        self._first = 0

    def on_step(self, trainer: Trainer) -> None:
        """Move the bar; write a line if the last one is old."""
        self._first = self._first or trainer.step  # a checkpoint may have been restored before the first step
        if not self._bar.disable:
            text = f"{self._name}: {self._state(trainer)}"
            self._bar.update(self._task, completed=trainer.step, total=trainer.steps, description=text)
        elif time.monotonic() - self._last > LOG_SECONDS:
            self._log(trainer)

    def on_selection(self, trainer: Trainer) -> None:
        """Write a line."""
        if self._bar.disable:
            self._log(trainer)

    def _log(self, trainer: Trainer) -> None:
        message(f"{self._name}: step {trainer.step:,} of {trainer.steps:,}, {self._state(trainer)}")
        self._last = time.monotonic()

    def _state(self, trainer: Trainer) -> str:
        loss = [f"loss {value:.4f}" for _, value in trainer.curves.loss[-1:]]
        score = [f"score {value:.2f} at epoch {epoch:g}" for epoch, value in trainer.curves.selection[-1:]]
        return ", ".join([*loss, *score, *self._speed(trainer)])

    def _speed(self, trainer: Trainer) -> list[str]:
        steps, seconds = trainer.step - self._first, time.monotonic() - self._start
        if steps <= 0 or seconds <= 0:
            return []
        left = (trainer.steps - trainer.step) * seconds / steps
        return [f"{steps * self._batch_size / seconds:,.0f} pairs/s", time_left(left)]
