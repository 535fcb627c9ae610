"""Kernels for the operations that take most of the time.

Beside each stands the operation in plain torch, which defines the result and runs on devices without a kernel. Tests
compare the kernels with it.
"""
