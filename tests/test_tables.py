"""Steps on touched rows against the dense optimisers of PyTorch, and parquet files that are the same every time."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from paraphrastic import tables
from paraphrastic.errors import DataError
from paraphrastic.training.embedding_optimizers import DenseEmbeddingOptimizer, SparseRowOptimizer

ROWS, DIM, STEPS = 200, 8, 300


def train(kind, optimizer, pull, to_start, touched=ROWS):
    """Random quadratic losses on few rows a step, frequent and rare rows alike; where the table ends up."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(ROWS, DIM, generator=generator)
    target = torch.randn(ROWS, DIM, generator=generator)
    rates = np.linspace(0.01, 0, STEPS, endpoint=False)
    table = kind(weights, rates, optimizer, pull, to_start)
    for step in range(1, STEPS + 1):
        ids = (torch.rand(5 + step % 3, generator=generator) ** 3 * touched).long()
        leaf, places = table.gather(ids, step)
        ((leaf[places] - target[ids]) ** 2).sum().backward()
        table.update(step)
    table.flush(STEPS)
    return table.weights.detach()


class Torch:
    """PyTorch's own optimiser on the whole table, with λ(W − W0) in the gradient."""

    def __init__(self, weights, rates, optimizer, pull, to_start):
        self.weights = weights.requires_grad_()
        self.rates, self.pull, self.start = rates, pull, weights.detach().clone() * to_start
        self.optimizer = {"adam": torch.optim.Adam, "adagrad": torch.optim.Adagrad}[optimizer]([weights], eps=1e-8)

    def gather(self, ids, step):
        return self.weights, ids

    def update(self, step):
        self.weights.grad += self.pull * (self.weights.detach() - self.start)
        self.optimizer.param_groups[0]["lr"] = self.rates[step - 1]
        self.optimizer.step()
        self.optimizer.zero_grad()

    def flush(self, step):
        pass


both_kinds = pytest.mark.parametrize("kind", [SparseRowOptimizer, DenseEmbeddingOptimizer])
both_optimizers = pytest.mark.parametrize("optimizer", ["adam", "adagrad"])


@both_kinds
@both_optimizers
def test_rows_end_where_the_optimiser_of_pytorch_puts_them(kind, optimizer):
    torch.testing.assert_close(
        train(kind, optimizer, 0.0, True), train(Torch, optimizer, 0.0, True).detach(), atol=1e-5, rtol=0
    )


@both_kinds
@both_optimizers
def test_pull_to_the_start_is_that_of_the_gradient_to_first_order(kind, optimizer):
    ours, other = (train(k, optimizer, 1e-4, True) - train(k, optimizer, 0.0, True) for k in (kind, Torch))
    assert other.norm() > 1e-4
    assert (ours - other).norm() < 0.2 * other.norm()


@both_kinds
@both_optimizers
def test_an_infinite_pull_keeps_the_start(kind, optimizer):
    start = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(train(kind, optimizer, 1e9, True), start, atol=1e-5, rtol=0)


@both_kinds
@both_optimizers
def test_pull_to_zero_shrinks_what_training_touched_and_leaves_the_rest(kind, optimizer):
    start = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0))
    pulled = train(kind, optimizer, 1.0, False, touched=100)
    share = {"adam": 0.5, "adagrad": 0.8}[optimizer]
    assert pulled[:100].norm() < share * train(kind, optimizer, 0.0, False, touched=100)[:100].norm()
    torch.testing.assert_close(pulled[100:], start[100:])


def test_state_restores_to_the_same_bits():
    def half_way(table, generator, steps):
        for step in steps:
            ids = torch.randint(ROWS, (6,), generator=generator)
            leaf, places = table.gather(ids, step)
            (leaf[places] ** 2).sum().backward()
            table.update(step)

    for kind in (SparseRowOptimizer, DenseEmbeddingOptimizer):
        rates = np.full(40, 0.01)
        unbroken = kind(torch.ones(ROWS, DIM), rates, "adam", 1e-4, True)
        generator = torch.Generator().manual_seed(1)
        half_way(unbroken, generator, range(1, 21))
        saved = {name: tensor.clone() for name, tensor in unbroken.state().items()}
        position = generator.get_state()
        half_way(unbroken, generator, range(21, 41))
        resumed = kind(torch.ones(ROWS, DIM), rates, "adam", 1e-4, True)
        resumed.restore(saved)
        half_way(resumed, generator.set_state(position), range(21, 41))
        assert torch.equal(unbroken.weights, resumed.weights)


def test_same_rows_are_the_same_bytes_whatever_chunks_they_came_in(tmp_path):
    whole = pa.table({"text": ["a", "b", "c"]})
    parts = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    for name, table in (("whole", whole), ("parts", parts.replace_schema_metadata({"pandas": "{}"}))):
        tables.write_table(table, tmp_path / name, tables.SENTENCES)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    assert tables.read_table(tmp_path / "whole", tables.SENTENCES).equals(whole)


def test_tables_that_cannot_be_read_are_named(tmp_path):
    path = tmp_path / "t.parquet"
    with pytest.raises(DataError, match=r"t\.parquet: no such file; run `dvc repro`"):
        tables.read_table(path, tables.SENTENCES)
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(DataError, match=r"t\.parquet: not a readable parquet file"):
        tables.read_table(path, tables.SENTENCES)
    tables.write_table(pa.table({"text": ["a"]}), path, tables.SENTENCES)
    with pytest.raises(DataError, match=r"t\.parquet: columns \['text'\], expected \['left'"):
        tables.read_table(path, tables.PAIRS)
    with pytest.raises(DataError, match=r"t\.parquet: not a table of columns left"):
        tables.write_table(pa.table({"text": ["a"]}), path, tables.PAIRS)


def test_nothing_half_written_is_left(tmp_path):
    def interrupted():
        with tables.atomic_write(tmp_path / "file") as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
