"""What a step of training frees is there for the next one."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from platform import libc_ver

import pytest
import torch

from tests.test_encoders import VARIANTS
from tests.test_training import train

resource = pytest.importorskip("resource", reason="counts of page faults are POSIX's")
BLOCK, PAGE = 100_000_000, 4096


def faults_of_a_second_block(folder):
    """Pages that the system had to bring for a block as large as one that was freed before, after a training."""
    train(*VARIANTS[0], folder)
    torch.empty(BLOCK, dtype=torch.uint8).fill_(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.empty(BLOCK, dtype=torch.uint8).fill_(2)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(libc_ver()[0] != "glibc", reason="other C libraries are left as they are")
def test_a_block_that_was_freed_is_taken_again(tmp_path):
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        faults = pool.submit(faults_of_a_second_block, tmp_path).result()
    assert faults < BLOCK / PAGE / 100
