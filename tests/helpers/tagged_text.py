"""Small tagged sentences, and taggers of every kind with random weights."""

from typing import Any

import pyarrow as pa
import torch

from paraphrastic.finetuning.options import tagger_config_class
from paraphrastic.finetuning.tagger import Tagger
from paraphrastic.finetuning.task_trainers import untrained_tagger

COMMON: dict[str, Any] = {"dim": 6, "init": "random", "matmul_dtype": "float32", "lowercase": True, "hidden_dim": 5}
COMMON |= {"lstm_dropout": 0.2, "epochs": 4, "batch_size": 2, "num_threads": 1}
COMMON |= {"optimizer": "adam", "learning_rate": 0.01, "schedule": "linear", "max_grad_norm": 5.0}
NGRAMS: dict[str, Any] = {"words": False, "counts": "linear", "activation": "tanh", "orders": [2, 3], "min_count": 1}
NGRAMS |= {"ngrams_per_order": None}
FILTERS = {"filters": {2: 4, 3: 3}, "filter_activation": "tanh", "dense": True, "dropout": 0.1}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "charagram": ("charagram", COMMON | NGRAMS | {"num_layers": 1}),
    "charagram-2-layers": ("charagram", COMMON | NGRAMS | {"num_layers": 2, "activation": "relu", "counts": "sqrt"}),
    "charagram-case": ("charagram", COMMON | NGRAMS | {"num_layers": 1, "lowercase": False}),
    "charcnn": ("charcnn", COMMON | FILTERS | {"character_dim": 3, "activation": "relu"}),
    "charcnn-no-dense": (
        "charcnn",
        COMMON | FILTERS | {"character_dim": 3, "dense": False, "activation": "linear", "dim": 7},
    ),
    "charlstm": ("charlstm", COMMON | {"character_dim": 3, "output_gate": True}),
    "charlstm-case": ("charlstm", COMMON | {"character_dim": 3, "output_gate": True, "lowercase": False}),
}

TEXTS = [
    "The/DT dog/NN sees/VBZ a/DT Dog/NNP ./.",
    "Run/VB",
    "a/DT cat/NN ran/VBD to/TO the/DT IBM/NNP cats/NNS ,/, they/PRP say/VBP ./.",
    "dogs/NNS bark/VBP",
]
NEW_TEXTS = ["Ωμέγα/FW dog/NN zzz/NN", "日本/FW", "the/DT unseen/JJ dogs/NNS bark/VBP ./."]


def tagged_tokens(texts: list[str]) -> pa.Table:
    """Return columns `sentence`, `token` and `tag` from sentences like `The/DT dog/NN`."""
    rows = [(n, *token.rsplit("/", 1)) for n, text in enumerate(texts) for token in text.split()]
    return pa.table(dict(zip(("sentence", "token", "tag"), zip(*rows, strict=True), strict=True)))


def random_tagger(
    name: str, block: dict[str, Any], train: pa.Table | None = None, dtype: torch.dtype = torch.float32
) -> Tagger:
    """Return a tagger whose weights are all random; `train`, by default TEXTS, determines vocabulary and tags."""
    generator = torch.Generator().manual_seed(3)
    table = tagged_tokens(TEXTS) if train is None else train
    tagger = untrained_tagger(tagger_config_class(name)(**block), table, generator)
    for parameter in tagger.network.parameters():  # biases and peepholes start at zero, which would hide their terms
        parameter.data.normal_(0, 0.7, generator=generator)
    tagger.network.to(dtype)
    tagger.embeddings = torch.randn(tagger.embeddings.shape, generator=generator).to(dtype)
    return tagger
