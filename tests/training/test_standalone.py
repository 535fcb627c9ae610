"""Training on files of the user without the pipeline: the same model as the stages."""

import csv
import random
import re
import subprocess
import sys
from multiprocessing import current_process
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import paraphrastic
from paraphrastic.base.errors import DataError, ModelError, ParameterError, SourceError
from paraphrastic.base.parameters import load_params
from paraphrastic.inference.quantization import ranges_of
from paraphrastic.training import standalone
from paraphrastic.training.train_model import Tables, train_model
from paraphrastic.training.trainer import Callback
from tests.helpers import stub_teacher
from tests.helpers.own_training import SMALL, WORDS, weights, working_folder, write
from tests.helpers.parameter_files import change_parameters, copy_parameters
from tests.helpers.repository import ROOT

NO_PATH = "expected; write a table to a file, such as pairs.to_csv('pairs.csv', index=False)"
WEIGHTS = {"train.source_weights": {"smaple": 2.0}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return working_folder(tmp_path, monkeypatch)


def test_model_is_that_of_the_stages(folder):
    model = paraphrastic.train(["sample", "pairs.csv"], "out", benchmarks="sample", settings=SMALL)
    assert model.selection == ["sample.dev"]
    assert not [*(folder / "cache/work").iterdir()]
    copy_parameters(folder)
    change_parameters(folder, corpus="[sample, pairs.csv]", dim=8, epochs=2)
    for stage in ("download", "tokenize", "vocabulary", "train"):
        code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pipeline import {stage}; {stage}.main()"
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert np.array_equal(weights(paraphrastic.load("data/model")), weights(model))


def test_last_epoch_without_benchmarks_and_ranges_of_training_sentences(folder):
    model = paraphrastic.train("pairs.csv", "out", settings=SMALL)
    assert (model.name, model.dim, model.selection, model.sources) == ("avg", 8, [], {"own.pairs": 300})
    assert np.array_equal(weights(paraphrastic.train("pairs.csv", "out", settings=SMALL)), weights(model))
    with Path("pairs.csv").open(newline="") as file:
        texts = [text for row in csv.reader(file) for text in row][2:]
    for ranges, is_unit in zip(model.ranges, (False, True), strict=True):
        np.testing.assert_allclose(ranges, ranges_of(model.encode(texts, normalize_embeddings=is_unit)), atol=1e-6)
    codes = model.encode(texts, precision="uint8")
    assert (codes.min(0) == 0).all()
    assert (codes.max(0) >= 254).all()


def test_sentences_of_benchmarks_are_kept_out(folder, capsys):
    paraphrastic.train("pairs.csv", "out", benchmarks=["set.csv"], settings=SMALL)
    assert "own.pairs: 300 read, 3 overlap, 297 kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "warnings"), [("avg", 1), ("charagram", 0), ("tfidf-words", 1), ("tfidf-chars", 0), ("overlap", 1)]
)
def test_models_of_words_without_spaces(folder, capsys, model, warnings):
    write(
        folder / "zh.csv", ["text1", "text2"], [[f"我喜欢苹果{a}。", f"我爱吃苹果{a}"] for a in "一二三四五六七八九十"]
    )
    options = {f"models.yaml:{model}.{key}": 1 for key in ("dim", "epochs") if model in ("avg", "charagram")}
    limits = {"vocabulary.min_count": 1, "vocabulary.ngram_min_count": 1}
    paraphrastic.train("zh.csv", "out", model, settings=options | limits)
    assert capsys.readouterr().err.count("texts are in a script without spaces between words") == warnings


def test_encoder_of_another_package_is_no_model_of_words(folder, capsys, monkeypatch):
    mini = stub_teacher.install(monkeypatch, folder / "mini")
    write(folder / "zh.csv", ["text1", "text2"], [["我喜欢苹果。", "我爱吃苹果"]])
    settings = {"models.yaml:external.path": str(mini), "vocabulary.min_count": 1, "vocabulary.ngram_min_count": 1}
    paraphrastic.train("zh.csv", "out", "external", settings=settings)
    assert "without spaces" not in capsys.readouterr().err


@pytest.mark.parametrize(("group", "warnings"), [("same", 1), ("", 0)])
def test_pairs_without_negatives(folder, capsys, group, warnings):
    rows = [[f"dog {n} a", f"b dog {n}", group] for n in range(9)]
    write(folder / "groups.csv", ["text1", "text2", "group"], rows)
    limits = {"vocabulary.min_count": 1, "vocabulary.ngram_min_count": 1, "models.yaml:avg.dim": 8}
    paraphrastic.train("groups.csv", "out", "avg", settings=limits)
    assert capsys.readouterr().err.count("avg: the loss was 0 at every step: no sentence has a negative") == warnings


@pytest.mark.parametrize(("model", "warnings"), [("charcnn", 1), ("avg", 0)])
def test_one_vector_for_all_sentences(folder, capsys, model, warnings):
    options = {"dim": 8, "epochs": 3, "negatives": "max", "learning_rate": 0.1}
    settings = {f"models.yaml:{model}.{key}": value for key, value in options.items()}
    paraphrastic.train("pairs.csv", "out", model, settings=settings)
    line = f"{model}: all sentences have nearly one vector, with a mean cosine of 1.00; a lower `learning_rate`"
    assert capsys.readouterr().err.count(line) == warnings


def test_diverging_training_names_the_model_and_the_file_of_its_options(folder):
    options = {"dim": 8, "out_dim": 8, "epochs": 1, "batch_size": 300, "learning_rate": 1e39}
    settings = {f"models.yaml:proj.{key}": value for key, value in options.items()}
    with pytest.raises(ModelError, match=r"^models\.yaml: proj: .* not finite .*: lower `learning_rate`"):
        paraphrastic.train("pairs.csv", "out", "proj", settings=settings)
    assert not Path("out").exists()


def test_error_of_a_callback_is_left_as_it_is(folder):
    class Failing(Callback):
        def on_step(self, trainer):
            raise ModelError("mine")

    with pytest.raises(ModelError, match=r"^mine$"):
        paraphrastic.train("pairs.csv", "out", settings=SMALL, callbacks=[Failing()])


def test_set_to_select_by_that_no_suite_has_is_refused_before_the_corpus_is_read(folder, monkeypatch):
    monkeypatch.setattr(standalone, "_prepare", None)
    settings = SMALL | {"train.select": "sample.rolse"}
    with pytest.raises(ParameterError, match=r"^params\.yaml: train\.select: .* did you mean 'sample\.roles'"):
        paraphrastic.train("pairs.csv", "out", benchmarks="sample", settings=settings)


def test_callback_that_other_processes_cannot_have(folder):
    callback = Callback()
    callback.on_step = lambda trainer: None
    with pytest.raises(ParameterError, match=r"^callbacks: .*pickle.*; set train\.processes to 1"):
        paraphrastic.train("pairs.csv", "out", settings=SMALL | {"train.processes": 2}, callbacks=[callback])
    assert not [*folder.glob("cache/work/*")]


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        ([Callback], "Callback is a class; pass an object of it, Callback()"),
        ([SimpleNamespace(on_step=print)], "SimpleNamespace, where a list of objects of `Callback` is expected"),
        (Callback(), "Callback, where a list of objects of `Callback` is expected"),
        (None, "NoneType, where a list of objects of `Callback` is expected"),
    ],
)
def test_what_is_no_callback(folder, callbacks, message):
    with pytest.raises(ParameterError, match=f"^callbacks: {re.escape(message)}$"):
        paraphrastic.train("absent.csv", "out", settings=SMALL, callbacks=callbacks)
    with pytest.raises(ParameterError, match=f"^callbacks: {re.escape(message)}$"):
        train_model(
            load_params(standalone.default_params()),
            Tables(*map(Path, "abcd")),
            Path("checkpoints"),
            Path("out"),
            callbacks,
        )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"pairs": "none.csv"}, SourceError, "none.csv: no such file"),
        ({"pairs": "pairs.cvs"}, SourceError, "pairs.cvs: no such file"),
        ({"pairs": "opne"}, ParameterError, "'opne': did you mean 'open'"),
        ({"pairs": pd.DataFrame({"sample": ["a"]})}, ParameterError, NO_PATH),
        ({"benchmarks": [["sample"]]}, ParameterError, "list where the path of a file or a name is " + NO_PATH),
        ({"model": "avgg"}, ParameterError, "models.yaml 'avgg': did you"),
        ({"benchmarks": "opn"}, ParameterError, "unknown suite of benchmarks 'opn'"),
        ({"settings": {"models.yaml:avg.dmi": 8}}, ParameterError, "avg.dmi: unknown key; did"),
        ({"settings": {"models.yaml:avg.dim": "x"}}, ParameterError, "models.yaml: avg.dim = 'x'"),
        ({"settings": {"moels.yaml:avg.dim": 8}}, ParameterError, "moels.yaml:avg.dim: unknown"),
        ({"settings": {"models.avg.dim": 8}}, ParameterError, "did you mean 'models.yaml:avg.dim'"),
        ({"settings": {"benchmarks": "sample"}}, ParameterError, "benchmarks: is no setting here, but an argument"),
        ({"settings": {"train.select": "test"}}, ParameterError, "train.select = 'test': no sets could select"),
        ({"settings": {"avg.dim": 8}}, ParameterError, "did you mean 'models.yaml:avg.dim'"),
        ({"settings": {"dim": 8}, "model": "lstm"}, ParameterError, "did you mean 'models.yaml:lstm.dim'"),
        ({"settings": {"models.yaml:avg.dim": 2**31}}, ParameterError, "should be less than 2147483648"),
        ({"settings": {"models.yaml:lstm.num_threads": 1025}, "model": "lstm"}, ParameterError, "equal to 1024"),
        ({"pairs": "sample", "settings": WEIGHTS}, ParameterError, "'smaple': did you mean 'sample'? known are"),
        ({"settings": {"train.source_weights": {"a": -1}}}, ParameterError, "weights.a = -1"),
        ({"settings": {"models.yaml:avg.freeze_embeddings": True}}, ParameterError, "freeze_embeddings = true: this"),
        (
            {"settings": {"models.yaml:avg.vectors": "v.txt"}},
            SourceError,
            "models.yaml: avg.vectors: v.txt: no such file",
        ),
        (
            {"pairs": "pairs.csv", "benchmarks": "set.csv", "settings": {"train.select": "own.sett"}},
            ParameterError,
            "train.select: unknown set to select by 'own.sett': did you mean 'own.set'",
        ),
        ({"params": "none.yaml"}, ParameterError, "none.yaml: no such file"),
        ({"settings": {"teacher.path": "mini"}}, SourceError, "params.yaml: teacher.path: mini: no such file"),
        (
            {"settings": {"teacher.path": "."}},
            ModelError,
            "teacher.path: .: no encoder of sentence-transformers or model2vec",
        ),
        ({"settings": {"tokenize.min_score": 9}}, DataError, "set.csv: not one usable row of such a score, see "),
    ],
)
def test_mistake_in_one_line(folder, arguments, error, message):
    with pytest.raises(error) as raised:
        paraphrastic.train(**{"pairs": "set.csv"} | arguments, out="out")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (folder / "out").exists()
    assert not [*folder.glob("cache/work/*")]


def test_process_that_imports_the_main_module(monkeypatch):
    monkeypatch.setattr(current_process(), "_inheriting", True, raising=False)
    with pytest.raises(ParameterError, match='under `if __name__ == "__main__":`'):
        paraphrastic.train("set.csv", out="out")


def test_folder_that_is_no_model_is_not_replaced(folder):
    for path, text in (("thesis/chapter.txt", "years of work"), ("other/config.json", '{"model_type": "bert"}')):
        (folder / path).parent.mkdir()
        (folder / path).write_text(text)
    for out in ("thesis", ".", "pairs.csv", "other"):
        with pytest.raises(ParameterError, match=f"{out}: exists and is no model; name another folder"):
            paraphrastic.train("pairs.csv", out, settings=SMALL)
    assert (folder / "thesis/chapter.txt").exists()


def test_working_directory_is_not_replaced(folder, monkeypatch):
    (folder / "empty").mkdir()
    monkeypatch.chdir(folder / "empty")
    with pytest.raises(ParameterError, match=r"^\.: is the working directory, or around it; name a place in it"):
        paraphrastic.train("../pairs.csv", ".", settings=SMALL)


def test_model_beside_files_of_others_is_not_replaced(folder):
    paraphrastic.train("pairs.csv", "model", settings=SMALL)
    (folder / "model/.git").mkdir()
    with pytest.raises(ParameterError, match=r"model: has \.git, which no model has, and would lose it"):
        paraphrastic.train("pairs.csv", "model", settings=SMALL)
    with pytest.raises(ParameterError, match=r"model: has \.git"):
        paraphrastic.load("model").save_pretrained("model")
    (folder / "model/.git").rmdir()
    (folder / "model/my-vectors.npy").touch()
    with pytest.raises(ParameterError, match=r"model: has my-vectors\.npy"):
        paraphrastic.load("model").save_pretrained("model")
    paraphrastic.load("model").save_pretrained("copy")
    assert not (folder / "copy/my-vectors.npy").exists()


@pytest.mark.parametrize("key", ["corpus", "model"])
def test_arguments_are_no_settings(folder, key):
    with pytest.raises(ParameterError, match=f"{key}: is no setting here, but an argument or option of its own"):
        paraphrastic.train("pairs.csv", "model", settings={**SMALL, key: "avg"})


def test_parameters_of_another_project(folder):
    (folder / "params.yaml").write_text("lr: 0.1\n")
    assert paraphrastic.train("pairs.csv", "model", settings=SMALL).name == "avg"


def test_model_that_learned_from_a_teacher(folder, monkeypatch):
    mini = stub_teacher.install(monkeypatch, folder / "mini")
    taught = paraphrastic.train("pairs.csv", "out", settings=SMALL | {"teacher.path": str(mini)})
    assert taught.teacher == "mini"
    untaught = paraphrastic.train("pairs.csv", "out", settings=SMALL)
    assert untaught.teacher is None
    assert not np.allclose(weights(taught), weights(untaught))
    settings = {"teacher.path": str(mini), "models.yaml:avg.init": "cooccurrence"}
    with pytest.raises(ParameterError, match=r"avg\.init = cooccurrence: words start from the teacher's vectors"):
        paraphrastic.train("pairs.csv", "out", settings=settings)
    with pytest.raises(ParameterError, match=r"teacher\.path: overlap has no sentence vectors"):
        paraphrastic.train("pairs.csv", "out", model="overlap", settings={"teacher.path": str(mini)})


def test_sources_without_scores_are_named_where_scores_are_limited(folder, capsys):
    (folder / "scored.csv").write_text("text1,text2,score\na dog runs,a dog is running,4\na cat,a kitten,1\n")
    paraphrastic.train(["sample", "scored.csv"], "out", settings=SMALL | {"tokenize.min_score": 3.0})
    assert "max_score and relations do not limit sample: no pair has a score" in capsys.readouterr().err


def test_single_sentences_of_a_file(folder, monkeypatch):
    mini = stub_teacher.install(monkeypatch, folder / "mini")
    generator = random.Random(2)
    (folder / "mine.txt").write_text("\n".join(" ".join(generator.choices(WORDS, k=6)) for _ in range(301)))
    settings = SMALL | {"teacher.path": str(mini), "teacher.margin_weight": 0.0}
    assert paraphrastic.train("mine.txt", "out", settings=settings).sources == {"own.mine": 151}
    with pytest.raises(ParameterError, match=r"corpus: own\.mine has single sentences, .* set teacher\.path"):
        paraphrastic.train("mine.txt", "out", settings=SMALL)
    with pytest.raises(ParameterError, match=r"margin_weight = 1: would take the single sentences of own\.mine"):
        paraphrastic.train("mine.txt", "out", settings=settings | {"teacher.margin_weight": 1.0})


def test_paths_of_any_name(folder):
    (folder / "pairs.csv").rename(folder / "pairs")
    with pytest.raises(ParameterError, match="unknown corpus 'pairs'"):
        paraphrastic.train("pairs", "out", settings=SMALL)
    with pytest.raises(SourceError, match="pairs: ends in none of"):
        paraphrastic.train(folder / "pairs", "out", settings=SMALL)
    (folder / "data").mkdir()
    (folder / "pairs").rename(folder / "data/pairs.csv")
    assert paraphrastic.train(Path("data"), "out", settings=SMALL).dim == 8


def test_folder_of_the_model_is_written_whole_or_not_at_all(folder, monkeypatch):
    params = load_params(ROOT / "params.yaml", {"model": "overlap", "train.select": "none"})
    paraphrastic.train("pairs.csv", "out", settings=SMALL)
    tables = Tables(folder / "none", folder, folder, folder)
    with pytest.raises(DataError, match=r"sentences\.parquet: no such file"):
        train_model(params, tables, folder / "checkpoints", folder / "out")
    assert paraphrastic.load("out").name == "avg"
    assert not (folder / "checkpoints").exists()
