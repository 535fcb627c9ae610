"""The pipeline of the encoder in the package: its stages are those of dvc.yaml, and it made the file that ships."""

import hashlib
import json
import re

import pandas as pd
import pytest
from dvc.repo import Repo
from ruamel.yaml import YAML

import paraphrastic
from paraphrastic import models
from paraphrastic.base.parameters import checked, load_params
from paraphrastic.sources.catalogue import corpus
from tests.helpers.repository import ROOT

RELEASE = ROOT / "release"
MADE = YAML(typ="safe").load(RELEASE / "dvc.lock")["stages"]
PARAMS = load_params(RELEASE / "params.yaml")
STAGES, OWN_STAGES = (YAML(typ="safe").load(folder / "dvc.yaml")["stages"] for folder in (ROOT, RELEASE))
EARLIER = {"data/all-MiniLM-L6-v2", "data/words"}  # outputs of the stage `packages`


@pytest.fixture(scope="module")
def shipped():
    return paraphrastic.load()


@pytest.mark.parametrize("name", ["download", "tokenize", "vocabulary", "teach", "train"])
def test_stages_are_those_of_the_repository(name):
    stage, own = STAGES[name], OWN_STAGES[name]
    assert own["cmd"] == f"python stage.py {stage['cmd'].removeprefix('python -m pipeline.')}"
    assert own["outs"] == stage["outs"]
    assert own.get("params") == [
        {"models.yaml": [PARAMS.model]} if isinstance(each, dict) else each for each in stage["params"]
    ]
    data = {dep for dep in stage.get("deps", []) if dep.startswith("data/") and not dep.startswith("data/inputs/")}
    assert {*own["deps"]} - EARLIER == data


def test_commands_of_the_repository_pass_it_over():
    known = {stage.path_in_repo for stage in Repo(ROOT).index.stages}
    assert {"dvc.yaml", "finetune/dvc.yaml"} <= known
    assert not [path for path in known if path.startswith("release")]
    assert {*OWN_STAGES} == {stage.name.partition("@")[0] for stage in Repo(RELEASE).index.stages}


def test_shipped_encoder_is_that_of_the_parameters(shipped):
    options = checked(models.config_class(PARAMS.model), PARAMS.models[PARAMS.model], "models", PARAMS.model)
    assert (shipped.name, shipped.options) == (PARAMS.model, options.model_dump())
    assert PARAMS.teacher.path == [f"data/{shipped.teacher}"]
    assert {*shipped.sources} == {*(source.name for source in corpus(PARAMS.corpus)), "exchanged"}
    assert (shipped.selection, PARAMS.train.select) == ([], "none")


def test_recorded_run_had_these_parameters_and_commands():
    stages = Repo(RELEASE).index.stages
    assert {stage.name for stage in stages} == {*MADE}
    assert not [stage.name for stage in stages if stage.cmd_changed]
    here = [dep for stage in stages for dep in stage.deps if not str(dep).startswith("data")]  # files, and parameters
    assert not [changed for dep in here if (changed := dep.status())]


def test_shipped_files_are_those_of_the_recorded_run(shipped):
    files = sorted(shipped.folder.iterdir())
    listed = [{"md5": hashlib.md5(file.read_bytes()).hexdigest(), "relpath": file.name} for file in files]
    folder, metrics = MADE["encoder@small"]["outs"]
    assert folder["md5"] == f"{hashlib.md5(json.dumps(listed, sort_keys=True).encode()).hexdigest()}.dir"
    assert metrics["md5"] == hashlib.md5((RELEASE / "metrics/small.tsv").read_bytes()).hexdigest()
    rows = pd.read_csv(RELEASE / "metrics/corpus.csv").set_index("source")["kept"]
    assert shipped.sources == rows.to_dict()


def test_card_has_the_recorded_figures(shipped):
    card = (shipped.folder / "README.md").read_text(encoding="utf-8")
    printed = dict(re.findall(r"^\| ((?:mteb|features)\.\S+) \| [\d,]+ \| \w+ \| ([\d.]+) ", card, re.MULTILINE))
    sets = pd.read_csv(RELEASE / "metrics/small.tsv", sep="\t").set_index("set")
    recorded = sets["accuracy"].fillna(sets["spearman"])
    assert {name: float(value) for name, value in printed.items()} == pytest.approx(recorded.to_dict(), abs=0.051)
