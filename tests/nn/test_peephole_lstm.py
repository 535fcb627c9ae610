"""Buffers of the LSTM that are reused between steps. Its equations: tests/models/test_encoders.py."""

import pytest
import torch

from paraphrastic.nn.peephole_lstm import PeepholeLstm

BATCH_SIZES = [4, 3, 1]


def lstm_layer(matmul_dtype="float32"):
    return PeepholeLstm(5, 6, True, torch.Generator().manual_seed(1), matmul_dtype)


def inputs(seed, rows=8):
    return torch.randn(rows, 5, generator=torch.Generator().manual_seed(seed))


def gradients(lstm, *states):
    lstm.zero_grad()
    sum((part**2).sum() for part in states).backward()
    return [parameter.grad.clone() for parameter in lstm.parameters()]


def gradients_with_new_buffers(seed):
    lstm = lstm_layer()
    return gradients(lstm, lstm(inputs(seed), BATCH_SIZES))


@pytest.mark.parametrize("matmul_dtype", ["float32", "bfloat16"])
def test_buffers_of_two_steps(matmul_dtype):
    lstm, addresses = lstm_layer(matmul_dtype), []
    for batch_sizes in (BATCH_SIZES, [2, 1]):
        gradients(lstm, lstm(inputs(1, sum(batch_sizes)), batch_sizes))
        addresses.append({name: buffer.data_ptr() for name, buffer in lstm.pool._released.items()})
    assert addresses[0] == addresses[1]
    cast = {"cast_states"} if matmul_dtype == "bfloat16" else set()
    assert set(addresses[0]) == {"gates", "cells", "tanhs", "deltas"} | cast


def test_gradients_with_reused_and_new_buffers():
    lstm = lstm_layer()
    for seed in (1, 2):
        reused = gradients(lstm, lstm(inputs(seed), BATCH_SIZES))
        torch.testing.assert_close(reused, gradients_with_new_buffers(seed), rtol=0, atol=0)


def test_gradients_of_two_forward_passes_before_one_backward_pass():
    lstm = lstm_layer()
    gradients(lstm, lstm(inputs(3), BATCH_SIZES))
    both = gradients(lstm, lstm(inputs(1), BATCH_SIZES), lstm(inputs(2), BATCH_SIZES))
    separate = zip(gradients_with_new_buffers(1), gradients_with_new_buffers(2), strict=True)
    torch.testing.assert_close(both, [first + second for first, second in separate])


def test_backward_pass_through_overwritten_buffers():
    lstm = lstm_layer()
    loss = lstm(inputs(1), BATCH_SIZES).sum()
    loss.backward(retain_graph=True)
    lstm(inputs(2), BATCH_SIZES)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
