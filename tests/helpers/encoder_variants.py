"""Every sentence encoder in the variants that its options select, small enough to compare with naive equations."""

import numpy as np
import pytest
import torch

from paraphrastic import models
from paraphrastic.nn.batch import Batch
from paraphrastic.text.columns import Ragged

DIM, ROWS = 5, 11  # size of an embedding, and rows of the embedding table

TRAINED = {"dim": DIM, "init": "random", "num_threads": 1}
TRAINED |= {"epochs": 1, "batch_size": 4, "accumulate": 1, "batches": "mixed", "curriculum": False}
TRAINED |= {"margin": 0.4, "temperature": None, "negatives": "max", "lambda_c": 0.0}
TRAINED |= {"optimizer": "adam", "learning_rate": 0.01, "schedule": "constant", "max_grad_norm": None}
NOISE = {"boundary_tokens": "none", "dropout": 0.0, "word_dropout": 0.0}
EMBEDDINGS = {"vectors": None, "freeze_embeddings": False, "lambda_w": 0.0}
WORD = TRAINED | NOISE | EMBEDDINGS
PROJ = WORD | {"out_dim": DIM + 2}
RECURRENT = WORD | {"scramble": 0.0, "matmul_dtype": "float32"}
LSTM = RECURRENT | {"output_gate": True}
BOTH = [LSTM | {"combine": combine} for combine in ("sum", "dense")]
CHARAGRAM = TRAINED | {"words": False, "bigrams": None, "counts": "sqrt", "num_layers": 1, "activation": "tanh"}


def _charcnn(filters, filter_activation, activation, dense=True):
    layers = {"filter_activation": filter_activation, "dense": dense, "activation": activation, "dropout": 0.0}
    return "charcnn", TRAINED | {"filters": filters} | layers


VARIANTS = [
    ("avg", WORD),
    ("lstmavg", LSTM),
    ("lstmavg", LSTM | {"output_gate": False}),
    ("lstm", LSTM),
    ("lstm", LSTM | {"output_gate": False}),
    ("proj", PROJ),
    ("dan", WORD | {"num_layers": 1, "activation": "tanh"}),
    ("dan", WORD | {"num_layers": 2, "activation": "relu"}),
    ("rnn", RECURRENT | {"activation": "tanh"}),
    ("rnn", RECURRENT | {"activation": "relu"}),
    ("irnn", RECURRENT),
    *(("bilstmavg", block) for block in BOTH),
    *(("gran", LSTM | {"variant": variant}) for variant in (1, 2, 3, 4, 5)),
    *(("bigran", BOTH[0] | {"variant": variant}) for variant in (1, 4)),
    *(("bigran", BOTH[1] | {"variant": variant}) for variant in (3, 5)),
    ("charagram", CHARAGRAM | {"counts": "linear"}),
    ("charagram", CHARAGRAM | {"num_layers": 2}),
    ("charagram", CHARAGRAM | {"words": True, "activation": "linear"}),
    _charcnn({2: 7, 3: 5}, "relu", "tanh"),
    _charcnn({2: 7, 3: 5}, "tanh", "linear"),
    _charcnn({1: 4, 2: 6, 5: 6}, "tanh", "tanh"),
    _charcnn({1: 4, 2: 6, 5: 6}, "relu", "linear"),
    _charcnn({2: 7, 3: 5}, "tanh", "linear", dense=False),
    ("charlstm", TRAINED | {"output_gate": True, "matmul_dtype": "float32"}),
    ("charlstm", TRAINED | {"output_gate": False, "matmul_dtype": "float32"}),
]


def _id(name, block):
    own = [f"{key}={value}" for key, value in block.items() if key not in RECURRENT]
    return "-".join([name, *own]).replace(" ", "")


NAMES = [_id(name, block) for name, block in VARIANTS]
REPRESENTATIVE = (  # beginnings of names: one variant of each kind of computation
    *("avg", "lstmavg-output_gate=True", "gran-output_gate=True-variant=4", "charlstm-output_gate=True"),
    *("bigran-output_gate=True-combine=dense-variant=3", "charagram-words=True"),
    "charcnn-filters={2:7,3:5}-filter_activation=tanh",
)

# Sentences as rows of the embedding table: with repeated ids, row 0, one id and none.
SENTENCES = [[3, 1, 3, 10], [], [7], [2, 2, 2, 5, 0, 9, 4], [6, 8], [1]]
MORE = [np.random.default_rng(n).integers(ROWS, size=1 + n % 3).tolist() for n in range(99)]  # a ReLU is often off


def variant_parameters(*fast):
    """Return (name, block) of all variants for `pytest.mark.parametrize`, slow if no name in `fast` begins theirs."""
    assert all(any(name.startswith(beginning) for name in NAMES) for beginning in fast)
    slow = [bool(fast) and not name.startswith(fast) for name in NAMES]
    return [
        pytest.param(*variant, id=name, marks=[pytest.mark.slow] * is_slow)
        for variant, name, is_slow in zip(VARIANTS, NAMES, slow, strict=True)
    ]


def build(name, block, dtype=torch.float64):
    """Return an encoder with random weights and a random embedding table, (ROWS, DIM)."""
    generator = torch.Generator().manual_seed(4)
    encoder = models.model_class(name)(models.config_class(name)(**block), generator)
    for parameter in encoder.parameters():  # biases and peepholes start at zero, which would hide their terms
        parameter.data.normal_(0, 0.7, generator=generator)
    return encoder.to(dtype), torch.randn(ROWS, DIM, generator=generator).to(dtype)


def ragged_of(sentences, counted):
    """Return lists of ids as `Ragged`; with `counted`, each id once per sentence with its count."""
    counts = [np.unique(sentence, return_counts=True) for sentence in sentences]
    rows = [ids for ids, _ in counts] if counted else sentences
    flat = np.array([number for ids in rows for number in ids], np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in rows])]).astype(np.int64)
    occurrences = np.array([count for _, of_sentence in counts for count in of_sentence], np.uint16)
    return Ragged(flat, offsets, occurrences if counted else None)


def batch_of(sentences, encoder, dtype=torch.float64):
    """Return lists of ids as the batch that `encoder` reads."""
    ragged = ragged_of(sentences, counted="ngrams" in encoder.vocabulary)
    return Batch.of(ragged, torch.device("cpu"), dtype)
