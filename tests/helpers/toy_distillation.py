"""Short training runs toward the vectors of a teacher, on the toy corpus."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from paraphrastic import models
from paraphrastic.base.parameters import Teacher
from paraphrastic.base.tables import teacher_schema, write_table
from paraphrastic.scoring.neural import TrainedEncoder
from paraphrastic.training.batches import Paraphrases
from paraphrastic.training.checkpoint import Checkpoint
from paraphrastic.training.distillation import Distillation, DistillationTrainer, TeacherVectors
from paraphrastic.training.initial_embeddings import initial_embeddings
from tests.helpers.encoder_variants import WORD
from tests.helpers.stub_teacher import DIM, vector_of
from tests.helpers.toy_training import SENTENCES, WORD_COUNTS, counts_for

OPTIONS = {"path": "mini", "batch_size": 8, "precision": "float32", "initial_words": True}
OPTIONS |= {"margin_weight": 1.0, "regression_weight": 1.0, "similarity_weight": 0.0}


def unit(texts):
    vectors = np.array([vector_of(text) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write_teacher(folder: Path) -> Path:
    """Write the teacher's vectors of the toy corpus, the sentences in two files, and return the folder."""
    texts = SENTENCES.to_pylist()
    parts = {"sentences/0": texts[:30], "sentences/1": texts[30:], "words/0": WORD_COUNTS["text"].to_pylist()}
    for name, part in parts.items():
        vectors = pa.FixedSizeListArray.from_arrays(unit(part).astype(np.float16).ravel(), DIM)
        table = pa.table({"text": part, "vector": vectors})
        write_table(table, folder / f"{name}.parquet", teacher_schema(name.split("/")[0], DIM))
    (folder / "teacher.json").write_text(json.dumps({"name": "mini", "dim": DIM}))
    return folder


def prepare(folder, name="avg", block=WORD, changes=None, **options):
    """Return an untrained model, its pairs, its options, and what is to be learned."""
    distillation = Distillation(TeacherVectors(folder, len(SENTENCES)), Teacher(**OPTIONS | options))
    defaults = {"dim": 8, "epochs": 6, "batch_size": 4, "learning_rate": 0.02, "init": "random"}
    config = models.config_class(name)(**block | defaults | (changes or {}))
    generator = torch.Generator().manual_seed(7)
    module = models.model_class(name)(config, generator)
    teacher = distillation.teacher if distillation.options.initial_words else None
    arguments = module, config, counts_for(module), SENTENCES, generator
    texts, embeddings = initial_embeddings(*arguments, teacher)
    model, rows = TrainedEncoder(module, embeddings, texts), np.arange(20)
    pairs = Paraphrases(model.vocabulary.lookup(SENTENCES), 2 * rows, 2 * rows + 1, rows % 2, rows)
    return model, pairs, config, distillation


def train(folder, checkpoints, *args, every=1e9, on_step=lambda step: None, **options):
    model, pairs, config, distillation = prepare(folder, *args, **options)
    trainer = DistillationTrainer(model, pairs, config, 11, None, distillation=distillation)
    return model, trainer.run(Checkpoint(checkpoints), every, on_step)
