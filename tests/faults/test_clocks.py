"""Clocks that jump, and ten hours of training: downloads and trainings go on, and neither log nor checkpoints grow."""

import ast
import itertools
import random
import time
from types import SimpleNamespace

import pytest

from paraphrastic.base.console import progress
from paraphrastic.sources.fetching import fetch
from paraphrastic.sources.locations import DataLocations
from paraphrastic.training import train_model as display
from paraphrastic.training import trainer
from paraphrastic.training.trainer import Checkpoint
from tests.helpers.encoder_variants import WORD
from tests.helpers.faulty_server import BODY, Fault, running_server
from tests.helpers.repository import ROOT
from tests.helpers.toy_training import encoder_trainer, folder_content, prepare, saved_bytes, train, watch

pytestmark = [pytest.mark.faults, pytest.mark.slow]

YEAR = 365 * 24 * 3600
WALL_CLOCKS = {"time", "time_ns", "ctime", "localtime", "gmtime", "now", "utcnow", "today"}  # of time and datetime


@pytest.fixture
def jumping_clock(monkeypatch):
    """Let the time of day jump by up to a year each time that it is read."""
    generator, real = random.Random(1), time.time
    monkeypatch.setattr(time, "time", lambda: real() + generator.uniform(-YEAR, YEAR))
    monkeypatch.setattr(time, "time_ns", lambda: int(1e9 * time.time()))


def test_no_code_reads_the_time_of_day():
    found = []
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "pipeline").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(ast.Name("time" | "datetime" | "date"), name) if name in WALL_CLOCKS:
                    found.append(f"{file}:{node.lineno}")
                case ast.ImportFrom("time", names) if WALL_CLOCKS & {alias.name for alias in names}:
                    found.append(f"{file}:{node.lineno}")
    assert not found


@pytest.mark.usefixtures("jumping_clock")
def test_downloads(tries, tmp_path):
    faults = [Fault(cut=100_000), Fault(status=503), Fault(stall=1000), Fault(status=429), Fault()]
    with running_server() as server:
        orders = list(itertools.permutations(faults))[: tries.count(4)]
        for number, order in enumerate(orders):
            server.faults = list(order)
            source = server.source(f"/{number}.bin")
            fetch([source], tmp_path / str(number), DataLocations(tmp_path / "cache"), timeout=0.2, pauses=[0.0] * 4)
            assert (tmp_path / f"{number}/texts/{number}.bin").read_bytes() == BODY
            server.end_of_stall.set()
            server.end_of_stall.clear()
    tries.report(downloads=len(orders), wrong_bytes=0)


@pytest.mark.usefixtures("jumping_clock")
def test_checkpoints_of_a_training(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(Checkpoint, "save", lambda self, state: saved.append(state["step"]))
    expected, _ = train("avg", WORD, tmp_path / "none")
    assert saved == []  # a year is not a minute
    model, curves = train("avg", WORD, tmp_path / "some", every=0)
    assert saved == [step for step, _ in curves.loss] == list(range(1, 31))
    assert saved_bytes(model, "avg", tmp_path / "1") == saved_bytes(expected, "avg", tmp_path / "2")


@pytest.mark.parametrize("jump", [-3600.0, 0.0, 3600.0])
def test_line_of_a_training_after_a_jump_of_every_clock(monkeypatch, capsys, jump):
    now = [1e6]
    monkeypatch.setattr(display, "time", SimpleNamespace(monotonic=lambda: now[0]))
    training = SimpleNamespace(steps=100, curves=SimpleNamespace(loss=[], selection=[]))
    shown = display.Shown("avg", 10, progress(logged=False))
    for training.step in range(1, 101):
        shown.on_step(training)
        now[0] += jump if training.step == 50 else 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) <= 3
    assert all("nan" not in line and "inf" not in line and "-" not in line for line in lines)


def test_ten_hours(tries, tmp_path, monkeypatch, capsys):
    hours, seconds_per_step, now = tries.count(10), 36, [0.0]
    steps, sizes, saves = hours * 3600 // seconds_per_step, [], []
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr(trainer, "time", clock)
    monkeypatch.setattr(display, "time", clock)
    save = Checkpoint.save

    def counted(self, state):
        save(self, state)
        saves.append(now[0])
        sizes.append({name: len(content) for name, content in folder_content(self.folder).items()})

    monkeypatch.setattr(Checkpoint, "save", counted)
    model, pairs, config = prepare("avg", WORD, epochs=steps // 5)
    training = encoder_trainer(model, pairs, config, 11, lambda _: 1.0)
    shown = display.Shown("avg", config.batch_size, progress(logged=False))

    def wait(_):
        now[0] += seconds_per_step

    curves = training.run(Checkpoint(tmp_path), 60.0, watch(wait), shown)
    lines = capsys.readouterr().err.splitlines()
    pauses = [after - before for before, after in itertools.pairwise([0.0, *saves, now[0]])]
    largest = [sum(files.values()) for files in sizes]
    selections = len(curves.selection)
    assert now[0] == hours * 3600
    assert max(pauses) <= 60 + seconds_per_step
    assert len(saves) <= hours * 60
    assert max(map(len, sizes)) == 2  # the state and its hash
    assert max(largest) <= largest[0] + 100 * len(curves.loss) + 30 * selections
    assert len(curves.loss) <= 200
    assert len(lines) <= hours * 60 + selections + 1
    tries.report(hours=hours, steps=steps, checkpoints=len(saves), bytes=max(largest), lines=len(lines))
