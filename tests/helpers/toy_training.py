"""A toy corpus of twenty pairs of paraphrases, and short training runs of sentence encoders on it."""

from functools import partial

import numpy as np
import pyarrow as pa
import torch

from paraphrastic import models
from paraphrastic.base.parameters import Train
from paraphrastic.inference import model_folder
from paraphrastic.nn.options import EncoderConfig
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.training import losses
from paraphrastic.training.batches import Paraphrases
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.pair_trainers import EncoderTrainer
from paraphrastic.training.trainer import Callback, Checkpoint
from paraphrastic.vocabulary.counting import count_entries

# Sentences 2n and 2n + 1 are paraphrases. Each ends in a word of its own; its other words occur in many sentences.
LETTERS = np.random.default_rng(1).choice(list("abcdefghijklmnopqrstuvwxyz"), (40, 5))
WORDS = ["".join(row) for row in LETTERS]
SENTENCES = pa.array([f"again {WORDS[n % 6]} was the {word}" for n, word in enumerate(WORDS)])
WORD_COUNTS = count_entries("words", SENTENCES)


def counts_for(module):
    """Return the entries of the vocabulary of the toy corpus that a module reads."""
    return count_entries(module.vocabulary, SENTENCES, [2, 3], bigram_min_count=module.bigram_min_count)


def paraphrases(model):
    """Return the twenty pairs of paraphrases, of two sources."""
    rows = np.arange(20)
    return Paraphrases(model.vocabulary.lookup(SENTENCES), 2 * rows, 2 * rows + 1, rows % 2, rows)


def prepare(name, block, teacher=None, **changes):
    """Return an untrained model, its training pairs, and its configuration; a teacher gives the words their start."""
    block = block | {"dim": 8, "epochs": 6, "batch_size": 4, "learning_rate": 0.02} | changes
    config = models.config_class(name)(**block)
    generator = torch.Generator().manual_seed(7)
    encoder = models.model_class(name)(config, generator)
    texts, embeddings = initial_embeddings(encoder, config, counts_for(encoder), SENTENCES, generator, teacher)
    model = TrainedEncoder(encoder, embeddings, texts)
    return model, paraphrases(model), config


def pair_loss(config, name=None):
    """Return a loss with the options of a model: that of the name, or InfoNCE if they have a temperature."""
    name = name or ("margin" if config.temperature is None else "infonce")
    options = losses.options(Train.model_construct(loss=name, loss_options=None), config)
    return partial(losses.function(name), options=options)


def encoder_trainer(model, pairs, config, *args, **kwargs):
    """Return a trainer with the loss of the options."""
    return EncoderTrainer(model, pairs, config, *args, loss=pair_loss(config), **kwargs)


def watch(function):
    """Return a callback that calls a function with the trainer after each step."""
    callback = Callback()
    callback.on_step = function
    return callback


def train(name, block, folder, select=None, every=1e9, on_step=lambda step: None, device="cpu", **changes):
    """Train on the toy corpus, with a checkpoint in `folder` every `every` seconds; return the model and its curves."""
    model, pairs, config = prepare(name, block, **changes)
    trainer = encoder_trainer(model.to(torch.device(device)), pairs, config, 11, select)
    return model, trainer.run(Checkpoint(folder), every, watch(lambda trainer: on_step(trainer.step)))


def paraphrases_found(model):
    """Return the share of sentences whose nearest other sentence is their paraphrase."""
    vectors = torch.nn.functional.normalize(torch.from_numpy(model.encode(SENTENCES)))
    nearest = (vectors @ vectors.T).fill_diagonal_(-1).argmax(1)
    return float((nearest == torch.arange(40).bitwise_xor(1)).float().mean())


def kill_at(limit):
    """Return an `on_step` that interrupts the run in step `limit`."""

    def on_step(step):
        if step == limit:
            raise KeyboardInterrupt

    return on_step


def fickle_score(model):
    """Return a score that goes up and down from epoch to epoch."""
    return float(1e4 * model.embeddings.abs().sum() % 10)


def folder_content(folder):
    """Return the bytes of each file in `folder` by its name."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def saved_bytes(model, name, folder, config=None):
    """Save `model` to `folder` and return the bytes of each file by its name."""
    model_folder.write_model(
        model, model_folder.ModelInfo(name, (config or EncoderConfig.model_construct()).model_dump()), folder
    )
    return folder_content(folder)
