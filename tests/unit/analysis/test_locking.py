"""Findings about locks, from what the core says of them: places, keys, words, reasons."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from reenact.analysis import findings_of
from reenact.analysis.findings import HeldWaiting, LockOrder, Unreleased
from reenact.analysis.report import report_of

from .raws import Program, document

SOURCE = """\
def forth(a, b, done):
    with a:
        with b:
            done.wait()


def back(a, b):
    with b:
        with a:
            pass
"""
THREADING = threading.__file__


@pytest.fixture
def app(tmp_path: Path) -> Program:
    return Program(tmp_path, SOURCE)


def locks(app: Program, **fields: Any) -> dict[str, Any]:
    """As `_core.locks_found()` says it: forth by thread 1, back by thread 2."""
    file = str(app.path)
    places = [(2, "forth"), (3, "forth"), (8, "back"), (9, "back")]
    stacks = [[[file, line, name], [file, 20, "<module>"]] for line, name in places]
    stacks.append([[THREADING, 300, "Event.wait"], [file, 4, "forth"]])
    facts = [
        {"id": number, "kind": kind, "first": None, "handed": False, "threads": [1, 2]}
        for number, kind in ((4, "lock"), (5, "rlock"))
    ]
    edges = [
        {"held": [[4, 0]], "lock": 5, "stack": 1, "count": 2, "at": [[1, 2]], "left_out": 0},
        {"held": [[5, 2]], "lock": 4, "stack": 3, "count": 1, "at": [[2, 2]], "left_out": 0},
    ]
    found = {
        "version": 1,
        "locks": [fact | {"more_threads": False} for fact in facts],
        "edges": edges,
        "waits": [],
        "held": [],
        "lives": [["start", 0, 1], ["start", 0, 2]],
        "stacks": stacks,
        "overflow": False,
    }
    return found | fields


def test_a_cycle(app: Program) -> None:
    (found,) = findings_of(document(locks=locks(app)), app.root)
    assert isinstance(found, LockOrder)
    assert (found.kind, found.level) == ("lock-order", "error")
    first, second = found.takings
    assert (first.thread.name, first.count, second.thread.number) == ("Thread-1 (work)", 2, 2)
    assert [(each.held.lock.number, each.taken.lock.number) for each in found.takings] == [
        (4, 5),
        (5, 4),
    ]
    assert [(place.file, place.line) for place in found.places] == [("app.py", 3), ("app.py", 9)]
    assert "app.py:3 and app.py:9" in found.advice


def wait(waker: int) -> dict[str, Any]:
    common = {"held": [[4, 0]], "stack": 4, "left_out": 0, "kind": "condition", "timed": False}
    return {**common, "at": [[1, 2, waker]]}


def test_a_lock_that_is_held_while_waiting(app: Program) -> None:
    raw = document(locks=locks(app, edges=[], waits=[wait(2)]))
    (found,) = findings_of(raw, app.root)
    assert isinstance(found, HeldWaiting)
    assert (found.kind, found.level) == ("held-while-waiting", "warning")
    assert found.title == "thread 1 waits in Event.wait while it holds a lock"
    assert [(place.file, place.line) for place in found.places] == [("app.py", 4), ("app.py", 2)]
    assert found.needed == (4,)
    assert found.advice.startswith("Thread 2, which ends the wait, takes such a lock as well")
    assert report_of(raw, app.root).verdict == "none"


def test_nobody_knows_who_ends_the_wait(app: Program) -> None:
    (found,) = findings_of(document(locks=locks(app, edges=[], waits=[wait(-1)])), app.root)
    assert isinstance(found, HeldWaiting)
    assert (found.waker, found.needed) == (None, ())
    assert found.advice.startswith("Release it before waiting")


def test_a_lock_that_is_never_released(app: Program) -> None:
    held = [{"thread": 1, "state": "ended", "lock": 4, "stack": 0}]
    (found,) = findings_of(document(locks=locks(app, edges=[], held=held)), app.root)
    assert isinstance(found, Unreleased)
    assert (found.level, found.count, found.held.lock.kind) == ("warning", 1, "lock")
    assert [(place.file, place.line) for place in found.places] == [("app.py", 2)]


def test_a_program_that_was_ended_may_still_have_released_it(app: Program) -> None:
    held = [{"thread": 1, "state": "ended", "lock": 4, "stack": 0}]
    raw = document(locks=locks(app, edges=[], held=held))
    assert len(report_of(raw, app.root).findings) == 1
    assert report_of(raw, app.root, is_whole=False).findings == ()


def test_keys_of_locks_outlive_edits_elsewhere(app: Program) -> None:
    held = [{"thread": 1, "state": "ended", "lock": 4, "stack": 0}]
    found = findings_of(document(locks=locks(app, waits=[wait(2)], held=held)), app.root)
    assert [each.kind for each in found] == ["lock-order", "held-while-waiting", "never-released"]
    keys = [each.key for each in found]
    assert len(set(keys)) == 3
    app.path.write_text("\n" + SOURCE)
    moved = locks(app, waits=[wait(2)], held=held)
    for stack in moved["stacks"]:
        for line in stack:
            line[1] += 1
    assert [each.key for each in findings_of(document(locks=moved), app.root)] == keys
    app.path.write_text("\n" + SOURCE.replace("with a:", "with (a):"))
    assert not {each.key for each in findings_of(document(locks=moved), app.root)} & set(keys)


def test_a_comment_where_a_lock_is_taken(app: Program) -> None:
    app.path.write_text(SOURCE.replace("with a:\n   ", "with a:  # reenact: benign\n   "))
    report = report_of(document(locks=locks(app)), app.root)
    assert [(each.how, each.why) for each in report.suppressed] == [("comment", "app.py:9")]


def test_more_locks_than_could_be_watched(app: Program) -> None:
    report = report_of(document(locks=locks(app, edges=[], overflow=True)), app.root)
    assert report.verdict == "inconclusive"
    assert "more locks than could be watched" in report.reasons[0]
