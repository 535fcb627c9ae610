"""Messages of errors about sources."""

from collections.abc import Callable
from typing import Any

import pytest

from paraphrastic.base.errors import SourceError


def source_error(call: Callable[..., object], *args: Any, **options: Any) -> str:
    """Return the message of the SourceError that `call` raises; it must be one line."""
    with pytest.raises(SourceError) as error:
        call(*args, **options)
    assert "\n" not in str(error.value)
    return str(error.value)
