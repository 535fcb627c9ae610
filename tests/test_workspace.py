"""Memory that one step leaves to the next, and that no gradient is ever made of what has been written over."""

import pytest
import torch

from paraphrastic.nn.kernels.buffer_pool import BufferPool
from paraphrastic.nn.peephole_lstm import PeepholeLstm

SIZES = [4, 3, 1]


def layer(reduced=False):
    return PeepholeLstm(5, 6, True, torch.Generator().manual_seed(1), reduced)


def inputs(seed, rows=8):
    return torch.randn(rows, 5, generator=torch.Generator().manual_seed(seed))


def gradients(lstm, *states):
    lstm.zero_grad()
    sum((part**2).sum() for part in states).backward()
    return [parameter.grad.clone() for parameter in lstm.parameters()]


def alone(seed):
    lstm = layer()
    return gradients(lstm, lstm(inputs(seed), SIZES))


@pytest.mark.parametrize(
    ("rows", "like", "same"),
    [
        (3, torch.empty(0), True),
        (2, torch.empty(0), True),
        (4, torch.empty(0), False),
        (3, torch.empty(0, dtype=torch.bfloat16), False),
        (3, torch.empty(0, device="meta"), False),
    ],
)
def test_what_was_given_back_is_taken_again_where_it_fits(rows, like, same):
    workspace = BufferPool()
    first = workspace.take("gates", 3, 7, torch.empty(0))
    workspace.give(gates=first)
    second = workspace.take("gates", rows, 7, like)
    assert (second.shape, second.dtype, second.device) == ((rows, 7), like.dtype, like.device)
    assert second.is_contiguous()
    assert (second.data_ptr() == first.data_ptr()) is same


def test_what_shrank_has_room_for_as_much_as_before():
    workspace, sizes = BufferPool(), (5, 2, 5)
    taken = []
    for rows in sizes:
        taken.append(workspace.take("gates", rows, 7, torch.empty(0)))
        workspace.give(gates=taken[-1])
    assert len({tensor.data_ptr() for tensor in taken}) == 1


def test_what_is_in_use_is_not_taken():
    workspace = BufferPool()
    taken = [workspace.take("gates", 3, 7, torch.empty(0)) for _ in range(2)]
    assert taken[0].data_ptr() != taken[1].data_ptr()


@pytest.mark.parametrize("reduced", [False, True])
def test_a_step_of_an_lstm_uses_the_memory_of_the_one_before(reduced):
    lstm, used = layer(reduced), []
    for sizes in (SIZES, [2, 1]):
        gradients(lstm, lstm(inputs(1, sum(sizes)), sizes))
        used.append({name: tensor.data_ptr() for name, tensor in lstm.workspace._given.items()})
    assert used[0] == used[1]
    assert set(used[0]) == {"gates", "cells", "tanhs", "deltas"} | ({"kept"} if reduced else set())


def test_steps_in_memory_used_before_have_the_gradients_of_fresh_ones():
    lstm = layer()
    for seed in (1, 2):
        torch.testing.assert_close(gradients(lstm, lstm(inputs(seed), SIZES)), alone(seed), rtol=0, atol=0)


def test_two_passes_forward_before_one_back_do_not_write_over_each_other():
    lstm = layer()
    gradients(lstm, lstm(inputs(3), SIZES))
    both = gradients(lstm, lstm(inputs(1), SIZES), lstm(inputs(2), SIZES))
    torch.testing.assert_close(both, [a + b for a, b in zip(alone(1), alone(2), strict=True)])


def test_no_gradient_is_made_of_what_has_been_written_over():
    lstm = layer()
    loss = lstm(inputs(1), SIZES).sum()
    loss.backward(retain_graph=True)
    lstm(inputs(2), SIZES)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
