"""A device that is none: torch and this package take its tensors for those of a GPU, but main memory holds them.

Where there is no GPU, this shows what would go wrong on one, but for its kernels: an operation on tensors of both
devices fails, and what is copied there, or makes the CPU wait for its results, is recorded.
"""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("pretended")
DEVICE = torch.device("pretended:0")

_aten = torch.ops.aten
_SIZED_BY_VALUES = (_aten._unique2, _aten.nonzero, _aten.masked_select)


class OnDevice(Tensor):
    """A tensor of the device, whose numbers are in `held`."""

    @staticmethod
    def __new__(cls, held):
        like = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        return Tensor._make_wrapper_subclass(cls, held.shape, device=DEVICE, **like)

    def __init__(self, held):
        self.held = held

    def __reduce_ex__(self, protocol):
        return self.held.__reduce_ex__(protocol)

    def tolist(self):
        return self.cpu().tolist()

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return _run(operation, args, kwargs or {})


class Watch(TorchDispatchMode):
    """While it is entered there is the device.

    Attributes:
        brought: how many numbers each copy to the device had.
        waits: operations whose results the CPU waits for.
    """

    def __init__(self):
        super().__init__()
        self.brought, self.waits = [], []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self._see(operation, args, kwargs)
        return _run(operation, args, kwargs)

    def _see(self, operation, args, kwargs):
        name, here = operation.overloadpacket, any(isinstance(leaf, OnDevice) for leaf in tree_leaves(args))
        if name is _aten._to_copy:
            self._see_copy(args[0], kwargs.get("device") or args[0].device, kwargs.get("non_blocking"))
        elif name is _aten.copy_:
            self._see_copy(args[1], args[0].device, len(args) > 2 and args[2])
        elif here and (name is _aten._local_scalar_dense or _sized_by_values(name, args, kwargs)):
            self.waits.append(str(operation))

    def _see_copy(self, source, target, asynchronous):
        if source.device.type == target.type:
            return
        if target.type == DEVICE.type:
            self.brought.append(source.numel())
        if target.type == "cpu" or not asynchronous:
            self.waits.append(f"copy to {target.type}")


def _sized_by_values(name, args, kwargs):
    """Whether the size of a result is known only when its values are."""
    if name is _aten.repeat_interleave:
        return kwargs.get("output_size") is None
    if name in (_aten.index, _aten.index_put_):
        return any(index is not None and index.dtype == torch.bool for index in args[1])
    return name in _SIZED_BY_VALUES


def _run(operation, args, kwargs):
    name, leaves = operation.overloadpacket, tree_leaves((args, kwargs))
    here = any(isinstance(leaf, OnDevice) for leaf in leaves)
    stays = here if kwargs.get("device") is None else torch.device(kwargs["device"]).type == DEVICE.type
    if here and name not in (_aten._to_copy, _aten.copy_):
        _refuse_mixed(operation, leaves)
    held_args, held_kwargs = tree_map_only(OnDevice, lambda tensor: tensor.held, (args, kwargs))
    if stays and "device" in kwargs:
        held_kwargs["device"] = torch.device("cpu")
    out = operation(*held_args, **held_kwargs)
    if name is _aten.copy_:
        return args[0]
    if name is _aten._local_scalar_dense or not stays:
        return out
    out = tree_map_only(Tensor, OnDevice, out)
    return return_and_correct_aliasing(operation, args, kwargs, out) if here else out


def _refuse_mixed(operation, leaves):
    """A number may come from the CPU, an array may not."""
    for leaf in leaves:
        if isinstance(leaf, Tensor) and not isinstance(leaf, OnDevice) and leaf.dim():
            raise RuntimeError(f"{operation}: a tensor of the CPU beside tensors of the device")
