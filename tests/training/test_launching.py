"""What the environment tells a process of its group, and which processes may train together."""

import pytest
import torch

from paraphrastic.base.errors import ProcessError
from paraphrastic.training import processes
from paraphrastic.training.processes import Member, join, refuse_differences

GROUP = {"RANK": "3", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
TORCHRUN = GROUP | {"LOCAL_RANK": "1", "GROUP_WORLD_SIZE": "2"}

NUMBERS = processes.rank, processes.world_size, processes.local_rank, processes.nodes
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


def test_variable_that_is_no_number(environment):
    environment(TORCHRUN | {"RANK": "first"})
    with pytest.raises(ProcessError, match=r"^environment variable RANK = 'first': should be a number"):
        processes.rank()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
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
        ({"code": "x", "parameters": "y"}, "", "process 2 on b differs from process 0 on a in parameters, code: all"),
        ({}, "data/corpus: no such folder", "^process 2 on b cannot start: data/corpus: no such folder$"),
    ],
)
def test_process_that_would_compute_something_else(run, problem, message):
    same = Member("a", RUN)
    refuse_differences([same, same])
    with pytest.raises(ProcessError, match=message):
        refuse_differences([same, same, Member("b", RUN | run, problem)])
