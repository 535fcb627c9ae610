"""Kernels for the operations that take most of the time.

`bag_sum`, `conv_max_pool`, `row_mixture` and `lstm_cell` contain the operation in plain torch too (`reference…`). It
defines the result and runs on devices without a kernel. Tests compare the kernels with it.
"""

FASTMATH = {"reassoc", "contract", "arcp", "nsz"}  # without nnan and ninf: a NaN must reach the loss
