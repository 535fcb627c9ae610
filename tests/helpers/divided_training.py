"""Short training runs that one process or several compute, for tests that start several."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import torch

from paraphrastic.base.errors import ParameterError
from paraphrastic.training.distillation import DistillationTrainer
from paraphrastic.training.pair_trainers import EncoderTrainer
from paraphrastic.training.processes import join, rank
from paraphrastic.training.trainer import Checkpoint, Curves
from tests.helpers import toy_distillation
from tests.helpers.encoder_variants import LSTM, VARIANTS, WORD
from tests.helpers.toy_training import encoder_trainer, pair_loss, prepare, watch

CHARAGRAM, CHARCNN = (next(block for name, block in VARIANTS if name == model) for model in ("charagram", "charcnn"))
NOISE = {"dropout": 0.3, "word_dropout": 0.2}
SEVERAL = {"accumulate": 3, "batches": "source", "epochs": 25}  # mini-batches of 4, 4 and 2 pairs of each source
CASES = {
    "avg": ("avg", WORD, {}),
    "avg, noise": ("avg", WORD, NOISE),
    "avg, random negatives, penalty": ("avg", WORD, {"negatives": "random", "lambda_w": 1e-3}),
    "avg, temperature": ("avg", WORD, {"temperature": 0.1}),
    "charagram, mix": ("charagram", CHARAGRAM, {"negatives": "mix", "lambda_c": 1e-3}),
    # 25 steps: Adam magnifies rounding of gradients near 0, on some processors to 2e-5 after 50 steps
    "charcnn, noise": ("charcnn", CHARCNN, {"dropout": 0.3, "epochs": 5}),
    "lstmavg, scrambled, noise": ("lstmavg", LSTM, {**NOISE, "scramble": 0.5, "max_grad_norm": 0.1}),
    "gran": ("gran", LSTM | {"variant": 1}, {"lambda_c": 1e-3}),
    "gran, noise": ("gran", LSTM | {"variant": 5}, {**NOISE, "negatives": "mix"}),
    "frozen": ("lstmavg", LSTM, {"freeze_embeddings": True}),
    "avg, accumulated": ("avg", WORD, {**NOISE, **SEVERAL, "lambda_w": 1e-3, "negatives": "mix"}),
    "charagram, accumulated": ("charagram", CHARAGRAM, SEVERAL),
    "lstmavg, accumulated": ("lstmavg", LSTM, {**NOISE, **SEVERAL, "max_grad_norm": 0.1}),
}
DISTILLED = {"changes": {**SEVERAL, "negatives": "mix"}, "regression_weight": 2.0, "similarity_weight": 0.5}


def run_case(name: str, folder: Path, seconds: float = 1e9, on_step=lambda step: None) -> dict[str, np.ndarray]:
    """Train for 50 steps and return the loss curve, the scores and the weights that are kept."""
    torch.set_num_threads(1)
    model_name, block, changes = CASES[name]
    model, pairs, config = prepare(model_name, block, **{"epochs": 10} | changes)
    processes = join(torch.device("cpu"))
    score = lambda trained: float(trained.embeddings.abs().mean())  # noqa: E731
    trainer = encoder_trainer(model, pairs, config, 11, score, 2, processes=processes)
    return _result(trainer, trainer.run(Checkpoint(folder, processes), seconds, watch(lambda t: on_step(t.step))))


def run_distilled(teacher: Path, folder: Path) -> dict[str, np.ndarray]:
    """Train toward the vectors of a teacher, with all losses, and return what `run_case` does, and the projection."""
    torch.set_num_threads(1)
    model, pairs, config, distillation = toy_distillation.prepare(teacher, **DISTILLED)
    processes = join(torch.device("cpu"))
    options = {"distillation": distillation, "loss": pair_loss(config), "processes": processes}
    trainer = DistillationTrainer(model, pairs, config, 11, None, **options)
    curves = trainer.run(Checkpoint(folder, processes), 1e9)
    return _result(trainer, curves) | {"projection": trainer.modules[1].weight.detach().numpy()}


def _result(trainer: EncoderTrainer, curves: Curves) -> dict[str, np.ndarray]:
    points = {"loss": np.array(curves.loss), "selection": np.array(curves.selection)}
    return points | {key: weight.copy() for key, weight in trainer.model.arrays().items()}


def run_cases(names: list[str], folder: Path) -> dict[str, dict[str, np.ndarray]]:
    return {name: run_case(name, folder / str(number)) for number, name in enumerate(names)}


def run_and_die(name: str, folder: Path, step: int) -> dict[str, np.ndarray]:
    """Train with a checkpoint after every step; the last process is killed once, after `step`."""

    def on_step(done: int) -> None:
        mark = folder / "died"
        if done == step and rank() == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    return run_case(name, folder / "checkpoint", 0.0, on_step)


def load_apart(folder: Path, steps: list[int]) -> None:
    """Load a checkpoint of which each process has a file of its own, in step `steps[rank]`; 0 for none."""
    checkpoint = Checkpoint(folder / str(rank()))
    if step := steps[rank()]:
        checkpoint.save({"step": step, "weights": torch.full((3,), float(step))})
    state = Checkpoint(folder / str(rank()), join(torch.device("cpu"))).load()
    (folder / f"loaded-{rank()}").write_text(str(state and (state["step"], state["weights"].tolist())))


def refuse(of: int) -> None:
    """Refuse to run in one of the processes, while the others wait for it."""
    if rank() == of:
        raise ParameterError("device 'cuda:1': not available on this machine; use auto or cpu")
    join(torch.device("cpu"))


def fail() -> None:
    """End the process with an exception that is no refusal."""
    raise RuntimeError("the disk is gone")


def wait(seconds: float) -> None:
    """Say that the process has joined the others, and do nothing for a while, also on SIGINT.

    With SIGINT, torch interrupts processes whose parent has died, but a long call of C does not react to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    join(torch.device("cpu"))
    os.write(sys.stdout.fileno(), b"joined\n")  # in one piece: the processes share a pipe
    time.sleep(seconds)
