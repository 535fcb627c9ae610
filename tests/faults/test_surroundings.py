"""The same results in other surroundings: locale, hash seed, path, threads, processes, instruction set."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import paraphrastic
from tests.helpers.forked import STAGES, run_content
from tests.helpers.parameter_files import read_parameters, write_parameters
from tests.helpers.repository import ROOT, isolated_environment, run_python
from tests.helpers.small_models import ENCODERS, save_encoder
from tests.helpers.toy_training import SENTENCES

pytestmark = [pytest.mark.faults, pytest.mark.slow]

RUN = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(f'pipeline.{name}').main()"
NEED_FILES = {"vectors", "sif", "external"}  # models that somebody else has trained
SHORT = {"epochs": 1, "dim": 50, "hidden_dim": 50}
PLACES = {
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHASHSEED": "0"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr", "PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu"},
}
BASELINE = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "ATEN_CPU_CAPABILITY": "default"}
BOUND = 0.05  # points that a mean correlation may change with another instruction set
DECISIONS = 1.0  # the same for metrics that count decisions and ranks, of which near ties change


def run_pipeline(folder: Path, model: str, **environment: str) -> dict[str, bytes]:
    """Run all stages on the sample in one process, and return the bytes of what they write."""
    folder.mkdir(parents=True)
    params = read_parameters()
    block = params["models"][model]
    params["model"] = model
    block |= {key: value for key, value in SHORT.items() if key in block}
    write_parameters(folder, params)
    path = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    variables = isolated_environment(folder / "cache") | path | environment
    run_python("-c", RUN, *STAGES, cwd=folder, env=variables, check=True, errors="replace")
    return run_content(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Return the content of a run in plain surroundings."""
    return run_pipeline(tmp_path_factory.mktemp("plain") / "run", "avg")


@pytest.mark.nightly
@pytest.mark.parametrize("name", PLACES)
def test_locale_hash_seed_and_odd_path(tries, plain, tmp_path, name):
    if name == "Turkish" and tries.factor <= 1:
        pytest.skip("with --tries 2")
    folder = tmp_path / "a b'c\"d$HOME;é İ 日本 #%20" / "-run"
    assert run_pipeline(folder, "avg", **PLACES[name]) == plain
    tries.report(runs=1, wrong_bytes=0)


@pytest.mark.nightly
@pytest.mark.parametrize("model", sorted(read_parameters()["models"].keys() - NEED_FILES))
def test_fresh_folders(tries, tmp_path, model):
    if model != "charagram" and tries.factor <= 1:
        pytest.skip("with --tries 2")
    first, second = (run_pipeline(tmp_path / name, model) for name in ("first", "second"))
    assert first == second
    tries.report(runs=2, files=len(first), wrong_bytes=0)


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["avg", "lstmavg"])
def test_other_instruction_set(tries, tmp_path, model):
    if model != "avg" and tries.factor <= 1:
        pytest.skip("compiles for minutes; with --tries 2")
    runs = run_pipeline(tmp_path / "here", model), run_pipeline(tmp_path / "other", model, **BASELINE)
    here, other = (pd.json_normalize(json.loads(run["metrics/evaluate.json"])).loc[0] for run in runs)  # in points
    assert set(here.index) == set(other.index)
    largest = (here - other).abs().max(skipna=False)
    tries.record("tried", f"metrics: {len(here)}, largest difference: {largest:.2f} points")
    assert abs(here["sample.sts.mean"] - other["sample.sts.mean"]) <= BOUND
    assert largest <= DECISIONS


def vectors_of(folder: Path) -> np.ndarray:
    return paraphrastic.load(folder).encode(SENTENCES)


@pytest.mark.parametrize("name", ENCODERS)
def test_encoding_from_threads_and_processes(tries, tmp_path, name):
    model = save_encoder(tmp_path, name, ENCODERS[name])
    expected, calls = model.encode(SENTENCES), tries.count(40)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: model.encode(SENTENCES), range(calls)))
    if name == "charagram" or tries.factor > 1:
        with get_context("spawn").Pool(4) as processes:
            results += processes.map(vectors_of, [tmp_path] * 4)
    wrong = sum(not np.array_equal(vectors, expected) for vectors in results)
    tries.report(threads=8, processes=len(results) - calls, calls=len(results), wrong=wrong)
    assert wrong == 0
