"""examples/retrain.yaml: its steps, run in clones of a repository whose model is a table of scores."""

import pyarrow as pa
import pytest
from ruamel.yaml import YAML

from paraphrastic.base.tables import SCORES, write_table
from tests.helpers.recorded_results import commit, make_repository, write_yaml
from tests.helpers.repository import ROOT, isolated_environment, run, run_git, run_python
from tests.helpers.score_tables import noisy_run

FILE = ROOT / "examples/retrain.yaml"
STAGE = {"cmd": "mkdir -p data && cp own/scores.parquet data/scores.parquet && cp own/scores.parquet data/model"}
STAGE |= {"deps": ["own/scores.parquet"], "outs": ["data/scores.parquet", "data/model"]}


def test_template_follows_the_schema_and_is_safe():
    run_python("-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", FILE, check=True)
    run("zizmor", "--offline", FILE, env=isolated_environment(), check=True)
    pinned = [line.split("uses: ")[1] for line in FILE.read_text().splitlines() if "uses:" in line]
    assert all(action in (ROOT / ".github/workflows/ci.yaml").read_text() for action in pinned)


class Team:
    """A repository, and its remotes of git and of DVC beside it."""

    def __init__(self, place):
        self.place, self.folder = place, make_repository(place / "project")
        self.environment = {**isolated_environment(), "PYTHONPATH": str(ROOT / "src")}
        self.environment |= {name: str(place / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        run_git(place, "init", "--quiet", "--bare", "--initial-branch=main", "origin")
        artifacts = {"encoder": {"path": "data/model", "type": "model"}}
        write_yaml(self.folder / "dvc.yaml", {"stages": {"train": STAGE}, "artifacts": artifacts})
        self.bash(f"git remote add origin ../origin && dvc remote add --default store {place / 'store'}")

    def bash(self, script, folder="project"):
        return run("bash", "-e", "-c", script, cwd=self.place / folder, env=self.environment, check=True).stdout

    def publish(self, noise, train="true"):
        """Publish own data on which a model has this noise."""
        (self.folder / "own").mkdir(exist_ok=True)
        write_table(pa.concat_tables(noisy_run(noise, 1).values()), self.folder / "own/scores.parquet", SCORES)
        self.bash(f"dvc add --quiet own && {train} && dvc push --quiet own.dvc")
        commit(self.folder)
        self.bash("git push --quiet origin main")

    def night(self):
        """Run the template in a new clone; return the status of the comparison and the versions after it."""
        self.bash("rm -rf clone && git clone --quiet origin clone", folder=".")
        (job,) = YAML(typ="safe").load(FILE)["jobs"].values()
        train, compare, register = job["steps"][3:]
        for step in (train, compare):
            self.bash(step["run"], folder="clone")
        status = (self.place / "GITHUB_OUTPUT").read_text().splitlines()[-1].removeprefix("status=")
        if register["if"] == f"steps.compare.outputs.status == '{status}'":
            self.bash(register["run"], folder="clone")
        return status, run_git(self.place / "origin", "tag").split()


@pytest.mark.slow
def test_model_is_registered_if_it_is_better(tmp_path):
    team = Team(tmp_path)
    team.publish(1.0, "dvc repro --quiet && dvc push --quiet")
    team.bash("gto register encoder --version v1.0.0 --push")
    main = run_git(team.folder, "rev-parse", "main")
    assert team.night() == ("4", ["encoder@v1.0.0"])  # the same model
    team.publish(0.3)
    assert team.night() == ("0", ["encoder@v1.0.0", "encoder@v1.1.0"])
    team.bash("dvc artifacts get ../origin encoder --rev v1.1.0 --out ../model")
    assert (tmp_path / "model").read_bytes() == (team.folder / "own/scores.parquet").read_bytes()
    assert "mean of 2 sets" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    team.publish(2.0)
    assert team.night() == ("3", ["encoder@v1.0.0", "encoder@v1.1.0"])
    assert run_git(tmp_path / "origin", "rev-list", "--count", f"{main}..main") == "2"  # own data alone
