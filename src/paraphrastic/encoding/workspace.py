"""Memory that the steps of a training use one after the other."""

from torch import Tensor


class Workspace:
    """Tensors by name, whose memory is used again.

    The system clears fresh memory page by page, 150 MB in each step of charLSTM if there were no such thing.
    """

    def __init__(self) -> None:
        self._given: dict[str, Tensor] = {}

    def take(self, name: str, rows: int, width: int, like: Tensor) -> Tensor:
        """An uninitialised tensor (rows, width) of the type and on the device of `like`.

        In the memory of the one that was given back under this name, if it has room; what autograd has kept of that
        one counts as changed from now on, so that no gradient is made of it.
        """
        old = self._given.pop(name, None)
        if old is None or not _has_room(old, rows * width, like):
            return like.new_empty(rows, width)
        old[:0].zero_()  # changes no number, only the version that autograd looks at
        return old.as_strided((rows, width), (width, 1))

    def give(self, **tensors: Tensor) -> None:
        """Let the memory of what was taken under these names be used again."""
        self._given |= tensors


def _has_room(old: Tensor, numbers: int, like: Tensor) -> bool:
    same = old.dtype == like.dtype and old.device == like.device
    return same and old.untyped_storage().nbytes() >= numbers * like.element_size()
