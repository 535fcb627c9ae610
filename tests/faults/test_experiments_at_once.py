"""Two and four experiments of DVC at once, which share the cache of downloads: each file is downloaded once."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from tests.helpers.faulty_server import BODY, Fault, Server, running_server
from tests.helpers.recorded_results import commit, make_repository, write_yaml
from tests.helpers.repository import DVC, ROOT, isolated_environment, run_git
from tests.helpers.small_project import experiment_file

pytestmark = [pytest.mark.faults, pytest.mark.slow]

FETCH = """
import hashlib, json, os, sys
from pathlib import Path
from ruamel.yaml import YAML
from paraphrastic.sources.source import Source
from paraphrastic.sources.fetching import fetch
from paraphrastic.sources.locations import DataLocations

seed = YAML(typ="safe", pure=True).load(Path("params.yaml"))["seed"]
url, sha256 = sys.argv[1:]
files = {"data.bin": sha256}
texts = Source(name="texts", title="Texts", licence="CC0", citation="Nobody", url=url.rpartition("/")[0], files=files)
fetch([texts], Path("raw"), DataLocations.from_environment(), pauses=[0.1] * 5)
found = hashlib.sha256(Path("raw/texts/data.bin").read_bytes()).hexdigest()
Path("metrics.json").write_text(json.dumps({"found": found, "seed": seed}))
"""


def make_project(folder: Path, server: Server) -> Path:
    """Return a repository with one stage, which downloads a file from a server."""
    make_repository(folder)
    sha256 = server.source().files[0].sha256
    stage = {
        "cmd": f"python fetch.py {server.address}/data.bin {sha256}",
        "params": ["seed"],
        "outs": ["raw"],
        "metrics": [{"metrics.json": {"cache": False}}],
    }
    write_yaml(folder / "dvc.yaml", {"stages": {"download": stage}})
    write_yaml(folder / "params.yaml", {"seed": 0})
    (folder / "fetch.py").write_text(FETCH)
    (folder / ".gitignore").write_text("/raw/\n")
    commit(folder)
    return folder


@pytest.mark.parametrize("count", [2, 4])
def test_experiments_at_once(tries, tmp_path, count):
    if count == 2 and tries.factor <= 1:
        pytest.skip("with --tries 2")
    with running_server() as server:
        folder = make_project(tmp_path / "clone", server)
        before = run_git(folder, "status", "--short")
        server.faults = [Fault(cut=100_000), Fault(status=503), Fault()]
        environment = isolated_environment(tmp_path / "cache") | {"PYTHONPATH": str(ROOT / "src")}
        processes = []
        for seed in range(1, count + 1):
            command = [*DVC, "--wait-for-lock", "exp", "run", "--temp", "--name", f"seed-{seed}", "-S", f"seed={seed}"]
            options = {"cwd": folder, "env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            processes.append(subprocess.Popen(command, **options))
        errors = [process.communicate()[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * count, errors
    expected = hashlib.sha256(BODY).hexdigest()
    for seed in range(1, count + 1):
        assert experiment_file(folder, f"seed-{seed}", "metrics.json") == f'{{"found": "{expected}", "seed": {seed}}}'
    assert [status for _, _, status in server.requests] == [200, 503, 206]
    assert run_git(folder, "status", "--short") == before
    assert not [*(folder / ".dvc/tmp/exps").glob("tmp*")]
    tries.report(experiments=count, downloads=1)
