"""The pipeline as people run it: in a fresh clone, through dvc and through `python -m pipeline.STAGE`."""

import json
import subprocess
import sys

import pytest

from tests.repository import DVC, ROOT, commit_copy, settings


@pytest.fixture
def environment(tmp_path_factory):
    return settings(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def clone(tmp_path, environment):
    commit_copy(tmp_path, environment)
    return tmp_path


@pytest.fixture
def call(clone, environment):
    """Run a command in the clone."""

    def run(*command):
        return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)

    return run


def numbers(tree):
    return [x for value in tree.values() for x in (numbers(value) if isinstance(value, dict) else [value])]


def test_an_experiment_in_a_fresh_clone_and_nothing_to_do_after_it(clone, call):
    done = call(*DVC, "exp", "run", "-S", "models.avg.epochs=1", "-S", "models.avg.dim=20")
    assert done.returncode == 0, done.stderr
    metrics = numbers(json.loads((clone / "metrics/evaluate.json").read_text()))
    assert len(metrics) >= 4
    assert all(isinstance(value, int | float) for value in metrics)
    tables = {file.name: file.read_text().splitlines() for file in (clone / "metrics").glob("*.csv")}
    assert tables.keys() == {"corpus.csv", "loss.csv", "selection.csv", "sets.csv"}
    assert all(len(lines) > 1 for lines in tables.values())
    again = call(*DVC, "repro")
    assert "Data and pipelines are up to date" in again.stdout
    assert "Running stage" not in again.stdout


@pytest.mark.parametrize(
    ("stage", "old", "new", "message"),
    [
        ("download", "corpus: sample", "corpus: sampel", "did you mean 'sample'?"),
        ("tokenize", "benchmarks: sample", "benchmarks: smaple", "did you mean 'sample'?"),
        ("tokenize", "bad_rows: 0.001", "bad_rows: -1", "params.yaml: tokenize.bad_rows = -1: should be"),
        ("vocabulary", "min_count: 2", "min_count: 2.5", "params.yaml: vocabulary.min_count = 2.5: should be"),
        ("train", "model: avg", "model: agv", "params.yaml: model: unknown entry of models 'agv': did you mean"),
        ("train", "  avg:\n", "  avg:\n    margn: 0.4\n", "params.yaml: models.avg.margn: unknown key; did you"),
        ("train", "    epochs: 5", "    epochs: -5", "params.yaml: models.avg.epochs = -5"),
        ("train", "model: avg", "model: [", "params.yaml, line 3: not valid YAML"),
    ],
)
def test_a_bad_parameter_ends_the_stage_with_one_line(clone, call, stage, old, new, message):
    content = (clone / "params.yaml").read_text()
    assert old in content
    (clone / "params.yaml").write_text(content.replace(old, new, 1))
    done = call("python", "-m", f"pipeline.{stage}")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        ("raise ParameterError('no\\nway')", 1, "error: no way\n"),
        ("open('/dev/full', 'w').write('x' * 100_000)", 1, ": No space left on device\n"),
        ("open('absent/file')", 1, "error: absent/file: No such file or directory\n"),
        ("bytearray(1 << 60)", 1, "error: out of memory\n"),
        ("raise KeyboardInterrupt", 130, "interrupted; run the same command again to go on\n"),
        ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)", 130, "interrupted; run the same command again"),
    ],
)
def test_how_a_stage_ends_when_it_cannot_go_on(call, fault, code, message):
    imports = "import os, signal, time; from pipeline.stage import run; from paraphrastic.errors import *"
    done = call("python", "-c", f"{imports}\ndef main() -> None:\n    {fault}\nrun(main)")
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_defect_keeps_its_traceback(call):
    done = call("python", "-c", "from pipeline.stage import run\ndef main() -> None:\n    1 / 0\nrun(main)")
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_a_copy_of_the_repository_runs_its_own_code(call, clone):
    done = call("python", "-c", "import pipeline, paraphrastic; print(paraphrastic.__file__)")
    assert done.stdout.strip() == str(clone / "src/paraphrastic/__init__.py")


@pytest.mark.parametrize(
    ("new", "code", "message"),
    [
        ({"sts": {"mean": 60.4, "sets": 19}}, 0, ""),
        ({"sts": {"mean": 60.6, "sets": 19}}, 1, "sts.mean: 60.0 is committed, 60.6 came out\n"),
        ({"sts": {"mean": 60.0}}, 1, "sts.sets: 19 is committed, nothing came out\n"),
        ({"sts": {"mean": 60.0, "sets": 19}, "words": 1}, 1, "words: nothing is committed, 1 came out\n"),
        ({"sts": {"mean": float("nan"), "sets": 19}}, 1, "sts.mean: 60.0 is committed, nan came out\n"),
    ],
)
def test_metrics_that_moved(tmp_path, new, code, message):
    files = tmp_path / "committed.json", tmp_path / "new.json"
    for file, content in zip(files, ({"sts": {"mean": 60.0, "sets": 19}}, new), strict=True):
        file.write_text(json.dumps(content))
    done = subprocess.run([sys.executable, ROOT / ".ci/drift.py", *files], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, message)
