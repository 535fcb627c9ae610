"""Training on pairs of sentences: losses, optimizers, mini-batches, checkpoints and the training loop."""
