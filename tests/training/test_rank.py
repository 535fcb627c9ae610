"""What the environment tells a process of its group."""

import pytest
import torch

from paraphrastic.base.errors import ProcessError
from paraphrastic.training import rank
from paraphrastic.training.processes import join

GROUP = {"RANK": "3", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
TORCHRUN = GROUP | {"LOCAL_RANK": "1", "GROUP_WORLD_SIZE": "2"}


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
    assert (rank.is_member(), rank.rank(), rank.world_size(), rank.local_rank(), rank.nodes()) == facts


def test_variable_that_is_no_number(environment):
    environment(TORCHRUN | {"RANK": "first"})
    with pytest.raises(ProcessError, match=r"^environment variable RANK = 'first': should be a number"):
        rank.rank()


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
