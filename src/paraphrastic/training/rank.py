"""Which of several processes this one is, as `torchrun` and other launchers tell it."""

import os

from paraphrastic.base.errors import ProcessError

_ADDRESS = "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"  # with these a process finds the others of its group


def is_member() -> bool:
    """Return whether `torchrun`, `training.launching` or another launcher started this process as one of a group."""
    return all(name in os.environ for name in _ADDRESS)


def rank() -> int:
    """Return the number of this process in its group; 0 without one."""
    return _number("RANK", 0) if is_member() else 0


def world_size() -> int:
    """Return how many processes the group has; 1 without one."""
    return _number("WORLD_SIZE", 1) if is_member() else 1


def local_rank() -> int:
    """Return the number of this process among those of its group on this machine; 0 without a group."""
    return _number("LOCAL_RANK", 0) if is_member() else 0


def nodes() -> int:
    """Return on how many machines the group runs, as far as its launcher says; 1 without a group."""
    return _number("GROUP_WORLD_SIZE", 1) if is_member() else 1


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    if not text.isdecimal():
        raise ProcessError(f"environment variable {name} = {text!r}: should be a number; torchrun sets it, or unset it")
    return int(text)
