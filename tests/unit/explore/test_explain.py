"""Explanations: what a colleague must be able to read out of them, and the label of the GIL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.explore.shown import LONGEST, Missing, show, value_of
from tests.unit.explore.programs import LOCK_ORDER, LOST_UPDATE, LOST_WAKE_UP, tried

EXPLAIN = """\
result = reenact.explore(prog.main, runs=500)
say(text=result.explanation, label=result.label, details=result.story.details)
"""


def explained(directory: Path, program: str) -> dict[str, Any]:
    return tried(directory, program, EXPLAIN)


def test_a_lost_update_is_told(tmp_path: Path) -> None:
    text = explained(tmp_path, LOST_UPDATE)["text"]
    rows = [line.split() for line in text.splitlines()]
    assert [
        "0.1",
        "prog.py:10",
        "seen",
        "=",
        "self.balance",
        "reads",
        "Account.balance:",
        "100",
    ] in rows
    assert "-- thread 0.1 is preempted here --" in text
    assert (
        "Thread 0.2 changed Account.balance from 100 to 120 between thread 0.1's read at "
        "prog.py:10 and its write at prog.py:11." in text
    )
    assert "prog.py:10 to prog.py:11 are not one step." in text
    assert "hold one lock over the read and the write of Account.balance" in text


def test_the_parts_are_there_for_programs(tmp_path: Path) -> None:
    details = explained(tmp_path, LOST_UPDATE)["details"]
    assert details["what"].startswith("AssertionError, in thread 0 at prog.py:21: assert")
    first, *_, last = [each for each in details["lines"] if each["thread"] == "0.1"]
    assert (first["line"], first["did"]) == (10, "reads Account.balance: 100")
    assert (last["line"], last["did"]) == (11, "writes Account.balance: 120 -> 110")


def test_a_deadlock_names_locks_and_their_order(tmp_path: Path) -> None:
    text = explained(tmp_path, LOCK_ORDER)["text"]
    assert "waits at prog.py:7 in take for a lock, which thread 0.2 holds." in text
    assert "Thread 0.1 takes lock 1 at prog.py:6, then lock 2 at prog.py:7." in text
    assert "Thread 0.2 takes lock 2 at prog.py:6, then lock 1 at prog.py:7." in text
    assert "Take these locks in the same order everywhere." in text


PAIR = """\
import threading


class Pair:
    def __init__(self):
        self.left = threading.Lock()
        self.right = threading.Lock()

    def one(self):
        with self.left:
            with self.right:
                pass

    def other(self):
        with self.right:
            with self.left:
                pass


def main():
    pair = Pair()
    threads = [threading.Thread(target=target) for target in (pair.one, pair.other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_locks_are_called_by_their_attributes(tmp_path: Path) -> None:
    text = explained(tmp_path, PAIR)["text"]
    assert "Thread 0.1 takes Pair.left at prog.py:10, then Pair.right at prog.py:11." in text


def test_a_lost_wake_up_names_the_notification(tmp_path: Path) -> None:
    text = explained(tmp_path, LOST_WAKE_UP)["text"]
    assert (
        "Thread 0.2 called notify at prog.py:13 before thread 0.1 began to wait at prog.py:18."
        in text
    )


TASKS = """\
import asyncio


class Account:
    def __init__(self):
        self.balance = 100

    async def add(self, amount):
        seen = self.balance
        await asyncio.sleep(0)
        self.balance = seen + amount


async def both():
    account = Account()
    await asyncio.gather(account.add(10), account.add(20))
    assert account.balance == 130


def main():
    asyncio.run(both())
"""


def test_tasks_are_told_apart(tmp_path: Path) -> None:
    text = explained(tmp_path, TASKS)["text"]
    assert "changed Account.balance from 100 to 110 between task Account.add#2's read" in text
    assert "other tasks run at the await in between" in text


def adding(body: str) -> str:
    seen = "        seen = self.balance\n        self.balance = seen + amount\n"
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return LOST_UPDATE.replace(seen, lines) + "\n\ndef one():\n    return 1\n"


@pytest.mark.parametrize(
    ("body", "label"),
    [
        # Each was tried with threads, too: see docs/design.md.
        ("self.balance += amount", "free-threaded only"),
        (
            "seen = self.balance\nif seen < 0:\n    seen = 1\nself.balance = seen + amount",
            "free-threaded only",
        ),
        ("self.balance = self.read() + amount", "free-threaded only"),
        ("self.balance = self.balance + amount * one()", "reachable with the GIL"),
        ("seen = self.balance\nmax(1, 2)\nself.balance = seen + amount", "reachable with the GIL"),
        (
            "seen = self.balance\nfor _ in (1,):\n    pass\nself.balance = seen + amount",
            "reachable with the GIL",
        ),
        (
            "with self.lock:\n    seen = self.balance\n"
            "with self.lock:\n    self.balance = seen + amount",
            "reachable with the GIL",
        ),
    ],
)
def test_the_gil_allows_a_switch_or_does_not(tmp_path: Path, body: str, label: str) -> None:
    program = adding(body).replace(
        "    def add(",
        "    lock = threading.Lock()\n\n"
        "    def read(self):\n        return self.balance\n\n    def add(",
    )
    assert explained(tmp_path, program)["label"] == label


def test_who_has_waited_for_a_lock_may_be_passed_by_others(tmp_path: Path) -> None:
    """It has the lock before it has the GIL again; stock Python deadlocks here, too."""
    assert explained(tmp_path, LOCK_ORDER)["label"] == "reachable with the GIL"


# ---- values ----


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self) -> None:
        self.a = [1]


class Guarded:
    def __init__(self) -> None:
        self.plain = 3

    @property
    def computed(self) -> int:
        raise AssertionError("no code of the program may run")

    def __getattr__(self, name: str) -> int:
        raise AssertionError("no code of the program may run")

    def __repr__(self) -> str:
        raise AssertionError("no code of the program may run")


def test_values_are_read_where_they_lie() -> None:
    assert value_of(Slotted(), "a") == [1]
    assert value_of(Slotted(), "b") is Missing
    assert value_of(Guarded(), "plain") == 3
    assert value_of(Guarded(), "computed") is Missing
    assert value_of(Guarded(), "absent") is Missing
    assert value_of({"counter": 1}, "counter") == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, "a", None], "[1, 'a', None]"),
        ({"k": (1.5, b"x")}, "{'k': (1.5, b'x')}"),
        ([Guarded()], "[<Guarded>]"),
        (Missing, "nothing"),
        (list(range(9)), "[0, 1, 2, 3, 4, 5, ...]"),
        ([[[[1]]]], "[[[[...]]]]"),
    ],
)
def test_values_are_shown(value: object, text: str) -> None:
    assert show(value) == text


def test_values_are_short_and_end() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert show(endless) == "[[[[...]]]]"
    assert len(show("x" * 1000)) == LONGEST
    assert show(10**100000) == "a large int"
