"""Training toward the vectors of a teacher: the losses, the start, and what each option changes."""

import re

import numpy as np
import pytest
import torch

from paraphrastic.base.errors import DataError
from paraphrastic.training.distillation import TeacherVectors, regression_loss, similarity_loss
from tests.helpers.encoder_variants import VARIANTS
from tests.helpers.stub_teacher import DIM
from tests.helpers.toy_distillation import prepare, train, unit, write_teacher
from tests.helpers.toy_training import SENTENCES, WORD_COUNTS, kill_at, saved_bytes

BLOCKS = dict(VARIANTS)


@pytest.fixture
def folder(tmp_path):
    return write_teacher(tmp_path / "teacher")


def test_losses():
    generator = np.random.default_rng(1)
    vectors, targets = generator.normal(size=(7, 5)).astype("f4"), generator.normal(size=(7, 5)).astype("f4")
    u, t = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (vectors, targets))
    arguments = torch.from_numpy(vectors), torch.from_numpy(targets)
    assert regression_loss(*arguments, 7).item() == pytest.approx(np.mean(1 - (u * t).sum(1)), abs=1e-6)
    assert similarity_loss(*arguments).item() == pytest.approx(np.mean((u @ u.T - t @ t.T) ** 2), abs=1e-6)


@pytest.mark.parametrize("loss", [lambda v, t: regression_loss(v, t, 7), similarity_loss])
def test_gradient_of_a_zero_vector_is_not_above_that_of_short_ones(loss):
    vectors, targets = 0.1 * torch.randn(2, 7, 5, generator=torch.Generator().manual_seed(0))
    vectors[0] = 0
    loss(vectors.requires_grad_(), targets).backward()
    sizes = vectors.grad.norm(dim=1)
    assert 0 < sizes[0] < sizes[1:].max()


def test_vectors_by_row(folder):
    rows = np.array([39, 0, 30, 0])
    np.testing.assert_allclose(TeacherVectors(folder, 40).take(rows), unit(SENTENCES.to_pylist())[rows], atol=1e-3)


def test_principal_components(folder):
    teacher = TeacherVectors(folder, 40)
    components = teacher.components(4)
    np.testing.assert_allclose(components @ components.T, np.eye(4), atol=1e-6)
    variances = np.var(teacher.word_vectors @ teacher.components(DIM).T, axis=0)
    assert (np.diff(variances) <= 1e-6).all()
    assert variances.sum() == pytest.approx(np.var(teacher.word_vectors, axis=0).sum(), rel=1e-5)


@pytest.mark.parametrize("dim", [4, DIM, 9])
def test_start_of_words(folder, dim):
    model, _, _, distillation = prepare(folder, changes={"dim": dim})
    vectors = unit(WORD_COUNTS["text"].to_pylist())
    centred = vectors - vectors.mean(0)
    wanted = centred @ distillation.teacher.components(dim).T
    np.testing.assert_allclose(model.embeddings[1:, :DIM].numpy(), wanted, atol=2e-3)
    assert model.embeddings[1:, DIM:].count_nonzero() == len(vectors) * max(dim - DIM, 0)
    untaught, *_ = prepare(folder, changes={"dim": dim}, initial_words=False)
    assert torch.equal(untaught.embeddings[1:, DIM:], model.embeddings[1:, DIM:])
    assert not torch.equal(untaught.embeddings, model.embeddings)


def test_start_of_words_beside_ngrams_and_pairs(folder):
    name, block = next((name, block) for name, block in VARIANTS if name == "charagram" and block["words"])
    model, _, _, distillation = prepare(folder, name, block, {"bigrams": 2})
    texts = model.texts.to_pylist()
    assert " was the " in texts
    vectors = unit(WORD_COUNTS["text"].to_pylist())
    wanted = dict(zip(WORD_COUNTS["text"].to_pylist(), vectors - vectors.mean(0), strict=True))
    words = [row for row, text in enumerate(texts) if text.strip() in wanted and text == f" {text.strip()} "]
    assert 0 < len(words) < len(texts)
    assert sorted(model.embeddings[:, :DIM].abs().sum(1).nonzero().squeeze(1).tolist()) == words
    taught = np.stack([wanted[texts[row].strip()] for row in words]) @ distillation.teacher.components(DIM).T
    np.testing.assert_allclose(model.embeddings[words, :DIM].numpy(), taught, atol=2e-3)


@pytest.mark.parametrize("weights", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("name", ["avg", "lstmavg", "charcnn"])
def test_cosines_approach_those_of_the_teacher(folder, tmp_path, name, weights):
    keys = [f"{key}_weight" for key in ("margin", "regression", "similarity")]
    options = dict(zip(keys, weights, strict=True)) | {"initial_words": False}
    block = next(block for key, block in VARIANTS if key == name)
    changes = {"dim": 12, "epochs": 60, "learning_rate": 0.01} | ({"filters": {2: 30}} if name == "charcnn" else {})
    untrained, *_ = prepare(folder, name, block, changes, **options)
    trained, _ = train(folder, tmp_path / "c", name, block, changes, **options)
    wanted = unit(SENTENCES.to_pylist())
    errors = []
    for model in (untrained, trained):
        vectors = model.encode(SENTENCES)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        errors.append(np.abs(vectors @ vectors.T - wanted @ wanted.T).mean())
    assert errors[1] < 0.75 * errors[0]


@pytest.mark.parametrize("changes", [{f"{key}_weight": 0.5} for key in ("margin", "regression", "similarity")])
def test_each_weight_has_an_effect(folder, tmp_path, changes):
    _, before = train(folder, tmp_path / "1")
    _, after = train(folder, tmp_path / "2", **changes)
    assert before.loss != after.loss


def test_bytes_of_killed_and_unbroken_run(folder, tmp_path):
    unbroken, curves = train(folder, tmp_path / "1")
    with pytest.raises(KeyboardInterrupt):
        train(folder, tmp_path / "2", every=0, on_step=kill_at(9))
    resumed, resumed_curves = train(folder, tmp_path / "2")
    assert resumed_curves == curves
    assert saved_bytes(unbroken, "avg", tmp_path / "a") == saved_bytes(resumed, "avg", tmp_path / "b")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such file"), ("{", "damaged; remove it and run `dvc repro teach`"), ('{"name": 1}', "damaged")],
)
def test_damaged_note(folder, content, message):
    (folder / "teacher.json").unlink()
    if content is not None:
        (folder / "teacher.json").write_text(content)
    with pytest.raises(DataError, match=re.escape("teacher.json: ") + message):
        TeacherVectors(folder, 40)


def test_vectors_of_another_corpus_and_damaged_vectors(folder):
    with pytest.raises(DataError, match="41 training sentences; run `dvc repro teach`"):
        TeacherVectors(folder, 41)
    (folder / "sentences/1.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"1\.parquet: not a readable parquet file"):
        TeacherVectors(folder, 40)
