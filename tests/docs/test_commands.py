"""Every command and every Python example of the README, of docs/ and of CONTRIBUTING.md, as it stands there.

Each page runs from top to bottom in a copy of the repository in which `dvc repro` has run, offline, with small models
and the data set `sample`.
"""

import csv
import json
import os
import re
import shlex
import shutil
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.helpers.parameter_files import change_parameters
from tests.helpers.repository import ROOT, copy_repository, isolated_environment, run, run_git

PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"))
    if not {"results", "papers"} & set(page.parts)  # docs/papers names the commands of experiments of hours
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`((?:(?:dvc|paraphrastic|python|pip|pytest|ruff|mypy|git|typer) |\.ci/|mypy|pytest)[^`\n]*)`")

BATCH_SYSTEMS = ROOT / "tests/helpers/cluster"  # pretended commands of Slurm and Kubernetes


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


SMALL = {"dim": 16, "epochs": 1, "batch_size": 500, "num_threads": 1, "filters_per_width": 4}  # in every block
REPLACED = {
    "corpus=open": "corpus=sample",
    "benchmarks=open": "benchmarks=sample",
    "[open,captions]": "[sample]",
    "[sick-relatedness,sick-entailment,sst,sts,paraphrase-msrp,qa-qasent,qa-wikiqa,tags-ewt,tags-wsj]": "[sample-qa]",
    "--corpus my-pairs.csv": "--corpus sample",
    "my-encoder my-sets/": "my-encoder",
    "KEY=VALUE": "seed=1",
    "{avg,charagram}-{50,100,200}-{1,2,3}": "{avg,charagram}-50-{1,2}",
    "  completions: 3\n  parallelism: 3\n": "  completions: 1\n  parallelism: 1\n",
    ":29500": f":{free_port()}",
    "models.yaml:NAME.": "models.yaml:lstm.",
    "paraphrastic compare A B": "paraphrastic compare main workspace",
    " && git switch -": "",  # the copy has one branch
}
NOT_RUN = {  # a command that begins like this, and why the test does not run it
    "pip ": "the environment of the tests is that installation; .ci/run and .ci/base install as the pages say",
    "pre-commit install": "changes the hooks of a repository; the hooks are the commands of .ci/run",
    ".ci/": ".ci/run runs this test",
    "pytest": "this test is part of it",
    "mypy": ".ci/run runs it",
    "ruff ": ".ci/run runs it",
    "git rev-parse": "part of an issue template",
    "wget ": "needs a network",
    "paraphrastic data fetch glove-words": "needs a network",
    "paraphrastic evaluate small mteb-sts features": "needs a network",
    "paraphrastic similarity --model release/data/medium": "made by `dvc repro` in release/, 45 minutes",
    "dvc cache dir": "the folder is an example",
    "dvc init": "the copy is a project of DVC",
    "dvc fetch --all-branches": "needs a remote",
    "dvc exp push GIT-REMOTE": "the names are examples",
    "dvc get . data/model": "the revision is an example",
    "dvc pull": "the copy has no remote",
    "dvc queue start -j 2": "the page's queue is started once and waited for",
    "paraphrastic papers run acl2017-t1 --data replica --jobs 2": "trains for hours; the page's own table runs",
    "paraphrastic papers run acl2017-t2 --tune": "trains on the open data for hours; tests/cli/test_papers_commands.py",
    "mutmut ": "hours of tests on changed sources",
    "python examples/serve/load.py": "tests/examples/test_serve.py runs it",
    "paraphrastic papers run results-open": "trains on the open data for hours",
    "python -m docs.encoders": "needs other encoders; tests/docs/test_encoders.py",
    "python -m tests.benchmarks": "minutes of timing",
}
NAMES = {"dvc exp run", "dvc exp show", "dvc metrics diff", "dvc queue logs", "dvc queue status"}  # no arguments
NAMES |= {"dvc artifacts get", "dvc push", "paraphrastic embed --precision int8"}
NAMES |= {"paraphrastic evaluate MODEL mteb-sts", "paraphrastic evaluate MODEL features"}
NAMES |= set(re.findall("^#+ `(paraphrastic.*)`$", (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8"), re.M))


def nightly(test):
    return pytest.mark.slow(pytest.mark.nightly(test))


@dataclass
class Copy:
    """A copy of the repository."""

    folder: Path
    environment: dict[str, str]  # of commands that run in it
    outputs: list[str] = field(default_factory=list)  # standard output of each block

    def bash(self, script):
        done = run("bash", "-euo", "pipefail", "-c", script, cwd=self.folder, env=self.environment, check=True)
        self.outputs.append(done.stdout)
        return done.stdout


def runnable(script):
    """Return a script without the lines that are not run, and with small data."""
    lines = [line for line in script.splitlines() if not line.startswith(tuple(NOT_RUN)) or "&& dvc repro" in line]
    text = "\n".join(lines).replace("pip install -e '.[pipeline]' && ", "")
    for old, new in REPLACED.items():
        text = text.replace(old, new)
    return text


def blocks(page):
    """Return (language, text) of the fenced blocks of a page."""
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def inline_commands(page):
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return [command for command in dict.fromkeys(INLINE.findall(text)) if "…" not in command and "=…" not in command]


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory):
    """A copy of the repository with small models after `dvc repro`."""
    folder, cache = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("cache")
    copy_repository(folder)
    change_parameters(folder, **SMALL)
    copy = Copy(folder, isolated_environment(cache))
    copy.bash("dvc repro && dvc repro finetune/dvc.yaml")
    run_git(folder, "commit", "--quiet", "--all", "--message=results")
    run_git(folder, "update-ref", "refs/remotes/origin/main", "main")
    return copy


@pytest.fixture(scope="session")
def after(reproduced, tmp_path_factory):
    """A function that returns a copy of the repository in which the commands of a page have run."""
    copies = {}

    def copy_of(page):
        if page not in copies:
            folder = tmp_path_factory.mktemp("page") / "copy"
            shutil.copytree(reproduced.folder, folder, symlinks=True)
            installed = {"PARAPHRASTIC_CACHE": str(folder.parent / "cache"), "PYTHONPATH": str(folder / "src")}
            installed["PATH"] = os.pathsep.join([str(BATCH_SYSTEMS), reproduced.environment["PATH"]])
            copies[page] = Copy(folder, reproduced.environment | installed)
            run_blocks(copies[page], page)
        return copies[page]

    return copy_of


def run_blocks(copy, page):
    for language, text in blocks(page):
        if language == "sh" and runnable(text).strip():
            copy.bash(runnable(text))
        elif language == "python":
            copy.bash(f"python -c {shlex.quote(text)}")
    if "dvc queue start" in (ROOT / page).read_text():
        wait_for_queue(copy)


@nightly
@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_each_page(after, page):
    assert len(after(page).outputs) >= len([text for language, text in blocks(page) if language == "python"])


@nightly
def test_table_of_experiments(after):
    rows = [line.split("\t") for line in after("docs/tutorial.md").bash("paraphrastic experiments").splitlines()]
    found = {row[0]: row[1:] for row in rows}
    assert found["ngrams"][:3] == ["charagram", "sample", ""]
    assert found["averages"][:3] == ["avg", "sample", ""]
    assert float(found["ngrams"][3]) > 0


@nightly
def test_table_and_plots_of_a_sweep(after):
    copy = after("docs/how-to/sweep.md")
    header, *rows = csv.reader(copy.bash("paraphrastic experiments '*-dim*' --against avg-dim50-s1 --csv").splitlines())
    found = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    assert {name: row["n"] for name, row in found.items()} == {"avg": "2", "charagram": "2"}
    assert found["charagram"]["factors"] == "seeds and items"
    assert "charagram & 2 & " in (copy.folder / "table.tex").read_text()
    assert (copy.folder / "sweep.html").read_text().count(">charagram<") >= 4


@nightly
def test_models_of_a_remote(after):
    folder = after("docs/how-to/remote.md").folder
    weights = [place / "weights.safetensors" for place in (folder / "data/model", folder / "../clone/data/model")]
    weights.append(folder / "../encoder/weights.safetensors")
    assert len({path.read_bytes() for path in weights}) == 1
    assert "name: sample.compounds" in (folder / "../encoder/README.md").read_text()  # a figure of that version


@nightly
def test_model_is_promoted_in_the_clone_that_shares_it(after):
    copy = after("docs/how-to/remote.md")
    run_blocks(copy, "docs/how-to/serve.md")
    assert copy.bash("git tag").split() == ["encoder#production#1", "encoder@v0.1.0", "encoder@v1.0.0"]


@nightly
def test_plots_of_two_experiments(after):
    output = after("docs/tutorial.md").bash("dvc plots diff averages ngrams --json")
    data = json.loads(output)["data"]
    tasks = [name for name in data if name.startswith("metrics/finetune/")]  # the same in both experiments
    others = {name: found for name, found in data.items() if name not in tasks}
    plots = {name: plot for name, (plot,) in others.items()}
    assert len(tasks) >= 2
    named = {"Spearman's ρ by evaluation set", "MAP by ranking set", "Accuracy by paraphrase set"}
    files = {f"metrics/{name}.csv" for name in ("corpus", "loss", "selection", "sets")}
    assert plots.keys() == files | named
    for plot in plots.values():
        assert {row["rev"] for row in plot["content"]["data"]["values"]} == {"averages", "ngrams"}
    _, line = plots["metrics/selection.csv"]["content"]["layer"]
    assert line["mark"]["point"]  # one epoch is a point, not an invisible line
    bars = plots["metrics/sets.csv"]["content"]
    assert bars["height"] == {"step": 8}  # grows with the number of sets
    x = {"field": "pearson", "type": "quantitative", "aggregate": "mean", "title": "pearson"}  # begins at zero
    assert bars["layer"][0]["encoding"]["x"] == x


@nightly
def test_queued_experiments_equal_direct_ones(after):
    copy = after("docs/how-to/cluster.md")
    rows = list(csv.DictReader(copy.bash("dvc exp show --csv").splitlines()))
    means = [row["sample.sts.mean"] for row in rows if row["model"] == "avg" and row["sample.sts.mean"]]
    assert len(means) >= 2
    assert len(set(means)) == 1


@nightly
def test_result_of_two_machines_is_that_of_one_process(reproduced, after):
    copy = after("docs/how-to/cluster.md")
    clones = sorted(copy.folder.parent.glob("train-*"))
    assert [clone.name[-2:] for clone in clones] == ["-0", "-1"]
    (clone,) = [clone for clone in clones if (clone / "data/model").exists()]
    alone, ours = (load_file(each / "data/model/weights.safetensors") for each in (reproduced.folder, clone))
    np.testing.assert_allclose(ours["embeddings"], alone["embeddings"], atol=1e-5)
    assert clone.name[:-2] in copy.bash("dvc exp list --name-only").split()


def wait_for_queue(copy):
    copy.bash("dvc queue start -j 2")
    for _ in range(180):
        status = copy.bash("dvc queue status")
        if not re.search("Queued|Running", status):
            break
        time.sleep(1)
    copy.bash("dvc queue stop --kill")
    assert "Failed" not in status
    assert "Success" in status


@nightly
def test_inline_commands(after):
    copy = after("docs/how-to/pull-requests.md")
    (copy.folder / "lines.txt").write_text("A dog runs.\nA dog is running.\n")  # a file of the reader of README.md
    commands = [command for page in PAGES for command in inline_commands(page)]
    for command in dict.fromkeys(runnable(command) for command in commands):
        copy.bash(f"{command} --help" if command in NAMES else command)


def test_commands_that_are_not_run_exist():
    text = "\n".join((ROOT / page).read_text() for page in [*PAGES, "docs/results.md"])
    templates = "\n".join(file.read_text() for file in ROOT.glob(".github/**/*.y*ml"))
    for command in NOT_RUN:
        assert command in text + templates
    for old in REPLACED:
        assert old in text
