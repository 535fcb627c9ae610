"""How the processes of one start find each other, and whether they are about to compute the same."""

import json
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple
from uuid import uuid4

from torch.distributed import Store  # type: ignore[attr-defined]  # it is public

from paraphrastic.base.errors import ProcessError

_PAUSE, _LIMIT = 0.05, 1800.0  # seconds: between two looks at the store, and until a process gives up


class Member(NamedTuple):
    """A process of a group.

    Attributes:
        host: name of its machine.
        run: a hash of each thing that determines what it computes, by name.
        problem: why it cannot start; empty if it can.
        id: a random name of the process.
    """

    host: str
    run: Mapping[str, str]
    problem: str = ""
    id: str = ""


def meet(store: Store, number: int, size: int, member: Member) -> tuple[str, list[Member]]:
    """Return a name of this start of the group, and its processes in order; wait until all are there.

    The launcher may keep its store when it starts the processes again: an entry can be of a process that died. Each
    process therefore writes an entry with a random name and, below that name, a hash of all entries that it sees. The
    group is complete once all have seen the same: a process that died has not seen the entry of this one.

    Args:
        store: where the processes leave messages.
        number: of this process, from 0.
        size: number of processes.
        member: this process.

    Raises:
        ProcessError: a process did not come within half an hour.
    """
    own = member._replace(id=uuid4().hex)
    places = [f"process {each}" for each in range(size)]
    store.set(places[number], json.dumps(own))
    start = time.monotonic()
    while time.monotonic() - start < _LIMIT:
        if store.check(places):
            seen, members = _look(store, places, own)
            if all(_value(store, each.id) == seen for each in members):
                _leave_last(store, seen, number, size)
                return seen, members
        time.sleep(_PAUSE)  # not `store.wait`, which no signal ends
    raise ProcessError(f"not all of {size} processes came within {_LIMIT / 60:.0f} minutes; run the same command again")


def refuse_differences(members: Sequence[Member]) -> None:
    """Refuse processes of which one cannot start, or which would not compute the same.

    Raises:
        ProcessError: names the process and its problem, or in what it differs from process 0.
    """
    for number, each in enumerate(members):
        if each.problem:
            raise ProcessError(f"process {number} on {each.host} cannot start: {each.problem}")
    first = members[0]
    for number, each in enumerate(members):
        names = [name for name, value in first.run.items() if each.run.get(name) != value]
        if names:
            raise ProcessError(
                f"process {number} on {each.host} differs from process 0 on {first.host} in {', '.join(names)}: all "
                "machines need the same commit, params.yaml and data"
            )


def _look(store: Store, places: list[str], own: Member) -> tuple[str, list[Member]]:
    """Return a hash of all entries, which this process writes down, and the entries."""
    entries = store.multi_get(places)
    seen = sha256(b"".join(entries)).hexdigest()
    store.set(own.id, seen)
    return seen, [Member(*json.loads(entry)) for entry in entries]


def _value(store: Store, key: str) -> str | None:
    return store.get(key).decode() if store.check([key]) else None


def _leave_last(store: Store, name: str, number: int, size: int) -> None:
    """Let process 0, which may be the one that keeps the store, wait until the others have read what they need."""
    store.set(f"{name} {number}", "")
    if number == 0:
        store.wait([f"{name} {each}" for each in range(size)])
