"""Models on a GPU compute the vectors and scores of the CPU, but for rounding.

Without a GPU, a pretended device shows operations that mix devices, copies and synchronisations.
"""

from functools import partial

import numpy as np
import pytest

import paraphrastic
from paraphrastic.analysis.explain import explain
from paraphrastic.base.errors import ParameterError
from paraphrastic.scoring import neural
from tests.helpers.encoder_variants import LSTM, REPRESENTATIVE, variant_parameters
from tests.helpers.pretended_device import DEVICE, HAS_GPU, gpu, tensors_of
from tests.helpers.small_models import save_encoder, save_pair_model
from tests.helpers.toy_training import SENTENCES, WORDS

TEXTS = [*SENTENCES.to_pylist(), "", "日本 xyzzy", f"{WORDS[0]}, {WORDS[1]}!"]
WITHOUT_TORCH = ("avg", "charagram")  # their static forms need none

encoders = pytest.mark.parametrize(
    ("name", "block"), [each for each in variant_parameters(*REPRESENTATIVE) if each.values[0] not in WITHOUT_TORCH]
)


@pytest.fixture
def records():
    """Let `cuda` be a device, and return what is recorded of it."""
    with gpu() as records:
        yield records


def assert_on_device(model):
    assert {tensor.device.type for tensor in tensors_of(model.scorer)} == {DEVICE.type}


@encoders
@pytest.mark.parametrize("device", ["cuda", "auto"])
def test_vectors_on_device_and_cpu(name, block, device, records, tmp_path):
    on_cpu = save_encoder(tmp_path, name, block)
    on_device = paraphrastic.load(tmp_path, device=device)
    assert_on_device(on_device)
    assert {tensor.device.type for tensor in tensors_of(on_cpu.scorer)} == {"cpu"}
    np.testing.assert_allclose(on_device.encode(TEXTS), on_cpu.encode(TEXTS), rtol=1e-4, atol=1e-5)
    scores = (model.similarity_pairwise(TEXTS[:-1], TEXTS[1:]) for model in (on_device, on_cpu))
    np.testing.assert_allclose(*scores, atol=1e-5)
    np.testing.assert_array_equal(on_device.embeddings(), on_cpu.embeddings())


@encoders
@pytest.mark.skipif(HAS_GPU, reason="only the pretended device counts copies")
def test_vectors_of_many_batches_are_read_once(name, block, records, tmp_path, monkeypatch):
    save_encoder(tmp_path, name, block)
    model = paraphrastic.load(tmp_path, device="cuda")
    monkeypatch.setattr(neural, "length_batches", partial(neural.length_batches, max_items=3))
    assert model.dim
    for recorded in (records.synchronizations, records.read):
        recorded.clear()
    vectors = model.encode(TEXTS)
    assert records.synchronizations == ["copy to cpu"]
    assert records.read == [vectors.size]


def test_scores_of_a_pair_model_on_device_and_cpu(records, tmp_path):
    on_cpu, on_device = save_pair_model(tmp_path), paraphrastic.load(tmp_path, device="cuda")
    assert_on_device(on_device)
    scores = (model.similarity_pairwise(TEXTS[:-1], TEXTS[1:]) for model in (on_device, on_cpu))
    np.testing.assert_allclose(*scores, atol=1e-5)
    assert HAS_GPU or records.read == [len(TEXTS) - 1]  # pairs of all batches at once


def test_explanation_on_device_and_cpu(records, tmp_path):
    on_cpu = save_encoder(tmp_path, "gran", LSTM | {"variant": 1})
    on_device = paraphrastic.load(tmp_path, device="cuda")
    left, right = ([unit.share for unit in explain(model, TEXTS[0], TEXTS[1]).left] for model in (on_device, on_cpu))
    np.testing.assert_allclose(left, right, atol=1e-5)


@pytest.mark.parametrize("device", ["gpu", "cuda:x"])
def test_wrong_name(device, tmp_path):
    save_encoder(tmp_path, "lstmavg", LSTM)
    with pytest.raises(ParameterError, match=f"^device '{device}': should be auto, cpu, cuda or cuda:N$"):
        paraphrastic.load(tmp_path, device=device)


@pytest.mark.skipif(HAS_GPU, reason="this machine has a GPU")
def test_no_gpu(tmp_path):
    save_encoder(tmp_path, "lstmavg", LSTM)
    with pytest.raises(ParameterError, match=r"^device 'cuda:9': not available on this machine; use auto or cpu$"):
        paraphrastic.load(tmp_path, device="cuda:9")
