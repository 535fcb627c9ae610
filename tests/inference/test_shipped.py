"""The encoder that the package ships: size, licences, what it says of sentences, and the figures of its card."""

import re
import shutil

import pandas as pd
import pytest

import paraphrastic
from paraphrastic.base.errors import ModelError
from paraphrastic.inference import model_folder
from paraphrastic.sources.catalogue import catalogue, corpus

PERMISSIVE = r"CC0|CC BY \d|public domain"


@pytest.fixture(scope="module")
def small():
    return paraphrastic.load()


def test_size_and_origin(small):
    assert sum(file.stat().st_size for file in small.folder.iterdir()) <= 10_000_000
    assert (small.name, small.dim, small.teacher) == ("charagram", 256, "all-MiniLM-L6-v2")
    assert paraphrastic.load("small").folder == small.folder
    sources = set(model_folder.read_info(small.folder).sources) - {"exchanged"}
    assert sources == {source.name for source in corpus("permissive")}
    assert all(re.match(PERMISSIVE, catalogue().sources[name].licence) for name in sources)


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
    assert paraphrastic.load().folder == small.folder
    with pytest.raises(ModelError, match=r"^smal: no model here; .*did you mean 'small'"):
        paraphrastic.load("smal")


def test_package_without_its_encoder(tmp_path, monkeypatch):
    monkeypatch.setattr(model_folder, "__file__", str(tmp_path / "inference" / "model_folder.py"))
    with pytest.raises(ModelError, match="is missing; install the package again"):
        paraphrastic.load()


def test_saved_copy(small, tmp_path):
    small.save_pretrained(tmp_path / "copy")
    copied = paraphrastic.Model.from_pretrained(tmp_path / "copy")
    names = sorted(file.name for file in small.folder.iterdir())
    assert sorted(file.name for file in copied.folder.iterdir()) == names
    assert all((copied.folder / name).read_bytes() == (small.folder / name).read_bytes() for name in names)
    (tmp_path / "other").mkdir()
    with pytest.raises(paraphrastic.ParameterError, match="exists and is no model"):
        small.save_pretrained(tmp_path / "other")


@pytest.mark.real_data
@pytest.mark.slow
def test_figures_of_the_card(small, mirror):
    card = (small.folder / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (mteb\.\S+) \| [\d,]+ \| spearman \| ([\d.]+) ", card, re.MULTILINE)
    sets = pd.DataFrame(paraphrastic.evaluate(small, "mteb-sts").sets).set_index("set")
    assert len(rows) == len(sets) == 6
    for name, printed in rows:
        assert sets.loc[name, "spearman"] == pytest.approx(float(printed), abs=0.06)  # printed with one decimal
