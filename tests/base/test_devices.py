"""Names of devices, and devices that this machine lacks."""

import pytest
import torch

from paraphrastic.base import devices
from paraphrastic.base.errors import ParameterError

WITHOUT_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")


@pytest.mark.parametrize("name", ["auto", "cpu", "cuda", "cuda:0", "cuda:12"])
def test_names(name):
    devices.check(name)


@pytest.mark.parametrize(
    "name", ["", None, 0, "gpu", "mps", "meta", "CUDA", "cuda:", "cuda:-1", "cuda:x", "cuda:01", "cuda:٣"]
)
@pytest.mark.parametrize("use", [devices.check, devices.find, lambda name: devices.refuse_gpu(name, "avg")])
def test_other_names(name, use):
    with pytest.raises(ParameterError) as caught:
        use(name)
    assert str(caught.value) == f"device '{name}': should be auto, cpu, cuda or cuda:N"


@WITHOUT_GPU
def test_devices_of_a_machine_without_gpu():
    assert devices.find("auto") == devices.find("auto", 3) == devices.find("cpu") == torch.device("cpu")
    for name in ("cuda", "cuda:9", "cuda:99999999999999999999"):
        with pytest.raises(ParameterError) as caught:
            devices.find(name)
        assert str(caught.value) == f"device '{name}': not available on this machine; use auto or cpu"


@WITHOUT_GPU
@pytest.mark.parametrize(("gpu", "chosen"), [(None, "cuda"), (0, "cuda:0"), (2, "cuda:2")])
def test_auto_chooses_a_gpu(monkeypatch, gpu, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(ParameterError, match=f"^device '{chosen}': not available on this machine"):
        devices.find("auto", gpu)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU")
def test_devices_of_a_machine_with_gpu():
    assert devices.find("auto") == devices.find("cuda") == torch.device("cuda")
    assert devices.find("auto", 0) == devices.find("cuda:0") == torch.device("cuda:0")
    with pytest.raises(ParameterError, match=r"^device 'cuda:99': not available on this machine; use auto or cpu$"):
        devices.find("cuda:99")


def test_what_is_computed_without_torch_refuses_a_gpu():
    for name in ("auto", "cpu"):
        devices.refuse_gpu(name, "avg")
    for name in ("cuda", "cuda:1"):
        with pytest.raises(ParameterError) as caught:
            devices.refuse_gpu(name, "data/model: avg")
        message = "data/model: avg is computed on the CPU, without PyTorch; use auto or cpu"
        assert str(caught.value) == f"device '{name}': {message}"
