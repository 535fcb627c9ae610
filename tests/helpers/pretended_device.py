"""A pretended GPU: torch and this package treat its tensors as those of another device, main memory stores them.

On a machine without a GPU it shows where device code mixes devices, or draws random numbers on the device: the
operation raises. Copies between the device and main memory, and operations that make the CPU wait for the device, are
recorded. Kernels of a GPU do not run.

The device has the type `meta`, whose tensors have a shape and no elements; `DeviceTensor` adds the elements. All of it
is what PyTorch documents for its extension, in its notes on `__torch_dispatch__` and on modes.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode  # the notes import these from there
from torch.utils._pytree import tree_iter, tree_map_only

from paraphrastic.base import devices

PRETENDED = torch.device("meta")
HAS_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda") if HAS_GPU else PRETENDED

_aten = torch.ops.aten
_OUTPUT_SIZE_DEPENDS_ON_VALUES = (_aten._unique2, _aten.nonzero, _aten.masked_select)


class DeviceTensor(Tensor):
    """A tensor of the device; `host` is the tensor in main memory that stores its elements."""

    is_meta = False  # a module that loads a state leaves out tensors without elements

    @staticmethod
    def __new__(cls, host):
        shape = torch.empty_strided(host.shape, host.stride(), dtype=host.dtype, device=PRETENDED)
        return shape.as_subclass(cls)

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
        read: elements of each copy to main memory.
        synchronizations: operations whose results the CPU waits for.
    """

    def __init__(self):
        super().__init__()
        self.copied, self.read, self.synchronizations = [], [], []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self._record(operation, args, kwargs)
        return _run(operation, args, kwargs)

    def _record(self, operation, args, kwargs):
        name = operation.overloadpacket
        on_device = any(isinstance(leaf, DeviceTensor) for leaf in tree_iter(args))
        if name is _aten._to_copy:
            self._record_copy(args[0], kwargs.get("device") or args[0].device, kwargs.get("non_blocking"))
        elif name is _aten.copy_:
            self._record_copy(args[1], args[0].device, len(args) > 2 and args[2])
        elif on_device and (name is _aten._local_scalar_dense or _size_depends_on_values(name, args, kwargs)):
            self.synchronizations.append(str(operation))

    def _record_copy(self, source, target, asynchronous):
        if source.device.type == target.type:
            return
        (self.copied if target.type == PRETENDED.type else self.read).append(source.numel())
        if target.type == "cpu" or not asynchronous:
            self.synchronizations.append(f"copy to {target.type}")


@contextmanager
def gpu() -> Iterator[PretendedDevice]:
    """Let `cuda` be the GPU of this machine or, without one, the pretended device; yield the records of the latter."""

    def find(name: str, gpu: int | None = None) -> torch.device:
        return torch.device("cpu") if name == "cpu" else PRETENDED

    with PretendedDevice() as records, nullcontext() if HAS_GPU else patch.object(devices, "find", find):
        yield records


def tensors_of(model):
    """Return the embedding table and the parameters of a trained model or a tagger."""
    return [model.embeddings, *(model.network if hasattr(model, "network") else model.module).parameters()]


def _size_depends_on_values(name, args, kwargs):
    """Return whether the size of the result depends on the values of the arguments."""
    if name is _aten.repeat_interleave:
        return kwargs.get("output_size") is None
    if name in (_aten.index, _aten.index_put_):
        return any(index is not None and index.dtype == torch.bool for index in args[1])
    return name in _OUTPUT_SIZE_DEPENDS_ON_VALUES


def _run(operation, args, kwargs):
    """Run an operation on the tensors in main memory and wrap its result if it belongs to the device."""
    name, tensors = operation.overloadpacket, [leaf for leaf in tree_iter((args, kwargs)) if isinstance(leaf, Tensor)]
    has_device_arguments = any(isinstance(tensor, DeviceTensor) for tensor in tensors)
    target = kwargs.get("device")
    result_on_device = has_device_arguments if target is None else torch.device(target).type == PRETENDED.type
    has_host_arrays = any(tensor.dim() and not isinstance(tensor, DeviceTensor) for tensor in tensors)
    if has_device_arguments and has_host_arrays and name not in (_aten._to_copy, _aten.copy_):
        raise RuntimeError(f"{operation}: a tensor of the CPU beside tensors of the device")
    # The check of a model's size draws weights that have no elements, from a generator of the CPU.
    if result_on_device and torch.Tag.nondeterministic_seeded in operation.tags and not kwargs.get("generator"):
        raise RuntimeError(f"{operation}: random numbers of the device, which are others than those of the CPU")
    host_args, host_kwargs = tree_map_only(DeviceTensor, lambda tensor: tensor.host, (args, kwargs))
    if result_on_device and "device" in kwargs:
        host_kwargs["device"] = torch.device("cpu")
    out = operation(*host_args, **host_kwargs)
    is_in_place = operation.name().partition(".")[0].endswith("_")  # such as aten::add_.Tensor
    if out is not None and is_in_place:  # those on lists of tensors return nothing
        return args[0]
    if "out" in kwargs:
        return kwargs["out"]
    return tree_map_only(Tensor, DeviceTensor, out) if result_on_device else out
