"""Averages of initial word vectors with weights, against naive averages."""

import numpy as np
import pytest
import torch

from paraphrastic.analysis.norm_weights import analyze
from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.inference import model_folder
from paraphrastic.models import vectors
from tests.helpers.encoder_variants import WORD
from tests.helpers.run_artifacts import write_corpus, write_run
from tests.helpers.small_models import save_encoder
from tests.helpers.toy_training import SENTENCES, WORDS, prepare

DIM = 8
FILE_WORDS = [*WORDS[:20], "again", "rare"]  # the training data lacks `rare`, the file lacks `was` and other words
TEXTS = [*SENTENCES.to_pylist()[:12], "a rare one", "unknown words"]
PAIRS = [
    *(("sts.2012.MSRpar", "test", n, n + 1, float(n % 4)) for n in range(8)),
    *(("sick.relatedness", "test", n, 13 - n, float(n % 3)) for n in range(6)),
]


def initial_vectors():
    return dict(zip(["UUUNKKK", *FILE_WORDS], np.random.default_rng(3).normal(size=(23, DIM)).round(3), strict=True))


def write(folder):
    """Write a run that started from a file of vectors."""
    lines = (f"{word} {' '.join(map(str, vector))}\n" for word, vector in initial_vectors().items())
    (folder / "vectors.txt").write_text("".join(lines))
    artifacts = write_run(folder, TEXTS, PAIRS)
    write_corpus(folder, SENTENCES.to_pylist())
    encoder, _, config = prepare("avg", WORD, dim=DIM, vectors=str(folder / "vectors.txt"))
    encoder.embeddings += torch.randn(encoder.embeddings.shape, generator=torch.Generator().manual_seed(5))
    model_folder.save(encoder, "avg", config, folder / "model")
    return artifacts


def naive_mean(vectors, unknown):
    """Return the mean over both sets of Pearson's r × 100 of averaged vectors."""
    sentence = [np.mean([vectors.get(word, unknown) for word in text.split()], axis=0) for text in TEXTS]
    r = []
    for name in ("sts.2012.MSRpar", "sick.relatedness"):
        rows = [(sentence[left], sentence[right], gold) for each, _, left, right, gold in PAIRS if each == name]
        cosines = [x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x, y, _ in rows]
        r.append(100 * np.corrcoef(cosines, [gold for _, _, gold in rows])[0, 1])
    return np.mean(r)


def test_four_averages(tmp_path):
    artifacts = write(tmp_path)
    initial, model = initial_vectors(), artifacts.model
    table = model.scorer.embedding_array()
    trained = {"UUUNKKK": table[0], **dict(zip(model.vocabulary.to_pylist(), table[1:], strict=True))}
    tokens = " ".join(SENTENCES.to_pylist()).split()
    by_norm = {word: vector * np.abs(trained[word]).sum() for word, vector in initial.items()}
    by_frequency = {word: vector / max(tokens.count(word), 1) for word, vector in initial.items()}
    expected = [naive_mean(each, each["UUUNKKK"]) for each in (initial, by_norm, by_frequency, trained)]
    result = analyze(artifacts)
    assert result["vectors"].tolist() == ["initial", "initial × norm", "initial / frequency", "trained"]
    assert result["sets"].tolist() == [2] * 4
    assert result["pearson"].tolist() == pytest.approx(expected, abs=0.0051)
    shares = [100 * (r - expected[0]) / (expected[3] - expected[0]) for r in expected]
    assert result["improvement"].tolist() == pytest.approx(shares, abs=0.02)


def test_model_that_keeps_the_vectors_of_the_file(tmp_path):
    artifacts, config = write(tmp_path), vectors.Config(vectors=str(tmp_path / "vectors.txt"), dim=DIM)
    model_folder.save(vectors.Vectors.fit(config, SENTENCES), "vectors", config, tmp_path / "model")
    table = analyze(artifacts).set_index("vectors")
    assert table.loc["trained", "pearson"] == table.loc["initial", "pearson"]
    assert table["improvement"].isna().all()


def test_model_that_did_not_start_from_vectors(tmp_path):
    artifacts = write(tmp_path)
    save_encoder(tmp_path / "model", "avg", WORD)
    with pytest.raises(ModelError, match=r"model: avg did not start from word vectors; name a file in `vectors`$"):
        analyze(artifacts)


def test_file_with_other_words_than_in_training(tmp_path):
    artifacts = write(tmp_path)
    with (tmp_path / "vectors.txt").open("a") as file:
        file.write(f"new{' 1' * DIM}\n")
    with pytest.raises(DataError, match=r"vectors\.txt: has words that the model lacks; train the model again$"):
        analyze(artifacts)
