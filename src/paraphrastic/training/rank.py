"""Which of several processes this one is, as `torchrun` tells it."""

import os


def is_member() -> bool:
    """Return whether this process is one of a group that `torchrun` or `workflow.launching` started."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def rank() -> int:
    """Return the number of this process in its group; 0 without one."""
    return int(os.environ["RANK"]) if is_member() else 0


def local_rank() -> int:
    """Return the number of this process among those of its group on this machine; 0 without a group."""
    return int(os.environ["LOCAL_RANK"]) if is_member() else 0


def starts() -> int:
    """Return how often the group was started again."""
    return int(os.environ["TORCHELASTIC_RESTART_COUNT"])
