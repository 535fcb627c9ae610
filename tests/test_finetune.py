"""What the stage `finetune` refuses, each time in one line, and what it writes."""

import json
import re

import pytest

from paraphrastic import models
from paraphrastic.errors import ModelError, ParameterError
from pipeline import finetune
from tests.repository import ROOT
from tests.test_supervised import written

PAIRS = [("sample.entailment", split, n, n + 1, n % 3) for split in ("train", "dev", "test") for n in range(30)]
YES_NO = [("sample.paraphrase", split, n, n + 1, n % 2) for split in ("train", "dev", "test") for n in range(30)]
SMALL = {"dim": 8, "epochs": 2, "filters": 4, "threads": 1}


@pytest.fixture
def learn(tmp_path, monkeypatch):
    """The stage in a folder of its own, with parameters changed as lines of params.yaml."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "data/benchmarks", labelled_pairs=PAIRS + YES_NO)
    params = (ROOT / "params.yaml").read_text()
    for name, value in SMALL.items():
        params = re.sub(rf"\b{name}: \d+", f"{name}: {value}", params)

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


@pytest.mark.parametrize(
    ("task", "changes", "message"),
    [
        ("sample-entailmnt", {}, "unknown supervised task 'sample-entailmnt': did you mean 'sample-entailment'"),
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
    overlap = models.implementation("overlap").fit(models.options("overlap")(), None)
    models.save(overlap, "overlap", models.options("overlap")(), tmp_path / "data/model")
    with pytest.raises(ModelError, match=r"data/model holds .overlap., params\.yaml: model = .avg."):
        learn("sample-paraphrase", init=init)
