"""The commands train and evaluate, and data inspect."""

import json
import sys

import numpy as np
import pytest

import paraphrastic
from paraphrastic.cli.data_commands import inspect
from paraphrastic.readers import sample
from paraphrastic.sources import catalogue
from tests.helpers.command_line import assert_refused
from tests.helpers.pretended_device import HAS_GPU, gpu

REAL = catalogue.catalogue  # the fixture `run` replaces it
PAIRS = "text1,text2,label\n" + "".join(f"a dog number {n} runs,one dog number {n} is running,1\n" for n in range(9))
SMALL = ("-S", "models.yaml:avg.dim=8", "-S", "models.yaml:avg.epochs=1")


@pytest.fixture
def folder(run, tmp_path):
    """Return the folder in which commands run, with pairs and sets."""
    (tmp_path / "mine.csv").write_text(f"{PAIRS}a,b,0\nonly one\n")
    (tmp_path / "good.csv").write_text(PAIRS)
    (tmp_path / "likeness.tsv").write_text("text1\ttext2\tscore\na dog\ta dog\t2\na dog\ta cat\t1\ntwo\tthree\t0\n")
    return tmp_path


def test_train_and_evaluate(run, folder):
    done = run("train", "--corpus", "good.csv", "--out", "model", *SMALL)
    assert done.exit_code == 0, done.output
    assert "own.good: 9 read, 9 kept\n" in done.stderr
    trained = paraphrastic.load(folder / "model")
    assert (trained.dim, trained.name) == (8, "avg")
    assert f"model: avg, {len(trained.vocabulary)} entries, 0.0 MB\n" in done.stderr
    rows = run("evaluate", "vectors", "likeness.tsv").stdout.splitlines()
    assert [row.split("\t")[:3] for row in rows] == [["set", "kind", "n"], ["own.likeness", "similarity", "3"]]
    found = json.loads(run("evaluate", "vectors", "likeness.tsv", "--json").stdout)
    assert found["metrics"]["own"]["likeness"].keys() == {"pearson", "spearman"}
    assert found["sets"][0]["set"] == "own.likeness"
    assert_refused(run("evaluate", "vectors", "likeness.tsv", "--md", "--json"), "--json and --md exclude each other")
    lines = run("evaluate", "vectors", "likeness.tsv", "--md").stdout.splitlines()
    assert lines[0] == "| set | kind | n | pearson | spearman | oov | main | low | high |"


def test_interval_of_the_main_metric_and_a_set_that_is_too_small(run, folder):
    rows = [f"a b c d\t{' '.join('abcd'[: n % 4 + 1])}\t{(n + n // 8) % 4}\n" for n in range(56)]
    (folder / "large.tsv").write_text("text1\ttext2\tscore\n" + "".join(rows))
    done = run("evaluate", "overlap", "likeness.tsv", "large.tsv", "--json")
    assert "fewer than 50 pairs or questions, too few to compare models by: own.likeness (3)\n" in done.stderr
    row = json.loads(done.stdout)["sets"][0]
    assert (row["set"], row["main"]) == ("own.large", "pearson")
    assert row["low"] < row["pearson"] < row["high"]
    half = (row["high"] - row["low"]) / 2
    assert half == pytest.approx(196 * (1 - (row["pearson"] / 100) ** 2) / np.sqrt(56), rel=0.25)


def test_sets_whose_judgements_define_no_metric(run, folder):
    (folder / "one.tsv").write_text("text1\ttext2\tlabel\na dog\ta dog\t1\n")
    table = run("evaluate", "vectors", "likeness.tsv", "one.tsv").stdout.splitlines()
    assert table[-1] == "own.one\tlabelled_pairs\t1\t\t\t100.0\t\t\t\tnot defined: fewer than two rows"
    found = json.loads(run("evaluate", "vectors", "one.tsv", "--json").stdout, parse_constant=pytest.fail)
    assert found["metrics"] == {}
    assert found["sets"][0]["not_defined"] == "not defined: fewer than two rows"


def test_refused_rows_name_the_command_that_lists_them(run, folder):
    refused = run("train", "--corpus", "mine.csv", "--out", "model", *SMALL)
    assert_refused(refused, "mine.csv, line 12: 1 cells, where line 1 has 3", "`paraphrastic data inspect mine.csv`")
    assert_refused(run("train", "--corpus", "good.csv", "--out", "model", "-S", "x"), "--set x: not KEY=VALUE")
    assert_refused(run("train", "--corpus", "good.csv", "--out", "model", "-S", "x=["), "the value is not YAML")
    assert_refused(run("train", "--corpus", "good.csv", "--out", "no/model"), "no: no such folder; create it first")


def test_device(run, folder, lines):
    rows = [f"{lines[0]}\t{line}\t{n}" for n, line in enumerate(lines)]
    (folder / "known.tsv").write_text("\n".join(["text1\ttext2\tscore", *rows]))
    with gpu() as records:
        on_device, on_cpu = (run("evaluate", "lstmavg", "known.tsv", "--device", name) for name in ("cuda", "cpu"))
        assert HAS_GPU or records.read
        options = ("--model", "lstm", "-S", "models.yaml:lstm.dim=8", "-S", "models.yaml:lstm.epochs=1")
        trained = run("train", "--corpus", "good.csv", "--out", "model", *options, "--device", "cuda")
    assert on_device.stdout == on_cpu.stdout != ""
    assert trained.exit_code == 0, trained.output
    assert paraphrastic.load(folder / "model").dim == 8


def test_wrong_device(run, folder):
    train, evaluate = ("train", "--corpus", "good.csv", "--out", "model", *SMALL), ("evaluate", "vectors", "good.csv")
    names = "should be auto, cpu, cuda or cuda:N"
    assert_refused(run(*train, "--device", "gpu"), f"train.device = 'gpu': {names}")
    assert_refused(run(*evaluate, "--device", "gpu"), f"device 'gpu': {names}")
    assert_refused(run(*evaluate, "--device", "cuda"), "device 'cuda': vectors: vectors is computed on the CPU")


@pytest.mark.skipif(HAS_GPU, reason="this machine has a GPU")
def test_no_gpu(run, folder):
    message = "device 'cuda': not available on this machine; use auto or cpu"
    for command in (["train", "--corpus", "good.csv", "--out", "model", *SMALL], ["evaluate", "lstmavg", "good.csv"]):
        assert_refused(run(*command, "--device", "cuda"), message)


def test_inspect_on_a_terminal(run, folder, monkeypatch, capsys):
    monkeypatch.setattr(catalogue, "catalogue", REAL)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    inspect("mine.csv", None, "sample")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:7] == [
        "mine.csv: training pairs (text1, text2, label)",
        "  usable rows: 9",
        "  rows left out with label 0: 1",
        "  refused rows: 1",
        "  refused line 12: 1 cells, where line 1 has 3",
        "  sample: a dog number 0 runs | one dog number 0 is running | 0",
        "  sample: a dog number 1 runs | one dog number 1 is running | 1",
    ]
    assert "mine.csv: evaluation set own.mine, paraphrases (text1, text2, label)" in lines
    assert lines[-2:] == ["mine.csv: texts of evaluation sets", "  texts that are in sample: 0"]


def test_inspect_of_judged_pairs_that_are_no_training_pairs(run, folder, monkeypatch):
    monkeypatch.setattr(catalogue, "catalogue", REAL)
    rows = [f"a dog {n}\ta cat {n}\t{n}\t{'yes' if n else 'no'}\n" for n in range(3)]
    (folder / "scored.tsv").write_text("".join(["text1\ttext2\tscore\tgold_label\n", *rows]))
    lines = run("data", "inspect", "scored.tsv").stdout.splitlines()
    assert all(line.startswith("scored.tsv\tevaluation set own.scored, similarity") for line in lines[1:])
    assert any("\tno training pairs: scored.tsv: gold_label: looks like judgements" in line for line in lines)
    (folder / "single.txt").write_text("a dog\na cat\na cat\n")
    facts = "usable rows\t1", "rows left out with label 0\t0", "refused rows\t0", "sample\ta dog | a cat | 0"
    assert run("data", "inspect", "single.txt").stdout.splitlines()[1:] == [
        f"single.txt\tsingle sentences for a teacher, two in a row (text)\t{fact}" for fact in facts
    ]


def test_inspect_in_a_pipe(run, folder, monkeypatch):
    monkeypatch.setattr(catalogue, "catalogue", REAL)
    lines = run("data", "inspect", "mine.csv", "--benchmarks", "sample").stdout.splitlines()
    pairs = "mine.csv\ttraining pairs (text1, text2, label)"
    assert lines[:6] == [
        "file\tread as\tfact\tvalue",
        f"{pairs}\tusable rows\t9",
        f"{pairs}\trows left out with label 0\t1",
        f"{pairs}\trefused rows\t1",
        f"{pairs}\trefused line 12\t1 cells, where line 1 has 3",
        f"{pairs}\tsample\ta dog number 0 runs | one dog number 0 is running | 0",
    ]
    assert {line.count("\t") for line in lines} == {3}
    assert any(
        line.startswith("mine.csv\tevaluation set own.mine, paraphrases (text1, text2, label)") for line in lines
    )


def test_inspect_counts_texts_of_evaluation_sets(run, folder, monkeypatch):
    monkeypatch.setattr(catalogue, "catalogue", REAL)
    first = next(row for row in sample.table("similarity").to_pylist() if row["set"] == "sample.dev")
    (folder / "copy.tsv").write_text(f"text1\ttext2\n{first['text1']}\tnothing like it\n")
    lines = run("data", "inspect", "copy.tsv", "--benchmarks", "sample").stdout.splitlines()
    assert "copy.tsv\t\ttexts that are in sample.dev\t1" in lines


def test_inspect_of_other_columns_and_missing_files(run, folder, monkeypatch):
    monkeypatch.setattr(catalogue, "catalogue", REAL)
    (folder / "other.csv").write_text("q1,q2\na,b\n")
    assert_refused(run("data", "inspect", "other.csv"), "other.csv: no columns text1/text2", "the columns are q1, q2")
    assert_refused(run("data", "inspect", "none.csv"), "none.csv: no such file")
    assert_refused(run("data", "inspect", "2017"), "error: 2017: no such file")
    assert "training pairs (q2, q1)" in run("data", "inspect", "other.csv", "--columns", "q2,q1").stdout
    unknown = run("data", "inspect", "other.csv", "--columns", "q2,q1", "--benchmarks", "opn")
    assert_refused(unknown, "unknown suite of benchmarks 'opn'")
    assert not unknown.stdout


def test_judgements_of_another_name(run, folder, monkeypatch):
    monkeypatch.setattr(catalogue, "catalogue", REAL)
    rows = [f"a dog number {n} runs,one dog number {n} is running,{'yes' if n else 'no'},{n}" for n in range(9)]
    (folder / "judged.csv").write_text("\n".join(["text1,text2,gold_label,id", *rows]))
    train = "train", "--out", "model", *SMALL, "--corpus"
    assert_refused(run(*train, "judged.csv"), "judged.csv: gold_label: looks like judgements", "columns: {label:")
    inspected = run("data", "inspect", "judged.csv")
    assert_refused(inspected, "judged.csv: gold_label: looks like judgements")
    assert inspected.stdout == ""
    assert_refused(run("evaluate", "vectors", "judged.csv"), "needs judgements", "columns: {score: gold_label}")
    assert_refused(run(*train, "{path: judged.csv"), "error: {path: judged.csv: the value is not YAML\n")
    assert_refused(
        run(*train, "{path:judged.csv,columns:[a,b]}"), ": the value is not YAML; put a space after each colon\n"
    )
    entry = "{path: judged.csv, columns: {label: gold_label}, positive: ['yes']}"
    done = run(*train, entry)
    assert done.exit_code == 0, done.output
    assert "judged.csv: not used: id\n" in done.stderr
    assert "own.judged: 8 read, 8 kept\n" in done.stderr
    assert "\trows left out with label 0\t1\n" in (facts := run("data", "inspect", entry).stdout)
    assert "\tnote\tnot used: id\n" in facts
    assert "own.judged\tlabelled_pairs\t9" in run("evaluate", "vectors", entry).stdout


def test_scores_and_blank_scores(run, folder, monkeypatch):
    monkeypatch.setattr(catalogue, "catalogue", REAL)
    (folder / "blank.tsv").write_text((folder / "likeness.tsv").read_text() + "a\tb\t\n")
    note = "\tnote\ttraining on pairs with scores needs tokenize.min_score or tokenize.max_score: score\n"
    (folder / "labelled.tsv").write_text("text1\ttext2\tscore\tlabel\na\tb\t1\t1\nc\td\t2\t0\n")
    assert note not in run("data", "inspect", "labelled.tsv").stdout
    (folder / "blanks.tsv").write_text("text1\ttext2\tscore\na\tb\t\nc\td\t\nf\tg\t1\nh\ti\t2\nj\tk\t\n")
    train = "train", "--out", "model", *SMALL, "--corpus", "blank.tsv"
    assert_refused(run(*train), "blank.tsv: has scores, but tokenize.min_score and max_score are empty")
    limited = run(*train, "-S", "tokenize.min_score=1", "-S", "vocabulary.min_count=1")
    assert "own.blank: 1 rows are not judged: left out\n" in limited.stderr
    assert "own.blank: 1 rows are not judged: left out\n" in run("evaluate", "vectors", "blank.tsv").stderr
    lines = run("data", "inspect", "blank.tsv").stdout
    assert "\trows that are not judged\t1\n" in lines
    monkeypatch.setattr("paraphrastic.readers.own_tables.PART", 2)
    assert "\trows that are not judged\t3\n" in run("data", "inspect", "blanks.tsv").stdout
    assert note in lines
