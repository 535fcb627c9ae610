"""Word embeddings of a run as the initial vectors of another one."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from paraphrastic.base.errors import ParameterError
from paraphrastic.export import Format, export
from paraphrastic.inference.model_folder import load
from paraphrastic.papers.running import StartVectors
from tests.helpers.recorded_results import PARAMS, RUN, add_experiment, changed, commit, make_repository, write_results
from tests.helpers.repository import copy_repository
from tests.helpers.small_project import declare, dvc, experiment_file, papers

OPTIONS = "dim = 20, epochs = 1"
AVG = f"""{{ label = "avg", model = "avg", set = {{ benchmarks = "sample" }}, options = {{ {OPTIONS} }},
tasks = ["sample-topics"], analyses = ["length"] }}""".replace("\n", " ")
LSTM = f"""{{ label = "lstmavg", model = "lstmavg", start = "avg", set = {{ benchmarks = "sample" }},
options = {{ {OPTIONS}, freeze_embeddings = true, matmul_dtype = "float32" }} }}""".replace("\n", " ")


def test_path_changes_with_what_determines_the_embeddings(tmp_path):
    vectors = StartVectors(tmp_path, PARAMS, "0.3.0")
    path = vectors.path(RUN)
    assert path.is_absolute()
    assert path.name == f"{RUN.name}.txt"
    others = [
        StartVectors(tmp_path, changed(PARAMS, "train.select", "none"), "0.3.0").path(RUN),
        StartVectors(tmp_path, PARAMS, "0.4.0").path(RUN),
        vectors.path(replace(RUN, seed=2)),
    ]
    assert len({path, *others}) == 4
    assert StartVectors(tmp_path, changed(PARAMS, "models.charcnn.dim", 1), "0.3.0").path(RUN) == path


def test_model_that_is_not_in_the_cache(tmp_path):
    folder = make_repository(tmp_path / "clone")
    commit(folder)
    vectors = StartVectors(folder, PARAMS, "0.3.0")
    assert not vectors.available(RUN)
    add_experiment(folder, RUN.name)  # whose model nobody has
    write_results(folder)
    assert not vectors.available(RUN)
    with pytest.raises(
        ParameterError, match=f"{RUN.name}: its model is not in the DVC cache; run its experiment again"
    ):
        vectors.export(RUN)
    vectors.path(RUN).parent.mkdir(parents=True)
    vectors.path(RUN).touch()
    assert vectors.available(RUN)
    vectors.export(RUN)


@pytest.mark.slow
@pytest.mark.nightly
def test_row_that_starts_from_the_embeddings_of_another_row(tmp_path):
    folder = tmp_path / "clone"
    folder.mkdir()
    copy_repository(folder)
    for file in (*(folder / "experiments").glob("*-*.toml"), *(folder / "experiments/results").glob("*.json")):
        file.unlink()
    declare(folder, "small", AVG, LSTM)
    commit(folder)
    done = papers(folder, "run", "small", "--jobs", "2")
    logs = [dvc(folder, "queue", "logs", name) for name in re.findall(r"`dvc queue logs (\S+)`", done.stderr)]
    assert (done.returncode, done.stderr, logs) == (0, "0 of 2 runs are here; 2 to run\n", [])
    assert "experiments" not in dvc(folder, "status")  # stored results are no dependency of a stage
    assert papers(folder, "run", "small", "--dry").stdout == ""

    results = {file.stem: json.loads(file.read_text()) for file in (folder / "experiments/results").iterdir()}
    avg, lstm = sorted(results)
    for name in (avg, lstm):
        values = results[name]["seeds"]["1"]["values"]
        metrics = json.loads(experiment_file(folder, f"{name}-s1", "metrics/evaluate.json"))
        assert metrics["sample"]["sts"]["mean"] == values["sample.sts.mean"]
        assert ("finetune.sample-topics.test.accuracy" in values) == (name == avg)
    table = results[avg]["seeds"]["1"]["tables"]["length"]
    length = experiment_file(folder, f"{avg}-s1", "metrics/analysis/length.csv")
    assert [len(row) for row in table] == [line.count(",") + 1 for line in length.splitlines()]
    assert results[lstm]["params"]["models.lstmavg.vectors"] == f"{avg}.txt"  # of the same seed
    assert embeddings(folder, f"{lstm}-s1") == embeddings(folder, f"{avg}-s1")
    assert "num_threads: 1" in experiment_file(folder, f"{lstm}-s1", "models.yaml")


def embeddings(folder: Path, experiment: str) -> dict[str, list[float]]:
    """Return the word embeddings of an experiment by word."""
    out = folder.parent / experiment
    dvc(folder, "get", str(folder), "data/model", "--rev", experiment, "--out", str(out))
    file = out.with_suffix(".txt")
    export(load(out), file, Format.WORD2VEC)
    lines = [line.split(" ") for line in file.read_text().splitlines()[1:]]
    return {word: [round(float(number), 5) for number in numbers] for word, *numbers in lines}
