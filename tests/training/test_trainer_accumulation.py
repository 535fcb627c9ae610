"""Steps on several mini-batches: the gradient is that of the mean loss over all their pairs."""

import numpy as np
import pytest
import torch

from paraphrastic import models
from paraphrastic.base.errors import ParameterError
from paraphrastic.base.parameters import checked
from paraphrastic.losses import margin
from paraphrastic.nn.batch import DeviceSentences
from paraphrastic.nn.negatives import ALL
from paraphrastic.training.pair_trainers import EncoderTrainer
from paraphrastic.training.trainer import Checkpoint
from tests.helpers import ldc
from tests.helpers.encoder_variants import LSTM, WORD
from tests.helpers.option_changes import small_block
from tests.helpers.toy_training import encoder_trainer, fickle_score, kill_at, prepare, train

CPU = torch.device("cpu")


def naive_training(name, block, **changes):
    """Return losses and weights by the definitions: gradients of whole tables by autograd, Adam on every element."""
    model, pairs, config = prepare(name, block, **changes)
    module, table = model.module, model.embeddings.requires_grad_()
    sentences = DeviceSentences(pairs.sentences, CPU)
    batches = [batch for epoch in range(config.epochs) for batch in order(name, block, epoch, **changes)]
    weights, losses = [table, *module.parameters()], []
    strengths = [config.lambda_w, *[config.lambda_c] * (len(weights) - 1)]
    adam = [NaiveAdam(weight, strength) for weight, strength in zip(weights, strengths, strict=True)]
    for step, parts in enumerate(batches, 1):
        gradients, total = [np.zeros(weight.shape) for weight in weights], 0.0
        for rows in parts:
            vectors = module(table, sentences.take(pairs.sides(rows)))
            loss = margin.loss(vectors, pairs.negative_mask(rows, CPU), ALL, None, margin.Config(margin=config.margin))
            share = len(rows) / sum(len(each) for each in parts)
            total += share * loss.item()
            for sum_, gradient in zip(gradients, torch.autograd.grad(loss, weights), strict=True):
                sum_ += share * gradient.numpy()
        losses.append(total)
        for each, gradient in zip(adam, gradients, strict=True):
            each.update(gradient, config.learning_rate, step)
    return np.array(losses), [weight.detach().numpy() for weight in weights]


def order(name, block, epoch, **changes):
    """Return the mini-batches of each step of an epoch: `accumulate` of them, the last step may have fewer."""
    model, pairs, config = prepare(name, block, **changes)
    batches, k = encoder_trainer(model, pairs, config, 11, None).batches(epoch), config.accumulate
    return [batches[n * k : n * k + k] for n in range(-(-len(batches) // k))]


class NaiveAdam:
    """Adam on every element, then the implicit step of a penalty toward the start (or toward 0 if it is of Wc)."""

    def __init__(self, weight, strength):
        self.weight, self.strength = weight.detach().numpy(), strength
        self.m, self.v, self.start = 0.0, 0.0, self.weight.astype(np.float64)

    def update(self, gradient, rate, step):
        self.m, self.v = 0.9 * self.m + 0.1 * gradient, 0.999 * self.v + 0.001 * gradient**2
        rate *= (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
        root = np.where(self.v > 0, np.sqrt(self.v) + 1e-8, np.inf)
        moved = self.weight - rate * self.m / root
        self.weight[:] = self.start + (moved - self.start) / (1 + self.strength * rate / root)


@pytest.mark.parametrize("accumulate", [1, 4])
@pytest.mark.parametrize(("name", "block", "penalty"), [("avg", WORD, 1e-4), ("lstmavg", LSTM, 0.0)])
def test_losses_and_weights_by_the_definitions(name, block, penalty, accumulate, tmp_path):
    changes = {"accumulate": accumulate, "lambda_w": penalty, "epochs": 3, "learning_rate": 0.002}
    model, curves = train(name, block, tmp_path, **changes)
    losses, weights = naive_training(name, block, **changes)
    # five mini-batches in an epoch: the last step has those that are left
    assert [step for step, _ in curves.loss] == [*range(1, 16 if accumulate == 1 else 7)]
    np.testing.assert_allclose([loss for _, loss in curves.loss], losses, rtol=1e-5)
    for ours, naive in zip([model.embeddings, *model.module.parameters()], weights, strict=True):
        # Adam moves an element whose gradient is rounding alone as far as any other
        assert np.quantile(np.abs(ours.detach().numpy() - naive), 0.95) < 1e-5


@pytest.mark.parametrize("pairs", [ldc.labelled, ldc.paraphrases])
def test_steps_of_the_pair_model(pairs, tmp_path):
    """Labelled pairs need no negatives: a step on two mini-batches is one on a mini-batch of both."""
    options = {"batches": "mixed", "lambda_w": 1e-3, "lambda_c": 1e-3, "max_grad_norm": 0.01}
    parts, accumulated = ldc.train(tmp_path / "1", pairs, accumulate=2, batch_size=6, **options)
    whole, curves = ldc.train(tmp_path / "2", pairs, batch_size=12, **options)
    assert [step for step, _ in accumulated.loss] == [step for step, _ in curves.loss]
    equal = [
        np.allclose([loss for _, loss in accumulated.loss], [loss for _, loss in curves.loss], rtol=1e-5),
        np.allclose(parts.embeddings, whole.embeddings, atol=1e-5),
    ]
    assert equal == [pairs is ldc.labelled] * 2  # mismatched pairs are chosen in each mini-batch


def test_each_mini_batch_has_noise_of_its_own(tmp_path):
    draws = {}
    for accumulate in (1, 3):
        trainer, drawn = encoder_trainer(*prepare("avg", WORD, accumulate=accumulate, epochs=2), 11, None), []
        trainer.loss = lambda rows, t=trainer, d=drawn: (d.append(t.noise.random()), EncoderTrainer.loss(t, rows))[1]
        trainer.run(Checkpoint(tmp_path), 1e9)
        draws[accumulate] = drawn
    assert len(set(draws[1])) == len(set(draws[3])) == 10
    assert draws[3][:5] == draws[1][:5]  # those of the first epoch


@pytest.mark.parametrize(("name", "block"), [("avg", WORD | {"lambda_w": 1e-3}), ("lstmavg", LSTM)])
def test_bits_of_killed_and_unbroken_run(name, block, tmp_path):
    options = {"accumulate": 4, "dropout": 0.3, "negatives": "mix"}
    whole, curves = train(name, block, tmp_path / "1", fickle_score, **options)
    with pytest.raises(KeyboardInterrupt):
        train(name, block, tmp_path / "2", fickle_score, 0, kill_at(8), **options)
    resumed, again = train(name, block, tmp_path / "2", fickle_score, **options)
    assert again == curves
    assert torch.equal(resumed.embeddings, whole.embeddings)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None])
def test_number_of_mini_batches_that_means_nothing(value):
    block = small_block("models", "avg") | {"accumulate": value}
    with pytest.raises(ParameterError, match=rf"^models\.yaml: avg\.accumulate = {value}: should be .*$"):
        checked(models.config_class("avg"), block, "models", "avg")
