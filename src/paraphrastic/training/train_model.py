"""Training pairs and vocabulary → a model, with the curves of loss and selection."""

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from paraphrastic import models
from paraphrastic.base import devices
from paraphrastic.base.console import message, progress, quiet, silence
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.files import atomic_folder, digests, name_of
from paraphrastic.base.parameters import Params, checked
from paraphrastic.base.tables import PAIRS, StoredSentences, read_table
from paraphrastic.evaluation import Selection, load_selection
from paraphrastic.inference.model_folder import ModelInfo, write_model
from paraphrastic.inference.quantization import write_ranges
from paraphrastic.scoring.baseline import Baseline
from paraphrastic.scoring.scorer import Scorer, VectorScorer
from paraphrastic.text.tokenizer import warning_without_spaces
from paraphrastic.training.checkpoint import Curves
from paraphrastic.training.checks import check_student
from paraphrastic.training.distillation import TeacherVectors, read_teacher
from paraphrastic.training.launching import (
    is_member,
    join,
    leave,
    local_rank,
    nodes,
    rank,
    run_in_processes,
    world_size,
)

if TYPE_CHECKING:
    from paraphrastic.training.checkpoint import Checkpoint

_SILENCE = 10.0  # seconds, after which the start of the steps is a message
_SOME = 20_000  # sentences of a million, in which the script is looked at
_SELECTIONS_PER_EPOCH = {"epoch": 1, "quarter": 4}


class Tables(NamedTuple):
    """The folders of tables that training reads."""

    corpus: Path
    vocabulary: Path
    benchmarks: Path
    teacher: Path


def train_model(params: Params, tables: Tables, checkpoints: Path, out: Path) -> Curves:
    """Train the chosen model on the paraphrase pairs, or fit the chosen baseline, and write it to a folder.

    Args:
        params: all parameters.
        tables: what `tokenize_sources`, `count_vocabulary` and `teach` wrote.
        checkpoints: where the state of an interrupted training is; it goes on from there.
        out: the folder, which appears whole or not at all. Of several processes, the first writes it.

    Raises:
        ParameterError: `torchrun` has started several processes for a baseline.
    """
    is_trained = not issubclass(models.model_class(params.model), Baseline)
    if world_size() > 1 and not is_trained:
        raise ParameterError(f"params.yaml: model: {params.model} is not trained; start one process, without torchrun")
    if params.train.processes > 1 and is_trained and not is_member():
        return run_in_processes(params.train.processes, train_model, params, tables, checkpoints, out)
    with quiet(rank() > 0):
        if nodes() > 1:
            message(f"only {socket.gethostname()} gets the result: process 0 of {world_size()} writes {out.resolve()}")
        curves = _train_here(params, tables, checkpoints, out)
    if is_member() and is_trained:
        leave()
    return curves


def _train_here(params: Params, tables: Tables, checkpoints: Path, out: Path) -> Curves:
    config = checked(models.config_class(params.model), params.models[params.model], "models", params.model)
    select = load_selection(tables.benchmarks, params.train.select)
    sentences = StoredSentences(tables.corpus / "sentences.parquet")
    model_class = models.model_class(params.model)
    selected_by: list[str] = []
    checkpoint: Checkpoint | None = None
    check_student(params)
    if issubclass(model_class, Baseline):
        scorer: Scorer = model_class.fit(config, sentences)
        _warn_of_words(scorer, sentences)
        curves = Curves(selection=[(0, select(scorer))] if select else [])
    else:
        if select:
            selected_by = select.names
            message(f"sets that select the epoch: {', '.join(selected_by)}")
        scorer, curves, checkpoint = _train(params, config, sentences, tables, checkpoints, select)
    teacher = read_teacher(tables.teacher).name if params.teacher.path else None
    info = ModelInfo(params.model, config.model_dump(), {}, selected_by, teacher, _sources(tables.corpus))
    if rank() == 0:
        with atomic_folder(out) as part:
            write_model(scorer, info, part)
            if isinstance(scorer, VectorScorer) and params.model != "external":
                write_ranges(part, scorer, sentences, len(sentences))
    if checkpoint:  # the disk may have been full until here
        checkpoint.remove()
    return curves


def _warn_of_words(scorer: Scorer, sentences: StoredSentences) -> None:
    """Warn of sentences whose words a model of words cannot tell apart."""
    if getattr(scorer, "vocabulary_kind", getattr(scorer, "tokens", "words")) != "words":
        return
    some = pa.chunked_array([part.slice(0, _SOME) for part in sentences], pa.string())
    for line in warning_without_spaces(some):
        message(line)


def _sources(corpus: Path) -> dict[str, int]:
    """Return how many training pairs are from each source."""
    pairs = read_table(corpus / "pairs.parquet", PAIRS, encoded=["source"])
    return {each["values"]: each["counts"] for each in pairs["source"].value_counts().to_pylist()}


def run_digests(params: Params, device: str, tables: Tables) -> dict[str, str]:
    """Return a hash of each thing that determines a run, which names its checkpoint and is the same in all processes.

    The state of a GPU's optimizers differs from that of the CPU's.
    """
    options = params.models[params.model]
    settings = params.seed, params.train, params.teacher, params.model, options
    files = {"vectors": Path(options["vectors"])} if options.get("vectors") else {}
    return digests(settings, {**tables._asdict(), **files}) | {"device": device}


def _train(
    params: Params, config: Any, sentences: StoredSentences, tables: Tables, checkpoints: Path, select: Selection | None
) -> "tuple[Scorer, Curves, Checkpoint]":
    import torch  # baselines do not need it

    from paraphrastic.training.checkpoint import CHECKPOINT_SECONDS, Checkpoint
    from paraphrastic.training.distillation import Distillation
    from paraphrastic.training.pretraining import initial_model, paraphrase_trainer
    from paraphrastic.training.trainer import shown

    torch.set_num_threads(config.num_threads)
    device = devices.find(params.train.device, local_rank() if is_member() else None)
    run = run_digests(params, device.type, tables)
    processes = join(device, run)
    distillation = None
    if params.teacher.path:
        distillation = Distillation(TeacherVectors(tables.teacher, len(sentences)), params.teacher)
    with progress() as bar:
        bar.add_task("initial embeddings", total=None)
        model = initial_model(params.model, config, tables.vocabulary, sentences, params.seed, device, distillation)
    _warn_of_words(model, sentences)
    pairs = read_table(tables.corpus / "pairs.parquet", PAIRS, encoded=["source"])
    selections = _SELECTIONS_PER_EPOCH[params.train.select_every]
    weights = params.train.source_weights or {}
    trainer = paraphrase_trainer(
        model, pairs, sentences, config, params.seed, select, selections, distillation, processes, weights
    )
    checkpoint = Checkpoint(checkpoints / name_of(run), processes)
    if silence() > _SILENCE:
        message(f"{params.model}: {trainer.steps:,} steps begin")
    with shown(params.model, trainer, config.batch_size * config.accumulate) as on_step:
        curves = trainer.run(checkpoint, CHECKPOINT_SECONDS, on_step)
    return model, curves, checkpoint
