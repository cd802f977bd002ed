"""What raw findings about locks mean: findings made by hand, and those of programs that ran."""

from __future__ import annotations

import copy
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reenact.analysis.locks import LockFindings, LockOrder, analyse, place, program_part
from reenact.findings import Line
from tests.unit.analysis import lock_programs
from tests.unit.analysis.lock_programs import DEADLOCKS, PROGRAMS, QUIET, SAFE, WAITS, Program

ROOT = Path(__file__).parents[3]
SEEDS = 4
THREADING = os.path.dirname(os.__file__) + "/threading.py"


# ---- by hand ----


def lock(number: int, *threads: int, **facts: Any) -> dict[str, Any]:
    return {
        "id": number,
        "kind": "lock",
        "first": None,
        "handed": False,
        "threads": list(threads),
        "more_threads": False,
    } | facts


def raw(**parts: Any) -> dict[str, Any]:
    """Threads 1 and 2 run at the same time; the stacks are lines of one function."""
    return {
        "version": 1,
        "locks": [lock(4, 1, 2), lock(5, 1, 2)],
        "edges": [],
        "waits": [],
        "held": [],
        "lives": [["start", 0, 1], ["start", 0, 2]],
        "stacks": [[["/p/a.py", line, "f"]] for line in range(8)],
        "overflow": False,
    } | parts


def edge(held: int, wanted: int, thread: int, line: int = 1, **facts: Any) -> dict[str, Any]:
    return {
        "held": [[held, line]],
        "lock": wanted,
        "stack": line + 1,
        "count": 3,
        "at": [[thread, thread]],
        "left_out": 0,
    } | facts


def wait(*, thread: int = 1, waker: int = -1, **facts: Any) -> dict[str, Any]:
    return {
        "held": [[4, 1]],
        "kind": "condition",
        "timed": False,
        "stack": 2,
        "at": [[thread, 1, waker]],
        "left_out": 0,
    } | facts


OPPOSITE = [edge(4, 5, 1, line=1), edge(5, 4, 2, line=3)]


def test_nothing() -> None:
    assert analyse(raw()) == LockFindings((), (), (), ())


def test_an_order_has_both_stacks_of_each_thread() -> None:
    (order,) = analyse(raw(edges=OPPOSITE)).orders
    told = [
        (step.thread, step.held.lock.id, step.held.stack[0].line, step.wanted.stack[0].line)
        for step in order.steps
    ]
    assert told == [(1, 4, 1, 2), (2, 5, 3, 4)]
    assert [step.count for step in order.steps] == [3, 3]


@pytest.mark.parametrize(
    "changed",
    [
        {"edges": [*OPPOSITE[:1], edge(5, 4, 1)]},
        {"edges": [edge(4, 5, 1), edge(4, 5, 2)]},
        {"edges": OPPOSITE, "locks": [lock(4, 1, 2, handed=True), lock(5, 1, 2)]},
        {"edges": OPPOSITE, "locks": [lock(4, 1, 2), lock(5, 1, 2, handed=True)]},
        {"edges": OPPOSITE, "lives": [["start", 0, 1], ["join", 0, 1], ["start", 0, 2]]},
        {"edges": [edge(4, 4, 1), edge(4, 4, 2)]},
    ],
    ids=["one thread", "one order", "signal held", "signal wanted", "joined", "itself"],
)
def test_no_order(changed: dict[str, Any]) -> None:
    if len(changed.get("lives", ())) == 3:
        changed["edges"] = [OPPOSITE[0], OPPOSITE[1] | {"at": [[2, 3]]}]
    assert analyse(raw(**changed)) == LockFindings((), (), (), ())


def test_a_lock_held_around_both_guards() -> None:
    locks = [lock(4, 1, 2), lock(5, 1, 2), lock(6, 1, 2)]
    guarded = [each | {"held": [[6, 0], *each["held"]]} for each in OPPOSITE]
    assert analyse(raw(locks=locks, edges=guarded)).orders == ()
    assert len(analyse(raw(locks=locks, edges=[guarded[0], OPPOSITE[1]])).orders) == 1


def test_every_lock_that_is_held_counts() -> None:
    """Not only the one that was taken last."""
    locks = [lock(4, 1, 2), lock(5, 1, 2), lock(6, 1, 2)]
    outer = OPPOSITE[0] | {"held": [[4, 1], [6, 2]]}
    (order,) = analyse(raw(locks=locks, edges=[outer, OPPOSITE[1]])).orders
    assert [step.held.lock.id for step in order.steps] == [4, 5]


def test_a_wait_with_a_lock_that_others_take() -> None:
    (waiting,) = analyse(raw(waits=[wait(waker=3)])).waiting
    assert (waiting.thread, waiting.what, waiting.is_timed) == (1, "Condition.wait", False)
    assert [held.lock.id for held in waiting.held] == [4]
    assert (waiting.stack[0].line, waiting.held[0].stack[0].line) == (2, 1)
    assert (waiting.waker, waiting.needed) == (3, ())


def test_the_waker_needs_the_lock() -> None:
    (waiting,) = analyse(raw(waits=[wait(waker=2)])).waiting
    assert [each.id for each in waiting.needed] == [4]


def test_the_waker_that_needs_the_lock_is_told_of_several() -> None:
    both = [wait(waker=0), wait(waker=2), wait(waker=3)]
    (waiting,) = analyse(raw(waits=both)).waiting
    assert waiting.waker == 2


@pytest.mark.parametrize(
    ("facts", "is_told"),
    [
        ({"threads": [1]}, False),
        ({"threads": [1, 2], "handed": True}, False),
        ({"threads": [1], "more_threads": True}, True),
        ({"threads": [2]}, True),
    ],
)
def test_a_lock_that_nobody_else_takes(facts: dict[str, Any], is_told: bool) -> None:
    found = analyse(raw(locks=[lock(4, **facts)], waits=[wait()]))
    assert bool(found.waiting) is is_told


def test_never_released() -> None:
    held = [
        {"thread": 1, "state": "ended", "lock": 4, "stack": 1},
        {"thread": 2, "state": "ended", "lock": 5, "stack": 1},
        {"thread": 0, "state": "running", "lock": 6, "stack": 2},
    ]
    locks = [lock(4, 1), lock(5, 2), lock(6, 0)]
    one, main = analyse(raw(locks=locks, held=held)).unreleased
    assert (one.thread, one.held.lock.id, one.held.stack[0].line, one.count) == (1, 4, 1, 2)
    assert (main.thread, main.count) == (0, 1)
    assert analyse(raw(locks=locks, held=held), is_whole=False).unreleased == ()


@pytest.mark.parametrize(
    ("thread", "state", "facts"),
    [
        (1, "waiting", {}),
        (0, "waiting", {}),
        (1, "running", {}),
        (1, "ended", {"handed": True}),
    ],
)
def test_released_perhaps_later(thread: int, state: str, facts: dict[str, Any]) -> None:
    held = [{"thread": thread, "state": state, "lock": 4, "stack": 1}]
    assert analyse(raw(locks=[lock(4, 1, **facts)], held=held)).unreleased == ()


def test_what_could_not_be_kept_is_said() -> None:
    assert len(analyse(raw(overflow=True)).problems) == 1
    lives = [["start", 0, 1], ["join", 0, 1], ["start", 0, 2]]
    edges = [OPPOSITE[0] | {"left_out": 1}, OPPOSITE[1] | {"at": [[2, 3]]}]
    found = analyse(raw(edges=edges, lives=lives))
    assert (found.orders, len(found.problems)) == ((), 1)


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 2"):
        analyse(raw(version=2))


def test_the_program_s_part_of_a_stack() -> None:
    ours = os.path.dirname(inspect.getfile(analyse)).removesuffix("analysis")
    stack = [
        [THREADING, 1, "Condition.wait"],
        [ours + "intercept/x.py", 5, "between"],
        ["/p/a.py", 2, "f"],
        [ours + "engine/child.py", 3, "execute"],
        ["<string>", 1, "<module>"],
    ]
    inner = Line(THREADING, 1, "Condition.wait"), Line("/p/a.py", 2, "f")
    assert program_part(stack) == inner
    assert place(inner) == inner[1]
    thread = [*stack[2:3], *([THREADING, 4, f"Thread.{name}"] for name in ("run", "_bootstrap"))]
    assert program_part(thread) == inner[1:]
    assert place(inner[:1]) == inner[0]
    assert place(()) is None


# ---- programs that ran ----


Runs = dict[str, dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def ran() -> Runs:
    """By program and order of threads: what was found."""
    command = [sys.executable, "-m", "tests.unit.analysis.watched", "--seeds", str(SEEDS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found: Runs = {}
    for line in done.stdout.splitlines():
        told = json.loads(line)
        found.setdefault(told["name"], {})[told["order"]] = told["raw"]
    assert {len(orders) for orders in found.values()} == {SEEDS + 1}
    return found


def named(program: Program) -> str:
    return program.__name__


def findings(ran: Runs, program: Program) -> Iterator[tuple[str, LockFindings]]:
    for order, found in ran[program.__name__].items():
        analysed = analyse(found, is_whole=order == "plain")
        assert analysed.problems == ()
        yield order, analysed


def plain(ran: Runs, program: Program) -> LockFindings:
    return dict(findings(ran, program))["plain"]


def lines_of(order: LockOrder) -> set[tuple[str, str]]:
    """The comments of the two lines of each step."""
    return {(_comment(step.held.stack), _comment(step.wanted.stack)) for step in order.steps}


def _comment(stack: tuple[Line, ...]) -> str:
    line = place(stack)
    assert line is not None
    text = Path(line.file).read_text("utf-8").splitlines()[line.line - 1]
    return text.partition("# ")[2]


@pytest.mark.parametrize("program", DEADLOCKS, ids=named)
def test_a_deadlock_that_may_be_is_found_whatever_the_order(program: Program, ran: Runs) -> None:
    for order, found in findings(ran, program):
        assert len(found.orders) == 1, order


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each not in DEADLOCKS], ids=named)
def test_no_order_is_reported_where_none_may_deadlock(program: Program, ran: Runs) -> None:
    for order, found in findings(ran, program):
        assert found.orders == (), order


@pytest.mark.parametrize("program", [*SAFE, *QUIET], ids=named)
def test_safe_programs_are_silent(program: Program, ran: Runs) -> None:
    for order, found in findings(ran, program):
        assert found == LockFindings((), (), (), ()), order


def test_the_lines_of_an_order(ran: Runs) -> None:
    (order,) = plain(ran, lock_programs.opposite).orders
    assert lines_of(order) == {
        ("opposite: one holds", "opposite: one wants"),
        ("opposite: other holds", "opposite: other wants"),
    }


@pytest.mark.parametrize(("program", "length"), [("philosophers", 4), ("three_locks", 3)])
def test_as_many_threads_as_locks(program: str, length: int, ran: Runs) -> None:
    for _, found in findings(ran, getattr(lock_programs, program)):
        threads = {step.thread for step in found.orders[0].steps}
        locks = {step.held.lock.id for step in found.orders[0].steps}
        assert (len(threads), len(locks)) == (length, length)


@pytest.mark.parametrize(
    ("program", "without"),
    [
        ("one_after_the_other", {"lives": []}),
        ("before_and_after", {"lives": []}),
        ("joined_by_another", {"lives": []}),
        ("handed_over", {"handed": False}),
        ("guarded", {"held": 1}),
        ("guarded_in_between", {"held": 1}),
    ],
)
def test_it_is_that_fact_which_makes_it_safe(
    program: str, without: dict[str, Any], ran: Runs
) -> None:
    """So that these programs test something: without it there is an order that may deadlock."""
    changed = copy.deepcopy(ran[program]["plain"])
    changed["lives"] = without.get("lives", changed["lives"])
    for each in changed["locks"]:
        each["handed"] = without.get("handed", each["handed"])
    for each in changed["edges"]:
        each["held"] = each["held"][-without.get("held", 9) :]
    assert len(analyse(changed).orders) == 1


@pytest.mark.parametrize(("program", "what"), WAITS.items(), ids=map(named, WAITS))
def test_waits_with_a_lock_held(program: Program, what: str, ran: Runs) -> None:
    found = plain(ran, program)
    assert what in {waiting.what for waiting in found.waiting}
    assert all(len(waiting.held) == 1 for waiting in found.waiting)


def test_where_and_by_whom_a_wait_is_ended(ran: Runs) -> None:
    (waiting,) = plain(ran, lock_programs.waits_for_an_event).waiting
    assert _comment(waiting.stack) == "event: waits"
    assert _comment(waiting.held[0].stack) == "event: held"
    assert (waiting.thread, waiting.waker) == (1, 2)
    assert waiting.needed == (waiting.held[0].lock,)


def test_a_sleep_has_a_deadline(ran: Runs) -> None:
    (waiting,) = plain(ran, lock_programs.sleeps).waiting
    assert (waiting.is_timed, waiting.waker) == (True, None)


def test_locks_that_a_thread_keeps_for_ever(ran: Runs) -> None:
    found = plain(ran, lock_programs.never_released).unreleased
    assert [(each.thread, each.held.lock.kind, each.count) for each in found] == [
        (1, "lock", 1),
        (1, "rlock", 1),
    ]
    assert _comment(found[0].held.stack) == "never: plain"


@pytest.mark.parametrize(
    "program",
    [each for each in PROGRAMS if each is not lock_programs.never_released],
    ids=named,
)
def test_locks_that_are_released(program: Program, ran: Runs) -> None:
    assert plain(ran, program).unreleased == ()


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_nothing_is_left_of_the_run_before(program: Program, ran: Runs) -> None:
    """All of them were watched in one process."""
    for found in ran[program.__name__].values():
        threads = {life[2] for life in found["lives"] if life[0] == "start"}
        assert threads == set(range(1, len(threads) + 1))
        named_locks = {each["id"] for each in found["locks"]}
        assert named_locks == {
            number
            for each in (*found["edges"], *found["waits"])
            for number in (each.get("lock"), *(held for held, _ in each["held"]))
            if number is not None
        } | {each["lock"] for each in found["held"]}
