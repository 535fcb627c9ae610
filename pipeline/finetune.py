"""A supervised task and `data/model` → `metrics/finetune/TASK.json`: figures on development and test set."""

import json
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
import torch
import typer
from pydantic import BaseModel, Field, PositiveInt

from paraphrastic import models
from paraphrastic.encoding.trained import Trained
from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.supervised import tasks
from paraphrastic.supervised.heads import PairHead, SentenceHead
from paraphrastic.supervised.starts import scratch, with_new_words
from paraphrastic.supervised.tasks import Task
from paraphrastic.supervised.tuning import Tuning, TuningConfig, rates
from paraphrastic.supervised.vectors import Frozen, Learned, Vectors
from paraphrastic.tables import replacing
from paraphrastic.training.checkpoint import Checkpoint
from pipeline.params import Params, checked, load_params
from pipeline.stage import CHECKPOINT_SECONDS, CHECKPOINTS, fingerprint, progress, run

BENCHMARKS, MODEL, METRICS = Path("data/benchmarks"), Path("data/model"), Path("metrics/finetune")
CODE = tuple(Path("src/paraphrastic") / name for name in ("encoding", "models", "supervised", "training"))


class Finetune(TuningConfig):
    """The block `finetune` of params.yaml.

    Attributes:
        tasks: names of the tasks, an instance of the stage each.
        init: the encoder starts from `scratch`, starts where the stage `train` ended and is pulled back there
            (`universal`), or stays there (`frozen`).
        projection: what frozen vectors are projected to.
        threads: of the CPU.
    """

    tasks: Annotated[list[str], Field(min_length=1)]
    init: Literal["scratch", "universal", "frozen"]
    projection: PositiveInt
    threads: PositiveInt


def main(task: Annotated[str, typer.Argument(help="of the list finetune.tasks in params.yaml")]) -> None:
    """Learn a supervised task with the chosen model."""
    params = load_params()
    options = checked(Finetune, params.finetune, "finetune")
    torch.set_num_threads(options.threads)
    chosen, generator = tasks.load(BENCHMARKS, task), torch.Generator().manual_seed(params.seed)
    vectors = _vectors(params, options, chosen, generator)
    head = PairHead if chosen.splits["train"].paired else SentenceHead
    tuning = Tuning(vectors, head(vectors.dim, options.hidden, chosen.classes, generator), chosen, options, params.seed)
    settings = task, params.seed, params.model, params.models[params.model], params.finetune, params.vocabulary
    checkpoint = Checkpoint(CHECKPOINTS / fingerprint(settings, BENCHMARKS, MODEL, *CODE))
    with progress() as bar:
        line = bar.add_task(task, total=tuning.steps)
        outcome = tuning.run(checkpoint, CHECKPOINT_SECONDS, lambda step: bar.update(line, completed=step))
    checkpoint.remove()
    figures = {"epoch": outcome.epoch, "dev": outcome.dev, "test": outcome.test}
    with replacing(METRICS / f"{task}.json") as part:
        part.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8", newline="\n")


def _vectors(params: Params, options: Finetune, task: Task, generator: torch.Generator) -> Vectors:
    config = checked(models.options(params.model), params.models[params.model], "models", params.model)
    if options.init == "frozen":
        known = torch.from_numpy(_trained(params).encode(task.sentences))
        return Frozen(known, options.projection, options.optimizer, options.lambda_c, generator)
    model, universal = _start(params, config, options, task, generator), options.init == "universal"
    pulls = options.lambda_c, options.lambda_w, universal
    bags = model.units.bags(task.sentences)
    return Learned(model, bags, rates(options, task), options.optimizer, *pulls)


def _start(params: Params, config: BaseModel, options: Finetune, task: Task, generator: torch.Generator) -> Trained:
    rows = task.splits["train"]
    seen = task.sentences.take(pa.array(np.unique(np.concatenate([rows.left, rows.right]))))
    if options.init == "universal":
        return with_new_words(_trained(params), config, seen, generator)
    encoder = models.implementation(params.model)
    if not hasattr(encoder, "units"):
        raise ParameterError(f"params.yaml: model = '{params.model}' has nothing to fit to a task; choose an encoder")
    return scratch(encoder, config, seen, params.vocabulary.orders, generator)


def _trained(params: Params) -> Trained:
    """The model of the stage `train`."""
    model, name = models.load(MODEL), models.name_of(MODEL)
    if name != params.model:
        raise ModelError(f"{MODEL} holds '{name}', params.yaml: model = '{params.model}'; run `dvc repro train`")
    if not isinstance(model, Trained):
        raise ParameterError(f"params.yaml: model = '{name}' has no vectors to learn with; choose an encoder")
    return model


if __name__ == "__main__":
    run(main)
