"""Functions compiled with and without a folder for their code; work of several threads in the order of its input."""

import multiprocessing
import threading
import time
from functools import partial
from itertools import count
from types import SimpleNamespace

import pytest
from numba.core.caching import CacheImpl

from paraphrastic.base import parallel
from paraphrastic.base.parallel import end_with, in_order, njit
from tests.helpers.threads import threads


def wait_longer_for_earlier(number):
    time.sleep(0.02 / (1 + number))
    return number * number


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("items", [0, 1, 3, 40])
def test_results_in_the_order_of_items(number, items):
    with threads(number):
        assert list(in_order(wait_longer_for_earlier, range(items))) == [n * n for n in range(items)]


def test_several_threads_at_once():
    barrier = threading.Barrier(3, timeout=60)  # is passed if three threads wait at it
    with threads(3):
        assert sorted(in_order(lambda _: barrier.wait(), range(6))) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_few_items_are_taken_before_they_are_needed(number):
    items = count()
    with threads(number):
        results = in_order(lambda item: item, items)
        assert [next(results) for _ in range(10)] == list(range(10))
        results.close()
    assert next(items) <= 10 + 2 * number


def results_and_error(work, items):
    """Return the results before the first error, and the error."""
    results = []
    try:
        for result in in_order(work, items):
            results.append(result)
    except ValueError as error:
        return results, str(error)
    return results, None


def items_with_an_error():
    yield from range(4)
    raise ValueError("no item 4")


def refuse_two(item):
    if item == 2:
        raise ValueError("item 2")
    return item


@pytest.mark.parametrize("number", [1, 3])
def test_errors_come_after_the_results_before_them(number):
    with threads(number):
        assert results_and_error(abs, items_with_an_error()) == ([0, 1, 2, 3], "no item 4")
        assert results_and_error(refuse_two, items_with_an_error()) == ([0, 1], "item 2")
        assert results_and_error(refuse_two, range(2)) == ([0, 1], None)


def test_nothing_more_is_computed_after_the_results_are_closed():
    computed, go_on, second = [], threading.Event(), threading.Event()

    def work(item):
        assert item < 2 or go_on.wait(60)
        computed.append(item)
        if item == 1:
            second.set()

    with threads(2):
        results = in_order(work, range(100))
        next(results)
        assert second.wait(60)
        results.close()
        go_on.set()
        list(in_order(abs, range(10)))  # the same threads have nothing else to do
    assert sorted(computed)[:2] == [0, 1]
    assert len(computed) <= 4


def _square_in_child(queue):
    queue.put(list(in_order(wait_longer_for_earlier, range(5))))


def test_process_that_was_forked_while_threads_exist():
    context = multiprocessing.get_context("fork")
    with threads(2):
        list(in_order(abs, range(5)))
        queue = context.SimpleQueue()
        child = context.Process(target=_square_in_child, args=(queue,))
        child.start()
        child.join(60)
        assert child.exitcode == 0
    assert queue.get() == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("writable", [True, False])
def test_function_without_a_folder_for_its_code(monkeypatch, writable):
    if not writable:
        monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    @njit()
    def double(number: int) -> int:
        return 2 * number

    assert double(4) == 8


def test_process_looks_each_second_whether_its_parent_is_there(monkeypatch):
    seen, parents = [], iter([7, 7, 1])
    threads_of = SimpleNamespace(Thread=lambda target, daemon: seen.append(daemon) or SimpleNamespace(start=target))
    monkeypatch.setattr(parallel, "threading", threads_of)
    monkeypatch.setattr(parallel, "time", SimpleNamespace(sleep=seen.append))
    exits = SimpleNamespace(getppid=partial(next, parents), _exit=lambda status: seen.append(f"exit {status}"))
    monkeypatch.setattr(parallel, "os", exits)
    end_with(7)
    assert seen == [True, 1, 1, "exit 1"]
