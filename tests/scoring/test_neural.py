"""Every trained encoder as a scorer: saving and loading, unknown and empty text, and batches of similar length."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic.inference.model_folder import load_scorer, load_trained
from paraphrastic.scoring.neural import TrainedEncoder, length_batches
from paraphrastic.scoring.static import StaticEncoder
from tests.helpers.encoder_variants import LSTM, variant_parameters
from tests.helpers.toy_training import SENTENCES, prepare, saved_bytes

TEXTS = pa.array(["", "日本", SENTENCES[9].as_py()])  # no words, unknown words, known words


def random_model(name, block):
    """Return a model with random weights, and its configuration."""
    model, _, config = prepare(name, block)
    for parameter in model.module.parameters():  # biases start at zero, which would hide their terms
        parameter.data.normal_(0, 0.7)
    return model, config


@pytest.mark.parametrize(("name", "block"), variant_parameters())
class TestEveryEncoder:
    def test_vectors_and_bytes_after_loading_for_training(self, name, block, tmp_path):
        model, config = random_model(name, block)
        content = saved_bytes(model, name, tmp_path / "a", config)
        loaded = load_trained(tmp_path / "a")
        np.testing.assert_array_equal(loaded.encode(SENTENCES), model.encode(SENTENCES))
        assert saved_bytes(loaded, name, tmp_path / "b", config) == content

    def test_vectors_and_bytes_after_loading_for_scoring(self, name, block, tmp_path):
        model, config = random_model(name, block)
        content = saved_bytes(model, name, tmp_path / "a", config)
        loaded, is_static = load_scorer(tmp_path / "a"), name in ("avg", "charagram")
        assert type(loaded) is (StaticEncoder if is_static else TrainedEncoder)
        tolerance = 1e-6 if is_static else 0
        np.testing.assert_allclose(loaded.encode(SENTENCES), model.encode(SENTENCES), rtol=0, atol=tolerance)
        assert saved_bytes(loaded, name, tmp_path / "b", config) == content

    def test_permissions_of_saved_files(self, name, block, tmp_path):
        model, config = random_model(name, block)
        saved_bytes(model, name, tmp_path, config)
        assert len({file.stat().st_mode for file in tmp_path.iterdir()}) == 1

    def test_scores_of_unknown_and_empty_text(self, name, block):
        model, _, _ = prepare(name, block)
        scores = model.score(TEXTS, np.array([0, 1, 2]), np.array([2, 0, 2]))
        assert np.isfinite(scores).all()
        assert scores[2] == pytest.approx(1, abs=1e-5)
        assert model.oov_share(TEXTS).tolist() == [0, 1, 0]


@pytest.mark.parametrize(("max_items", "max_ids"), [(3, 1000), (100, 20), (100, 1)])
def test_length_batches(max_items, max_ids):
    lengths = np.random.default_rng(0).integers(0, 9, size=40)
    batches = list(length_batches(lengths, max_items, max_ids))
    rows = np.concatenate(batches)
    assert sorted(rows.tolist()) == list(range(40))
    assert (np.diff(lengths[rows]) >= 0).all()
    for batch in batches:
        assert len(batch) <= max_items
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= max_ids


@pytest.mark.parametrize(("copies", "wanted"), [(1, 1), (40, 3)])
def test_few_sentences_are_encoded_by_one_thread(monkeypatch, copies, wanted):
    model, _ = random_model("lstm", LSTM)
    counts, forward = [], type(model.module).forward
    monkeypatch.setattr(
        type(model.module), "forward", lambda *inputs: (counts.append(torch.get_num_threads()), forward(*inputs))[1]
    )
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        model.encode(pa.concat_arrays([SENTENCES] * copies))
        assert (set(counts), torch.get_num_threads()) == ({wanted}, 3)
    finally:
        torch.set_num_threads(before)


def test_encoders_that_begin_and_end_in_turn_leave_the_number_of_threads(monkeypatch):
    model, _ = random_model("lstm", LSTM)
    forward, calls = type(model.module).forward, count()
    first_in, second_in, first_ended = threading.Event(), threading.Event(), threading.Event()

    def in_turn(*inputs):
        if next(calls) == 0:
            first_in.set()
            second_in.wait(30)
        else:
            second_in.set()
            first_ended.wait(30)
        return forward(*inputs)

    monkeypatch.setattr(type(model.module), "forward", in_turn)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(model.encode, SENTENCES)
            first_in.wait(30)
            second = threads.submit(model.encode, SENTENCES)
            first.result()
            first_ended.set()
            second.result()
        with ThreadPoolExecutor(1) as threads:  # a new one has the number that torch was given last
            assert threads.submit(torch.get_num_threads).result() == 3
    finally:
        torch.set_num_threads(before)
