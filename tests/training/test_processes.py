"""Training in several processes: what the environment tells them, and the same losses and weights as in one."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from paraphrastic.base.errors import ProcessError
from paraphrastic.training import processes
from paraphrastic.training.processes import Member, join, refuse_differences, run_in_processes, share_bounds
from tests.helpers.divided_training import CASES, fail, load_apart, refuse, run_and_die, run_cases, run_distilled
from tests.helpers.repository import ROOT
from tests.helpers.toy_distillation import write_teacher

UNDIVIDED = "avg, accumulated"  # the last mini-batch of a source has 4 sentences


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "names"),
    [
        (2, [*CASES]),
        pytest.param(3, [*CASES], marks=pytest.mark.nightly),
        pytest.param(5, [UNDIVIDED], marks=pytest.mark.nightly),
    ],
)
def test_losses_and_weights_of_several_processes(size, names, tmp_path):
    divided = run_in_processes(size, run_cases, names, tmp_path / "divided")
    for name, arrays in run_cases(names, tmp_path / "one").items():
        for key, values in arrays.items():
            np.testing.assert_allclose(divided[name][key], values, rtol=1e-5, atol=1e-5, err_msg=f"{name}: {key}")


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, pytest.param(5, marks=pytest.mark.nightly)])
def test_distillation_in_several_processes(size, tmp_path):
    teacher = write_teacher(tmp_path / "teacher")
    divided = run_in_processes(size, run_distilled, teacher, tmp_path / "divided")
    for key, values in run_distilled(teacher, tmp_path / "one").items():
        np.testing.assert_allclose(divided[key], values, rtol=1e-5, atol=1e-5, err_msg=key)


@pytest.mark.slow
@pytest.mark.nightly
def test_process_that_dies_is_started_again(tmp_path):
    name = "lstmavg, scrambled, noise"
    unbroken = run_in_processes(2, run_cases, [name], tmp_path / "unbroken")[name]
    broken = run_in_processes(2, run_and_die, name, tmp_path, 31)
    assert (tmp_path / "died").exists()
    for key, values in unbroken.items():
        np.testing.assert_array_equal(broken[key], values, err_msg=key)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("steps", [[0, 7], [5, 7], [7, 5], [7, 7]], ids=str)
def test_training_goes_on_from_the_last_step_of_any_process(steps, tmp_path):
    run_in_processes(2, load_apart, tmp_path, steps)
    assert [(tmp_path / f"loaded-{rank}").read_text() for rank in (0, 1)] == ["(7, [7.0, 7.0, 7.0])"] * 2


@pytest.mark.slow
def test_process_that_refuses(capfd, monkeypatch):
    monkeypatch.setattr(processes, "RESTARTS", 1)  # which change nothing: what is refused once is refused again
    with pytest.raises(ProcessError, match=r"process 1: device 'cuda:1': not available .*; use auto or cpu"):
        run_in_processes(2, refuse, 1)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_process_with_an_exception(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "RESTARTS", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with pytest.raises(ProcessError, match=r"^process 0 died 1 times: RuntimeError: the disk is gone; run the same"):
        run_in_processes(1, fail)
    assert not any(path.is_dir() for path in tmp_path.iterdir())  # torch leaves a file of each error
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == handlers


@pytest.mark.slow
def test_nobody_is_left_when_the_one_that_started_them_is_killed():
    code = (
        "from paraphrastic.training.processes import run_in_processes\n"
        "from tests.helpers.divided_training import wait\n"
        "if __name__ == '__main__': run_in_processes(2, wait, 300)"
    )
    starter = [sys.executable, "-c", code]
    with subprocess.Popen(starter, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert [process.stdout.readline() for _ in range(2)] == [b"joined\n"] * 2
        process.kill()
        killed = time.monotonic()
        assert process.stdout.read() == b""  # when no process is left that has the pipe
    assert time.monotonic() - killed < 30


def test_sentences_are_divided_by_their_ids():
    lengths = np.array([9, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    assert share_bounds(offsets, 1) == [0, 10]
    assert share_bounds(offsets, 2) == [0, 1, 10]
    assert share_bounds(offsets, 3) == [0, 1, 4, 10]
    assert share_bounds(offsets[[0, 1, 2]], 2) == [0, 1, 2]
    assert share_bounds(np.zeros(4, np.int64), 3) == [0, 1, 2, 3]


GROUP = {"RANK": "3", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
TORCHRUN = GROUP | {"LOCAL_RANK": "1", "GROUP_WORLD_SIZE": "2"}

NUMBERS = processes.rank, processes.world_size, processes.local_rank, processes.nodes
ALIKE = "all machines need the same commit, params.yaml and data"
RUN = {"parameters": "p", "corpus": "c", "code": "d"}


@pytest.fixture
def environment(monkeypatch):
    """Sets the variables of a launcher."""

    def set_(variables):
        for name in TORCHRUN:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_


@pytest.mark.parametrize(
    ("variables", "facts"),
    [
        ({}, (False, 0, 1, 0, 1)),
        ({"RANK": "3", "WORLD_SIZE": "4"}, (False, 0, 1, 0, 1)),  # no address: left over from something else
        (GROUP, (True, 3, 4, 0, 1)),
        (TORCHRUN, (True, 3, 4, 1, 2)),
    ],
)
def test_place_in_the_group(environment, variables, facts):
    environment(variables)
    assert (processes.is_member(), *(read() for read in NUMBERS)) == facts


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"RANK": "first"}, "^environment variable RANK = 'first': should be a number"),
        ({"RANK": "4"}, "^environment variables RANK = 4, WORLD_SIZE = 4: ranks start at 0$"),
        ({"MASTER_PORT": "port"}, "^process 3 has no connection to the others; .*invalid literal for int"),
    ],
)
def test_group_that_cannot_be_joined(environment, variables, message):
    environment(TORCHRUN | variables)
    with pytest.raises(ProcessError, match=message):
        join(torch.device("cpu"))


@pytest.mark.parametrize(
    ("run", "problem", "message"),
    [
        ({"corpus": "x"}, "", "process 2 on b differs from process 0 on a in corpus: .*same commit, "),
        ({"code": "x", "parameters": "y"}, "", f"^process 2 on b differs .* on a in parameters, code: {ALIKE}$"),
        ({}, "data/corpus: no such folder", "^process 2 on b cannot start: data/corpus: no such folder$"),
    ],
)
def test_process_that_would_compute_something_else(run, problem, message):
    same = Member("a", RUN)
    refuse_differences([same, same])
    with pytest.raises(ProcessError, match=message):
        refuse_differences([same, same, Member("b", RUN | run, problem)])
