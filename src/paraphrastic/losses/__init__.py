"""Losses of sentence encoders: `train.loss: NAME` in params.yaml selects `NAME.py`.

A loss file defines `Config`, a `Section` of options that have a default, and the function `loss`, with the arguments

* `vectors`: (2B, dim), the first sentences of B pairs, then the second ones;
* `mask`: (n, 2B) bool, true where a sentence must not be a negative, see `nn.negatives.negative_mask`;
* `own`: the n sentences whose losses are added. The losses of several processes add up to that of the mini-batch;
* `generator`: source of random numbers, for a loss that needs one;
* `options`: a `Config`.

It returns the sum of the losses of `own`, divided by a number that does not depend on `own`, such as 2B.
"""
