"""Checkpoints whose files are damaged."""

import pytest
import torch

from paraphrastic.training.trainer import Checkpoint


@pytest.fixture
def checkpoint(tmp_path):
    checkpoint = Checkpoint(tmp_path)
    checkpoint.save({"step": 3, "weights": torch.arange(4.0)})
    return checkpoint


def test_saved_state(checkpoint):
    state = checkpoint.load()
    assert state["step"] == 3
    assert state["weights"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "head", ["", "{", "[]", "3", "null", "{}", '{"file": 3, "sha256": ""}', '{"file": "state-3.pt", "sha256": ""}']
)
def test_damaged_head(checkpoint, head):
    (checkpoint.folder / "head.json").write_text(head)
    assert checkpoint.load() is None
