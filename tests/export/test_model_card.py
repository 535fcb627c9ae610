"""Cards of models: front matter that is YAML, licences, figures with intervals, and what is not known."""

import json

import pandas as pd
import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

import paraphrastic
from paraphrastic.base.errors import DataError
from paraphrastic.cli.main import app
from paraphrastic.export import card_of
from paraphrastic.export.model_card import model_card
from paraphrastic.sources.catalogue import catalogue
from tests.helpers.command_line import assert_refused
from tests.helpers.encoder_variants import WORD
from tests.helpers.small_models import save_encoder

SETS = "set,kind,n,pearson,spearman,map,accuracy\nsts.a,similarity,101,60.0,1.0,,\nsts.b,similarity,401,80.0,1.0,,\n"
SETS += (
    "qa.c,ranking,9,,,50.0,\nwords.d,words,99,9.0,,,\nwords.e,similarity,5,9.0,70.0,,\nf,labelled_pairs,100,,,,80.0\n"
)
CORPUS = "source,read,bad,repeated,kept\nasset,30,0,4,26\nmine,5,1,0,4\n"


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a model that learned from a teacher, on a source of the catalogue and on a file."""
    folder = tmp_path / "model"
    save_encoder(folder, "avg", WORD)
    config = json.loads((folder / "config.json").read_text())
    config |= {"sources": {"asset": 26, "mine": 4}, "teacher": "mini", "selection": ["sts.b"], "members": 3}
    (folder / "config.json").write_text(json.dumps(config))
    (tmp_path / "sets.csv").write_text(SETS)
    (tmp_path / "corpus.csv").write_text(CORPUS)
    return folder


def front_matter(card):
    _, yaml, text = card.split("---\n", 2)
    return YAML(typ="safe").load(yaml), text


def test_front_matter(folder, tmp_path):
    content, text = front_matter(model_card(folder, tmp_path / "sets.csv", tmp_path / "corpus.csv"))
    assert content["license"] == "other"
    assert content["license_name"] == "own"
    expected = {"library_name": "paraphrastic", "pipeline_tag": "sentence-similarity"}
    assert content.items() >= expected.items()
    assert {"avg", "distilled"} <= set(content["tags"])
    (index,) = content["model-index"]
    found = {each["dataset"]["name"]: each["metrics"] for each in index["results"]}
    metrics = [
        ("sts.a", "pearson", 60.0),
        ("sts.b", "pearson", 80.0),
        ("words.e", "spearman", 70.0),
        ("f", "accuracy", 80.0),
    ]
    assert found == {name: [{"type": metric, "value": value}] for name, metric, value in metrics}
    assert [each["task"]["type"] for each in index["results"]] == [*["sentence-similarity"] * 3, "text-classification"]
    assert "learned the vectors of mini (licence of its weights: see its own card)" in text
    assert "principal components of those of 3 models" in text


def test_two_teachers(folder):
    config = json.loads((folder / "config.json").read_text())
    names = "all-MiniLM-L6-v2 and all-mpnet-base-v2"
    (folder / "config.json").write_text(json.dumps(config | {"teacher": names}))
    card = model_card(folder)
    assert f"vectors of {names} (licence of their weights: Apache-2.0). What these teachers were trained" in card


def test_training_data_and_figures(folder, tmp_path):
    card = model_card(folder, tmp_path / "sets.csv", tmp_path / "corpus.csv")
    asset = catalogue().sources["asset"]
    assert f"| asset: {asset.title} | 26 | 4 repeated | {asset.licence} |" in card
    assert "| mine: a file | 4 | 1 bad | own |" in card
    assert "30 pairs of sentences. The strictest licence: **own**" in card
    # 1.96 · (1 − r²) / √(n − 1) = 12.5 and 3.5; half the root of their squares for the mean
    assert "| sts.a | 101 | pearson | 60.0 ± 12.5 |" in card
    assert "| sts.b (selected the epoch) | 401 | pearson | 80.0 ± 3.5 |" in card
    assert "| mean of 2 sets | 502 | pearson | 70.0 ± 6.5 |" in card
    assert "| f | 100 | accuracy | 80.0 ± 7.8 |" in card  # 1.96 · √(0.8 · 0.2 / 100)
    assert "| mean of 1 sets | 5 | spearman | 70.0 ± 50.0 |" in card
    assert "other than `features` are of a threshold" in card  # f
    (tmp_path / "sets.csv").write_text(SETS.replace("f,labelled_pairs", "features.f,labelled_pairs"))
    assert "of a threshold" not in model_card(folder, tmp_path / "sets.csv")
    assert "selected on sts.b" in card
    assert "nan" not in card


def test_language_of_files_of_the_user_is_unknown(folder, tmp_path):
    content, text = front_matter(model_card(folder))
    assert "language" not in content
    assert "English" not in text
    save_encoder(tmp_path / "model", "avg", WORD)
    content, text = front_matter(model_card(tmp_path / "model"))
    assert content["language"] == "en"
    assert "clusters of English sentences" in text
    assert "* English. Text is tokenized" in text


def test_set_whose_name_is_a_number(folder, tmp_path):
    (tmp_path / "sets.csv").write_text("set,kind,n,pearson\n2017,similarity,250,70.5\n")
    assert "| 2017 |" in model_card(folder, tmp_path / "sets.csv")


def test_table_that_evaluate_printed(folder, tmp_path):
    (tmp_path / "sets.tsv").write_text(SETS.replace(",", "\t"))
    assert model_card(folder, tmp_path / "sets.tsv") == model_card(folder, tmp_path / "sets.csv")


def test_model_of_which_nothing_is_known(tmp_path):
    save_encoder(tmp_path / "model", "avg", WORD)
    content, text = front_matter(model_card(tmp_path / "model"))
    assert content["license"] == "unknown"
    assert "model-index" not in content
    assert "Not measured." in text
    assert "does not name its sources" in text


def test_code_of_a_card_runs(folder):
    code = model_card(folder).split("```python\n")[1].split("```")[0]
    names = {}
    exec(code.replace("FOLDER", str(folder)), names)
    assert names["model"].dim == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("", "not a table"),
        ("set,kind\na,b\n", "no column n"),
        ("set,kind,n\na,similarity,\n", "column n has a row without a value"),
        ("set,kind,n\na,b,many\n", "column n has text in place of numbers"),
    ],
)
def test_damaged_table(folder, tmp_path, text, message):
    if text is not None:
        (tmp_path / "other.csv").write_text(text)
    with pytest.raises(DataError, match=rf"other\.csv: {message}"):
        model_card(folder, tmp_path / "other.csv")


def test_command(folder):
    def run(*arguments):
        return CliRunner().invoke(app, ["card", *map(str, arguments)])

    place = ["--out", folder / "README.md"]
    assert run(folder, *place).exit_code == 0
    assert (folder / "README.md").read_text() == card_of(folder)
    assert_refused(run(folder, *place), "README.md: exists; --force replaces it")
    assert run(folder, *place, "--force").exit_code == 0
    assert run(folder).stdout == card_of(folder)
    assert paraphrastic.load(folder).name == "avg"
    (folder.parent / "README.md").write_text("# A project")
    assert_refused(run(folder.parent, "--out", folder.parent / "card.md"), f"{folder.parent}: no model here")


def test_sources_of_a_trained_model(tmp_path, monkeypatch):
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))
    pairs = pd.DataFrame({"text1": [f"one {n}" for n in range(20)], "text2": [f"two {n}" for n in range(20)]})
    pairs.to_csv(tmp_path / "mine.csv", index=False)
    settings = {"models.yaml:avg.dim": 4, "models.yaml:avg.epochs": 1}
    paraphrastic.train(tmp_path / "mine.csv", tmp_path / "out", settings=settings)
    assert "| 20 |" in model_card(tmp_path / "out")
