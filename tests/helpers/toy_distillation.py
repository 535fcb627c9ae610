"""Short training runs toward the vectors of a teacher, on the toy corpus."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraphrastic.base.parameters import Teacher
from paraphrastic.base.tables import teacher_schema, write_table
from paraphrastic.training.distillation import Distillation, DistillationTrainer, TeacherVectors
from paraphrastic.training.trainer import Checkpoint
from tests.helpers import toy_training
from tests.helpers.encoder_variants import WORD
from tests.helpers.stub_teacher import DIM, vector_of
from tests.helpers.toy_training import SENTENCES, WORD_COUNTS

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
    teacher = distillation.teacher if distillation.options.initial_words else None
    return *toy_training.prepare(name, block, teacher, **{"init": "random"} | (changes or {})), distillation


def train(folder, checkpoints, *args, every=1e9, on_step=lambda step: None, **options):
    model, pairs, config, distillation = prepare(folder, *args, **options)
    options = {"distillation": distillation, "loss": toy_training.pair_loss(config)}
    trainer = DistillationTrainer(model, pairs, config, 11, None, **options)
    return model, trainer.run(Checkpoint(checkpoints), every, toy_training.watch(lambda t: on_step(t.step)))
