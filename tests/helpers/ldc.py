"""The pair model: its options, pairs as rows of an embedding table, and short training runs on the toy corpus."""

import numpy as np
import torch

from paraphrastic.models.ldc import Config, Ldc
from paraphrastic.nn.batch import Batch
from paraphrastic.scoring.neural import TrainedPairModel
from paraphrastic.training.batches import LabelledPairs, Paraphrases
from paraphrastic.training.initial_embeddings import initial_embeddings
from paraphrastic.training.pair_trainers import LabelTrainer, MatchTrainer
from paraphrastic.training.trainer import Checkpoint
from tests.helpers.encoder_variants import EMBEDDINGS, TRAINED, ragged_of
from tests.helpers.toy_training import SENTENCES, WORD_COUNTS, paraphrases, watch

DIM, ROWS = 4, 11  # size of an embedding, and rows of the embedding table
TRAINING = {key: value for key, value in TRAINED.items() if key not in ("margin", "temperature")} | EMBEDDINGS
LDC = TRAINING | {"dim": DIM, "match": "local", "window": 1, "decompose": "orthogonal", "matmul_dtype": "float32"}
LDC |= {"max_window": 3, "filters_per_width": 2, "dropout": 0.0, "negatives_per_sentence": 1}
COMBINATIONS = [("max", "rigid")]  # of `match` and `decompose`
COMBINATIONS += [(match, how) for match in ("max", "global", "local") for how in ("linear", "orthogonal")]

# Sentences as rows of the embedding table: with repeated words, common words, a copy, one word and none. Row 0, which
# stands for unknown words, is a zero vector.
ID_SENTENCES = [[3, 1, 3, 10], [], [7], [2, 2, 5, 0, 9, 4, 1], [6, 8], [1, 10, 9], [0], [0, 0, 7, 3], [3, 1, 3, 10]]
ID_PAIRS = [(i, j) for i in range(len(ID_SENTENCES)) for j in range(len(ID_SENTENCES))]

TRAINERS = {Paraphrases: MatchTrainer, LabelledPairs: LabelTrainer}


def build(block, dtype=torch.float64):
    """Return a pair model with random weights and a random embedding table, (ROWS, DIM)."""
    generator = torch.Generator().manual_seed(4)
    module = Ldc(Config(**block), generator)
    for parameter in module.parameters():  # biases start at zero, which would hide their terms
        parameter.data.normal_(0, 0.7, generator=generator)
    embeddings = torch.randn(ROWS, DIM, generator=generator)
    embeddings[0] = 0
    return module.to(dtype), embeddings.to(dtype)


def pair_batch(pairs, sentences=ID_SENTENCES, dtype=torch.float64):
    """Return a batch of the sentences, and the two sides of the pairs in it."""
    batch = Batch.of(ragged_of(sentences, counted=False), torch.device("cpu"), dtype)
    return batch, *(torch.tensor([pair[side] for pair in pairs], dtype=torch.int64) for side in (0, 1))


def start(block, seed=7, **changes):
    """Return an untrained pair model with the vocabulary of the toy corpus."""
    config = Config(**block | changes)
    generator = torch.Generator().manual_seed(seed)
    module = Ldc(config, generator)
    texts, embeddings = initial_embeddings(module, config, WORD_COUNTS, SENTENCES, generator)
    return TrainedPairModel(module, embeddings, texts)


def labelled(model, seed=3, n=50):
    """Return n labelled pairs: every second one is a paraphrase, the others are random."""
    generator = np.random.default_rng(seed)
    left = generator.integers(40, size=n)
    right = np.where(np.arange(n) % 2, left ^ 1, generator.integers(40, size=n))
    labels = (left // 2 == right // 2).astype(np.float32)
    return LabelledPairs(model.vocabulary.lookup(SENTENCES), left, right, np.zeros(n, np.int64), labels)


def train(folder, pairs=paraphrases, select=None, every=1e9, on_step=lambda step: None, device="cpu", **changes):
    """Train a pair model on what `pairs` returns; return the model and its curves."""
    options = {"dim": 8, "filters_per_width": 8, "epochs": 6, "batch_size": 6, "learning_rate": 0.01} | changes
    model = start(LDC, **options).to(torch.device(device))
    examples = pairs(model)
    trainer = TRAINERS[type(examples)](model, examples, Config(**LDC | options), 11, select)
    return model, trainer.run(Checkpoint(folder), every, watch(lambda trainer: on_step(trainer.step)))
