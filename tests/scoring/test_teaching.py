"""Vectors of a teacher: what the stage `teach` writes, and how it goes on after an interruption."""

import errno
import json
import os
import re
import subprocess
import sys
import time
from contextlib import nullcontext
from itertools import starmap
from multiprocessing import active_children

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import ModelError, ParameterError, ProcessError
from paraphrastic.base.parameters import load_params
from paraphrastic.base.tables import SENTENCES, WORD_COUNTS, write_table
from paraphrastic.scoring import teaching
from paraphrastic.vocabulary.counting import count_words
from tests.helpers import stub_teacher
from tests.helpers.pretended_device import HAS_GPU
from tests.helpers.repository import ROOT
from tests.helpers.stub_teacher import StubTeacher, vector_of

TEXTS = [f"sentence {'very ' * (n % 3)}{n}" for n in range(20)]
WORDS = count_words(pa.array(TEXTS), 2)["text"].to_pylist()


@pytest.fixture
def teach(tmp_path, monkeypatch):
    """Runs the stage on 20 sentences with a file for each 8; returns the folder."""
    encoder = stub_teacher.install(monkeypatch, tmp_path / "mini")
    monkeypatch.setattr(teaching, "SHARD", 8)
    write_table(pa.table({"text": TEXTS}), tmp_path / "sentences.parquet", SENTENCES)
    write_table(count_words(pa.array(TEXTS), 2), tmp_path / "words.parquet", WORD_COUNTS)

    def teach(out="out", processes=1, **changes):
        changes = {"teacher.path": str(encoder), "train.device": "cpu"} | changes
        params = load_params(ROOT / "params.yaml", changes)
        teaching.teach(params, tmp_path, tmp_path, tmp_path / "work", tmp_path / out, processes)
        return tmp_path / out

    return teach


def content(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_vectors_of_sentences_and_words(teach, shown, capsys):
    folder = teach()
    assert shown() == [("words", len(WORDS), len(WORDS)), ("sentences", 20, 20)]
    assert capsys.readouterr().err.endswith(f"mini: encodes 20 sentences and {len(WORDS)} words\n")
    assert sorted(StubTeacher.texts) == sorted([*TEXTS, *WORDS])  # each is encoded once
    assert not StubTeacher.precisions
    names = [f"sentences/{n:06}.parquet" for n in range(3)] + ["teacher.json", "words/000000.parquet"]
    assert sorted(content(folder)) == names
    assert json.loads((folder / "teacher.json").read_text()) == {"name": "mini", "dim": stub_teacher.DIM}
    words = pq.read_table(folder / "words")
    assert words["text"].to_pylist() == WORDS
    for kind, texts in (("sentences", TEXTS), ("words", WORDS)):
        vectors = np.array(pq.read_table(folder / kind)["vector"].to_pylist())
        wanted = np.array([vector_of(text) for text in texts])
        np.testing.assert_allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-3)


def test_vectors_of_several_teachers_stand_side_by_side(teach, monkeypatch, tmp_path, capsys):
    other = stub_teacher.install(monkeypatch, tmp_path / "other")
    folder = teach(**{"teacher.path": [str(tmp_path / "mini"), str(other)]})
    assert capsys.readouterr().err.endswith(f"mini and {other}: encode 20 sentences and {len(WORDS)} words\n")
    assert json.loads((folder / "teacher.json").read_text()) == {"name": "mini and other", "dim": 2 * stub_teacher.DIM}
    vectors = np.array(pq.read_table(folder / "sentences")["vector"].to_pylist())
    single = np.array(pq.read_table(teach("single") / "sentences")["vector"].to_pylist())
    np.testing.assert_allclose(vectors, np.hstack([single, single]) / 2**0.5, atol=1e-3)


def test_interrupted_run_goes_on(teach, monkeypatch, tmp_path):
    unbroken = content(teach())
    StubTeacher.texts.clear()
    monkeypatch.setattr(StubTeacher, "limit", len(WORDS) + 17)
    with pytest.raises(KeyboardInterrupt):
        teach("second")
    assert not (tmp_path / "second").exists()
    StubTeacher.texts.clear()
    assert content(teach("second")) == unbroken
    assert sorted(StubTeacher.texts) == sorted(TEXTS[16:])
    assert not [*(tmp_path / "work").iterdir()]


@pytest.mark.parametrize("links", [True, False])
def test_error_after_the_last_vector_loses_none(teach, monkeypatch, tmp_path, links):
    def refuse(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(teaching, "_write_info", refuse)
        with pytest.raises(OSError, match="No space left"):
            teach()
    assert not (tmp_path / "out").exists()
    StubTeacher.texts.clear()
    if not links:  # another file system
        monkeypatch.setattr(os, "link", refuse)
    assert len(content(teach())) == 5
    assert not StubTeacher.texts
    assert not [*(tmp_path / "work").iterdir()]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_interrupted_run_of_another_encoder_or_precision_starts_again(teach, monkeypatch, tmp_path, precision):
    monkeypatch.setattr(StubTeacher, "limit", len(WORDS) + 17)
    with pytest.raises(KeyboardInterrupt):
        teach()
    monkeypatch.setattr(StubTeacher, "limit", 10**9)
    if precision == "float32":
        (tmp_path / "mini/modules.json").write_text("[ ]")
    StubTeacher.texts.clear()
    teach(**{"teacher.precision": precision})
    assert sorted(StubTeacher.texts) == sorted([*TEXTS, *WORDS])
    assert StubTeacher.precisions == ["bfloat16"] * (precision == "bfloat16")


@pytest.mark.parametrize(
    ("wanted", "usable", "started"), [(1, 9, ""), (2, 9, " in 2"), (9, 2, " in 2"), (9, 9, " in 3")]
)
def test_number_of_processes(teach, monkeypatch, capsys, wanted, usable, started):
    monkeypatch.setattr(teaching, "usable_processes", lambda folder, device: usable)
    monkeypatch.setattr(teaching, "_run", lambda count, calls: starmap(teaching._write_shard, calls))
    teach(processes=wanted)
    line = capsys.readouterr().err
    assert line.endswith(f"{len(WORDS)} words{started} processes\n" if started else f"{len(WORDS)} words\n")


def test_several_processes(teach, monkeypatch, tmp_path):
    alone = content(teach())
    StubTeacher.texts.clear()
    stub_teacher.install_everywhere(monkeypatch, tmp_path / "site")
    monkeypatch.setattr(teaching, "usable_processes", lambda folder, device: 2)
    left = []
    monkeypatch.setattr(teaching, "active_children", lambda: [left.append(each) or each for each in active_children()])
    assert content(teach("second", 2)) == alone
    assert not left  # a process that is terminated leaves semaphores, of which Python warns
    assert not StubTeacher.texts  # other processes encode
    (tmp_path / stub_teacher.FATAL).touch()
    died = "a process that encodes with the teacher died, perhaps for want of memory"
    with pytest.raises(ProcessError, match=f"^{died}; run the same command again to continue$"):
        teach("third", 2)
    assert not (tmp_path / "third").exists()
    assert [*(tmp_path / "work").rglob("words/*.parquet")]  # from which the next run goes on
    assert content(teach("third", 2)) == alone


def test_process_ends_with_the_one_that_started_it():
    code = (
        "import os, time; from paraphrastic.base.parallel import end_with;"
        "end_with(os.getppid()); print('ready', flush=True); time.sleep(60)"
    )
    starter = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.kill()
        killed = time.monotonic()
        assert process.stdout.read() == b""  # when no process is left that has the pipe
    assert time.monotonic() - killed < 30


def test_no_teacher_and_weights_of_zero(teach):
    assert content(teach(**{"teacher.path": None})) == {"teacher.json": b'{"name": null, "dim": 0}\n'}
    assert not StubTeacher.texts
    weights = {f"teacher.{name}_weight": 0.0 for name in ("margin", "regression", "similarity")}
    with pytest.raises(ParameterError, match=r"teacher.*are all 0; set one"):
        teach(**weights)


def test_vector_that_is_not_finite(teach, monkeypatch, tmp_path):
    monkeypatch.setattr(StubTeacher, "encode", lambda self, texts, **_: np.full((len(texts), 2), np.nan))
    with pytest.raises(ModelError, match=re.escape(f"mini: the vector of {WORDS[0]!r} is not finite")):
        teach()
    assert not (tmp_path / "out").exists()


def test_second_run_waits_for_the_first_one(teach, monkeypatch, tmp_path):
    names = []
    monkeypatch.setattr(teaching, "locked", lambda path, name: names.append((path.parent, name)) or nullcontext())
    teach()
    assert names == [(tmp_path / "work", "encodes with the same teacher")]


@pytest.mark.parametrize(("device", "wanted"), [("auto", None), ("cpu", "cpu")])
def test_device(teach, monkeypatch, device, wanted):
    used = []
    monkeypatch.setattr(StubTeacher, "__init__", lambda self, path, device: used.append(device))
    teach(**{"train.device": device})
    assert set(used) == {wanted}


@pytest.mark.skipif(HAS_GPU, reason="this machine has a GPU")
def test_no_gpu(teach, tmp_path):
    with pytest.raises(ParameterError, match=r"^device 'cuda': not available on this machine; use auto or cpu$"):
        teach(**{"train.device": "cuda"})
    assert not (tmp_path / "out").exists()
