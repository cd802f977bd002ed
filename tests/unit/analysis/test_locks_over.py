"""Locks watched by the engine: in a run, in a replay of a recording made without, in a deadlock."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from reenact import strategies
from reenact.analysis.locks import LockFindings, analyse, place
from reenact.engine import races, record
from reenact.engine.launch import Choices, Program
from reenact.recordings.reader import Recording

HEAD = """
    import os
    import threading
    import time
    from threading import Event, Lock, RLock, Thread

    a, b, c = Lock(), Lock(), RLock()

    def nested(one, other):
        with one:
            with other:
                pass

    def together(*threads):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
"""

ALL = """
    event = Event()

    def waits():
        with c, c:
            event.wait()

    def sets():
        event.set()
        c.acquire()

    together(Thread(target=nested, args=(a, b)), Thread(target=nested, args=(b, a)))
    together(Thread(target=waits), Thread(target=sets))
"""

# The second is there before the first has ended, and joins it when the main thread has.
JOINED_TWICE = """
    early = Event()

    def second():
        early.wait()
        first.join()
        nested(b, a)

    first, other = Thread(target=nested, args=(a, b)), Thread(target=second)
    other.start()
    first.start()
    first.join()
    early.set()
    other.join()
"""

# The same, but by asking.
ASKED = """
    go = Event()

    def first():
        go.wait()
        nested(a, b)

    def second():
        while one.is_alive():
            time.sleep(0.001)
        nested(b, a)

    one, other = Thread(target=first), Thread(target=second)
    one.start()
    other.start()
    go.set()
    one.join()
    other.join()
"""

DEADLOCK = """
    ready = threading.Barrier(2)

    def takes(one, other):
        with one:
            ready.wait()
            with other:
                pass

    together(Thread(target=takes, args=(a, b)), Thread(target=takes, args=(b, a)))
"""

FORKS = """
    together(Thread(target=nested, args=(a, b)))
    with c:
        child = os.fork()
    if child == 0:
        together(Thread(target=nested, args=(b, a)))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    together(Thread(target=nested, args=(a, b)))
"""


def choices(strategy: str = "queue") -> Choices:
    kind = strategies.describe(strategy)
    return Choices(kind.name, kind.kind, 3, kind.slice)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(directory: Path, text: str) -> Program:
    path = directory / "program.py"
    path.write_text(dedent(HEAD) + dedent(text), "utf-8")
    return Program("script", str(path), ())


def live(directory: Path, text: str, strategy: str = "queue") -> races.Looked:
    return races.live(program(directory, text), choices(strategy))


def told(raw: dict[str, Any] | None) -> LockFindings:
    assert raw is not None
    return analyse(raw["locks"])


def shape(found: LockFindings) -> list[Any]:
    """All but the numbers of locks."""
    return [
        [[(step.thread, step.held.stack, step.wanted.stack) for step in each.steps]
         for each in found.orders],
        [(each.thread, each.what, each.stack, each.waker, len(each.needed))
         for each in found.waiting],
        [(each.thread, each.held.stack, each.count) for each in found.unreleased],
    ]  # fmt: skip


def functions(found: LockFindings) -> list[list[str]]:
    """Where each kind of finding is."""
    stacks = (
        [step.wanted.stack for each in found.orders for step in each.steps],
        [each.stack for each in found.waiting],
        [each.held.stack for each in found.unreleased],
    )
    return [[where.function for stack in each if (where := place(stack))] for each in stacks]


@pytest.mark.parametrize("strategy", ["queue", "random"])
def test_all_of_it_over_a_recording_made_without(directory: Path, strategy: str) -> None:
    text = program(directory, ALL)
    recorded = record.record(text, choices(strategy), directory / "run.reenact")
    assert recorded.path is not None
    looked, replayed = races.over(Recording.open(recorded.path))
    assert not replayed.has_diverged
    found = told(looked.raw)
    assert functions(found)[0] == ["nested", "nested"]
    assert functions(found)[2] == ["sets"]
    assert shape(found) == shape(told(live(directory, ALL, strategy).raw))


def test_all_of_it_live(directory: Path) -> None:
    found = told(live(directory, ALL).raw)
    assert functions(found) == [["nested", "nested"], ["waits"], ["sets"]]
    assert found.waiting[0].what == "Event.wait"
    assert found.waiting[0].needed == (found.waiting[0].held[0].lock,)


@pytest.mark.parametrize("text", [JOINED_TWICE, ASKED], ids=["joined twice", "asked"])
def test_an_end_that_no_lock_tells_of(directory: Path, text: str) -> None:
    looked = live(directory, text)
    assert looked.raw is not None
    assert len(looked.raw["locks"]["edges"]) == 2  # one in each order
    assert told(looked.raw).orders == ()


def test_a_deadlock_that_happens_is_an_order_too(directory: Path) -> None:
    looked = live(directory, DEADLOCK)
    found = told(looked.raw)
    assert functions(found) == [["takes", "takes"], [], []]
    assert [step.count for step in found.orders[0].steps] == [0, 0]


def test_a_forked_child_is_a_run_of_its_own(directory: Path) -> None:
    looked = live(directory, FORKS)
    assert looked.ended.exit_code == 0
    assert told(looked.raw) == LockFindings((), (), (), ())


def test_what_an_access_holds(directory: Path) -> None:
    text = """
    class Account:
        balance = 0

    account = Account()

    def one():
        with a, c:
            with c:
                account.balance += 1

    def other():
        condition = threading.Condition(b)
        with condition:
            account.balance += 1

    together(Thread(target=one), Thread(target=other))
    """
    raw = live(directory, text).raw
    assert raw is not None
    (first, second), *_ = [(race["first"], race["second"]) for race in raw["races"]]
    assert [(each["kind"], each["where"][2]) for each in first["locks"]] == [
        ("lock", "one"),
        ("rlock", "one"),
    ]
    assert [(each["kind"], each["where"][2]) for each in second["locks"]] == [("lock", "other")]
    assert len({each["id"] for each in (*first["locks"], *second["locks"])}) == 3
