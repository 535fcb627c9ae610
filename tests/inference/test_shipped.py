"""The encoder that the package ships: size, licences, what it says of sentences, and the figures of its card."""

import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import paraphrastic
from paraphrastic.base.errors import ModelError
from paraphrastic.export import Format, card_of, export
from paraphrastic.inference import model_folder
from paraphrastic.sources.catalogue import catalogue, corpus
from paraphrastic.sources.licences import GROUPS, kind_of


@pytest.fixture(scope="module")
def small():
    return paraphrastic.load()


def test_size_and_origin(small):
    assert sum(file.stat().st_size for file in small.folder.iterdir()) <= 10_000_000
    assert (small.name, small.dim, small.teacher) == ("charagram", 256, "all-MiniLM-L6-v2")
    assert paraphrastic.load("small").folder == small.folder
    sources = set(small.sources) - {"exchanged"}
    assert sources == {source.name for source in corpus("permissive")}
    assert {kind_of(catalogue().sources[name].licence) for name in sources} <= {*GROUPS["permissive"]}


@pytest.mark.parametrize(
    ("text", "paraphrase", "other"),
    [
        ("The zipper is broken.", "The zip broke.", "My card was declined."),
        ("My card was declined.", "They refused my card.", "The zip broke."),
        ("How do I reset my password?", "I forgot my login.", "How do I bake bread?"),
        ("a man is playng a gitar", "A man plays a guitar.", "The zip broke."),
    ],
)
def test_paraphrases_are_nearer(small, text, paraphrase, other):
    near, far = small.similarity(text, [paraphrase, other])[0]
    assert near > 0.5 > 0.3 > far


def test_folder_of_the_same_name(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small.folder, "small")
    with pytest.raises(ModelError, match=r"^small: .*a folder here; write \./small"):
        paraphrastic.load("small")
    assert paraphrastic.load("./small").folder != small.folder
    assert paraphrastic.load(Path("small")).folder == Path("small")
    shutil.rmtree("small")
    assert paraphrastic.load(Path("small")).folder == small.folder
    assert paraphrastic.load().folder == small.folder
    with pytest.raises(ModelError, match=r"^smal: no model here; .*did you mean 'small'"):
        paraphrastic.load("smal")


def test_package_without_its_encoder(tmp_path, monkeypatch):
    monkeypatch.setattr(model_folder, "__file__", str(tmp_path / "inference" / "model_folder.py"))
    with pytest.raises(ModelError, match="is missing; install the package again"):
        paraphrastic.load()


def test_size_of_vectors_is_an_integer_of_any_kind(small):
    assert small.encode("A dog runs.", truncate_dim=np.int64(8)).shape == (8,)


def test_saved_copy(small, tmp_path):
    small.save_pretrained(tmp_path / "copy")
    copied = paraphrastic.Model.from_pretrained(tmp_path / "copy")
    names = sorted(file.name for file in small.folder.iterdir())
    assert sorted(file.name for file in copied.folder.iterdir()) == names
    assert all((copied.folder / name).read_bytes() == (small.folder / name).read_bytes() for name in names)
    (tmp_path / "other").mkdir()
    with pytest.raises(paraphrastic.ParameterError, match="exists and is no model"):
        small.save_pretrained(tmp_path / "other")


def test_upload_without_the_package(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(paraphrastic.ParameterError, match="push_to_hub needs huggingface_hub"):
        small.push_to_hub("me/small")


def test_what_mteb_records(small, monkeypatch):
    fake = SimpleNamespace(ModelMeta=SimpleNamespace(create_empty=dict))
    monkeypatch.setitem(sys.modules, "mteb", SimpleNamespace(models=fake))
    monkeypatch.setitem(sys.modules, "mteb.models", fake)
    meta = small.mteb_model_meta
    assert meta["loader"]("name", device="cpu") is small
    assert (meta["embed_dim"], meta["license"], meta["training_datasets"]) == (256, "cc-by-2.0", {"Tatoeba"})
    assert meta["n_parameters"] == small.summary()["parameters"]
    assert meta["memory_usage_mb"] == pytest.approx(10, abs=0.1)


def test_card_in_exports(small, tmp_path, monkeypatch):
    card = (small.folder / "README.md").read_text(encoding="utf-8")
    assert card_of(small.folder) == card
    export(small, tmp_path / "st", Format.SENTENCE_TRANSFORMERS)
    assert (tmp_path / "st" / "README.md").read_text(encoding="utf-8") == card
    shutil.copytree(small.folder, tmp_path / "own", ignore=shutil.ignore_patterns("README.md"))
    own = paraphrastic.load(tmp_path / "own")
    export(own, tmp_path / "made", Format.SENTENCE_TRANSFORMERS)
    assert "Not measured." in (tmp_path / "made" / "README.md").read_text(encoding="utf-8")
    monkeypatch.delitem(sys.modules, "paraphrastic.export.model_card")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    note = export(own, tmp_path / "without", Format.SENTENCE_TRANSFORMERS)
    assert "without README.md, which needs jinja2" in note
    assert not (tmp_path / "without" / "README.md").exists()


@pytest.mark.real_data
@pytest.mark.slow
def test_figures_of_the_card(small, mirror):
    card = (small.folder / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (mteb\.\S+) \| [\d,]+ \| spearman \| ([\d.]+) ", card, re.MULTILINE)
    sets = pd.DataFrame(paraphrastic.evaluate(small, "mteb-sts").sets).set_index("set")
    assert len(rows) == len(sets) == 6
    for name, printed in rows:
        assert sets.loc[name, "spearman"] == pytest.approx(float(printed), abs=0.06)  # printed with one decimal
