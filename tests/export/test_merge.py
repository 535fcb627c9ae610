"""One encoder from several: its vectors are principal components of theirs."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from paraphrastic.cli.main import app
from paraphrastic.export.compact import compact
from paraphrastic.export.merge import merge
from paraphrastic.inference.model_folder import load_trained, write_model
from tests.helpers.command_line import assert_refused
from tests.helpers.encoder_variants import LSTM, WORD
from tests.helpers.small_models import CHARAGRAM_WORDS, save_encoder, save_word_vectors
from tests.helpers.toy_training import SENTENCES, folder_content

TEXTS = SENTENCES.to_pylist()
LINEAR = CHARAGRAM_WORDS | {"activation": "linear"}
KINDS = {"avg": WORD, "charagram": LINEAR}


@pytest.fixture(scope="module", params=KINDS)
def members(request, tmp_path_factory):
    """Return three models of one vocabulary; the second has longer vectors, the third shorter ones, in int8."""
    folder = tmp_path_factory.mktemp(request.param)
    wide = {"dim": 8}, {"dim": 8}, {"dim": 6}
    models = [
        save_encoder(folder / f"{seed}", request.param, KINDS[request.param], seed, **dim)
        for seed, dim in enumerate(wide)
    ]
    longer = {name: 5 * array for name, array in models[1].scorer.arrays.items()}
    scorer = type(models[1].scorer)(models[1].scorer.form, models[1].vocabulary, longer)
    write_model(scorer, models[1], folder / "longer")
    compact(models[2], folder / "int8", "int8")
    return [models[0], paraphrastic.load(folder / "longer"), paraphrastic.load(folder / "int8")]


def side_by_side(members, arrays):
    """Return the members' arrays side by side, each divided by the norm of its table."""
    norms = [np.linalg.norm(model.scorer.embedding_array().astype(float)) for model in members]
    length = np.sqrt(np.mean(np.square(norms)) / len(members))
    return np.hstack([array.astype(float) / norm for array, norm in zip(arrays, norms, strict=True)]) * length


def test_all_dimensions(members, tmp_path):
    merge(members, tmp_path / "merged", 22)
    merged = paraphrastic.load(tmp_path / "merged")
    vectors, expected = merged.encode(TEXTS), side_by_side(members, [model.encode(TEXTS) for model in members])
    np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, rtol=1e-4, atol=1e-5)
    assert merged.dim == 22


def test_size_is_that_of_the_first_member(members, tmp_path):
    assert [merge(members[n:], tmp_path / "merged") for n in (1, 2)] == [8, 6]
    assert merge(members[::-1], tmp_path / "merged") == 6


@pytest.mark.parametrize("dim", [1, 3, None])
def test_principal_components(members, dim, tmp_path):
    merge(members, tmp_path / "merged", dim)
    table = side_by_side(members, [model.scorer.embedding_array() for model in members])
    components = np.linalg.svd(table, full_matrices=False)[2][: dim or 8]
    expected = side_by_side(members, [model.encode(TEXTS) for model in members]) @ components.T
    vectors = paraphrastic.load(tmp_path / "merged").encode(TEXTS)
    signs = np.sign((vectors * expected).sum(0))
    np.testing.assert_allclose(vectors, expected * signs, rtol=1e-3, atol=1e-4)


def test_charagram_models_of_two_vocabularies(tmp_path):
    whole = [save_encoder(tmp_path / f"{seed}", "charagram", LINEAR, seed) for seed in range(2)]
    half = 0.6 * whole[1].summary()["bytes"] / 1e6
    compact(whole[0], tmp_path / "int8", "int8")
    compact(whole[1], tmp_path / "fewer", "float32", half)
    members = [paraphrastic.load(tmp_path / name) for name in ("int8", "fewer")]
    assert len(members[1].vocabulary) < len(members[0].vocabulary)
    for order in (members, members[::-1]):
        merge(order, tmp_path / "merged", 2 * order[0].dim)
        merged = paraphrastic.load(tmp_path / "merged")
        assert sorted(merged.vocabulary.to_pylist()) == sorted(members[0].vocabulary.to_pylist())
        vectors, expected = merged.encode(TEXTS), side_by_side(order, [model.encode(TEXTS) for model in order])
        np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, rtol=1e-4, atol=1e-5)


def test_same_bytes_again_and_blocks_of_rows(members, tmp_path, monkeypatch, shown):
    for name in ("whole", "again"):
        merge(members, tmp_path / name)
    assert folder_content(tmp_path / "whole") == folder_content(tmp_path / "again")
    monkeypatch.setattr("paraphrastic.export.merge._BLOCK", 7)
    before = len(shown())
    merge(members, tmp_path / "blocks")
    blocks = -(-len(members[0].vocabulary) // 7)
    assert shown()[before:] == [("products", blocks, blocks), ("embeddings", blocks, blocks)]
    whole, blocks = (paraphrastic.load(tmp_path / name).encode(TEXTS) for name in ("whole", "blocks"))
    np.testing.assert_allclose(whole, blocks, rtol=1e-3, atol=1e-3)


def test_what_config_says(members, tmp_path):
    first, second = members[0], tmp_path / "second"
    info = replace(first, selection=["a", "b"], teacher="mini", sources={"asset": 3})
    write_model(first.scorer, info, second)
    third = tmp_path / "third"
    write_model(first.scorer, replace(info, selection=["b", "c"], teacher="mini and maxi", sources={"quora": 4}), third)
    merge([first, *map(paraphrastic.load, (second, third))], tmp_path / "merged", 5)
    merged = paraphrastic.load(tmp_path / "merged")
    assert (merged.selection, merged.teacher, merged.members) == (["a", "b", "c"], "mini and maxi", 3)
    assert merged.sources == {"asset": 3, "quora": 4}
    assert merged.options == {**first.options, "dim": 5}
    merge(list(map(paraphrastic.load, (tmp_path / "merged", second))), tmp_path / "again", 5)
    assert paraphrastic.load(tmp_path / "again").summary()["members"] == 4
    compact(paraphrastic.load(tmp_path / "again"), tmp_path / "small", "int8")
    assert paraphrastic.load(tmp_path / "small").members == 4


def test_training_goes_on_unless_the_number_of_members_is_damaged(members, tmp_path):
    merge(members, tmp_path / "merged", 5)
    trained = load_trained(tmp_path / "merged").encode(SENTENCES)
    np.testing.assert_allclose(trained, paraphrastic.load(tmp_path / "merged").scorer.encode(SENTENCES), atol=1e-5)
    path = tmp_path / "merged/config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"members": "three"}))
    with pytest.raises(ModelError, match="merged"):
        paraphrastic.load(tmp_path / "merged")


def test_models_that_cannot_be_merged(tmp_path):
    avg = save_encoder(tmp_path / "avg", "avg", WORD)
    message = "tanh: charagram is no linear sum of embeddings; choose avg or charagram"
    both = save_encoder(tmp_path / "both", "avg", WORD, boundary_tokens="both")
    for name, model in {
        message: save_encoder(tmp_path / "tanh", "charagram", LINEAR | {"activation": "tanh"}),
        "lstm: lstmavg is no linear sum": save_encoder(tmp_path / "lstm", "lstmavg", LSTM),
        "two: charagram has dense.W beside": save_encoder(tmp_path / "two", "charagram", LINEAR | {"num_layers": 2}),
        "sif: sif has directions beside its embeddings": save_word_vectors(tmp_path / "sif", "sif", 2),
        "words: vectors is of another kind than .*avg, avg": save_word_vectors(tmp_path / "words", "vectors"),
        "than .*avg, avg; train both with the same options$": both,
    }.items():
        with pytest.raises(ModelError, match=name):
            merge([avg, model], tmp_path / "merged")
    compact(avg, tmp_path / "small", "float32", 0.8 * avg.summary()["bytes"] / 1e6)
    with pytest.raises(ModelError, match=r"small: has another vocabulary than .*avg; train both on the same corpus"):
        merge([avg, paraphrastic.load(tmp_path / "small")], tmp_path / "merged")
    for dim in (0, 17):
        with pytest.raises(ParameterError, match=f"dim = {dim}: the models have 16 dimensions; choose at most as many"):
            merge([avg, avg], tmp_path / "merged", dim)
    with pytest.raises(ParameterError, match=r"^models: there are none; name at least one$"):
        merge([], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "bad/weights.safetensors: 'embeddings' has a number that is not finite"),
        (np.inf, "bad/weights.safetensors: 'embeddings' has a number that is not finite"),
        (1e30, "bad: embeddings that are not finite"),  # their squares
    ],
)
def test_numbers_that_are_not_finite(tmp_path, value, message):
    first, second = (save_encoder(tmp_path / name, "avg", WORD) for name in ("first", "second"))
    arrays = {"embeddings": second.scorer.embedding_array().copy()}
    arrays["embeddings"][3, 2] = value
    scorer = type(second.scorer)(second.scorer.form, second.vocabulary, arrays)
    write_model(scorer, second, tmp_path / "bad")
    with pytest.raises(ModelError, match=f"{message}; train the model again"):
        merge([first, paraphrastic.load(tmp_path / "bad")], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_command(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(app, ["merge", *map(str, arguments)])

    folders = [save_encoder(tmp_path / name, "avg", WORD, seed).folder for seed, name in enumerate("ab")]
    assert "merged: 5 of 16 dimensions" in run(*folders, "--out", tmp_path / "merged", "--dim", 5).stderr
    assert_refused(run(*folders, "--out", tmp_path / "merged"), "merged: exists; --force replaces it")
    assert run(*folders, "--out", folders[0], "--force").exit_code == 0
    assert paraphrastic.load(folders[0]).members == 2
