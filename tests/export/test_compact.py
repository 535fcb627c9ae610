"""Smaller models: embeddings in float16 and int8, and a part of the vocabulary."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.cli.main import app
from paraphrastic.export.compact import compact
from paraphrastic.inference.model_folder import load_trained
from paraphrastic.inference.quantization import ranges_of
from paraphrastic.scoring.weight_files import Ranges
from tests.helpers.command_line import assert_refused
from tests.helpers.encoder_variants import WORD
from tests.helpers.small_models import CHARAGRAM_WORDS, save_baseline, save_encoder, save_pair_model, save_word_vectors
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


@pytest.mark.parametrize(("table", "error"), [("float32", 1e-6), ("float16", 1e-5), ("int8", 1e-3)])
def test_vectors_of_written_and_of_loaded_tables(model, table, error, tmp_path):
    entries = compact(model, tmp_path / "small", table)
    assert entries == len(model.vocabulary)
    written, loaded = paraphrastic.load(tmp_path / "small"), paraphrastic.load(model.folder, table=table)
    vectors = model.encode(TEXTS)
    np.testing.assert_array_equal(written.encode(TEXTS), loaded.encode(TEXTS))
    nonzero = np.linalg.norm(vectors, axis=1) > 0
    assert (cosines(written.encode(TEXTS), vectors)[nonzero] > 1 - error).all()
    assert written.scorer.table.format == table
    assert (written.name, written.options, written.selection) == (model.name, model.options, model.selection)


def test_ranges_are_kept(model, tmp_path):
    ranges = ranges_of(model.encode(TEXTS))
    compact(replace(model, ranges=Ranges(ranges, ranges)), tmp_path / "small", "int8")
    np.testing.assert_array_equal(paraphrastic.load(tmp_path / "small").ranges, [ranges, ranges])


def test_size_by_format(model, tmp_path):
    sizes = {}
    for table in ("float32", "float16", "int8"):
        compact(model, tmp_path / table, table)
        sizes[table] = (tmp_path / table / "weights.safetensors").stat().st_size
    assert sizes["float32"] > sizes["float16"] > sizes["int8"]


@pytest.mark.parametrize("share", [0.6, 0.8])
def test_part_of_the_vocabulary(model, tmp_path, share):
    limit = share * sum(file.stat().st_size for file in model.folder.iterdir()) / 1e6
    entries = compact(model, tmp_path / "small", "float32", limit)
    small = paraphrastic.load(tmp_path / "small")
    assert sum(file.stat().st_size for file in (tmp_path / "small").iterdir()) <= limit * 1e6
    assert entries == len(small.vocabulary) < len(model.vocabulary)
    rows = [model.vocabulary.to_pylist().index(text) for text in small.vocabulary.to_pylist()]
    assert rows == sorted(rows)
    np.testing.assert_array_equal(small.embeddings(), model.embeddings()[rows])
    if model.options.get("boundary_tokens") == "both":
        assert {"<s>", "</s>"} <= set(small.vocabulary.to_pylist())


def test_each_group_keeps_its_most_frequent_entries(tmp_path):
    model = save_encoder(tmp_path / "model", "charagram", CHARAGRAM_WORDS, dim=64, bigrams=1)
    compact(model, tmp_path / "small", "float32", 0.5 * (tmp_path / "model/weights.safetensors").stat().st_size / 1e6)
    before, after = model.vocabulary.to_pylist(), paraphrastic.load(tmp_path / "small").vocabulary.to_pylist()

    def group(text):
        is_ngram = not (text[0] == text[-1] == " ") or len(text) == 2
        return f"{len(text)} characters" if is_ngram else f"{len(text.split())} words"

    shares = {}
    for wanted in {group(text) for text in before}:
        entries, kept = ([text for text in texts if group(text) == wanted] for texts in (before, after))
        assert kept == entries[: len(kept)]
        shares[wanted] = len(kept) / len(entries)
    share = shares["1 words"]
    pairs = {"2 words": pytest.approx(share**2, abs=0.03)}
    assert shares == {name: pytest.approx(share, abs=0.03) for name in shares} | pairs


def test_training_goes_on_from_int8(tmp_path):
    model = save_encoder(tmp_path / "model", "avg", WORD)
    compact(model, tmp_path / "small", "int8")
    trained = load_trained(tmp_path / "small")
    assert trained.embeddings.dtype == torch.float32
    np.testing.assert_allclose(trained.encode(SENTENCES), load_trained(tmp_path / "model").encode(SENTENCES), atol=0.05)


def test_models_without_a_table_and_unknown_formats(tmp_path):
    for model in (save_baseline(tmp_path / "overlap", "overlap"), save_pair_model(tmp_path / "ldc")):
        with pytest.raises(ModelError, match="is no sum of embeddings that could be int8; choose avg or charagram"):
            compact(model, tmp_path / "small", "int8")
    avg = save_encoder(tmp_path / "avg", "avg", WORD)
    with pytest.raises(ParameterError, match=r"unknown format of a table 'int4'"):
        paraphrastic.load(avg.folder, table="int4")
    with pytest.raises(ModelError, match=r"takes \d+\.\d MB with a thousandth .*; allow more than 1e-05"):
        compact(avg, tmp_path / "small", "int8", 1e-5)
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize("damage", ["scales", "truncated"])
def test_damaged_table(tmp_path, damage):
    from safetensors.numpy import load_file, save_file

    compact(save_encoder(tmp_path / "model", "avg", WORD), tmp_path / "small", "int8")
    path = tmp_path / "small/weights.safetensors"
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-9])
    else:
        arrays = load_file(path)
        arrays["embeddings.scales"] = arrays["embeddings.scales"][1:]
        digest = json.loads((tmp_path / "small/config.json").read_text())["vocabulary"]
        save_file(arrays, path, {"vocabulary": digest})
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
