"""Model folders that a stranger sends: loaded, or refused in one line; nothing outside of the folder is read."""

import json
import struct
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import paraphrastic
from paraphrastic.base.errors import ModelError
from paraphrastic.inference.places import copy_model
from tests.helpers.odd_input import damaged
from tests.helpers.small_models import ENCODERS, save_model

pytestmark = [pytest.mark.faults, pytest.mark.slow]

CONFIG, WEIGHTS, VOCABULARY = "config.json", "weights.safetensors", "vocabulary.parquet"
KINDS = [*ENCODERS, "tfidf-words", "overlap", "vectors", "sif", "ldc"]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["..", "/etc/passwd", "avg"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    for name in KINDS:
        save_model(folder / name, name)
    return folder


def use(folder):
    """Load a model and use it."""
    assert paraphrastic.load(folder).similarity(["a cat .", ""], ["the dog", "unknown"]).shape == (2, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_changed_configuration(tries, originals, tmp_path, kind):
    copy_model(originals / kind, tmp_path)
    content = json.loads((tmp_path / CONFIG).read_text())
    nested = [(key, inner) for key in content if isinstance(content[key], dict) for inner in content[key]]
    places = [(key,) for key in content] + nested
    scalars = st.sampled_from([0, -1, 1, 2**31, 2**63, 10**30, 1e308, "", "a", [], {}, None, True, float("nan")])

    def check(place, value):
        changed = json.loads(json.dumps(content))
        (changed if len(place) == 1 else changed[place[0]])[place[-1]] = value
        (tmp_path / CONFIG).write_text(json.dumps(changed))
        use(tmp_path)

    tries.fuzz(40, check, st.sampled_from(places), scalars | VALUES)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(tries, originals, tmp_path, kind):
    contents = {path.name: path.read_bytes() for path in (originals / kind).iterdir()}

    def check(name, data):
        copy_model(originals / kind, tmp_path)
        content = data.draw(damaged(contents[name]))
        (tmp_path / name).write_bytes(content)
        if name == VOCABULARY and data.draw(st.booleans()):  # as a stranger would, with the right hash
            old, new = (sha256(each).hexdigest().encode() for each in (contents[name], content))
            (tmp_path / WEIGHTS).write_bytes(contents[WEIGHTS].replace(old, new))
        use(tmp_path)

    tries.fuzz(40, check, st.sampled_from(sorted(contents)), st.data())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "overlap"])
def test_changed_header_of_the_weights(tries, originals, tmp_path, kind):
    copy_model(originals / kind, tmp_path)
    content = (originals / kind / WEIGHTS).read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    names = sorted(header.keys() - {"__metadata__"})
    shapes = st.lists(st.sampled_from([0, 1, 2, 7, 2**31, 2**62, 2**63 - 1]), max_size=4)
    places = st.lists(st.integers(0, 2**63), min_size=2, max_size=2)

    def check(name, key, shape, place, dtype):
        changed = json.loads(json.dumps(header))
        changed[name] |= {"shape": {"shape": shape}, "place": {"data_offsets": place}, "dtype": {"dtype": dtype}}[key]
        text = json.dumps(changed).encode()
        (tmp_path / WEIGHTS).write_bytes(struct.pack("<Q", len(text)) + text + content[8 + size :])
        use(tmp_path)

    dtypes = st.sampled_from(["F64", "F32", "F16", "BF16", "I64", "I8", "U8", "BOOL", "F8_E4M3", "X"])
    tries.fuzz(25, check, st.sampled_from(names), st.sampled_from(["shape", "place", "dtype"]), shapes, places, dtypes)


@pytest.mark.parametrize("kind", ENCODERS)
def test_weights_that_are_not_finite(originals, tmp_path, kind):
    copy_model(originals / kind, tmp_path)
    with safe_open(tmp_path / WEIGHTS, framework="numpy") as file:
        metadata = file.metadata()
    arrays = load_file(tmp_path / WEIGHTS)
    arrays["embeddings"][3] = np.nan
    save_file(arrays, tmp_path / WEIGHTS, metadata=metadata)
    with pytest.raises(ModelError, match="'embeddings' has a number that is not finite"):
        paraphrastic.load(tmp_path)
