"""What the stage `finetune` refuses, each time in one line, and what it writes."""

import json
import re

import pyarrow as pa
import pytest
import torch
from tests.repository import ROOT
from tests.test_supervised import WORDS, written

from paraphrastic import models
from paraphrastic.errors import ModelError, ParameterError
from paraphrastic.finetuning import initial_state as starts
from paraphrastic.finetuning.tasks import SPLITS
from paraphrastic.inference import model_folder
from paraphrastic.scoring.neural import TrainedEncoder
from pipeline import finetune
from pipeline.params import load_params

PAIRS = [("sample.entailment", split, n, n + 1, n % 3) for split in SPLITS for n in range(30)]
YES_NO = [("sample.paraphrase", split, n, n + 1, n % 2) for split in SPLITS for n in range(30)]
TAGS = [
    ("sample.tags", split, n, word, word[0], 0, "root")
    for split in ("train", "dev", "test")
    for n, word in enumerate("abab")
]
SMALL = {"dim": 8, "epochs": 2, "filters": 4, "num_threads": 1}


@pytest.fixture
def learn(tmp_path, monkeypatch):
    """The stage in a folder of its own, with parameters changed as lines of params.yaml."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "data/benchmarks", labelled_pairs=PAIRS + YES_NO, tagged_tokens=TAGS)
    params = (ROOT / "params.yaml").read_text()
    for name, value in SMALL.items():
        params = re.sub(rf"\b{name}: \d+", f"{name}: {value}", params)

    (tmp_path / "params.yaml").write_text(params)

    def run(task, **changes):
        text = params
        for name, value in changes.items():
            text, found = re.subn(rf"^( *{name}): [^ \n]*", rf"\1: {value}", text, count=1, flags=re.M)
            assert found
        (tmp_path / "params.yaml").write_text(text)
        finetune.main(task)
        return json.loads((tmp_path / f"metrics/finetune/{task}.json").read_text())["finetune"][task]

    return run


@pytest.mark.parametrize("model", ["avg", "ldc"])
def test_figures_of_both_sets_and_the_epoch_are_written(learn, model):
    figures = learn("sample-paraphrase", model=model)
    assert figures.keys() == {"epoch", "dev", "test"}
    assert figures["dev"].keys() == {"accuracy", "f1"}
    assert 1 <= figures["epoch"] <= 2


def test_a_tagger_learns_tags_whatever_the_model(learn):
    assert learn("sample-tags", model="overlap")["dev"].keys() == {"accuracy"}


@pytest.fixture
def trained(learn, tmp_path):
    """A model that knows two of the words, where the stage `train` leaves it."""
    options = models.config_class("avg")(**load_params(tmp_path / "params.yaml").models["avg"])
    words, chance = pa.array(["word1", "word2"]), torch.Generator().manual_seed(1)
    model = TrainedEncoder(models.model_class("avg")(options, chance), torch.randn(3, 8, generator=chance), words)
    model_folder.save(model, "avg", options, tmp_path / "data/model")
    return model


def test_universal_starts_from_the_trained_model_and_is_pulled_back(learn, trained, monkeypatch):
    def spied(model, sentences, lambda_c, lambda_w, universal):
        assert torch.equal(model.embeddings[:3], trained.table)
        assert model.texts[:2].equals(trained.texts)
        start = starts.learned(model, sentences, lambda_c, lambda_w, universal)
        assert (start.pull.to_start, start.table_pull.to_start) == (True, True)
        assert start.table_pull.strength > 0
        return start

    monkeypatch.setattr(finetune, "learned", spied)
    assert learn("sample-paraphrase", init="universal")["epoch"] >= 1


def test_a_pair_model_starts_from_the_trained_one_and_is_pulled_back(learn, tmp_path, monkeypatch):
    options = models.config_class("ldc")(**load_params(tmp_path / "params.yaml").models["ldc"])
    encoder = models.model_class("ldc")
    before = starts.scratch(encoder, options, pa.array(WORDS), [2], torch.Generator().manual_seed(1))
    model_folder.save(before, "ldc", options, tmp_path / "data/model")

    def spied(model, config, task, seed, universal, *rest):
        assert universal
        assert torch.equal(model.embeddings[: len(before.table)], before.table)
        return finetune_pairs(model, config, task, seed, universal, *rest)

    finetune_pairs = finetune.learn_pairs
    monkeypatch.setattr(finetune, "learn_pairs", spied)
    assert learn("sample-paraphrase", model="ldc", init="universal")["epoch"] >= 1


def test_frozen_learns_from_the_vectors_of_the_trained_model(learn, trained, monkeypatch):
    def spied(vectors, *options):
        assert torch.equal(vectors, torch.from_numpy(trained.encode(pa.array(WORDS[:31]))))
        return starts.frozen(vectors, *options)

    monkeypatch.setattr(finetune, "frozen", spied)
    assert learn("sample-paraphrase", init="frozen")["epoch"] >= 1


@pytest.mark.parametrize(
    ("task", "changes", "message"),
    [
        ("sample-entailmnt", {}, "unknown supervised task 'sample-entailmnt': did you mean 'sample-entailment'"),
        ("sample-tagz", {}, "unknown supervised task 'sample-tagz': did you mean 'sample-tags'"),
        ("sst", {}, "; others come with `dvc repro` after `benchmarks: open` in params.yaml"),
        ("sample-tags", {"tagger": "charagran"}, "unknown tagger 'charagran': did you mean 'charagram'"),
        ("sample-paraphrase", {"model": "overlap"}, "model = 'overlap' has nothing to fit to a task"),
        ("sample-entailment", {"model": "ldc"}, "sample-entailment: 'ldc' tells only whether two sentences match"),
        ("sample-paraphrase", {"model": "ldc", "init": "frozen"}, "finetune.init = 'frozen': 'ldc' has no vectors"),
        ("sample-paraphrase", {"init": "univresal"}, "finetune.init = 'univresal'"),
        ("sample-paraphrase", {"init": "universal"}, "no model here"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(learn, task, changes, message):
    with pytest.raises((ParameterError, ModelError), match=re.escape(message)) as caught:
        learn(task, **changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("init", ["universal", "frozen"])
def test_another_model_than_the_trained_one_is_refused_with_both_names(learn, tmp_path, init):
    overlap = models.model_class("overlap").fit(models.config_class("overlap")(), None)
    model_folder.save(overlap, "overlap", models.config_class("overlap")(), tmp_path / "data/model")
    with pytest.raises(ModelError, match=r"data/model holds .overlap., params\.yaml: model = .avg."):
        learn("sample-paraphrase", init=init)
