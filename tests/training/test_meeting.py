"""Processes of one start find each other, also in a store that holds what earlier ones left."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from torch.distributed import HashStore

from paraphrastic.base.errors import ProcessError
from paraphrastic.training import meeting
from paraphrastic.training.meeting import Member, meet, refuse_differences

RUN = {"parameters": "p", "corpus": "c", "code": "d"}


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_all_learn_one_name_and_all_members(pool):
    store, members = HashStore(), [Member(f"host-{number}", RUN) for number in range(3)]
    met = [pool.submit(meet, store, number, 3, member) for number, member in enumerate(members)]
    names, lists = zip(*(each.result() for each in met), strict=True)
    assert len(set(names)) == 1
    assert lists[0] == lists[1] == lists[2]
    assert [(member.host, member.run) for member in lists[0]] == [(f"host-{n}", RUN) for n in range(3)]


def test_another_start_has_another_name(pool):
    store, names = HashStore(), set()
    for _ in range(3):
        met = [pool.submit(meet, store, number, 2, Member("host", RUN)) for number in range(2)]
        (name,) = {each.result()[0] for each in met}
        names.add(name)
    assert len(names) == 3


def test_process_that_died_is_no_member(pool):
    """Process 1 died in the meeting; process 0 is started again first."""
    store = HashStore()
    store.set("process 0", json.dumps(Member("host", RUN, id="dead-0")))
    store.set("process 1", json.dumps(Member("host", RUN, id="dead-1")))
    store.set("dead-0", "what it saw")
    store.set("dead-1", "what it saw")
    first = pool.submit(meet, store, 0, 2, Member("host", RUN))
    with pytest.raises(TimeoutError):
        first.result(timeout=0.3)
    second = pool.submit(meet, store, 1, 2, Member("new-host", RUN))
    assert first.result(timeout=30) == second.result(timeout=30)
    assert first.result()[1][1].host == "new-host"


def test_process_that_does_not_come(monkeypatch):
    monkeypatch.setattr(meeting, "_LIMIT", 0.2)
    with pytest.raises(ProcessError, match="not all of 2 processes came within 0 minutes; run the same command again"):
        meet(HashStore(), 0, 2, Member("host", RUN))


@pytest.mark.parametrize(
    ("run", "problem", "message"),
    [
        (
            {"corpus": "x"},
            "",
            "process 2 on b differs from process 0 on a in corpus: all machines need the same commit, ",
        ),
        ({"code": "x", "parameters": "y"}, "", "process 2 on b differs from process 0 on a in parameters, code: all"),
        ({}, "data/corpus: no such folder", "^process 2 on b cannot start: data/corpus: no such folder$"),
    ],
)
def test_process_that_would_compute_something_else(run, problem, message):
    same = Member("a", RUN)
    refuse_differences([same, same])
    with pytest.raises(ProcessError, match=message):
        refuse_differences([same, same, Member("b", RUN | run, problem)])
