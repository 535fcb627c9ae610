"""What people see of a pull request: the report on commits of a real repository, and the comment that carries it."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
WORKFLOWS = {name: ROOT / f".github/workflows/{name}.yaml" for name in ("ci", "comment")}
NOTHING = "no parameter changed, no metric changed, no set by more than 0.5 points\n"
DVC_YAML = """
stages:
  train:
    cmd: "true"
    params: [model, "models.${model}"]
    outs: [data/model]
  evaluate:
    cmd: "true"
    deps: [data/model]
    metrics: [metrics/evaluate.json: {cache: false}]
    outs: [metrics/sets.csv: {cache: false}]
"""
PARAMS = """
model: avg   # the entry to train
seed: 1
models:
  avg: {margin: 0.6, orders: [2, 3], vectors: }
  gran: {margin: 0.4, clip: 1.0}
"""
METRICS = {"sample": {"sts": {"mean": 60.2, "sets": 5}, "qa": {"map": 76.86}, "words": 38.5}}
SETS = """set,kind,n,pearson,spearman,map,oov
sample.roles,similarity,400,41.05,42.94,,1.44
sample.typos,similarity,400,55.76,54.47,,14.58
sample.qa,ranking,687,,,76.86,4.81
"""


def settings():
    """No settings of git or DVC but these, and this interpreter as `python`."""
    who = {f"GIT_{role}_{what}": "test@test" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "DVC_", "GITHUB_"))}
    place = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": os.devnull}
    return kept | who | place


def git(folder, *arguments):
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=settings(), check=True, capture_output=True, text=True
    ).stdout.strip()


def write(folder, params=PARAMS, metrics=METRICS, sets=SETS):
    (folder / "metrics").mkdir(exist_ok=True)
    (folder / "params.yaml").write_text(params)
    (folder / "metrics/evaluate.json").write_text(json.dumps(metrics))
    (folder / "metrics/sets.csv").write_text(sets)


def commit(folder, message):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", f"--message={message}")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A DVC repository with one commit on `main`, where a branch `change` begins."""
    folder = tmp_path_factory.mktemp("first")
    git(folder, "init", "--quiet", "--initial-branch=main")
    subprocess.run([sys.executable, "-m", "dvc", "init", "--quiet"], cwd=folder, env=settings(), check=True)
    (folder / ".dvc/config").write_text("[core]\n    analytics = false\n    autostage = true\n")
    (folder / "dvc.yaml").write_text(DVC_YAML)
    write(folder)
    commit(folder, "first")
    git(folder, "switch", "--quiet", "--create", "change")
    return folder


@pytest.fixture
def project(first, tmp_path):
    return Path(shutil.copytree(first, tmp_path / "project"))


def report(folder, *arguments):
    command = [sys.executable, ROOT / ".ci/report.py", *(arguments or ("--base", "main"))]
    return subprocess.run(command, cwd=folder, env=settings(), capture_output=True, text=True)


def make_worse(folder):
    worse = {"sample": METRICS["sample"] | {"sts": {"mean": 59.0, "sets": 5}}}
    write(folder, PARAMS.replace("margin: 0.6", "margin: 0.9"), worse, SETS.replace("41.05,42.94", "36.05,42.50"))


def test_a_change_that_makes_the_model_worse(project):
    make_worse(project)
    commit(project, "worse")
    done = report(project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "worse: sample.sts.mean −1.20",
        "",
        f"Compared with {git(project, 'rev-parse', 'main')[:10]}, the merge base with `main`.",
        "",
        "| parameter | old | new |",
        "|:--|:--|:--|",
        "| models.avg.margin | `0.6` | `0.9` |",
        "",
        "| metric | old | new | change | |",
        "|:--|--:|--:|--:|:--|",
        "| sample.sts.mean | 60.20 | 59.00 | −1.20 | ▼ worse |",
        "",
        "<details><summary>changes of single sets by more than 0.5 points: 1</summary>",
        "",
        "| set | old | new | change | |",
        "|:--|--:|--:|--:|:--|",
        "| sample.roles.pearson | 41.05 | 36.05 | −5.00 | ▼ worse |",
        "",
        "</details>",
    ]


def test_what_main_did_since_the_branch_left_it_and_a_set_that_moved_little_are_nothing(project):
    (project / "README.md").write_text("New words.\n")
    write(project, sets=SETS.replace("41.05", "41.55"))
    commit(project, "words")
    git(project, "switch", "--quiet", "main")
    make_worse(project)
    commit(project, "main goes on")
    git(project, "switch", "--quiet", "change")
    assert report(project).stdout == NOTHING


def test_what_is_not_committed_yet_against_origin_from_a_folder_inside(project, tmp_path):
    git(project, "switch", "--quiet", "main")
    git(tmp_path, "clone", "--quiet", str(project), "clone")
    make_worse(tmp_path / "clone")
    (tmp_path / "clone/deep").mkdir()
    command = [sys.executable, ROOT / ".ci/report.py"]
    done = subprocess.run(command, cwd=tmp_path / "clone/deep", env=settings(), capture_output=True, text=True)
    assert "the merge base with `origin/main`" in done.stdout
    assert "▼ worse" in done.stdout


def test_metrics_that_are_new_or_gone_and_means_over_fewer_sets(project):
    metrics = {"sample": {"sts": {"mean": 61.0, "sets": 4}, "qa": {"map": 70.0, "a|\n# b": 80}, "words": float("nan")}}
    write(project, metrics=metrics, sets=SETS.replace("sample.typos", "sample.negation"))
    lines = report(project).stdout.splitlines()
    better, worse = "better: sample.sts.mean +0.80", "worse: sample.qa.map −6.86"
    assert lines[0] == f"{worse}; {better}; gone: sample.words; new: sample.qa.a??? b; counted: sample.sts.sets −1"
    for row in (
        "| sample.sts.mean | 60.20 | 61.00 | +0.80 | ▲ better |",
        "| sample.sts.sets | 5 | 4 | −1 |  |",
        "| sample.qa.a??? b | — | 80 |  | new |",
        "| sample.words | 38.50 | — |  | gone |",
        "| sample.typos.pearson | 55.76 | — |  | gone |",
        "| sample.negation.n | — | 400 |  | new |",
    ):
        assert row in lines
    assert not any("roles" in line or "kind" in line for line in lines)


def test_another_best_epoch_is_neither_worse_nor_better(project):
    learned = {"sts": {"epoch": 9, "dev": {"pearson": 70.0}}}
    write(project, metrics=METRICS | {"finetune": learned})
    commit(project, "learned")
    git(project, "switch", "--quiet", "-C", "main")
    git(project, "switch", "--quiet", "-c", "sooner")
    write(project, metrics=METRICS | {"finetune": {"sts": {"epoch": 4, "dev": {"pearson": 70.0}}}})
    lines = report(project).stdout.splitlines()
    assert "| finetune.sts.epoch | 9 | 4 | −5 |  |" in lines
    assert not any("worse" in line or "better" in line for line in lines)


def test_many_changes_are_named_and_listed_the_worst_first_as_far_as_a_comment_holds_them(project):
    write(project, metrics={f"set{i:03}": 50.0 for i in range(120)} | {"good": 1.0})
    commit(project, "many")
    write(project, metrics={f"set{i:03}": 49.0 - i for i in range(120)} | {"good": 2.0})
    lines = report(project, "--base", "HEAD").stdout.splitlines()
    assert lines[0] == "worse: set119 −120.00, set118 −119.00, set117 −118.00, 117 more; better: good +1.00"
    assert [line.split(" ")[1] for line in lines if line.startswith("| set")] == [
        f"set{i:03}" for i in range(119, 19, -1)
    ]
    assert lines[-1] == "… and 21 more"


def test_parameters_of_models_that_are_not_chosen_stand_apart(project):
    changed = PARAMS.replace("seed: 1", "seed: true").replace("clip: 1.0", "clip: 2.0, rate: 1e-05")
    changed = changed.replace("vectors: ", 'vectors: "a|b`c\\n<img src=x>"')
    write(project, changed.replace("[2, 3]", "[2, 4]"))
    shown, _, folded = report(project).stdout.partition("<details>")
    assert shown.startswith("no metric changed\n")
    for row in (
        "| models.avg.orders | `[2, 3]` | `[2, 4]` |",
        "| models.avg.vectors | — | `a\\|b'c <img src=x>` |",
        "| seed | `1` | `true` |",
    ):
        assert row in shown.splitlines()
    assert "gran" not in shown
    assert "| models.gran.clip | `1.0` | `2.0` |\n| models.gran.rate | — | `1e-05` |\n\n</details>" in folded


def test_another_chosen_model_is_one_line(project):
    write(project, PARAMS.replace("model: avg", "model: gran"))
    rows = [line for line in report(project).stdout.splitlines() if line.startswith("|")]
    assert rows[2:] == ["| model | `avg` | `gran` |"]


def test_metrics_that_cannot_be_read_are_not_passed_over(project):
    (project / "metrics/evaluate.json").write_text("{")
    lines = report(project).stdout.splitlines()
    assert lines[0] == "gone: sample.qa.map, sample.sts.mean, sample.sts.sets, 1 more"
    assert "`DVC failed to load some metrics for following revisions: 'workspace'.`" in lines


@pytest.mark.parametrize("base", ["nowhere", "--all", "main:params.yaml"])
def test_an_unknown_base_is_one_line(project, base):
    done = report(project, f"--base={base}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: base {base!r}: no such commit here; `git fetch` it or name another with --base\n"


def test_a_base_with_another_history_is_one_line(project):
    git(project, "switch", "--quiet", "--orphan", "other")
    git(project, "commit", "--quiet", "--allow-empty", "--message=other")
    done = report(project)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "no commit in common with HEAD; fetch its history" in done.stderr


def test_a_folder_without_git_is_one_line(tmp_path):
    done = report(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "not in a git repository" in done.stderr


# The workflows.


def workflow(name):
    """A workflow, and the steps of its only job."""
    content = YAML(typ="safe").load(WORKFLOWS[name])
    (job,) = content["jobs"].values()
    return content, job["steps"]


def scripts(name):
    return [text for step in workflow(name)[1] if (text := step.get("run") or step.get("with", {}).get("script"))]


def test_github_accepts_the_workflows():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *WORKFLOWS.values()], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_workflow_that_runs_a_strangers_code_may_write_nothing():
    content, steps = workflow("ci")
    assert content["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in content["on"]
    assert "secrets." not in WORKFLOWS["ci"].read_text()
    assert steps[0]["with"] == {"fetch-depth": 0, "persist-credentials": False}


def test_the_workflow_that_may_write_runs_nothing_of_a_strangers():
    content, steps = workflow("comment")
    assert content["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert content["on"] == {"workflow_run": {"workflows": [workflow("ci")[0]["name"]], "types": ["completed"]}}
    used = [step["uses"].partition("@")[0] for step in steps]
    assert used == ["actions/download-artifact", "actions/github-script"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_text_of_an_event_becomes_code(name):
    assert scripts(name)
    assert not any("${{" in script for script in scripts(name))


def test_the_report_is_made_with_the_dvc_of_the_project():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (dvc,) = [each for each in dependencies if each.startswith("dvc")]
    assert f"pip install --quiet '{dvc}'" in scripts("ci")


# The comment: what the two workflows run, between a repository and a GitHub that is an array of comments.

GITHUB = """
const [script, payload, pull, comments] = JSON.parse(process.env.SCENE);
const calls = [];
const call = (name) => async (given) => { calls.push([name, given]); return { data: pull }; };
const github = {
  rest: { pulls: { get: call("get") }, issues: { updateComment: call("update"), createComment: call("create") } },
  paginate: async () => comments,
};
const core = { setFailed: (text) => calls.push(["failed", text]), warning: (text) => calls.push(["warning", text]) };
const context = { repo: { owner: "o", repo: "r" }, payload: { workflow_run: payload } };
const AsyncFunction = (async () => {}).constructor;
new AsyncFunction("github", "context", "core", "require", script)(github, context, core, require)
  .catch((error) => calls.push(["failed", error.message]))
  .then(() => console.log(JSON.stringify(calls)));
"""
RUN = {"head_sha": "abc", "head_repository": {"id": 7}, "html_url": "https://run", "conclusion": "success"}
PULL = {"number": 12, "head": {"sha": "abc", "repo": {"id": 7}}}


def comment(place, comments=(), pull=PULL):
    """What the second workflow asks of GitHub."""
    if not shutil.which("node"):
        pytest.skip("needs node, which runs the comment's script")
    scene = json.dumps([*scripts("comment"), RUN, pull, comments])
    env = os.environ | {"SCENE": scene, "RUNNER_TEMP": str(place)}
    return json.loads(subprocess.run(["node", "-e", GITHUB], env=env, check=True, capture_output=True).stdout)


@pytest.fixture
def artifact(tmp_path):
    folder = tmp_path / "runner/report"
    folder.mkdir(parents=True)
    (folder / "number").write_text("12\n")
    (folder / "report.md").write_text("worse: map −1.20, says @somebody\n")
    return folder


def test_a_pull_request_that_makes_the_model_worse_is_shown_as_worse_in_the_comment(project, tmp_path):
    make_worse(project)
    commit(project, "worse")
    (project / ".ci").mkdir()
    (project / ".ci/report.py").write_bytes((ROOT / ".ci/report.py").read_bytes())
    (script,) = [each for each in scripts("ci") if "report.py" in each]
    files = {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    env = settings() | files | {"BASE": "main", "NUMBER": "12"}
    subprocess.run(["bash", "-e", "-c", script], cwd=project, env=env, check=True)
    assert (tmp_path / "summary").read_text().startswith("worse: sample.sts.mean −1.20\n")
    (_, (what, given)) = comment(tmp_path)
    assert (what, given["issue_number"]) == ("create", 12)
    assert "\nworse: sample.sts.mean −1.20\n" in given["body"]
    assert "| sample.sts.mean | 60.20 | 59.00 | −1.20 | ▼ worse |" in given["body"]


def test_the_next_report_replaces_the_comment(artifact):
    (_, (_, first)) = comment(artifact.parent)
    mine = {"id": 5, "user": {"login": "github-actions[bot]"}, "body": first["body"]}
    others = [
        {"id": 3, "user": {"login": "somebody"}, "body": first["body"]},
        {"id": 4, "user": {"login": "github-actions[bot]"}, "body": "another bot's"},
        {"id": 6, "user": None, "body": None},
    ]
    (_, (what, given)) = comment(artifact.parent, [*others, mine])
    assert (what, given["comment_id"], given["body"]) == ("update", 5, first["body"])
    assert comment(artifact.parent, others)[1][0] == "create"


def test_a_comment_calls_nobody_and_is_not_too_long(artifact):
    (_, (_, given)) = comment(artifact.parent)
    assert "@somebody" not in given["body"]
    (artifact / "report.md").write_text("x" * 70_000)
    (_, (_, given)) = comment(artifact.parent)
    assert 60_000 < len(given["body"]) < 65_536
    assert given["body"].endswith("<sub>[success](https://run): checks of abc</sub>")


@pytest.mark.parametrize("number", ["", "12\n13", "12; rm", "../12", "1e3", "0x1", "1234567890", "１２"])
def test_what_is_no_number_of_a_pull_request_reaches_nothing(artifact, number):
    (artifact / "number").write_text(number)
    assert comment(artifact.parent) == [["failed", "number: not the number of a pull request"]]


@pytest.mark.parametrize("head", [{"sha": "other", "repo": {"id": 7}}, {"sha": "abc", "repo": {"id": 8}}])
def test_a_run_speaks_only_of_its_own_pull_request(artifact, head):
    (_, (what, text)) = comment(artifact.parent, pull=PULL | {"head": head})
    assert (what, text) == ("warning", "#12: its head is not what the run tested")


def test_a_link_in_the_artifact_is_not_followed(artifact, tmp_path):
    (tmp_path / "secret").write_text("token")
    (artifact / "report.md").unlink()
    (artifact / "report.md").symlink_to(tmp_path / "secret")
    assert comment(artifact.parent)[-1] == ["failed", "report.md: not a plain file"]
