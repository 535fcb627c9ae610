"""The command `paraphrastic` as a whole: commands, help, exit statuses, interruption."""

import os
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from typer.main import get_command

import paraphrastic
from paraphrastic.cli.main import app, main
from tests.helpers.command_line import MAIN, assert_refused, start_python
from tests.helpers.repository import ROOT
from tests.helpers.toy_training import WORDS

EXAMPLES = {
    "embed": "embed --model avg lines.txt",
    "similarity": "similarity --model avg pairs.tsv",
    "neighbors": f"neighbors --model avg {WORDS[0]}",
    "explain": "explain --model avg was again",
    "info": "info avg",
    "compare": "compare workspace workspace",
    "analyze": "analyze",
    "card": "card avg",
    "compact": "compact avg small",
    "merge": "merge avg avg --out merged",
    "dedup": "dedup lines.txt --model avg",
    "pairs": "pairs lines.txt --model avg",
    "search": f"search lines.txt {WORDS[0]} --model avg",
    "export": "export avg out --to sentence-transformers",
    "data list": "data list",
    "data fetch": "data fetch texts",
    "data check": "data check",
    "data path": "data path texts",
}
ELSEWHERE = [
    "experiments",
    "papers list",
    "papers run",
    "papers report",
    "papers claims",
]  # these have test files of their own
ELSEWHERE += ["train", "evaluate", "data inspect", "plots"]
SILENT = ("data fetch", "merge", "compact", "export")  # print nothing on standard output


def command_names(group: Any, parents: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the names of all commands: `embed`, `data list`, …"""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from command_names(command, (*parents, name))
        else:
            yield " ".join((*parents, name))


def test_examples_of_all_commands():
    assert {*EXAMPLES, *ELSEWHERE} == {*command_names(get_command(app))}


@pytest.mark.parametrize("command", EXAMPLES)
def test_each_command_here_and_in_a_subfolder(run, monkeypatch, command):
    run("data", "fetch", "texts")
    words = EXAMPLES[command].split()
    for folder in (".dvc", "sub"):
        Path(folder).mkdir()
    with monkeypatch.context() as patch:
        patch.chdir("sub")
        there = run(*(f"../{word}" if Path("..", word).is_file() or word == "avg" else word for word in words))
    here = run(*words)
    assert (here.exit_code, here.stdout == "") == (0, command in SILENT)
    assert any(path.is_file() for path in Path("sub").rglob("*")) == (command in ("merge", "compact", "export"))
    assert (there.exit_code, there.stdout.replace("../", "")) == (0, here.stdout)
    for path in Path("sub").rglob("*"):
        assert path.is_dir() or path.read_bytes() == path.relative_to("sub").read_bytes()


@pytest.mark.parametrize("command", [[], ["data"], ["papers"], *map(str.split, [*EXAMPLES, *ELSEWHERE])], ids=" ".join)
def test_size_of_help(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) <= 24
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "..." not in result.stdout.replace("]...", "").replace("}...", "")  # a truncated description


@pytest.mark.parametrize("command", [*EXAMPLES, *ELSEWHERE])
def test_help_has_one_example_that_can_be_parsed(run, command):
    lines = run(*command.split(), "--help").stdout.splitlines()
    (example,) = (line for line in lines if line.startswith("  Example: paraphrastic "))
    words = shlex.split(example)[2:]
    parser = get_command(app)
    for name in command.split():
        assert words.pop(0) == name
        parser = parser.commands[name]
    parser.make_context(command, words)


@pytest.mark.parametrize("command", ["--help", "embed --help", "data list --help"])
def test_packages_imported_for_help(command):
    packages = "{'torch', 'numpy', 'pyarrow', 'pandas'}"
    code = f"import atexit, sys; atexit.register(lambda: print({packages} & {{*sys.modules}})); {MAIN}"
    with start_python(code, *command.split(), stdout=subprocess.PIPE) as process:
        assert process.stdout.read().endswith("set()\n")


def test_entry_point_of_package():
    script = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["paraphrastic"]
    module, function = script.split(":")
    assert getattr(import_module(module), function) is main


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("info nowhere", "nowhere: no model here"),
        ("embed --model lines.txt", "lines.txt: is a file; a model is a folder"),
        ("similarity --model newer", "newer: model format 99, this version reads 2; update the package"),
        ("embed --model avg absent.txt", "absent.txt: No such file or directory"),
        ("similarity --model avg absent.txt", "absent.txt: No such file or directory"),
    ],
)
def test_missing_and_newer_files(run, command, message):
    Path("newer").mkdir()
    Path("newer/config.json").write_text(Path("avg/config.json").read_text().replace('"format": 2', '"format": 99'))
    assert_refused(run(*command.split()), message)


@pytest.mark.parametrize(("module", "is_reported"), [("jinja2", True), ("paraphrastic.absent", False)])
def test_packages_that_are_not_there_and_modules_of_this_one(run, monkeypatch, module, is_reported):
    def load(*arguments, **options):
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr(paraphrastic, "load", load)
    result = run("info", "avg")
    assert isinstance(result.exception, SystemExit) == is_reported  # the other is a bug, whose traceback is wanted
    assert (
        "needs the package jinja2; " in result.stderr and "pip install '.[pipeline]'" in result.stderr
    ) == is_reported


@pytest.mark.parametrize("command", ["info", "card"])
def test_name_of_a_model_that_is_not_utf_8(run, command):
    name = os.fsdecode(b"model-\xff")
    Path(name).symlink_to("avg")
    assert "avg" in run(command, name).stdout


@pytest.mark.parametrize("command", ["train --corpus {} --out out", "evaluate avg {}"])
def test_name_of_a_table_that_is_not_utf_8(run, command):
    name = os.fsdecode(b"pairs-\xff.csv")
    Path(name).write_text("text1,text2,score\na,b,1\n")
    assert_refused(run(*command.format(name).split()), r"pairs-\udcff")


def test_lines_for_a_terminal_of_ascii(run):
    Path("lines.txt").write_text("é\n")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment}
    with start_python(MAIN, "dedup", "lines.txt", "--model", "avg", **pipes) as process:
        _, error = process.communicate()
    assert process.returncode == 1
    assert error.splitlines()[-1].startswith("error: ")
    assert "cannot be written as ascii" in error.splitlines()[-1]
    error = run("export", "avg", "out", "--to", "gensim").stderr.splitlines()[-1]
    assert error.startswith("Error: Invalid value for '--to': 'gensim' is not one of 'sentence-transformers', ")


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("function", "command"), [("echo", "--version"), ("paraphrastic.load", "info avg")])
def test_options_and_commands_are_interrupted(run, monkeypatch, function, command):
    monkeypatch.setattr(f"paraphrastic.cli.main.{function}", interrupt)
    result = run(*command.split())
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


@pytest.mark.parametrize(
    "command", ["emebd", "explain a", "neighbors --model avg x -k 0", "data pth", "export avg out --to gensim"]
)
def test_wrong_usage(run, command):
    assert run(*command.split()).exit_code == 2


def test_closed_pipe(run, lines):
    Path("many.txt").write_text("\n".join(lines * 2000))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start_python(MAIN, "embed", "--model", "vectors", "many.txt", **pipes) as process:
        assert process.stdout.readline().startswith('{"text": ')
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


CLOSED, NO_SPACE = "standard output: Bad file descriptor", "standard output: No space left on device"


@pytest.mark.parametrize(
    ("script", "status", "message"),
    [
        ("$P --version >&-", 1, CLOSED),
        ("PYTHONUNBUFFERED=1 $P data list >/dev/full", 1, NO_SPACE),
        ("$P data list >/dev/full", 1, NO_SPACE),
        ("$P embed --help >/dev/full", 1, NO_SPACE),
        ("$P embed --model avg <&-", 1, "standard input: cannot be read (Bad file descriptor)"),
        ("$P embed --model avg lines.txt --out o.npy >&- <&- 2>&-", 0, ""),
        ("echo unknown | $P embed --model avg --out o.npy 2>/dev/full", 0, ""),
        ("$P embed --model avg /proc/self/mem --out o.npy", 1, "/proc/self/mem: cannot be read (Input/output error)"),
        ("$P --help | true; exit ${PIPESTATUS[0]}", 141, ""),
        ("$P data list | true; exit ${PIPESTATUS[0]}", 141, ""),
        ("mkdir gone; cd gone; rmdir ../gone; $P experiments", 1, "working folder (removed; change to another one)"),
        ("PYTHONIOENCODING=latin-1 $P compare workspace --md", 1, "'| set | metr"),
        ("PYTHONIOENCODING=ascii $P --help", 0, ""),
    ],
)
def test_standard_streams_and_working_folder(run, script, status, message):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    environment |= {"P": f"{sys.executable} -m paraphrastic"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr[: len(message) + 7]) == (status, message and f"error: {message}")
    assert done.stderr.count("\n") == (1 if message else 0)
    assert {path.name for path in Path().iterdir()} >= {"o.npy"} or status or ".npy" not in script


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption(run, number):
    before = {*Path().iterdir()}
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start_python(MAIN, "embed", "--model", "vectors", "--out", "out.npy", **pipes) as process:
        while {*Path().iterdir()} == before:  # until the temporary file of the output exists
            assert process.poll() is None
            sleep(0.01)
        process.send_signal(number)
        process.stdin.close()
        assert process.stderr.read() == "interrupted\n"
    assert process.returncode == 130
    assert {*Path().iterdir()} == before
