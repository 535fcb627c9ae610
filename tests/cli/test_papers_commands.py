"""`paraphrastic papers list` and `paraphrastic papers run`, without the queue; tests/papers/test_running.py runs it."""

import shlex

import pytest
from typer.testing import CliRunner

from paraphrastic.cli import papers_commands
from paraphrastic.cli.main import app
from paraphrastic.papers.plan import expected
from paraphrastic.papers.project import Project
from paraphrastic.papers.queue import Queue
from paraphrastic.papers.results import Result
from paraphrastic.papers.running import Runner
from tests.helpers.command_line import assert_refused
from tests.helpers.repository import ROOT
from tests.helpers.small_project import PARAMS, declare, make_project

AVG = '{ label = "avg", model = "avg", seeds = [1, 2] }'
CHARCNN = '{ label = "charcnn", model = "charcnn", options = { filters = { 2 = 5, 7 = 3 } } }'


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Return a repository with two experiments, in which commands run."""
    folder = make_project(tmp_path / "clone", first=[AVG], second=[AVG, CHARCNN])
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PARAPHRASTIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PARAPHRASTIC_MIRROR", raising=False)
    return folder


@pytest.fixture
def papers(clone):
    """Return a function that runs a command in the clone."""
    return lambda *arguments: CliRunner().invoke(app, ["papers", *arguments])


@pytest.fixture
def queued(monkeypatch):
    """Return the commands that the queue was given; it runs none, and each experiment ends without a result."""
    commands = []

    def run(queue, by_name, jobs, on_end):
        commands.extend(by_name.values())
        return [name for name in by_name if not on_end(name, None)]

    monkeypatch.setattr(Queue, "run", run)
    return commands


def store(clone, name, seeds=(1,), **result):
    """Store results of the first row of an experiment."""
    project = Project(clone)
    for run in project.plan([project.experiments.by_id[name]], "open", seeds)[: len(seeds)]:
        values = {"version": "0.3.0", "values": {"sts.mean": 1.0}} | result
        project.store.add(run, Result(**values), expected(project.params, run))
    return run.name


def rows(result):
    assert result.exit_code == 0, result.output
    header, *lines = (line.split("\t") for line in result.stdout.splitlines())
    assert header == ["experiment", "runs", "minutes", "data", "here", "to bring", "title"]
    return lines


def test_list(papers, clone):
    store(clone, "first", minutes=1.5)
    assert rows(papers("list")) == [
        ["first", "1/2", "2", "sample, suite open", rows(papers("list"))[0][4], "–", "Small"],
        ["second", "1/3", "?", "sample, suite open", rows(papers("list"))[1][4], "–", "Small"],
    ]
    assert rows(papers("list"))[0][4].startswith("1/")  # the generated corpus is here


def test_list_of_the_data_of_the_papers(papers):
    (first, _) = rows(papers("list", "--data", "paper"))
    assert first[3] == "sample, suite papers"
    assert first[5] == "sts2013-smt, --vectors"


def test_list_of_the_data_that_the_pages_show(monkeypatch):
    monkeypatch.chdir(ROOT)
    shown, on_open, replica = (
        {line[0]: line for line in rows(CliRunner().invoke(app, ["papers", "list", *data]))}
        for data in ([], ["--data", "open"], ["--data", "replica"])
    )
    assert shown["acl2017-t1"] == replica["acl2017-t1"] != on_open["acl2017-t1"]
    assert shown["results-open"] == on_open["results-open"] != replica["results-open"]


def test_data_of_each_command_are_explained(papers):
    for command in ("list", "run", "report"):
        assert "a replica of the" in " ".join(papers(command, "--help").stdout.split())


def test_commands_of_a_dry_run(papers):
    lines = papers("run", "second", "--seeds", "3", "--dry").stdout.splitlines()
    assert all(line.startswith("dvc exp run --queue --name ") for line in lines)
    assert [line.partition(" evaluate ")[2].replace("-S ", "") for line in lines] == [
        "model=avg 'corpus=[sample]' benchmarks=open seed=3",
        "model=charcnn 'corpus=[sample]' benchmarks=open"
        " 'models.yaml:~charcnn.filters' 'models.yaml:+charcnn.filters={2:5,7:3}' seed=3",
    ]
    assert "num_threads" not in papers("run", "first", "--dry").stdout


def test_dry_run_prints_what_is_executed(papers, queued):
    printed = [
        shlex.split(line) for line in papers("run", "first", "second", "--jobs", "2", "--dry").stdout.splitlines()
    ]
    papers("run", "first", "second", "--jobs", "2")
    assert queued == printed
    assert len(printed) == 3
    assert printed[0][-1] == "models.yaml:avg.num_threads=1"
    assert "num_threads" not in " ".join(printed[2])  # charcnn has no such option here


def test_nothing_runs_twice(papers, clone, queued):
    store(clone, "first", seeds=(1, 2))
    result = papers("run", "first")
    assert (result.exit_code, result.stderr) == (0, "2 of 2 runs are here; 0 to run\n")
    assert papers("run", "first", "--dry").stdout == ""
    assert queued == []


def test_run_of_an_earlier_version_is_repeated(papers, clone):
    name = store(clone, "first", version="0.2.0")
    result = papers("run", "first", "--seeds", "1", "--dry")
    assert result.stderr == f"{name}: stored by version 0.2.0, this is 0.3.0; `paraphrastic papers run` runs it again\n"
    assert name in result.stdout


GRID = """
[grids.margins]
source = "§1"
set = { "train.select" = "sts.mean" }
over = { margin = [0.3, 0.5], dim = [10, 20] }
[avg]
model = "avg"
options = {}
grid = "margins"
"""


def test_finding_of_several_parts_is_one_line_of_the_report(papers, monkeypatch):
    shown = []
    monkeypatch.setattr(papers_commands, "_print_on_terminal", shown.extend)
    assert papers("report", "first").exit_code == 0
    assert "finding: It holds. Not here." in shown


@pytest.fixture
def grid(clone):
    """Give the row of the first experiment a grid of four points."""
    (clone / "experiments/presets.toml").write_text(GRID)
    declare(clone, "first", AVG.replace(" }", ', preset = "avg" }'))


@pytest.mark.usefixtures("grid")
def test_dry_search_prints_how_many_runs_it_needs(papers, queued):
    result = papers("run", "first", "--tune", "--dry", "--seeds", "1,2")
    header = "experiment\trow\tselected by\tsettings\truns\tto run\taxes"
    assert result.stdout.splitlines() == [header, "first\tavg\tsts.mean\t4\t8\t8\tmargin (2), dim (2)"]
    assert "8 distinct runs, of which 8 are to run" in result.stderr
    result = papers("run", "first", "--tune", "--over", "dim", "--dry")
    assert result.stdout.splitlines()[1:] == ["first\tavg\tsts.mean\t2\t2\t2\tdim (2)"]
    assert "add --tune" in papers("run", "first", "--over", "dim").stderr
    assert queued == []


@pytest.mark.usefixtures("grid")
def test_search_runs_its_grid_and_then_the_row_with_the_best(papers, monkeypatch):
    rounds = []

    def run(runner, runs, on_end):
        """Store results of all but the last run, of which the third is the best."""
        rounds.append(runs)
        for run, score in zip(runs, [1.0, 2.0, 3.0], strict=False):
            runner.project.store.add(run, Result("0.3.0", {"sts.mean": score}), expected(PARAMS, run))
        return [run.name for run in runs[3:]]

    monkeypatch.setattr(Runner, "run", run)
    result = papers("run", "first", "--tune")
    searched, last = rounds
    assert f"1 of 4 failed: {searched[3].name}; `dvc queue logs {searched[3].name}` shows why" in result.stderr
    assert [run.seed for run in searched] == [1] * 4
    chosen = [run.settings for run in last if "models.avg.margin" in run.settings]
    assert chosen == [{**chosen[0], "models.avg.margin": 0.5, "models.avg.dim": 10}] * 2
    assert "train.select" not in chosen[0]
    lines = papers("report", "first").stdout.splitlines()
    assert "experiment\trow\tcolumn\ttheirs\tours\t±\tdifference\tdata" in lines
    assert any(line.startswith("first\tavg, tuned\tsts\t\t3.0\t") for line in lines)


def test_experiments_without_results(papers, queued):
    result = papers("run", "second")
    names = [command[command.index("--name") + 1] for command in queued]
    assert result.exit_code == 1
    message = f"error: 3 of 3 failed: {', '.join(names)}; `dvc queue logs {names[0]}` shows why"
    assert result.stderr.splitlines() == ["0 of 3 runs are here; 3 to run", message]
    result = papers("run", "first", "--seeds", "1,2,3,4,5")
    assert "5 of 5 failed: " in result.stderr
    assert " and others; `dvc queue logs avg-" in result.stderr


def test_vectors_of_the_data_of_the_papers(papers, clone, tmp_path, queued):
    assert_refused_last(papers("run", "first", "--data", "paper"), "sts2013-smt is not here", "Put it at")
    smt = tmp_path / "cache/licensed/sts2013-smt"
    smt.mkdir(parents=True)
    for name in ("STS.input.SMT.txt", "STS.gs.SMT.txt"):
        (smt / name).touch()
    assert_refused_last(papers("run", "first", "--data", "paper"), "name a file with --vectors")
    vectors = tmp_path / "it's paragram.txt"
    vectors.touch()
    papers("run", "first", "--data", "paper", "--vectors", str(vectors))
    option = "models.yaml:avg.vectors='" + str(vectors).replace("'", "\\'") + "'"
    assert [option in command for command in queued] == [True, True]
    reason = "error: --vectors has no effect on these runs; models of words start from it with --data paper"
    assert papers("run", "first", "--vectors", str(vectors)).stderr.splitlines()[-1] == reason


def test_data_of_the_papers_are_not_asked_for_if_nothing_is_to_run(papers, monkeypatch):
    monkeypatch.setattr(Runner, "needed", lambda runner, runs: [])
    result = papers("run", "first", "--data", "paper")
    assert (result.exit_code, result.stderr.splitlines()[0][-10:]) == (0, "; 0 to run")


def assert_refused_last(result, *messages):
    assert result.exit_code == 1, result.output
    assert result.stderr.splitlines()[-1].startswith("error: ")
    for message in messages:
        assert message in result.stderr.splitlines()[-1]


def test_unknown_experiment(papers):
    assert_refused(papers("run", "frist"), "unknown experiment 'frist': did you mean 'first'?")


@pytest.mark.parametrize("seeds", ["a", "1,", ",1", "-1", "1.5", "1;2", "1,,2", "0", "1,1", "9" * 19])
def test_wrong_seeds(papers, seeds):
    result = papers("run", "first", "--seeds", seeds, "--dry")
    assert result.exit_code == 2
    assert f"'{seeds}' should be numbers with commas between them" in result.stderr


@pytest.mark.parametrize("command", [["list"], ["run", "first"], ["run", "first", "--dry"], ["report"]])
@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("experiments/first.toml", "rows = 1", "first.toml: table: Field required"),
        ("experiments/first.toml", "", "first.toml: table: Field required"),
        ("experiments/first.toml", "a = ", "first.toml: not valid TOML"),
        ("experiments/presets.toml", "a = 1", "presets.toml: presets.a: Input should be"),
        ("params.yaml", "a: [", "not valid YAML"),
        ("params.yaml", "model: avg", "params.yaml: no block 'tokenize'; restore it"),
        ("models.yaml", "", "models.yaml: is empty"),
        ("pyproject.toml", "", "pyproject.toml: has no version; restore it with `git checkout pyproject.toml`"),
    ],
)
def test_damaged_files(papers, clone, command, path, content, message):
    (clone / path).write_text(content)
    assert_refused(papers(*command), message)


@pytest.mark.parametrize("command", [["list"], ["run", "first"], ["report", "first"]])
def test_damaged_stored_result(papers, clone, command):
    name = store(clone, "first")
    file = clone / "experiments/results" / f"{name.removesuffix('-s1')}.json"
    file.write_text("{")
    assert_refused(
        papers(*command), f"{file}: not a stored result; restore it with `git checkout {file}`, or remove it"
    )


def test_wrong_name_in_a_declaration(papers, clone):
    declare(clone, "first", '{ label = "avg", model = "avg", options = { margn = 1.0 } }')
    message = (
        "experiments/first.toml: row 'avg': no parameter 'models.yaml:avg.margn': unknown key 'margn': did you mean"
    )
    assert_refused(papers("run", "second"), message)


def test_folder_outside_of_a_clone(papers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (["list"], ["run", "first"]):
        assert_refused(papers(*command), f"{tmp_path}: no folder `experiments` here; run this in a clone")


def test_folder_in_a_clone(papers, clone, monkeypatch):
    monkeypatch.chdir(clone / "experiments")
    assert [row[0] for row in rows(papers("list"))] == ["first", "second"]
