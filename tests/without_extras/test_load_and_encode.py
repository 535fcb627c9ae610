"""The base package, which is installed without torch and the packages of the pipeline."""

import json
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

import paraphrastic
from paraphrastic.base.errors import ModelError, ParameterError
from tests.helpers.repository import run, run_python
from tests.without_extras.conftest import DIM, ENCODERS, NGRAMS, SCORERS, WORDS, embeddings

SENTENCES = ["A dog runs.", "a CAT", "", "zebra"]
HAS_TORCH = bool(find_spec("torch"))


@pytest.mark.parametrize("name", ENCODERS)
def test_vectors_of_each_encoder(folder, name):
    model = paraphrastic.load(folder(name))
    vectors = model.encode(SENTENCES)
    assert (vectors.shape, vectors.dtype, model.dim) == ((4, DIM), np.float32, DIM)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors, model.encode(SENTENCES, batch_size=1), atol=1e-6)


def test_average_and_sif_by_hand(folder):
    vectors, means = (paraphrastic.load(folder(name)).encode(SENTENCES) for name in ("sif", "avg"))
    table = embeddings(6)
    np.testing.assert_allclose(means[0], table[[1, 2, 4, 5]].mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(means[1], table[[1, 3]].mean(axis=0), rtol=1e-6)
    assert not means[2:].any()  # nothing is known
    np.testing.assert_allclose(vectors[:, 1:], means[:, 1:], rtol=1e-6)
    np.testing.assert_allclose(vectors[:, 0], 0, atol=1e-7)


def test_charagram_with_two_layers_by_hand(folder):
    arrays = SCORERS["charagram"].arrays
    rows = dict(zip(NGRAMS.to_pylist(), arrays["embeddings"], strict=True))
    sums = rows[" d"] + rows["do"] + rows["og"] + rows[" dog "] + arrays["bias"]
    expected = np.tanh(np.tanh(sums) @ arrays["dense.W"] + arrays["dense.b"])
    np.testing.assert_allclose(paraphrastic.load(folder("charagram")).encode(["dog"])[0], expected, rtol=1e-5)


@pytest.mark.parametrize("name", SCORERS)
def test_similarity_by_each_scorer(folder, name):
    left, right = ["a dog runs", "", "a dog"], ["a dog runs", "a", "a cat"]
    scores = paraphrastic.load(folder(name)).similarity_pairwise(left, right)
    assert scores[0] == pytest.approx(1, abs=1e-6)
    assert np.isfinite(scores).all()
    assert scores[2] < scores[0]


@pytest.mark.parametrize("name", SCORERS)
def test_devices(folder, name):
    path = folder(name)
    for device in ("auto", "cpu"):
        assert paraphrastic.load(path, device=device).similarity("a dog", "a dog") > 0
    with pytest.raises(ParameterError, match=f"{name} is computed on the CPU, without PyTorch; use auto or cpu$"):
        paraphrastic.load(path, device="cuda")
    with pytest.raises(ParameterError, match=r"^device 'gpu': should be auto, cpu, cuda or cuda:N$"):
        paraphrastic.load(path, device="gpu")


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed here")
def test_encoder_that_needs_torch(folder):
    path = folder("avg") / "config.json"
    content = json.loads(path.read_text()) | {"model": "lstmavg", "scorer": {"kind": "encoder"}}
    path.write_text(json.dumps(content))
    with pytest.raises(ModelError, match=r"lstmavg needs PyTorch; .*: pip install '\.\[torch\]' in its folder$"):
        paraphrastic.load(path.parent)
    with pytest.raises(ModelError, match="lstmavg needs PyTorch"):
        paraphrastic.load(path.parent, device="cuda")


def seconds_until_output(code, output):
    """Return the time from the start of a process until it prints; numba needs another 0.4 s to exit."""
    start = perf_counter()
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == output
        return perf_counter() - start


@pytest.mark.skipif(HAS_TORCH, reason="pyarrow and numba import pandas and SciPy where these are installed")
@pytest.mark.parametrize("name", ["avg", "charagram"])
def test_time_to_first_vector(folder, name):
    code = f"import paraphrastic; print(paraphrastic.load({str(folder(name))!r}).encode(['A dog.']).shape, flush=True)"
    runs = (code, f"(1, {DIM})\n"), ("import numba, pyarrow.parquet; print(flush=True)", "\n")
    seconds_until_output(*runs[0])  # numba compiles and caches
    first, imports = np.min([[seconds_until_output(*run) for run in runs] for _ in range(5)], axis=0)
    assert first < max(1, 3 * imports)  # a second; on processors that take long for these imports, in proportion


def paraphrastic_command(*arguments, text=""):
    return run_python("-m", "paraphrastic", *arguments, input=text, check=True).stdout


def test_version():
    script = Path(sysconfig.get_path("scripts")) / "paraphrastic"
    printed = f"paraphrastic {paraphrastic.__version__}\n"
    assert run(script, "--version").stdout == paraphrastic_command("--version") == printed


def test_command_line(folder):
    assert "embed" in paraphrastic_command("--help")
    line = json.loads(paraphrastic_command("embed", "--model", folder("avg"), text="a dog\n"))
    assert (line["text"], len(line["vector"])) == ("a dog", DIM)
    assert paraphrastic_command("similarity", "--model", folder("overlap"), text="a dog\ta cat\n") == "0.500000\n"
    assert f"vocabulary\t{len(WORDS)}\n" in paraphrastic_command("info", folder("avg"))
    assert len(paraphrastic_command("neighbors", "--model", folder("avg"), "dog").splitlines()) == len(WORDS)
    assert paraphrastic_command("card", "small").startswith("---\nlicense: cc-by-2.0\n")


@pytest.mark.skipif(bool(find_spec("platformdirs")), reason="the packages of the pipeline are installed here")
@pytest.mark.parametrize(
    ("command", "first"), [("data list", "platformdirs"), ("train --corpus sample --out encoder", "ruamel")]
)
def test_command_that_needs_the_pipeline(command, first):
    done = run_python("-m", "paraphrastic", *command.split())
    assert done.returncode == 1
    package = first if find_spec("pydantic") else "pydantic"  # some versions of typer install pydantic
    remedy = "install this project with its extra `pipeline`: pip install '.[pipeline]' in its folder"
    assert done.stderr == f"error: this command needs the package {package}; {remedy}\n"


@pytest.mark.skipif(bool(find_spec("platformdirs")), reason="the packages of the pipeline are installed here")
@pytest.mark.parametrize("name", ["train", "evaluate"])
def test_function_that_needs_the_pipeline(name):
    with pytest.raises(ModuleNotFoundError, match=rf"^paraphrastic.{name} needs the package \w+; .*'\.\[pipeline\]'"):
        getattr(paraphrastic, name)
