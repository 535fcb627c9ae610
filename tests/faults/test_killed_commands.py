"""Commands that are killed, or that find the disk full: the output is whole, the earlier one, or not there."""

import shutil

import pytest

from tests.helpers.commands_that_write import COMMANDS, copy_inputs, place
from tests.helpers.forked import Limits, changes, content_of, is_killed, refusal, start_command, succeeds

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_commands(tries, inputs, tmp_path, name):
    command, out = COMMANDS[name], place(name)
    unbroken = copy_inputs(inputs, tmp_path / "unbroken")
    seconds = succeeds(start_command(unbroken, *command), unbroken)
    expected, count = content_of(unbroken), changes(unbroken)
    generator, kills, refused = tries.generator([*COMMANDS].index(name)), 0, 0
    troubles = [Limits()] * tries.count(1)  # killed after some time
    if count:
        troubles += [Limits(changes=generator.randrange(count)) for _ in range(tries.count(1))]
        troubles += [Limits(file_size=100)]  # all outputs are larger
    for number, limits in enumerate(troubles):
        folder = copy_inputs(inputs, tmp_path / str(number))
        process = start_command(folder, *command, limits=limits)
        if limits.file_size:
            refused += bool(refusal(process, folder))
        else:
            kills += is_killed(process, folder, generator.uniform(0, seconds) if limits == Limits() else None)
        # of the output, whose name is `out` or begins so
        assert content_of(folder, out) in ({}, content_of(unbroken, out), content_of(inputs, out))
        succeeds(start_command(folder, *command), folder)
        assert content_of(folder) == expected
        shutil.rmtree(folder)
    tries.report(changes=count, kills=kills, refused=refused, tracebacks=0, wrong_bytes=0)
