"""Kernels for the operations that take most of the time.

Each file begins with the operation in plain torch, which defines the result and serves devices without a kernel of
their own. Tests compare each kernel with it.
"""
