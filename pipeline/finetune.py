"""Stage `finetune`: a supervised task and data/model → metrics/finetune/TASK.json and TASK.csv."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from paraphrastic import models
from paraphrastic.base import devices
from paraphrastic.base.console import message, progress
from paraphrastic.base.errors import ParameterError, unknown_name
from paraphrastic.base.files import fingerprint, write_curve, write_text
from paraphrastic.base.parameters import FILES, Params, checked, load_params, read_mapping
from paraphrastic.finetuning.learning import ModelChoice, TaskRun, train_tags, train_task
from paraphrastic.finetuning.options import FinetuneConfig, TaggerConfig, tagger_config_class
from paraphrastic.finetuning.task_trainers import Outcome
from paraphrastic.finetuning.tasks import find_task, load_task
from paraphrastic.training.checkpoint import CHECKPOINT_SECONDS, Checkpoint
from pipeline.stage import CHECKPOINTS, run

BENCHMARKS, MODEL, METRICS = Path("data/benchmarks"), Path("data/model"), Path("metrics/finetune")


def main(task: Annotated[str, typer.Argument(help="An entry of `tasks` in finetune/params.yaml.")]) -> None:
    """Train on a supervised task with the chosen model."""
    params = load_params()
    head, taggers = (read_mapping(Path(FILES[section])) for section in ("finetune", "taggers"))
    options = checked(FinetuneConfig, head, "finetune")
    tagger = _tagger_config(options.tagger, taggers)
    torch.set_num_threads(options.num_threads)
    device = params.train.device
    chosen = params.model, params.models[params.model], head, taggers
    settings = task, params.seed, devices.find(device).type, *chosen
    checkpoint = Checkpoint(CHECKPOINTS / fingerprint((*settings, params.vocabulary), BENCHMARKS, MODEL))
    with progress() as bar:
        line = bar.add_task(task, total=None)

        def on_step(step: int, steps: int) -> None:
            bar.update(line, completed=step, total=steps)

        task_run = TaskRun(params.seed, checkpoint, CHECKPOINT_SECONDS, on_step, device)
        outcome = _train(task, params, options, tagger, task_run)
    metrics = {"finetune": {task: {"epoch": outcome.epoch, "dev": outcome.dev, "test": outcome.test}}}
    write_text(METRICS / f"{task}.json", json.dumps(metrics, indent=2) + "\n")
    write_curve(METRICS / f"{task}.csv", ("epoch", "score"), outcome.curves.selection, digits=2)
    checkpoint.remove()
    message(f"{task}, epoch {outcome.epoch}: test {_listed(outcome.test)}; dev {_listed(outcome.dev)}")


def _listed(metrics: Mapping[str, float]) -> str:
    return " ".join(f"{name}={value}" for name, value in metrics.items())


def _train(task: str, params: Params, options: FinetuneConfig, tagger: TaggerConfig, task_run: TaskRun) -> Outcome:
    rows = find_task(BENCHMARKS, task)
    if rows.kind == "tagged_tokens":
        torch.set_num_threads(tagger.num_threads)
        return train_tags(rows, tagger, task_run)
    config = checked(models.config_class(params.model), params.models[params.model], "models", params.model)
    model = ModelChoice(params.model, config, params.vocabulary.orders, MODEL)
    return train_task(load_task(BENCHMARKS, rows), model, options, task_run)


def _tagger_config(name: str, taggers: dict[str, Any]) -> TaggerConfig:
    if name not in taggers:
        raise ParameterError(f"{FILES['finetune']}: tagger: {unknown_name('tagger', name, taggers)}")
    return checked(tagger_config_class(name), taggers[name], "taggers", name)


if __name__ == "__main__":
    run(main)
