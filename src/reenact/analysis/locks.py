"""Locks: orders that may deadlock, locks held while something else is waited for, never released.

Made from what the core has noted in one run (`_core/lockorder.c`), without looking at anything
else. `_core.locks_found()` gives, version 1, as JSON may have it:

    {"version": 1,
     "locks": [{"id": 4, "kind": "lock" | "rlock", "first": STACK,
                "handed": false,      a thread has released what another one had: a signal, no lock
                "threads": [0, 1],    that have taken it; the first eight
                "more_threads": false}, ...],
     "edges": [{"held": [[4, STACK], ...],   locks, in the order of taking, and where they were
                "lock": 5, "stack": STACK,   the one taken then, by somebody who would have waited
                                             for ever: others are no edges
                "count": 7,                  how often it was; 0 if it was waited for and not got
                "at": [[1, 3], ...],         by thread 1, after the first 3 of `lives`; at most 16
                "left_out": 0}, ...],        how many more there were
     "waits": [{"held": ..., "stack": STACK, "left_out": 0,
                "kind": "condition" | "join" | "queue" | "event loop" | "sleep",
                "timed": false,              it had a deadline
                "at": [[1, 3, 0], ...]},     the last: the thread that ended the wait, -1 if unknown
               ...],
     "held": [{"thread": 1, "state": "ended" | "running" | "waiting", "lock": 4, "stack": STACK},
              ...],                          when this was asked
     "lives": [["start", 0, 1], ["join", 0, 1], ...],   thread 0 did so with thread 1, in order
     "stacks": [[[file, line, function], ...], ...],    innermost first, the last 24 calls
     "overflow": false}                      there was more than could be kept

STACK is a place in "stacks". Threads are named by their index, locks by the number that they have
in a recording. What Python does to start and end threads and to import modules is not there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reenact.analysis import cycles
from reenact.analysis.cycles import Edge
from reenact.findings import Line

VERSION = 1

Stack = tuple[Line, ...]

_LIBRARY = os.path.dirname(os.__file__) + "/"
_OURS = __file__.rpartition("/analysis/")[0] + "/"
_STARTING = (_OURS + "engine/child.py", _OURS + "engine/block.py", _OURS + "explore/")
_BEGINNING = ("Thread.run", "Thread._bootstrap_inner", "Thread._bootstrap")
_PUT = ("_before.<locals>.method", "_after.<locals>.method")  # by engine/edges.py
_WAITING = ("threading.py", "queue.py")  # what is called in order to wait
_CALLS = {
    "join": "Thread.join",
    "queue": "SimpleQueue.get",
    "event loop": "the event loop",
    "sleep": "time.sleep",
}


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock, by its number; `first` is the stack where it was taken first."""

    id: int
    kind: str
    first: Stack = ()


@dataclass(frozen=True, slots=True)
class Held:
    """A lock that a thread has, and where it took it."""

    lock: Lock
    stack: Stack


@dataclass(frozen=True, slots=True)
class OrderStep:
    """A thread that has one lock and takes another, and would wait for it; so often in the run."""

    thread: int
    held: Held
    wanted: Held
    count: int


@dataclass(frozen=True, slots=True)
class LockOrder:
    """Threads each of which may wait for what the next one has, and the last for the first's."""

    steps: tuple[OrderStep, ...]


@dataclass(frozen=True, slots=True)
class HeldWaiting:
    """A thread waits for something else while it has locks that others take.

    `what` is what it calls, as `Event.wait`. `needed` are those of the locks that the thread which
    ended the wait takes as well: had it come to that first, both might wait for ever.
    """

    thread: int
    what: str
    is_timed: bool
    stack: Stack
    held: tuple[Held, ...]
    waker: int | None
    needed: tuple[Lock, ...]


@dataclass(frozen=True, slots=True)
class Unreleased:
    """A lock that a thread took and never released; `count` of them were taken at that place."""

    thread: int
    held: Held
    count: int


@dataclass(frozen=True, slots=True)
class LockFindings:
    """All of them. `problems`: why there may be more, in words."""

    orders: tuple[LockOrder, ...]
    waiting: tuple[HeldWaiting, ...]
    unreleased: tuple[Unreleased, ...]
    problems: tuple[str, ...]


def analyse(raw: dict[str, Any], is_whole: bool = True) -> LockFindings:
    """What `_core.locks_found()` means; `is_whole`: the program was not ended in the middle, when
    threads have locks that they would have released."""
    if raw["version"] != VERSION:
        raise ValueError(f"findings about locks of version {raw['version']}, not {VERSION}")
    run = _Run(raw)
    orders, is_complete = _orders(run)
    problems = []
    if raw["overflow"]:
        problems.append("there were more locks than could be watched")
    if not is_complete:
        problems.append("locks were taken in too many orders to tell which of them may deadlock")
    unreleased = _unreleased(run) if is_whole else ()
    return LockFindings(orders, _waiting(run), unreleased, tuple(problems))


class _Run:
    """The raw findings, with numbers looked up."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.stacks = [program_part(stack) for stack in raw["stacks"]]
        self.facts = {fact["id"]: fact for fact in raw["locks"]}
        self.locks = {number: self._lock(fact) for number, fact in self.facts.items()}

    def _lock(self, fact: dict[str, Any]) -> Lock:
        first = () if fact["first"] is None else self.stacks[fact["first"]]
        return Lock(fact["id"], fact["kind"], first)

    def held(self, lock: int, stack: int) -> Held:
        return Held(self.locks[lock], self.stacks[stack])

    def is_signal(self, lock: int) -> bool:
        """Others release it: whoever has taken it does not keep anybody out."""
        return bool(self.facts[lock]["handed"])

    def is_taken_by(self, thread: int, lock: int) -> bool:
        return thread in self.facts[lock]["threads"]

    def is_shared(self, lock: int, thread: int) -> bool:
        fact = self.facts[lock]
        return fact["more_threads"] or any(other != thread for other in fact["threads"])


# ---- stacks ----


def program_part(stack: list[list[Any]]) -> Stack:
    """Without the frames that start a thread, or the program, or that we have put in between."""
    lines: list[Line] = []
    for file, line, function in stack:
        if file.startswith(_STARTING):
            break
        each = Line(file, line, function)
        if not file.startswith(_OURS) and not _is_in(each, _PUT):
            lines.append(each)
    while len(lines) > 1 and _is_in(lines[-1], _BEGINNING):
        lines.pop()
    return tuple(lines)


def _is_in(line: Line, names: tuple[str, ...]) -> bool:
    """Is it one of these functions of threading's?"""
    return os.path.basename(line.file) == "threading.py" and line.function in names


def _is_waiting_code(line: Line) -> bool:
    return os.path.basename(line.file) in _WAITING or "/concurrent/futures/" in line.file


def place(stack: Stack) -> Line | None:
    """Where a person would say that it is: the line that calls Python's library, if that acts."""
    for line in stack:
        if not _is_of_library(line.file):
            return line
    return stack[0] if stack else None


def _is_of_library(file: str) -> bool:
    return file.startswith("<frozen ") or (
        file.startswith(_LIBRARY) and "-packages/" not in file[len(_LIBRARY) :]
    )


# ---- orders ----


def _orders(run: _Run) -> tuple[tuple[LockOrder, ...], bool]:
    records: dict[Edge, tuple[int, int, dict[str, Any]]] = {}
    for record in run.raw["edges"]:
        for edge, stack in _edges_of(run, record):
            records.setdefault(edge, (stack, record["stack"], record))
    lives = [(kind, doer, other) for kind, doer, other in run.raw["lives"]]
    found = cycles.find(list(records), lives)
    orders = tuple(
        LockOrder(tuple(_order_step(run, step, *records[step.edge]) for step in cycle))
        for cycle in found.cycles
    )
    return orders, found.is_complete


def _edges_of(run: _Run, record: dict[str, Any]) -> Iterator[tuple[Edge, int]]:
    """One for each lock that was held, with the stack where that was taken."""
    target = record["lock"]
    guards = frozenset(lock for lock, _ in record["held"])
    for source, stack in record["held"]:
        if source == target or run.is_signal(source) or run.is_signal(target):
            continue
        places = place(run.stacks[stack]), place(run.stacks[record["stack"]])
        moments = tuple((thread, life) for thread, life in record["at"])
        yield Edge(source, target, guards, moments, places, record["left_out"]), stack


def _order_step(
    run: _Run, step: cycles.Step, held_at: int, wanted_at: int, record: dict[str, Any]
) -> OrderStep:
    return OrderStep(
        step.thread,
        run.held(step.edge.source, held_at),
        run.held(step.edge.target, wanted_at),
        record["count"],
    )


# ---- waits ----


def _waiting(run: _Run) -> tuple[HeldWaiting, ...]:
    """One for each place that waits and the places where its locks were taken; one whose waker
    takes such a lock as well, if there is any."""
    found: dict[object, HeldWaiting] = {}
    for record in run.raw["waits"]:
        for waiting in _waits_of(run, record):
            places = tuple(place(held.stack) for held in waiting.held)
            key = waiting.what, place(waiting.stack), places
            known = found.setdefault(key, waiting)
            if waiting.needed and not known.needed:
                found[key] = waiting
    return tuple(found.values())


def _waits_of(run: _Run, record: dict[str, Any]) -> Iterator[HeldWaiting]:
    stack = run.stacks[record["stack"]]
    for thread, _, waker in record["at"]:
        held = [
            (lock, taken_at)
            for lock, taken_at in record["held"]
            if run.is_shared(lock, thread) and not run.is_signal(lock)
        ]
        if held:
            yield HeldWaiting(
                thread=thread,
                what=_call(record["kind"], stack),
                is_timed=record["timed"],
                stack=stack,
                held=tuple(run.held(*each) for each in held),
                waker=None if waker < 0 else waker,
                needed=tuple(run.locks[lock] for lock, _ in held if run.is_taken_by(waker, lock)),
            )


def _call(kind: str, stack: Stack) -> str:
    """What the program calls, such as `Event.wait` for a condition that an event has inside."""
    name = _CALLS.get(kind, "Condition.wait")
    for line in stack:
        if not _is_waiting_code(line):
            break
        name = line.function
    return name


# ---- locks that were never released ----


def _unreleased(run: _Run) -> tuple[Unreleased, ...]:
    """By threads that have ended, and by the main thread, when that has nothing left to do."""
    found: dict[Line | None, list[tuple[int, Held]]] = {}
    for record in run.raw["held"]:
        is_over = record["state"] == "ended" or (
            record["thread"] == 0 and record["state"] == "running"
        )
        if is_over and not run.is_signal(record["lock"]):
            held = run.held(record["lock"], record["stack"])
            found.setdefault(place(held.stack), []).append((record["thread"], held))
    return tuple(Unreleased(*each[0], len(each)) for each in found.values())
