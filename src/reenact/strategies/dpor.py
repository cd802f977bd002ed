"""Dynamic partial-order reduction: one execution of each class, and no class twice.

P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas: Optimal dynamic partial order reduction, POPL 2014:
the algorithm with source sets and sleep sets. Executions that differ only in the order of
independent operations are of one class; two operations depend on each other if they touch the same
thing and one of them changes it. After each run the races in it are looked up: pairs of dependent
operations of two threads with nothing between that orders them. For each, the other order is tried
from where the first of the two was done, unless something that is tried there anyway leads to it.

What it can say, and no more: time-outs and sleeps come last, in the order of their deadlines, and
choices among the tasks of an event loop are all tried. When sites that race are found, the search
begins anew, as what was seen without them is not all there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reenact.strategies.dfs import is_choice
from reenact.strategies.searching import (
    COMPLETE,
    DEADLOCK,
    FIRST,
    LIMIT,
    STALE,
    Plan,
    Seen,
    Step,
)


@dataclass(slots=True)
class _Node:
    step: Step
    chosen: int
    done: int  # a bit for each alternative that was tried
    wanted: int  # and for each that is to be
    asleep: int

    def numbers(self) -> tuple[int, int, int, int]:
        return self.chosen, self.done, self.wanted, self.asleep


class Dpor:
    name = "dpor"

    def __init__(self, seed: int) -> None:
        del seed
        self.exhausted = ""
        self.is_over = False
        self.racy = 0
        self._begin()

    def _begin(self) -> None:
        self.path: list[_Node] = []
        self.classes = 0
        self.is_partial = False  # a run was cut short: there may be more than was seen

    def plan(self) -> Plan | None:
        if self.exhausted or self.is_over:
            return None
        last = self.path[-1] if self.path else None
        return Plan(
            FIRST,
            prefix=tuple(node.chosen for node in self.path),
            asleep=(last.asleep | last.done) & ~(1 << last.chosen) if last is not None else 0,
            racy_limit=self.racy,
            patience_ns=0,
            strategy=self.name,
        )

    def learn(self, seen: Seen) -> None:
        if seen.racy > self.racy:
            self.racy = seen.racy
            self._begin()
            return
        if seen.end == STALE:  # the program did not do the same again: nothing can be said
            self.is_over = True
            return
        self.is_partial |= seen.end == LIMIT
        self.classes += seen.end in (COMPLETE, DEADLOCK)
        steps = seen.steps()[: seen.useful]
        for step in steps[len(self.path) :]:
            if step.count:  # else it is what a thread in a deadlock could not do
                self._add(step)
        self._find_races(steps)
        self._back_up()

    def state(self) -> dict[str, Any]:
        nodes = [[*node.numbers(), list(node.step)] for node in self.path]
        said = {"exhausted": self.exhausted, "racy": self.racy, "classes": self.classes}
        return said | {"is_partial": self.is_partial, "is_over": self.is_over, "path": nodes}

    def restore(self, state: dict[str, Any]) -> None:
        self.exhausted, self.racy, self.classes = (
            state["exhausted"],
            state["racy"],
            state["classes"],
        )
        self.is_partial, self.is_over = state["is_partial"], state["is_over"]
        self.path = [_Node(Step(*step), *numbers) for *numbers, step in state["path"]]

    def _add(self, step: Step) -> None:
        bit = 1 << step.thread
        wanted = (1 << step.count) - 1 if is_choice(step) else bit
        self.path.append(_Node(step, step.thread, bit, wanted, step.asleep))

    def _find_races(self, steps: list[Step]) -> None:
        past = Past(steps)
        for late in range(len(steps)):
            for early in past.races(late):
                node = self.path[early]
                first = past.initials(early, late)
                possible = first & node.step.enabled
                if not possible:
                    node.wanted |= node.step.enabled
                elif not first & node.wanted:
                    node.wanted |= _preferred(possible, 1 << steps[late].thread)

    def _back_up(self) -> None:
        while self.path:
            node = self.path[-1]
            left = node.wanted & ~node.done & ~node.asleep
            if left:
                node.chosen = (left & -left).bit_length() - 1
                node.done |= 1 << node.chosen
                return
            self.path.pop()
        self.is_over = True
        if not self.is_partial:
            self.exhausted = "every execution, up to the order of independent operations"


def _preferred(among: int, bit: int) -> int:
    return bit if among & bit else among & -among


class Past:
    """What happened before what in a run: vector clocks over its steps."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self.numbers: list[int] = []  # of each step among those of its thread, from 1
        self.clocks: list[dict[int, int]] = []
        self._touched: dict[int, list[int]] = {}
        self._races: list[list[int]] = []
        self._last: dict[int, int] = {}  # step of each thread
        self._first_seen: dict[int, int] = {}
        for index, step in enumerate(steps):
            self._note_enabled(index, step)
            self._take(index, step)

    def _note_enabled(self, index: int, step: Step) -> None:
        for thread in range(step.enabled.bit_length()):
            if step.enabled >> thread & 1:
                self._first_seen.setdefault(thread, index)

    def _take(self, index: int, step: Step) -> None:
        thread = step.previous if is_choice(step) else step.thread
        clock = self._before(index, thread, step)
        self._races.append([])
        touched = self._touched.setdefault(step.key, []) if step.key else []
        dependent = [
            earlier for earlier in reversed(touched) if self._depends(earlier, thread, step)
        ]
        for earlier in dependent:
            other = self.steps[earlier]
            if step.waits and not other.waits:
                continue  # a release: what waits for it could not have come before
            if self.numbers[earlier] > clock.get(other.thread, 0):
                self._races[index].append(earlier)
                _join(clock, self.clocks[earlier])
        for earlier in dependent:
            _join(clock, self.clocks[earlier])
        if step.key:
            touched.append(index)
        if not step.count:
            touched.remove(index)
        number = clock.get(thread, 0) + 1
        clock[thread] = number
        self.numbers.append(number)
        self.clocks.append(clock)
        self._last[thread] = index

    def _depends(self, earlier: int, thread: int, step: Step) -> bool:
        other = self.steps[earlier]
        return other.thread != thread and (other.writes or step.writes)

    def _before(self, index: int, thread: int, step: Step) -> dict[int, int]:
        """What this step comes after even if it touches nothing."""
        if thread in self._last:
            clock = dict(self.clocks[self._last[thread]])
        else:
            clock = self._birth(thread, step)
        for joined in range(step.joined.bit_length()):
            if step.joined >> joined & 1 and joined in self._last:
                _join(clock, self.clocks[self._last[joined]])
        return clock

    def _birth(self, thread: int, step: Step) -> dict[int, int]:
        since = self._first_seen.get(thread, 0)
        for earlier in range(since - 1, -1, -1):
            if self.steps[earlier].thread == step.parent:
                return dict(self.clocks[earlier])
        return {}

    def races(self, late: int) -> list[int]:
        """The steps that this one races with: it could have come before them."""
        return self._races[late]

    def is_before(self, early: int, late: int) -> bool:
        thread = self.steps[early].thread
        return self.clocks[late].get(thread, 0) >= self.numbers[early]

    def initials(self, early: int, late: int) -> int:
        """The threads that could go first, instead of step `early`, on the way to step `late`."""
        kept: list[int] = []
        found = 0
        seen = 0
        for index in range(early + 1, late + 1):
            if index != late and self.is_before(early, index):
                continue
            bit = 1 << self.steps[index].thread
            if not seen & bit and not any(self.is_before(each, index) for each in kept):
                found |= bit
            seen |= bit
            kept.append(index)
        return found


def _join(clock: dict[int, int], other: dict[int, int]) -> None:
    for thread, number in other.items():
        if clock.get(thread, 0) < number:
            clock[thread] = number
