"""Training on several machines, here as two launchers with a folder each: what they agree on, and when one dies."""

import re
import shutil
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from pipeline.train import LOSS, MODEL, SELECTION, TABLES
from tests.helpers.forked import start_stage, succeeds
from tests.helpers.parameter_files import change_parameters, copy_parameters
from tests.helpers.repository import ROOT, isolated_environment
from tests.helpers.toy_training import SENTENCES
from tests.helpers.training_node import DIES
from tests.helpers.training_tables import write_tables

pytestmark = pytest.mark.slow

SMALL = {"dim": 8, "batch_size": 4, "epochs": 10}  # 50 steps
STEP = 20  # after which a machine dies


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with parameters, tables and code."""
    folder = tmp_path_factory.mktemp("machine")
    copy_parameters(folder, model="lstmavg", matmul_dtype="float32", **SMALL)
    write_tables(folder, SENTENCES.take(np.arange(40).reshape(20, 2).T.ravel()))
    shutil.copytree(ROOT / "src", folder / "src")  # with what numba has compiled
    return folder


@pytest.fixture(scope="module")
def alone(folder, tmp_path_factory):
    """The folder in which one process has trained."""
    copy = shutil.copytree(folder, tmp_path_factory.mktemp("alone") / "copy")
    succeeds(start_stage(copy, "train"), copy)
    return copy


class Machine:
    """A machine of two, with a folder of its own."""

    def __init__(self, folder, cache, port):
        self.folder, self._cache, self._port = folder, cache, port

    def start(self, number):
        """Start the launcher; the first of the two machines has the number 0 and keeps the rendezvous."""
        addresses = ["--rdzv-endpoint", f"127.0.0.1:{self._port}", "--local-addr", f"127.0.0.{1 + number}"]
        options = ["--rdzv-backend", "c10d", "--nnodes", "2", "--nproc-per-node", "1", "--max-restarts", "0"]
        command = [sys.executable, "-m", "torch.distributed.run", *options, *addresses, "-m"]
        path = {"PYTHONPATH": f"{self.folder / 'src'}:{ROOT}"}
        with (self.folder / "errors").open("w") as errors:
            self.launcher = subprocess.Popen(
                [*command, "tests.helpers.training_node"],
                cwd=self.folder,
                env=isolated_environment(self._cache) | path,
                stdout=errors,
                stderr=errors,
            )

    def wait(self):
        return self.launcher.wait(timeout=300)

    @property
    def errors(self):
        return re.findall("^error: (.*)$", (self.folder / "errors").read_text(), re.M)

    @property
    def outputs(self):
        return [path for path in (MODEL, LOSS, SELECTION) if (self.folder / path).exists()]


@pytest.fixture
def machines(folder, tmp_path):
    """Two machines with equal folders and a shared cache; what still runs at the end is killed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    copies = [shutil.copytree(folder, tmp_path / str(number)) for number in (0, 1)]
    both = [Machine(copy, tmp_path / "cache", port) for copy in copies]
    yield both
    for machine in both:
        machine.launcher.kill()


def train(machines):
    for number, machine in enumerate(machines):
        machine.start(number)
    return [machine.wait() for machine in machines]


def curve(folder):
    return np.loadtxt(folder / LOSS, delimiter=",", skiprows=1)


def assert_same_result(folder, alone):
    np.testing.assert_allclose(curve(folder), curve(alone), rtol=1e-5, atol=1e-5)
    ours, expected = (load_file(each / MODEL / "weights.safetensors") for each in (folder, alone))
    assert ours.keys() == expected.keys()
    for name, weights in expected.items():
        np.testing.assert_allclose(ours[name], weights, rtol=1e-5, atol=1e-5, err_msg=name)


def test_result_is_that_of_one_process_and_on_the_first_machine(machines, alone):
    first, second = machines
    assert train(machines) == [0, 0]
    assert_same_result(first.folder, alone)
    assert second.outputs == []
    line = f"only {socket.gethostname()} gets the result: process 0 of 2 writes {first.folder / MODEL}\n"
    assert line in (first.folder / "errors").read_text()
    assert not list(first.folder.glob(".checkpoints/*"))


def test_machines_with_other_code_data_or_parameters(machines):
    other = machines[1].folder
    (other / TABLES.corpus / "pairs.parquet").write_bytes((other / TABLES.corpus / "sentences.parquet").read_bytes())
    (other / "src/paraphrastic/py.typed").write_text("changed")
    change_parameters(other, seed=2)
    assert train(machines) == [1, 1]
    host = socket.gethostname()
    line = (
        f"process 1 on {host} differs from process 0 on {host} in parameters, corpus, code: all machines need the same "
        "commit, params.yaml and data"
    )
    assert [machine.errors for machine in machines] == [[line], [line]]
    assert [machine.outputs for machine in machines] == [[], []]


@pytest.mark.parametrize("number", [0, 1])
def test_machine_that_cannot_start(machines, number):
    shutil.rmtree(machines[number].folder / TABLES.corpus)
    assert train(machines) == [1, 1]
    line = f"process {number} on {socket.gethostname()} cannot start: {TABLES.corpus}/sentences.parquet: no such file"
    for machine in machines:
        (error,) = machine.errors
        assert error.startswith(line)


@pytest.mark.nightly
def test_second_machine_dies(machines, alone):
    first, second = machines
    (second.folder / DIES).write_text(str(STEP))
    assert train(machines) == [1, -signal.SIGKILL]
    (error,) = first.errors
    assert error.startswith("process 0 has no connection to the others; run the same command again to continue (")
    assert train(machines) == [0, 0]
    assert_same_result(first.folder, alone)


@pytest.mark.nightly
def test_first_machine_dies_and_training_goes_on_in_the_other_order(machines, alone):
    """The checkpoint is on the machine that was the first."""
    first, second = machines
    (first.folder / DIES).write_text(str(STEP))
    assert train(machines) == [-signal.SIGKILL, 1]
    assert len(second.errors) <= 1  # none if the launcher, which loses the rendezvous too, ends the process first
    for error in second.errors:
        assert error.startswith("process 1 has no connection to the others; run the same command again to continue (")
    (head,) = first.folder.glob(".checkpoints/*/head.json")
    assert f'"state-{STEP - 1}.pt"' in head.read_text()
    assert train([second, first]) == [0, 0]
    assert_same_result(second.folder, alone)
    assert first.outputs == []
