"""Smaller models: embeddings in float16 and int8, and a part of the vocabulary."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.cli.main import app
from paraphrastic.export.compact import compact
from paraphrastic.inference.model_folder import load_trained
from paraphrastic.inference.quantization import ranges_of
from paraphrastic.scoring import TABLE_FORMATS
from paraphrastic.scoring.static import EmbeddingTable
from paraphrastic.scoring.weight_files import Ranges
from tests.helpers.command_line import assert_refused
from tests.helpers.encoder_variants import WORD
from tests.helpers.small_models import CHARAGRAM_WORDS, save_encoder, save_model, save_word_vectors
from tests.helpers.toy_training import SENTENCES

TEXTS = [*SENTENCES.to_pylist(), "nothing of it 中"]


@pytest.fixture(scope="module", params=["avg", "avg-boundary", "charagram", "charagram-ngrams", "sif"])
def model(request, tmp_path_factory):
    """Return a model with wide vectors, so that the embeddings are most of its folder."""
    folder = tmp_path_factory.mktemp("model") / request.param
    if request.param == "sif":
        return save_word_vectors(folder, "sif", 2)
    if request.param.startswith("charagram"):
        counted = {} if request.param == "charagram" else {"words": False, "bigrams": None}
        return save_encoder(folder, "charagram", CHARAGRAM_WORDS | counted | {"activation": "linear"}, dim=64)
    tokens = "both" if request.param == "avg-boundary" else "none"
    return save_encoder(folder, "avg", WORD, dim=64, boundary_tokens=tokens)


def cosines(left, right):
    return (left * right).sum(1) / np.maximum(np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1), 1e-9)


@pytest.mark.parametrize(
    ("table", "error"),
    [("float32", 1e-6), ("float16", 1e-5), ("int8", 1e-3), ("int4", 0.1), ("int3", 0.1), ("int2", 0.3)],
)
def test_vectors_of_written_and_of_loaded_tables(model, table, error, tmp_path):
    entries = compact(model, tmp_path / "small", table)
    assert entries == len(model.vocabulary)
    written, loaded = paraphrastic.load(tmp_path / "small"), paraphrastic.load(model.folder, table=table)
    vectors = model.encode(TEXTS)
    np.testing.assert_array_equal(written.encode(TEXTS), loaded.encode(TEXTS))
    nonzero = np.linalg.norm(vectors, axis=1) > 0
    assert (cosines(written.encode(TEXTS), vectors)[nonzero] > 1 - error).all()
    assert written.scorer.table.format == table
    assert written.summary()["parameters"] == model.summary()["parameters"]
    assert (written.name, written.options, written.selection) == (model.name, model.options, model.selection)


def test_ranges_are_kept(model, tmp_path):
    ranges = ranges_of(model.encode(TEXTS))
    compact(replace(model, ranges=Ranges(ranges, ranges)), tmp_path / "small", "int8")
    np.testing.assert_array_equal(paraphrastic.load(tmp_path / "small").ranges, [ranges, ranges])


@pytest.mark.parametrize("table", ["float32", "int4"])
def test_vectors_times_a_number(model, table, tmp_path):
    ranges = ranges_of(model.encode(TEXTS))
    compact(replace(model, ranges=Ranges(ranges, ranges)), tmp_path / "small", table, scale=0.25)
    compact(model, tmp_path / "unscaled", table)
    small, unscaled = paraphrastic.load(tmp_path / "small"), paraphrastic.load(tmp_path / "unscaled")
    np.testing.assert_allclose(small.encode(TEXTS), 0.25 * unscaled.encode(TEXTS), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(small.ranges, [0.25 * ranges, ranges])


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e-30, 1e-12, 1e9, 1e20, float("inf"), float("nan")])
def test_refuses_to_multiply_by(scale, tmp_path):
    model = save_encoder(tmp_path / "model", "avg", WORD)
    with pytest.raises(ParameterError, match=r"scale = .*: should be a number from 1e-06 to 1e\+06"):
        compact(model, tmp_path / "small", "int8", scale=scale)


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_refuses_a_scale_that_the_format_cannot_hold(scale, tmp_path):
    model = save_encoder(tmp_path / "model", "avg", WORD)
    compact(model, tmp_path / "scaled", "float32", scale=scale)  # the limits are those of one call
    model = paraphrastic.load(tmp_path / "scaled")
    with pytest.raises(ParameterError, match="float16 cannot hold such vectors; choose a scale nearer to 1"):
        compact(model, tmp_path / "small", "float16", scale=scale)
    assert not (tmp_path / "small").exists()


def test_numbers_that_float16_cannot_hold(tmp_path):
    model = save_encoder(tmp_path / "model", "avg", WORD)
    compact(model, tmp_path / "large", "float32", scale=1e6)
    with pytest.raises(ParameterError, match=r"float16 cannot hold such vectors; choose a scale below 1, or another"):
        compact(paraphrastic.load(tmp_path / "large"), tmp_path / "small", "float16")
    with pytest.raises(ParameterError, match=r"large: float16 cannot hold its vectors; choose another table"):
        paraphrastic.load(tmp_path / "large", table="float16")


def test_sums_of_ngrams_that_float16_cannot_hold(tmp_path):
    model = save_encoder(tmp_path / "model", "charagram", CHARAGRAM_WORDS | {"activation": "linear"}, dim=64)
    encoder = model.scorer
    rows = np.full_like(encoder.embedding_array(), 6e4)  # two of them are beyond 65,504
    encoder = encoder.with_table(encoder.texts, EmbeddingTable(rows))
    size = compact(replace(model, scorer=encoder), tmp_path / "whole", "float16")
    limit = 0.7 * sum(file.stat().st_size for file in (tmp_path / "whole").iterdir()) / 1e6
    with pytest.raises(ParameterError, match=r"float16 cannot hold such vectors; choose a scale below 1, or another"):
        compact(replace(model, scorer=encoder), tmp_path / "small", "float16", limit)
    assert size == len(model.vocabulary)
    assert not (tmp_path / "small").exists()


def test_one_entry_is_more_than_the_size(tmp_path):
    model = save_encoder(tmp_path / "model", "charagram", CHARAGRAM_WORDS)
    with pytest.raises(ModelError, match="MB with a thousandth of its vocabulary; allow more than"):
        compact(model, tmp_path / "small", "int8", max_mb=1e-6)
    assert not (tmp_path / "small").exists()


def test_refuses_a_size_that_is_no_number(tmp_path):
    model = save_encoder(tmp_path / "model", "avg", WORD)
    with pytest.raises(ParameterError, match="max_mb = nan: should be a number above 0"):
        compact(model, tmp_path / "small", "int8", max_mb=float("nan"))


def test_refuses_to_scale_an_activation_function(tmp_path):
    model = save_encoder(tmp_path / "model", "charagram", CHARAGRAM_WORDS | {"activation": "tanh"})
    with pytest.raises(ModelError, match=r"function tanh and cannot be scaled; leave out the scale$"):
        compact(model, tmp_path / "small", "int8", scale=0.5)


def test_size_by_format(model, tmp_path):
    sizes = []
    for table in TABLE_FORMATS if model.dim == 64 else TABLE_FORMATS[:4]:
        compact(model, tmp_path / table, table)
        sizes.append((tmp_path / table / "weights.safetensors").stat().st_size)
    assert sizes == sorted(set(sizes), reverse=True)


@pytest.mark.parametrize("share", [0.6, 0.8])
def test_part_of_the_vocabulary(model, tmp_path, share):
    limit = share * sum(file.stat().st_size for file in model.folder.iterdir()) / 1e6
    entries = compact(model, tmp_path / "small", "float32", limit)
    small = paraphrastic.load(tmp_path / "small")
    assert sum(file.stat().st_size for file in (tmp_path / "small").iterdir()) <= limit * 1e6
    assert entries == len(small.vocabulary) < len(model.vocabulary)
    rows = [model.vocabulary.to_pylist().index(text) for text in small.vocabulary.to_pylist()]
    assert rows == sorted(rows)
    are_words = np.array([model.name == "charagram" and is_word(text) for text in small.vocabulary.to_pylist()])
    np.testing.assert_array_equal(small.embeddings()[~are_words], model.embeddings()[rows][~are_words])
    if model.options.get("boundary_tokens") == "both":
        assert {"<s>", "</s>"} <= set(small.vocabulary.to_pylist())


def is_word(text):
    return len(text) > 2 and text[0] == text[-1] == " "


def group(text):
    return "n-grams" if not is_word(text) else f"{len(text.split())} words"


def smaller(model, out, share):
    compact(model, out, "float32", share * (model.folder / "weights.safetensors").stat().st_size / 1e6)
    return paraphrastic.load(out)


def test_entries_of_the_largest_length_times_frequency_are_kept(tmp_path):
    model = save_encoder(tmp_path / "model", "charagram", CHARAGRAM_WORDS, dim=64, bigrams=1)
    texts, lengths = model.vocabulary.to_pylist(), np.linalg.norm(model.embeddings(), axis=1)
    kept = set(smaller(model, tmp_path / "small", 0.5).vocabulary.to_pylist())
    places = {name: [text for text in texts if group(text) == name] for name in set(map(group, texts))}
    weight = {
        text: length * len(places[group(text)]) / (1 + places[group(text)].index(text))
        for text, length in zip(texts, lengths, strict=True)
    }
    assert min(weight[text] for text in kept) >= max(weight[text] for text in texts if text not in kept)
    assert 0.3 < len(kept) / len(texts) < 0.6


def test_words_contain_their_ngrams_that_are_left_out(tmp_path):
    model = save_encoder(tmp_path / "model", "charagram", CHARAGRAM_WORDS | {"activation": "linear"}, dim=64)
    small = smaller(model, tmp_path / "small", 0.7)
    words = [text.strip() for text in small.vocabulary.to_pylist() if group(text) == "1 words"]
    lost = [text for text in model.vocabulary.to_pylist() if text not in set(small.vocabulary.to_pylist())]
    assert any(group(text) == "n-grams" and any(text in f" {word} " for word in words) for text in lost)
    np.testing.assert_allclose(small.encode(words), model.encode(words), atol=1e-5)


def test_training_goes_on_from_int8(tmp_path):
    model = save_encoder(tmp_path / "model", "avg", WORD)
    compact(model, tmp_path / "small", "int8")
    trained = load_trained(tmp_path / "small")
    assert trained.embeddings.dtype == torch.float32
    np.testing.assert_allclose(trained.encode(SENTENCES), load_trained(tmp_path / "model").encode(SENTENCES), atol=0.05)


def test_models_without_a_table_and_unknown_formats(tmp_path):
    for name in ("overlap", "ldc"):
        with pytest.raises(ModelError, match="is no sum of embeddings that could be int8; choose avg or charagram"):
            compact(save_model(tmp_path / name, name), tmp_path / "small", "int8")
    avg = save_encoder(tmp_path / "avg", "avg", WORD)
    with pytest.raises(ParameterError, match=r"unknown format of a table 'int1'"):
        paraphrastic.load(avg.folder, table="int1")
    with pytest.raises(ModelError, match=r"takes 0\.\d*[1-9]\d* MB with a thousandth .*; allow more than 1e-05"):
        compact(avg, tmp_path / "small", "int8", 1e-5)
    assert not (tmp_path / "small").exists()


def test_damaged_table(tmp_path):
    compact(save_encoder(tmp_path / "model", "avg", WORD), tmp_path / "small", "int8")
    path = tmp_path / "small/weights.safetensors"
    arrays = load_file(path)
    arrays["embeddings.scales"] = arrays["embeddings.scales"][1:]
    save_file(arrays, path, {"vocabulary": json.loads((tmp_path / "small/config.json").read_text())["vocabulary"]})
    for content in (path.read_bytes(), path.read_bytes()[:-9]):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"small"):
            paraphrastic.load(tmp_path / "small")


def test_command(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(app, ["compact", *map(str, arguments)])

    model, small = save_encoder(tmp_path / "model", "avg", WORD).folder, tmp_path / "small"
    done = run(model, small)
    assert done.exit_code == 0, done.output
    assert "of the vocabulary" in done.stderr
    assert_refused(run(model, small, "--table", "float16"), "small: exists; --force replaces it")
    assert run(model, small, "--table", "float16", "--force").exit_code == 0
    assert paraphrastic.load(small).scorer.table.format == "float16"
    (tmp_path / "thesis").mkdir()
    assert_refused(run(model, tmp_path / "thesis", "--force"), "thesis: exists and is no model; name another folder")
