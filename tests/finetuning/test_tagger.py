"""Taggers in use: tags, accuracy, and folders."""

from pathlib import Path

import pyarrow as pa
import pytest

from paraphrastic.base.errors import DataError, ModelError
from paraphrastic.finetuning.tagger import Tagger
from tests.helpers.tagged_text import NEW_TEXTS, TEXTS, VARIANTS, random_tagger, tagged_tokens
from tests.helpers.toy_training import folder_content

TABLE = tagged_tokens(TEXTS + NEW_TEXTS)


@pytest.fixture
def tagger():
    return random_tagger(*VARIANTS["charagram"])


def test_accuracy_with_unseen_tag(tagger):
    tags = tagger.tag(tagged_tokens(TEXTS)).to_pylist()
    assert len(tags) == 20
    assert tagger.accuracy(tagged_tokens(TEXTS).set_column(2, "tag", pa.array(tags))) == 100
    assert tagger.accuracy(tagged_tokens(TEXTS).set_column(2, "tag", pa.array(["XX", *tags[1:]]))) == pytest.approx(95)


def test_tags_of_no_tokens(tagger):
    assert tagger.tag(TABLE.slice(0, 0)).to_pylist() == []


def test_accuracy_of_no_tokens(tagger):
    with pytest.raises(DataError, match=r"^tagging: no tagged tokens"):
        tagger.accuracy(TABLE.slice(0, 0))


@pytest.mark.parametrize(("name", "block"), VARIANTS.values(), ids=VARIANTS)
def test_tags_and_bytes_after_loading(name, block, tmp_path):
    tagger = random_tagger(name, block)
    tagger.save(tmp_path / "a")
    loaded = Tagger.load(tmp_path / "a")
    assert loaded.tag(TABLE) == tagger.tag(TABLE)
    loaded.save(tmp_path / "b")
    assert folder_content(tmp_path / "a") == folder_content(tmp_path / "b")


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


NOT_READABLE = r"config\.json: damaged, or not the configuration of a tagger; train it again"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), "no tagger here; train one"),
        (lambda f: (f / "config.json").write_text("{"), NOT_READABLE),
        (lambda f: (f / "config.json").write_text("[]"), NOT_READABLE),
        (lambda f: replace(f / "config.json", '"charagram"', '"chargram"'), NOT_READABLE),
        (lambda f: replace(f / "config.json", '"dim": 6', '"dim": "x"'), NOT_READABLE),
        (lambda f: replace(f / "config.json", '"format": 2', '"format": 3'), "tagger format 3, this version reads 2"),
        (lambda f: replace(f / "config.json", '"format": 2', '"format": 1'), "tagger format 1, this version reads 2"),
        (lambda f: replace(f / "config.json", '"hidden_dim": 5', '"hidden_dim": 6'), r"weights\.safetensors: not the weights of this model; train it again"),
        (lambda f: (f / "weights.safetensors").write_bytes(b"x" * 99), r"weights\.safetensors: missing or damaged"),
        (lambda f: (f / "vocabulary.parquet").write_bytes(b""), "do not belong together"),
    ],
)
def test_damaged_folder(tagger, tmp_path, damage, message):
    tagger.save(tmp_path)
    damage(tmp_path)
    with pytest.raises(ModelError, match=message) as caught:
        Tagger.load(tmp_path)
    assert "\n" not in str(caught.value)
