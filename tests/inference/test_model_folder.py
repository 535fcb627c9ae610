"""Model folders: what is written, and the error for each kind of damage."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from ruamel.yaml import YAML
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from paraphrastic.base.errors import ModelError
from paraphrastic.inference.model import ModelInfo
from paraphrastic.inference.model_folder import FORMAT, load, load_scorer, load_trained, read_config, write_model
from paraphrastic.scoring.bags import OverlapScorer, TfidfScorer
from paraphrastic.scoring.neural import TrainedEncoder, TrainedPairModel
from paraphrastic.scoring.static import StaticEncoder
from tests.helpers.encoder_variants import CHARAGRAM
from tests.helpers.repository import ROOT
from tests.helpers.small_models import ENCODERS, save_baseline, save_encoder, save_pair_model, save_word_vectors
from tests.helpers.toy_training import SENTENCES, prepare

MODELS = {
    "static": lambda folder: save_encoder(folder, "avg", ENCODERS["avg"]),
    "tfidf": lambda folder: save_baseline(folder, "tfidf-chars"),
    "encoder": lambda folder: save_encoder(folder, "lstmavg", ENCODERS["lstmavg"]),
    "pair-model": save_pair_model,
}
WEIGHTS, VOCABULARY, CONFIG = "weights.safetensors", "vocabulary.parquet", "config.json"


@pytest.fixture(scope="module")
def saved_folders(tmp_path_factory):
    """Return the content of a folder of each kind of model, by file name."""
    folders = {}
    for kind, save_model in MODELS.items():
        folder = tmp_path_factory.mktemp(kind)
        save_model(folder)
        folders[kind] = {file.name: file.read_bytes() for file in folder.iterdir()}
    return folders


@pytest.fixture
def write_folder(saved_folders, tmp_path):
    """Return a function that writes the folder of one kind of model."""

    def write(kind: str) -> Path:
        for name, content in saved_folders[kind].items():
            (tmp_path / name).write_bytes(content)
        return tmp_path

    return write


SCORERS = {"static": StaticEncoder, "tfidf": TfidfScorer, "encoder": TrainedEncoder, "pair-model": TrainedPairModel}


@pytest.mark.parametrize(("kind", "scorer"), SCORERS.items())
def test_files_and_scorer_of_each_kind(write_folder, kind, scorer):
    folder = write_folder(kind)
    assert {file.name for file in folder.iterdir()} == {WEIGHTS, VOCABULARY, CONFIG}
    content = json.loads((folder / CONFIG).read_text())
    assert content["format"] == FORMAT == 2
    assert content["scorer"]["kind"] == kind
    assert type(load_scorer(folder)) is scorer
    assert read_config(folder)["config"] == content["config"]


@pytest.mark.parametrize("name", ["overlap", "vectors", "sif"])
def test_scorer_of_other_baselines(tmp_path, name):
    save_model = save_baseline if name == "overlap" else save_word_vectors
    model = save_model(tmp_path, name)
    assert type(model.scorer) is (OverlapScorer if name == "overlap" else StaticEncoder)
    assert read_config(tmp_path)["model"] == name


@pytest.mark.parametrize("name", ENCODERS)
def test_weights_of_trained_model_after_loading(tmp_path, name):
    model, _, config = prepare(name, ENCODERS[name])
    write_model(model, ModelInfo(name, config.model_dump()), tmp_path)
    loaded = load_trained(tmp_path)
    np.testing.assert_array_equal(loaded.encode(SENTENCES), model.encode(SENTENCES))
    for key, array in model.arrays().items():
        np.testing.assert_array_equal(loaded.arrays()[key], array)
    assert loaded.texts.equals(model.texts)


def test_selection_sets(tmp_path):
    write_model(OverlapScorer(), ModelInfo("overlap", {}, ["sts.2012.MSRpar", "pit2015"]), tmp_path)
    assert read_config(tmp_path)["selection"] == ["sts.2012.MSRpar", "pit2015"]
    assert load(tmp_path).summary()["selection"] == "sts.2012.MSRpar, pit2015"


def test_save_to_new_folder(tmp_path):
    write_model(OverlapScorer(), ModelInfo("overlap", {}), tmp_path / "new/model")
    assert isinstance(load_scorer(tmp_path / "new/model"), OverlapScorer)


def test_static_form_different_from_forward(tmp_path, monkeypatch):
    model, _, config = prepare("avg", ENCODERS["avg"])
    mean = type(model.module.lookup).mean
    monkeypatch.setattr(type(model.module.lookup), "mean", lambda *arguments: 2 * mean(*arguments))
    with pytest.raises(ModelError, match=r"models/avg\.py: static_form and forward give different vectors"):
        write_model(model, ModelInfo("avg", config.model_dump()), tmp_path)


@pytest.mark.parametrize("seed", [1, 5, 6])
def test_rounding_of_numbers_near_zero_beside_large_ones(tmp_path, seed):
    model, _, config = prepare("charagram", CHARAGRAM | {"num_layers": 2, "activation": "linear"}, dim=300)
    embeddings = 1000 * torch.randn(model.embeddings.shape, generator=torch.Generator().manual_seed(seed))
    write_model(
        TrainedEncoder(model.module, embeddings, model.texts), ModelInfo("charagram", config.model_dump()), tmp_path
    )
    assert load(tmp_path).dim == 300


def edit_config(folder: Path, **changes: object) -> None:
    """Replace keys of `config.json`; `...` removes a key."""
    content = json.loads((folder / CONFIG).read_text()) | changes
    (folder / CONFIG).write_text(json.dumps({key: value for key, value in content.items() if value is not ...}))


def edit_weights(folder: Path, change) -> None:
    """Replace the arrays, and keep the hash of the vocabulary."""
    with safe_open(folder / WEIGHTS, framework="numpy") as file:
        metadata = file.metadata()
    save_file(change(load_file(folder / WEIGHTS)), folder / WEIGHTS, metadata=metadata)


def replace_vocabulary(folder: Path) -> None:
    pa.parquet.write_table(pa.table({"text": ["other"]}), folder / VOCABULARY)


def replace_by_folder(folder: Path) -> None:
    (folder / CONFIG).unlink()
    (folder / CONFIG).mkdir()


def replace_by_pipe(folder: Path) -> None:
    (folder / CONFIG).unlink()
    os.mkfifo(folder / CONFIG)


NOT_THE_CONFIGURATION = r"config\.json: not the configuration of a model; train the model again \("
ALL_CONFIGURATIONS = YAML(typ="safe", pure=True).load(ROOT / "models.yaml")
OF_ALL_KINDS = {
    "no-config": (lambda f: (f / CONFIG).unlink(), "no model here; `dvc repro train` creates data/model"),
    "truncated-config": (lambda f: (f / CONFIG).write_text("{"), r"config\.json: damaged; train the model again"),
    "config-not-utf-8": (lambda f: (f / CONFIG).write_bytes(b"\xff"), r"config\.json: damaged; train the model again"),
    "config-is-a-list": (lambda f: (f / CONFIG).write_text("[]"), r"config\.json: not the configuration of a model"),
    "config-without-model": (lambda f: edit_config(f, model=...), r"config\.json: not the configuration of a model"),
    "config-without-scorer": (lambda f: edit_config(f, scorer=...), r"config\.json: not the configuration of a model"),
    "config-without-selection": (lambda f: edit_config(f, selection=...), r"config\.json: not the configuration of a"),
    "format-1": (lambda f: edit_config(f, format=1), "model format 1, this version reads 2; train the model again"),
    "format-0": (lambda f: edit_config(f, format=0), "model format 0, this version reads 2; train the model again"),
    "format-text": (lambda f: edit_config(f, format="3"), "model format '3', this version reads 2; update the package"),
    "format-99": (lambda f: edit_config(f, format=99), "model format 99, this version reads 2; update the package"),
    "no-weights": (lambda f: (f / WEIGHTS).unlink(), r"weights\.safetensors: missing or damaged"),
    "damaged-weights": (lambda f: (f / WEIGHTS).write_bytes(b"x" * 99), r"weights\.safetensors: missing or damaged"),
    "no-vocabulary": (lambda f: (f / VOCABULARY).unlink(), r"vocabulary\.parquet: missing or damaged"),
    "empty-vocabulary": (lambda f: (f / VOCABULARY).write_bytes(b""), "do not belong together; train the model again"),
    "other-vocabulary": (replace_vocabulary, "weights and vocabulary do not belong together; train the model again"),
    "no-arrays": (lambda f: edit_weights(f, lambda arrays: {}), r"weights\.safetensors: not the weights of this model"),
}


def set_scorer(**options: object):
    return lambda folder: edit_config(folder, scorer=options)


OF_ALL_KINDS |= {
    "config-nested-deep": (lambda f: (f / CONFIG).write_text("[" * 5000), "damaged; .*nested deeper than 64 levels"),
    "config-is-a-folder": (replace_by_folder, r"config\.json: is a folder, where a file is expected"),
    "config-is-a-pipe": (replace_by_pipe, r"config\.json: is a pipe, where a file is expected"),
    "config-is-large": (
        lambda f: os.truncate(f / CONFIG, 3 << 30),
        r"config\.json: has 3,221,225,472 bytes, more than",
    ),
    "unknown-member": (lambda f: edit_config(f, colour="red"), r"config\.json: not .*\('colour' is 'red'\)"),
    "external-path-is-a-number": (set_scorer(kind="external", path=5, batch_size=1), NOT_THE_CONFIGURATION),
    "external-path-is-empty": (set_scorer(kind="external", path="", batch_size=1), NOT_THE_CONFIGURATION),
    "external-path-of-two-lines": (set_scorer(kind="external", path="a\nb", batch_size=1), NOT_THE_CONFIGURATION),
    "external-batch-negative": (set_scorer(kind="external", path="a", batch_size=-1), NOT_THE_CONFIGURATION),
    "external-batch-zero": (set_scorer(kind="external", path="a", batch_size=0), NOT_THE_CONFIGURATION),
    "external-batch-large": (set_scorer(kind="external", path="a", batch_size=10**30), NOT_THE_CONFIGURATION),
    "external-batch-of-text": (set_scorer(kind="external", path="a", batch_size="1"), NOT_THE_CONFIGURATION),
    "external-batch-of-truth": (set_scorer(kind="external", path="a", batch_size=True), NOT_THE_CONFIGURATION),
    "external-with-more": (set_scorer(kind="external", path="a", batch_size=1, x=1), NOT_THE_CONFIGURATION),
    "unknown-kind": (set_scorer(kind="statics"), NOT_THE_CONFIGURATION),
    "kind-is-a-list": (set_scorer(kind=["static"]), NOT_THE_CONFIGURATION),
    "static-with-a-list": (set_scorer(kind="static", vocabulary=["words"], pooling="mean"), NOT_THE_CONFIGURATION),
    "tokens-are-a-mapping": (set_scorer(kind="tfidf", tokens={}), NOT_THE_CONFIGURATION),
}
VALUES_OF_MEMBERS = {
    "format": [None, True, 2.0, [2], 10**30],
    "model": [None, 1, "", [], {}, "a\nb", "a\x1b[31m", "a\u2028b"],
    "config": [None, [], 1, "a", {"a\nb": 1}, *({"dim": value} for value in (-1, 10**30, float("nan"), [[1]], "\n"))],
    "scorer": [None, [], 1, "static", {}, {"kind": None}],
    "selection": [None, {}, "a", 1, [1], [None], [""], ["a\nb"], [["a"]]],
    "teacher": [1, [], {}, "", "a\nb"],
    "sources": [None, ["a"], [], 1, {"a\nb": 1}, *({"a": value} for value in ("b", "1", None, -1, True, 1.5, 10**30))],
    "members": [None, 0, -1, 1.0, True, "1", [], 10**30],
    "vocabulary": [None, 1, [], "a\nb"],
}


@pytest.mark.parametrize("name", VALUES_OF_MEMBERS)
def test_wrong_value_of_a_member(write_folder, name):
    folder = write_folder("static")
    content = (folder / CONFIG).read_text()
    for value in VALUES_OF_MEMBERS[name]:
        edit_config(folder, **{name: value})
        with pytest.raises(ModelError, match=r"configuration of a model|model format") as caught:
            load(folder)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600
        (folder / CONFIG).write_text(content)


@pytest.mark.parametrize("name", [*ALL_CONFIGURATIONS])
def test_options_of_every_model_are_read(tmp_path, name):
    options = {**ALL_CONFIGURATIONS[name], "lambda_c": 1e20}
    content = {"format": 2, "model": name, "config": options, "selection": [], "scorer": {"kind": "overlap"}}
    content["loss"] = {"name": "own", "shift": -1, "bias": -1.5}
    (tmp_path / CONFIG).write_text(json.dumps(content))
    assert read_config(tmp_path)["config"] == json.loads(json.dumps(options))
    assert read_config(tmp_path)["loss"] == content["loss"]


def assert_folder_is_refused(folder, message):
    with pytest.raises(ModelError, match=message) as caught:
        load_scorer(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("damage", OF_ALL_KINDS)
@pytest.mark.parametrize("kind", MODELS)
def test_damaged_folder_of_any_kind(write_folder, kind, damage):
    folder, (change, message) = write_folder(kind), OF_ALL_KINDS[damage]
    change(folder)
    assert_folder_is_refused(folder, message)


def rows_removed(name: str):
    return lambda arrays: arrays | {name: arrays[name][1:]}


def reshaped(name: str, *shape: int):
    return lambda arrays: arrays | {name: np.resize(arrays[name], arrays[name].size // 33 * 33).reshape(shape)}


def with_array(name: str, array: np.ndarray):
    return lambda arrays: arrays | {name: array if array.dtype == np.int8 else array.astype(np.float32)}


def without_first_column(arrays):
    return arrays | {"embeddings": arrays["embeddings"][:, 1:]}


NOT_THE_WEIGHTS = r"weights\.safetensors: not the weights of this model; train it again"
UNKNOWN_MODEL = r"config\.json: unknown model 'lstmavgg': did you mean 'lstmavg'\?.*; train the model again"
LSTM = ENCODERS["lstmavg"]
OTHER_WEIGHTS = {  # kind, and change of the arrays
    "too-few-embeddings": ("static", rows_removed("embeddings")),
    "too-few-idf-weights": ("tfidf", rows_removed("idf")),
    "peepholes-of-another-size": ("encoder", rows_removed("lstm.peepholes")),
    "table-of-one-dimension": ("static", reshaped("embeddings", -1)),
    "table-of-three-dimensions": ("static", reshaped("embeddings", 1, 33, -1)),
    "unknown-array": ("static", lambda arrays: arrays | {"x": np.ones(1)}),
    "bias-of-another-size": ("static", with_array("bias", np.ones(3))),
    "bias-of-integers": ("static", with_array("bias", np.ones(8, np.int8))),
    "dense-without-bias": ("static", with_array("dense.W", np.ones((8, 8)))),
    "directions-of-another-size": ("static", with_array("directions", np.ones((1, 3)))),
    "idf-of-two-dimensions": ("tfidf", reshaped("idf", -1, 1)),
    "idf-of-another-type": ("tfidf", lambda arrays: {"idf": arrays["idf"].astype(np.int64)}),
    "encoder-with-few-rows": ("encoder", rows_removed("embeddings")),
    "encoder-with-narrow-rows": ("encoder", without_first_column),
    "encoder-of-doubles": ("encoder", lambda arrays: arrays | {"lstm.b": arrays["lstm.b"].astype(np.float64)}),
    "pair-model-with-few-rows": ("pair-model", rows_removed("embeddings")),
}
OTHER_CONFIGURATION = {  # kind, members of `config.json`, and the message
    "unknown-static-option": ("static", {"scorer": {"kind": "static", "colour": "red"}}, NOT_THE_CONFIGURATION),
    "tfidf-without-tokens": ("tfidf", {"scorer": {"kind": "tfidf"}}, r"config\.json"),
    "external-without-path": ("tfidf", {"scorer": {"kind": "external"}}, r"\(an external .* and `batch_size`\)$"),
    "more-numbers-than-the-file": ("encoder", {"config": LSTM | {"dim": 1 << 20}}, NOT_THE_WEIGHTS),
    "size-beyond-63-bits": ("encoder", {"config": LSTM | {"dim": 1 << 40}}, r"config\.json: not the"),
    "unknown-model": ("encoder", {"model": "lstmavgg"}, UNKNOWN_MODEL),
    "unknown-option": ("encoder", {"config": {"colour": "red"}}, r"config\.json: .*; train the model again"),
    "options-are-a-list": ("encoder", {"config": []}, r"config\.json: .*; train the model again"),
}
OF_ONE_KIND = {
    "encoder-without-numbers": (
        "encoder",
        lambda f: edit_weights(f, lambda arrays: arrays | {"lstm.b": arrays["lstm.b"] * np.nan}),
        "'lstm.b' has a number that is not finite",
    ),
    **{
        name: (kind, lambda folder, change=change: edit_weights(folder, change), NOT_THE_WEIGHTS)
        for name, (kind, change) in OTHER_WEIGHTS.items()
    },
    **{
        name: (kind, lambda folder, changes=changes: edit_config(folder, **changes), message)
        for name, (kind, changes, message) in OTHER_CONFIGURATION.items()
    },
}


@pytest.mark.parametrize("damage", OF_ONE_KIND)
def test_damaged_folder_of_one_kind(write_folder, damage):
    kind, change, message = OF_ONE_KIND[damage]
    folder = write_folder(kind)
    change(folder)
    assert_folder_is_refused(folder, message)


@pytest.mark.parametrize("name", ["overlap", "tfidf-words", "vectors"])
def test_baseline_as_trained_model(tmp_path, name):
    save_model = save_word_vectors if name == "vectors" else save_baseline
    save_model(tmp_path, name)
    with pytest.raises(ModelError, match=f"{name} is not trained; choose an encoder"):
        load_trained(tmp_path)
