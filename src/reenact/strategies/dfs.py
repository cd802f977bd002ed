"""Depth-first search of all executions with at most so many preemptions, bound by bound.

M. Musuvathi, S. Qadeer: Iterative context bounding for systematic testing of multithreaded
programs, PLDI 2007. A preemption is a switch away from a thread that could have gone on; switches
at waits are free. All executions with 0 preemptions are seen first, then those with 1, and so on.

Sites that race are found as the search goes. What was seen with fewer of them is not all there is,
so the search of a bound begins anew when there are more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reenact.strategies.searching import FIRST, STALE, Plan, Seen, Step

BOUND = 64  # where iterative deepening ends at the latest


@dataclass(slots=True)
class _Node:
    step: Step
    chosen: int
    left: list[int]  # alternatives not yet tried
    spent: int  # preemptions before this choice

    @property
    def spent_after(self) -> int:
        return self.spent + _cost(self.step, self.chosen)


class Dfs:
    name = "dfs"

    def __init__(self, seed: int, bound: int = BOUND) -> None:
        del seed
        self.exhausted = ""
        self.last_bound = bound
        self.bound = 0
        self.racy = 0
        self._begin()

    def _begin(self) -> None:
        self._seen: set[int] = set()
        self.path: list[_Node] = []
        self.is_over = False  # with this bound
        self.was_cut = False  # something was left out because of the bound

    def plan(self) -> Plan | None:
        if self.is_over and not self._deepen():
            return None
        prefix = tuple(node.chosen for node in self.path)
        return Plan(FIRST, prefix=prefix, racy_limit=self.racy, strategy=self.name)

    def _deepen(self) -> bool:
        if self.exhausted:
            return False
        if not self.was_cut:
            self.exhausted = "every execution"
        elif self.bound == self.last_bound:
            self.exhausted = f"every execution with at most {self.bound} preemptions"
        else:
            self.bound += 1
            self._begin()
            return True
        return False

    def learn(self, seen: Seen) -> None:
        if seen.racy > self.racy:
            self.racy = seen.racy
            self._begin()
            return
        if seen.end == STALE:  # the program did not do the same again
            self.is_over = self.was_cut = True
            return
        self._seen.add(seen.fingerprint)
        for step in seen.steps()[len(self.path) :]:
            if step.count:  # else it is what a thread in a deadlock could not do
                self._add(step)
        self._back_up()

    @property
    def classes(self) -> int:
        """Executions seen with this bound, up to the order of independent operations."""
        return len(self._seen)

    def state(self) -> dict[str, Any]:
        return {
            "exhausted": self.exhausted,
            "bound": self.bound,
            "racy": self.racy,
            "is_over": self.is_over,
            "was_cut": self.was_cut,
            "path": [[list(node.step), node.chosen, node.left, node.spent] for node in self.path],
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.exhausted, self.bound, self.racy = state["exhausted"], state["bound"], state["racy"]
        self.is_over, self.was_cut = state["is_over"], state["was_cut"]
        self.path = [_Node(Step(*step), *rest) for step, *rest in state["path"]]

    def _add(self, step: Step) -> None:
        spent = self.path[-1].spent_after if self.path else 0
        others = [option for option in options(step) if option != step.thread]
        within = [option for option in others if spent + _cost(step, option) <= self.bound]
        self.was_cut |= len(within) < len(others)
        self.path.append(_Node(step, step.thread, within, spent))

    def _back_up(self) -> None:
        while self.path and not self.path[-1].left:
            self.path.pop()
        if self.path:
            self.path[-1].chosen = self.path[-1].left.pop()
        else:
            self.is_over = True


def options(step: Step) -> list[int]:
    """Who could have gone on here: threads, or the tasks of an event loop by position."""
    if is_choice(step):
        return list(range(step.count))
    return [thread for thread in range(64) if step.enabled >> thread & 1]


def is_choice(step: Step) -> bool:
    """Is this no step of a thread but a choice among tasks?"""
    return step.enabled == 0 and step.count > 1


def _cost(step: Step, option: int) -> int:
    if is_choice(step):
        return int(option != 0)
    return int(not step.is_forced and option != step.previous)
