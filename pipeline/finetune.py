"""A supervised task and `data/model` → `metrics/finetune/TASK.json`: figures on development and test set."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import torch
import typer
from pydantic import Field, PositiveInt

from paraphrastic import models
from paraphrastic.encoding.encoder import PairEncoder
from paraphrastic.encoding.trained import TrainedModel
from paraphrastic.errors import ModelError, ParameterError, unknown
from paraphrastic.supervised import tags, tasks
from paraphrastic.supervised.heads import PairHead, SentenceHead
from paraphrastic.supervised.pairs import learn_pairs
from paraphrastic.supervised.starts import Start, frozen, learned, scratch, with_new_words
from paraphrastic.supervised.tasks import Found, Task
from paraphrastic.supervised.tuning import Outcome, Tuning, TuningConfig
from paraphrastic.tables import replacing
from paraphrastic.tagging.options import options as tagger_options
from paraphrastic.training.checkpoint import Checkpoint
from pipeline.params import Params, checked, load_params
from pipeline.stage import CHECKPOINT_SECONDS, CHECKPOINTS, fingerprint, progress, run

BENCHMARKS, MODEL, METRICS = Path("data/benchmarks"), Path("data/model"), Path("metrics/finetune")
CODE = tuple(Path("src/paraphrastic") / name for name in ("encoding", "models", "supervised", "tagging", "training"))

OnStep = Callable[[int, int], None]  # the number of a finished step, and that of all steps


class Finetune(TuningConfig):
    """The block `finetune` of params.yaml.

    Attributes:
        tasks: names of the tasks, an instance of the stage each.
        init: the encoder starts from `scratch`, starts where the stage `train` ended and is pulled back there
            (`universal`), or stays there (`frozen`).
        projection: what frozen vectors are projected to.
        tagger: the entry of `taggers` that learns tags.
        threads: of the CPU.
    """

    tasks: Annotated[list[str], Field(min_length=1)]
    init: Literal["scratch", "universal", "frozen"]
    projection: PositiveInt
    tagger: str
    threads: PositiveInt


def main(task: Annotated[str, typer.Argument(help="of the list finetune.tasks in params.yaml")]) -> None:
    """Learn a supervised task with the chosen model."""
    params = load_params()
    options = checked(Finetune, params.finetune, "finetune")
    torch.set_num_threads(options.threads)
    settings = task, params.seed, params.model, params.models[params.model], params.finetune, params.taggers
    checkpoint = Checkpoint(CHECKPOINTS / fingerprint((*settings, params.vocabulary), BENCHMARKS, MODEL, *CODE))
    with progress() as bar:
        line = bar.add_task(task, total=None)
        outcome = _learn(params, options, task, checkpoint, lambda n, of: bar.update(line, completed=n, total=of))
    checkpoint.remove()
    _write(task, outcome)


def _learn(params: Params, options: Finetune, name: str, checkpoint: Checkpoint, on_step: OnStep) -> Outcome:
    found = tasks.find(BENCHMARKS, name)
    if found.kind == "tagged_tokens":
        return _learn_tags(params, options, found, checkpoint, on_step)
    learn = _learn_pairs if issubclass(models.implementation(params.model), PairEncoder) else _learn_head
    return learn(params, options, tasks.load(BENCHMARKS, found), checkpoint, on_step)


def _learn_tags(params: Params, options: Finetune, found: Found, checkpoint: Checkpoint, on_step: OnStep) -> Outcome:
    """A tagger, whatever the model is (charagram2016 §4.2)."""
    if options.tagger not in params.taggers:
        raise ParameterError(f"params.yaml: finetune.tagger: {unknown('tagger', options.tagger, params.taggers)}")
    config = checked(tagger_options(options.tagger), params.taggers[options.tagger], "taggers", options.tagger)
    torch.set_num_threads(config.threads)
    return tags.learn(config, found, params.seed, checkpoint, CHECKPOINT_SECONDS, on_step)


def _learn_head(params: Params, options: Finetune, task: Task, checkpoint: Checkpoint, on_step: OnStep) -> Outcome:
    """Sentence vectors and a head on top."""
    generator = torch.Generator().manual_seed(params.seed)
    start = _vectors(params, options, task, generator)
    kind = PairHead if task.splits["train"].paired else SentenceHead
    head = kind(start.encoder.out_dim, options.hidden, task.classes, generator)
    return Tuning(start, head, task, options, params.seed).learn(checkpoint, CHECKPOINT_SECONDS, on_step)


def _learn_pairs(params: Params, options: Finetune, task: Task, checkpoint: Checkpoint, on_step: OnStep) -> Outcome:
    """A pair model, which needs no head, with the options of its own block (ldc2016 §3.5)."""
    config = checked(models.options(params.model), params.models[params.model], "models", params.model)
    if task.classes != 2 or not task.splits["train"].paired:
        raise ParameterError(f"{task.name}: '{params.model}' tells only whether two sentences match; choose an encoder")
    if options.init == "frozen":
        raise ParameterError(f"params.yaml: finetune.init = 'frozen': '{params.model}' has no vectors; use scratch")
    start = _start(params, config, options, task, torch.Generator().manual_seed(params.seed))
    universal = options.init == "universal"
    return learn_pairs(start, config, task, params.seed, universal, checkpoint, CHECKPOINT_SECONDS, on_step)


def _write(task: str, outcome: Outcome) -> None:
    """Under names that tell the columns of all tasks apart in one table."""
    figures = {"finetune": {task: {"epoch": outcome.epoch, "dev": outcome.dev, "test": outcome.test}}}
    with replacing(METRICS / f"{task}.json") as part:
        part.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8", newline="\n")


def _vectors(params: Params, options: Finetune, task: Task, generator: torch.Generator) -> Start:
    config = checked(models.options(params.model), params.models[params.model], "models", params.model)
    if options.init == "frozen":
        known = torch.from_numpy(_trained(params).encode(task.sentences))
        return frozen(known, options.projection, options.lambda_c, generator)
    model = _start(params, config, options, task, generator)
    return learned(model, task.sentences, options.lambda_c, options.lambda_w, options.init == "universal")


def _start(params: Params, config: Any, options: Finetune, task: Task, generator: torch.Generator) -> Any:
    rows = task.splits["train"]
    seen = task.sentences.take(pa.array(np.unique(np.concatenate([rows.left, rows.right]))))
    if options.init == "universal":
        return with_new_words(_trained(params), config, seen, generator)
    encoder = models.implementation(params.model)
    if not hasattr(encoder, "units"):
        raise ParameterError(f"params.yaml: model = '{params.model}' has nothing to fit to a task; choose an encoder")
    return scratch(encoder, config, seen, params.vocabulary.orders, generator)


def _trained(params: Params) -> TrainedModel[Any]:
    """The model of the stage `train`."""
    model, name = models.load(MODEL), models.name_of(MODEL)
    if name != params.model:
        raise ModelError(f"{MODEL} holds '{name}', params.yaml: model = '{params.model}'; run `dvc repro train`")
    if not isinstance(model, TrainedModel):
        raise ParameterError(f"params.yaml: model = '{name}' has no vectors to learn with; choose an encoder")
    return model


if __name__ == "__main__":
    run(main)
