"""Train on a supervised task with the chosen model: the logic of the stage `finetune`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch

from paraphrastic.base import devices
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.base.parameters import FILES, Params, checked
from paraphrastic.evaluation.metrics import percent
from paraphrastic.finetuning.heads import PairHead, SentenceHead
from paraphrastic.finetuning.initial_state import (
    InitialState,
    add_new_words,
    frozen_state,
    projected_state,
    trainable_state,
    untrained_model,
)
from paraphrastic.finetuning.options import FinetuneConfig, Options, TaggerConfig
from paraphrastic.finetuning.tagger import refuse_empty
from paraphrastic.finetuning.task_trainers import HeadTrainer, Outcome, TaskRun, finetune_pair_model, train_tagger
from paraphrastic.finetuning.tasks import SPLITS, Task, TaskRows, find_task, load_task
from paraphrastic.inference.model_folder import load_scorer, load_trained, read_config, usable_device
from paraphrastic.models import config_class, model_class
from paraphrastic.nn.batch import to_device
from paraphrastic.nn.layers import PairModel, TrainableModel
from paraphrastic.nn.options import ArchitectureConfig, TrainingConfig
from paraphrastic.scoring.neural import TrainedModel
from paraphrastic.scoring.scorer import VectorScorer
from paraphrastic.training.trainer import naming_options

FIXED = ("frozen", "projected")  # values of `init` with which the vectors of data/model are not trained


@dataclass(frozen=True)
class ModelChoice:
    """The model that is trained on a task."""

    name: str  # of the model
    config: Any  # its options
    orders: list[int]  # lengths of character n-grams of a model that starts from scratch
    pretrained: Path  # folder of the model that was trained on pairs


def learn(task: str, params: Params, options: Options, benchmarks: Path, model: Path, run: TaskRun) -> Outcome:
    """Train on a task with the chosen model, or a tagger on tasks of tags, and evaluate the best epoch.

    Args:
        task: name of the task.
        params: all parameters.
        options: of the task and of the tagger.
        benchmarks: folder of evaluation sets that the stage `tokenize` wrote.
        model: folder of the model that was trained on pairs.
        run: the run.

    Raises:
        ParameterError: there is no such task, or one of `options.by_task`, the model cannot be trained on it, or lacks
            an option of `options.noise`.
        DataError: a split is empty, or the development or the test set defines no metric.
        ModelError: there is no pretrained model of that name, or the loss is not finite.
    """
    rows = find_task(benchmarks, task)
    others = [find_task(benchmarks, each, "by_task") for each in options.task.by_task]
    if tagging := [each.name for each in others if each.kind == "tagged_tokens"]:
        problem = f"{tagging[0]}: is a task of tagging, whose options are those of taggers.yaml"
        raise ParameterError(f"{FILES['finetune']}: by_task: {problem}")
    if rows.kind == "tagged_tokens":
        torch.set_num_threads(options.tagger.num_threads)
        return train_tags(rows, options.tagger, run)
    torch.set_num_threads(options.task.num_threads)
    config = checked(config_class(params.model), params.models[params.model], "models", params.model)
    choice = ModelChoice(params.model, config, params.vocabulary.orders, model)
    return train_task(load_task(benchmarks, rows), choice, options.task, run)


def train_tags(rows: TaskRows, config: TaggerConfig, run: TaskRun) -> Outcome:
    """Train a part-of-speech tagger on a task (charagram2016 §4.2), and evaluate the best epoch; see `learn`."""
    train, dev, test = (rows.table.filter(pc.equal(rows.table["split"], split)) for split in SPLITS)
    refuse_empty(test, "tagging")  # before the training
    with naming_options(f"{FILES['taggers']}: {config.encoder} on {rows.name}"):
        tagger, curves = train_tagger(config, train, dev, run)
        of_dev, of_test = ({"accuracy": percent(tagger.accuracy(part) / 100)} for part in (dev, test))
        return Outcome(curves, of_dev, of_test, pa.concat_tables(map(tagger.predictions, (dev, test))))


def train_task(task: Task, model: ModelChoice, options: FinetuneConfig, run: TaskRun) -> Outcome:
    """Train a head on top of an encoder, or a pair model, on a task, and evaluate the best epoch; see `learn`."""
    task.check()
    options = options.of(task.name)
    model = _with_noise(model, options)
    if issubclass(model_class(model.name), PairModel):
        return _train_pair_model(task, model, options, run)
    generator = torch.Generator().manual_seed(run.seed)
    state = _initial_state(task, model, options, generator, run.device)
    head_class = PairHead if task.splits["train"].is_pairs else SentenceHead
    head = head_class(state.encoder.out_dim, options.hidden_dim, task.classes, generator)
    trainer = HeadTrainer(state, head.to(state.embeddings.device), task, options, run.seed)
    with naming_options(f"{FILES['finetune']}: {model.name} on {task.name}"):
        return trainer.train_and_evaluate(run)


def _with_noise(model: ModelChoice, options: FinetuneConfig) -> ModelChoice:
    """Return the model with the noise that `options` name in place of that in its block."""
    for name, value in options.noise.items():
        if name not in type(model.config).model_fields:
            raise ParameterError(
                f"finetune/params.yaml: {name} = {value}: '{model.name}' has no option {name}; leave it empty (null)"
            )
    return replace(model, config=model.config.model_copy(update=options.noise))


def _train_pair_model(task: Task, model: ModelChoice, options: FinetuneConfig, run: TaskRun) -> Outcome:
    """Train a pair model, which needs no head, with the options of its own block (ldc2016 §3.5)."""
    if task.classes != 2 or not task.splits["train"].is_pairs:
        raise ParameterError(
            f"{task.name}: '{model.name}' only predicts whether two sentences match; choose an encoder"
        )
    if options.init in FIXED:
        raise ParameterError(
            f"finetune/params.yaml: init = '{options.init}': '{model.name}' has no sentence vectors; use scratch"
        )
    generator = torch.Generator().manual_seed(run.seed)
    start: Any = _initial_model(task, model, options, generator).to(devices.find(run.device))
    with naming_options(f"{FILES['models']}: {model.name} on {task.name}"):
        return finetune_pair_model(start, model.config, task, options.init == "universal", run)


def _initial_state(
    task: Task, model: ModelChoice, options: FinetuneConfig, generator: torch.Generator, device: str
) -> InitialState:
    if options.init in FIXED:
        _check_name(model)
        scorer = load_scorer(model.pretrained, usable_device(model.pretrained, device))
        if not isinstance(scorer, VectorScorer):
            raise ParameterError(f"model '{model.name}' has no sentence vectors; choose an encoder")
        vectors = to_device(scorer.encode(task.sentences), devices.find(device))
        if options.init == "frozen":
            return frozen_state(vectors)
        return projected_state(vectors, options.projection_dim, options.lambda_c, generator)
    start: Any = _initial_model(task, model, options, generator).to(devices.find(device))
    pretrained = options.init == "universal"
    return trainable_state(start, model.config, task.sentences, options.lambda_c, options.lambda_w, pretrained)


def _initial_model(
    task: Task, model: ModelChoice, options: FinetuneConfig, generator: torch.Generator
) -> TrainedModel[Any]:
    train = task.splits["train"]
    sentences = task.sentences.take(np.unique(np.concatenate([train.left, train.right])))
    module = model_class(model.name)
    if not issubclass(module, TrainableModel):
        refused = f"finetune/params.yaml: init = '{options.init}': '{model.name}' has nothing to train on a task"
        raise ParameterError(f"{refused}; choose an encoder, or, for a model with vectors, frozen")
    if options.init == "universal":
        _check_name(model)
        _check_options(model, options)
        return add_new_words(load_trained(model.pretrained, options.noise), model.config, sentences, generator)
    return untrained_model(module, model.config, sentences, model.orders, generator)


def _check_name(model: ModelChoice) -> None:
    """Refuse a folder that holds another model than the one in params.yaml."""
    name = read_config(model.pretrained)["model"]
    if name != model.name:
        raise ModelError(
            f"{model.pretrained} holds '{name}', but model = '{model.name}' is chosen; run `dvc repro train`"
        )


def _check_options(model: ModelChoice, options: FinetuneConfig) -> None:
    """Refuse a folder whose model has other options than models.yaml, but for those of training and of the task."""
    free = (TrainingConfig.model_fields.keys() - ArchitectureConfig.model_fields.keys()) | options.noise.keys()
    chosen = model.config.model_dump(mode="json")
    for name, value in read_config(model.pretrained)["config"].items():
        if name not in free and name in chosen and chosen[name] != value:
            problem = f"was trained with {name} = {value}, but models.yaml has {chosen[name]}"
            raise ModelError(f"{model.pretrained} {problem}; run `dvc repro train`")
