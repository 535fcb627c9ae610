"""Stage `finetune`: a supervised task and data/model → metrics/finetune/TASK.json, TASK.csv, data/predictions."""

from collections.abc import Mapping
from pathlib import Path

from paraphrastic.base import devices
from paraphrastic.base.console import message, progress
from paraphrastic.base.files import fingerprint, write_curve, write_json
from paraphrastic.base.parameters import load_params
from paraphrastic.base.tables import PREDICTIONS, write_table
from paraphrastic.finetuning.learning import learn
from paraphrastic.finetuning.options import load_options
from paraphrastic.finetuning.task_trainers import TaskRun
from paraphrastic.training.trainer import CHECKPOINT_SECONDS, Callback, Checkpoint, Trainer
from pipeline.stage import CHECKPOINTS, run

BENCHMARKS, MODEL = Path("data/benchmarks"), Path("data/model")
METRICS, PREDICTED = Path("metrics/finetune"), Path("data/predictions")


def main(task: str) -> None:
    """Train on a supervised task, an entry of `tasks` in finetune/params.yaml, with the chosen model."""
    params, options = load_params(), load_options()
    device, block = params.train.device, params.models[params.model]
    settings = task, params.seed, devices.find(device).type, params.model, block, options, params.vocabulary
    named = [Path(block[key]) for key in ("vectors", "path") if block.get(key)]
    checkpoint = Checkpoint(CHECKPOINTS / fingerprint(settings, BENCHMARKS, MODEL, *named))
    with progress() as bar:
        line = bar.add_task(task, total=None)

        class Shown(Callback):
            def on_step(self, trainer: Trainer) -> None:
                bar.update(line, completed=trainer.step, total=trainer.steps)

        task_run = TaskRun(params.seed, checkpoint, CHECKPOINT_SECONDS, Shown(), device)
        outcome = learn(task, params, options, BENCHMARKS, MODEL, task_run)
    write_table(outcome.predictions, PREDICTED / f"{task}.parquet", PREDICTIONS)
    metrics = {"finetune": {task: {"epoch": outcome.epoch, "dev": outcome.dev, "test": outcome.test}}}
    write_json(METRICS / f"{task}.json", metrics)
    write_curve(METRICS / f"{task}.csv", ("epoch", "score"), outcome.curves.selection, digits=2)
    checkpoint.remove()  # the disk may have been full until here
    message(f"{task}, epoch {outcome.epoch}: test {_listed(outcome.test)}; dev {_listed(outcome.dev)}")


def _listed(metrics: Mapping[str, float]) -> str:
    return " ".join(f"{name}={value}" for name, value in metrics.items())


if __name__ == "__main__":
    run(main)
