"""The stage `inputs`: lists of the files that parameters name, which change with the content of these files."""

import json
import os
from pathlib import Path

import pytest

import pipeline.inputs as stage
from paraphrastic.base.errors import DataError, ModelError, ParameterError, SourceError
from paraphrastic.base.files import sha256_of
from paraphrastic.base.parameters import load_params
from tests.helpers.parameter_files import copy_parameters
from tests.helpers.raw_files import write_file
from tests.helpers.repository import ROOT


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the stage with changed parameters in a folder of its own; returns the rows of both lists."""
    params = load_params(ROOT / "params.yaml")
    monkeypatch.chdir(tmp_path)

    def run(model="avg", options=None, weights=None, loss="margin", device="auto", **changes):
        train = {"source_weights": weights, "loss": loss, "device": device}
        changes["train"] = params.train.model_copy(update=train)
        models = params.models | {model: params.models.get(model, {}) | (options or {})}
        changed = params.model_copy(update={"model": model, "models": models, **changes})
        monkeypatch.setattr(stage, "load_params", lambda: changed)
        stage.main()
        return [path.read_text().splitlines()[1:] for path in (stage.DATA, stage.MODEL)]

    return run


PAIRS = "text1,text2\na,b\n"
FILES = {"mine.csv": PAIRS, "sets/a.tsv": "text1\ttext2\tscore\n", "sets/b.csv": "text1,text2,label\n", "v.txt": "v"}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return f"{path.as_posix()},{sha256_of(path)}"


def test_files_of_each_parameter(run, tmp_path):
    assert run() == [[], []]
    rows = [write(tmp_path / name, text) for name, text in FILES.items()]
    entries = {"corpus": ["sample", str(tmp_path / "mine.csv")], "benchmarks": [f"{tmp_path}/sets/"]}
    assert run(options={"vectors": str(tmp_path / "v.txt")}, **entries) == [rows[:3], rows[3:]]


def test_folders_of_an_encoder_and_of_a_teacher_are_listed_whole(run, tmp_path):
    rows = [write(tmp_path / "mini" / name, text) for name, text in (("1/weights", "w"), ("modules.json", "[]"))]
    assert run("external", {"path": str(tmp_path / "mini")})[1] == rows
    teacher = load_params(ROOT / "params.yaml", {"teacher.path": "mini"}).teacher
    listed = [row.removeprefix(f"{tmp_path.as_posix()}/") for row in rows]
    assert run(teacher=teacher) == [[], []]
    assert stage.TEACHER.read_text().splitlines()[1:] == listed
    assert run() == [[], []]
    assert stage.TEACHER.read_text() == "file,sha256\n"


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ("avg", SourceError, "params.yaml: teacher.path: mini: no such file"),
        (
            "ldc",
            ParameterError,
            "params.yaml: teacher.path: ldc .* that are trained; leave it empty, or choose an encoder$",
        ),
        ("sif", ParameterError, "params.yaml: teacher.path: sif has no sentence vectors"),
    ],
)
def test_teacher_that_is_refused(run, model, error, message):
    teacher = load_params(ROOT / "params.yaml", {"teacher.path": "mini"}).teacher
    with pytest.raises(error, match=message):
        run(model, {"vectors": str(ROOT / "params.yaml")} if model == "sif" else None, teacher=teacher)


@pytest.mark.parametrize(
    ("teacher", "message"),
    [
        ({}, "corpus: mlqe-pe-sentences has single sentences, .* set teacher.path"),
        ({"teacher.path": "mini"}, "margin_weight = 1: .* mlqe-pe-sentences .* set it to 0"),
        ({"teacher.path": "mini", "teacher.margin_weight": 0.0}, "teacher.path: mini: no such file"),
    ],
)
def test_single_sentences_need_a_teacher_alone(run, teacher, message):
    teacher = load_params(ROOT / "params.yaml", teacher).teacher
    with pytest.raises((ParameterError, SourceError), match=message):
        run(corpus=["permissive"], teacher=teacher)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"exchange": 2},
            r"^params\.yaml: tokenize\.exchange = 2: needs sources of single sentences and a list of words",
        ),
        ({"min_score": 0.5}, r"^params\.yaml: tokenize\.min_score, .* no source of the corpus has scores"),
        ({"relations": ["Equivalence"]}, r"^params\.yaml: tokenize\.min_score, max_score or relations is set"),
    ],
)
def test_what_no_source_has(run, changes, message):
    tokenize = load_params(ROOT / "params.yaml").tokenize.model_copy(update=changes)
    with pytest.raises(ParameterError, match=message):
        run(corpus=["wide-captions"], tokenize=tokenize)


def test_changed_content_changes_the_list(run, tmp_path):
    path = tmp_path / "mine.csv"
    before, after = [(write(path, text), run(corpus=["mine.csv"])[0]) for text in (PAIRS, PAIRS + "c,d\n")]
    for written, (listed,) in (before, after):
        assert written.rpartition(",")[2] == listed.rpartition(",")[2]
    assert before[1] != after[1]


def test_hash_is_computed_again_only_if_the_file_changed(run, tmp_path, monkeypatch):
    path = tmp_path / "mine.csv"
    write(path, PAIRS)
    computed = []
    monkeypatch.setattr(stage, "sha256_of", lambda path: computed.append(path) or sha256_of(path))
    first, second = run(corpus=["mine.csv"]), run(corpus=["mine.csv"])
    assert (first, len(computed)) == (second, 1)
    os.utime(path, ns=(1, 1))
    assert (run(corpus=["mine.csv"]), len(computed)) == (first, 2)


@pytest.mark.parametrize("content", ["", "[1]", "{", json.dumps({"/x": 3})])
def test_damaged_list_of_hashes(run, tmp_path, content):
    write(tmp_path / stage.KNOWN_HASHES, content)
    write(tmp_path / "mine.csv", PAIRS)
    assert len(run(corpus=["mine.csv"])[0]) == 1


def test_misspelt_names(run, monkeypatch):
    with pytest.raises(ParameterError, match="model: unknown model 'lstmavgg': did you mean 'lstmavg'"):
        run(model="lstmavgg")
    with pytest.raises(ParameterError, match=r"^params\.yaml: corpus: unknown corpus 'opne': did you mean 'open'"):
        run(corpus=["opne"])
    with pytest.raises(ParameterError, match=r"train\.source_weights: unknown source 'cocoa': did you mean 'coco'"):
        run(corpus=["wide-captions"], weights={"cocoa": 0.5})
    exchange = load_params(ROOT / "params.yaml").tokenize.model_copy(update={"exchange": 1})
    listed = {"tokenize": exchange, "corpus": ["permissive"], "weights": {"glove-words": 2.0, "exchanged": 0.5}}
    teacher = load_params(ROOT / "params.yaml", {"teacher.path": "mini", "teacher.margin_weight": 0.0}).teacher
    with pytest.raises(SourceError, match=r"teacher\.path: mini: no such file"):  # the names are right
        run(**listed, teacher=teacher)
    with pytest.raises(ParameterError, match=r"train\.loss: unknown loss 'infonc': did you mean 'infonce'"):
        run(loss="infonc")
    with pytest.raises(ParameterError, match=r"^params\.yaml: benchmarks: unknown suite of benchmarks 'opn'"):
        run(benchmarks=["opn"])
    with pytest.raises(SourceError, match=r"^params\.yaml: corpus: mine\.csv: no such file"):
        run(corpus=["mine.csv"])
    with pytest.raises(ParameterError, match=r"^params\.yaml: tokenize\.licences: unknown licence 'foo'"):
        run(tokenize=exchange.model_copy(update={"exchange": 0, "licences": ["foo"]}))
    for name in ("own.csv", "x/own.csv"):
        write_file(Path(name), "text1,text2\na,b\n")
    with pytest.raises(ParameterError, match=r"^params\.yaml: corpus: own\.csv and x/own\.csv have the same name"):
        run(corpus=["own.csv", "x/own.csv"])
    with pytest.raises(SourceError, match=r"models\.yaml: avg\.vectors: v\.txt: no such file"):
        run(options={"vectors": "v.txt"})
    with pytest.raises(ParameterError, match=r"models\.yaml: avg\.learning_rate = -1: .*greater than 0"):
        run(options={"learning_rate": -1})
    with pytest.raises(ParameterError, match=r"^models\.yaml: avg\.lambda_c = 0\.5: .*set it to 0\.0, or use lambda_w"):
        run(options={"lambda_c": 0.5})
    with pytest.raises(
        ParameterError, match=r"^models\.yaml: external\.path = None: is empty; set it to a folder of sent"
    ):
        run("external")
    run()
    monkeypatch.setattr(stage.models, "config_class", None)
    run()  # neither they nor the code has changed
    with pytest.raises(TypeError):
        run(options={"epochs": 1})


@pytest.mark.parametrize(("text", "name"), [("class Config: pass\n", "MODEL"), ("MODEL = None\n", "Config")])
def test_file_that_defines_no_model(run, tmp_path, monkeypatch, text, name):
    (tmp_path / f"without_{name.lower()}.py").write_text(text)
    monkeypatch.setattr(stage.models, "__path__", [str(tmp_path), *stage.models.__path__])
    monkeypatch.setattr(stage.models, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(ParameterError, match=rf"^{tmp_path}/without_.*\.py: defines no {name}; a file of a model has"):
        run(f"without_{name.lower()}")


def test_files_of_another_kind(run, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError, match=r"^models\.yaml: avg\.vectors: folder: is a folder; name a file"):
        run(options={"vectors": "folder"})
    teacher = load_params(ROOT / "params.yaml", {"teacher.path": "folder"}).teacher
    with pytest.raises(ModelError, match=r"^params\.yaml: teacher\.path: folder: no encoder of sentence-transformers"):
        run(teacher=teacher)


def test_device_that_is_not_here(run):
    with pytest.raises(ParameterError, match=r"^params\.yaml: train\.device: device 'cuda:99': not available"):
        run(device="cuda:99")


def test_mistake_in_the_options_of_supervised_tasks(run, tmp_path):
    copy_parameters(tmp_path)
    run()
    path = tmp_path / "finetune/params.yaml"
    path.write_text(path.read_text().replace("hidden_dim", "hiden_dim"))
    with pytest.raises(
        ParameterError, match=r"^finetune/params\.yaml: hiden_dim: unknown key; did you mean 'hidden_dim'"
    ):
        run()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("analyses: [length]\nfoo: 1\n", "foo: unknown key; known are analyses"),
        ("analyses: [length, lenght]\n", "analyses: unknown analysis 'lenght': did you mean 'length'"),
    ],
)
def test_mistake_in_the_list_of_analyses(run, tmp_path, text, message):
    copy_parameters(tmp_path)
    (tmp_path / "analyze/params.yaml").write_text(text)
    with pytest.raises(ParameterError, match=rf"^analyze/params\.yaml: {message}"):
        run()


def test_mistake_in_the_options_of_one_task(run, tmp_path):
    copy_parameters(tmp_path)
    path = tmp_path / "finetune/params.yaml"
    path.write_text(path.read_text().replace("by_task: {}", "by_task: {sst: {hidden_dim: 0}}"))
    with pytest.raises(
        ParameterError, match=r"^finetune/params\.yaml: by_task\.sst\.hidden_dim = 0: should be greater"
    ):
        run()


def test_wrong_columns(run, tmp_path):
    write(tmp_path / "mine.csv", PAIRS)
    with pytest.raises(DataError, match=r"mine\.csv: an evaluation set needs judgements"):
        run(benchmarks=["mine.csv"])
    with pytest.raises(DataError, match=r"mine\.csv: .*q1 and q2; .*text1, text2"):
        run(corpus=[{"path": "mine.csv", "columns": ["q1", "q2"]}])
