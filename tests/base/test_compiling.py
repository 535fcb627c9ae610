"""Functions that numba compiles, where the machine code can be kept on the disk and where not."""

import pytest
from numba.core.caching import CacheImpl

from paraphrastic.base.parallel import njit


@pytest.mark.parametrize("writable", [True, False])
def test_function_without_a_folder_for_its_code(monkeypatch, writable):
    if not writable:
        monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    @njit(cache=True)
    def double(number: int) -> int:
        return 2 * number

    assert double(4) == 8
