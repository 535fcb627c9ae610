"""A pretended GPU: torch and this package treat its tensors as those of another device, main memory stores them.

On a machine without a GPU it shows where device code mixes devices: an operation on tensors of both raises. Copies to
the device, and operations that make the CPU wait for the device, are recorded. Kernels of a GPU do not run.
"""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("pretended")
DEVICE = torch.device("pretended:0")

_aten = torch.ops.aten
_OUTPUT_SIZE_DEPENDS_ON_VALUES = (_aten._unique2, _aten.nonzero, _aten.masked_select)


class DeviceTensor(Tensor):
    """A tensor of the device; `host` is the tensor in main memory that stores its elements."""

    @staticmethod
    def __new__(cls, host):
        like = {"strides": host.stride(), "storage_offset": host.storage_offset(), "dtype": host.dtype}
        return Tensor._make_wrapper_subclass(cls, host.shape, device=DEVICE, **like)

    def __init__(self, host):
        self.host = host

    def __reduce_ex__(self, protocol):
        return self.host.__reduce_ex__(protocol)

    def tolist(self):
        return self.cpu().tolist()

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return _run(operation, args, kwargs or {})


class PretendedDevice(TorchDispatchMode):
    """Makes the device available while it is entered, and records what costs time on a real one.

    Attributes:
        copied: elements of each copy to the device.
        synchronizations: operations whose results the CPU waits for.
    """

    def __init__(self):
        super().__init__()
        self.copied, self.synchronizations = [], []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self._record(operation, args, kwargs)
        return _run(operation, args, kwargs)

    def _record(self, operation, args, kwargs):
        name = operation.overloadpacket
        on_device = any(isinstance(leaf, DeviceTensor) for leaf in tree_leaves(args))
        if name is _aten._to_copy:
            self._record_copy(args[0], kwargs.get("device") or args[0].device, kwargs.get("non_blocking"))
        elif name is _aten.copy_:
            self._record_copy(args[1], args[0].device, len(args) > 2 and args[2])
        elif on_device and (name is _aten._local_scalar_dense or _size_depends_on_values(name, args, kwargs)):
            self.synchronizations.append(str(operation))

    def _record_copy(self, source, target, asynchronous):
        if source.device.type == target.type:
            return
        if target.type == DEVICE.type:
            self.copied.append(source.numel())
        if target.type == "cpu" or not asynchronous:
            self.synchronizations.append(f"copy to {target.type}")


def _size_depends_on_values(name, args, kwargs):
    """Return whether the size of the result depends on the values of the arguments."""
    if name is _aten.repeat_interleave:
        return kwargs.get("output_size") is None
    if name in (_aten.index, _aten.index_put_):
        return any(index is not None and index.dtype == torch.bool for index in args[1])
    return name in _OUTPUT_SIZE_DEPENDS_ON_VALUES


def _run(operation, args, kwargs):
    """Run an operation on the tensors in main memory and wrap its result if it belongs to the device."""
    name, leaves = operation.overloadpacket, tree_leaves((args, kwargs))
    has_device_arguments = any(isinstance(leaf, DeviceTensor) for leaf in leaves)
    target = kwargs.get("device")
    result_on_device = has_device_arguments if target is None else torch.device(target).type == DEVICE.type
    if has_device_arguments and name not in (_aten._to_copy, _aten.copy_):
        _refuse_host_tensors(operation, leaves)
    host_args, host_kwargs = tree_map_only(DeviceTensor, lambda tensor: tensor.host, (args, kwargs))
    if result_on_device and "device" in kwargs:
        host_kwargs["device"] = torch.device("cpu")
    out = operation(*host_args, **host_kwargs)
    if name is _aten.copy_:
        return args[0]
    if name is _aten._local_scalar_dense or not result_on_device:
        return out
    out = tree_map_only(Tensor, DeviceTensor, out)
    return return_and_correct_aliasing(operation, args, kwargs, out) if has_device_arguments else out


def _refuse_host_tensors(operation, leaves):
    """Raise if an argument is an array in main memory; a single number may be."""
    for leaf in leaves:
        if isinstance(leaf, Tensor) and not isinstance(leaf, DeviceTensor) and leaf.dim():
            raise RuntimeError(f"{operation}: a tensor of the CPU beside tensors of the device")
