"""Cycles in the order in which locks are taken: deadlocks that might happen another time.

Called by `locks.py`. Each step of a cycle is a thread that has one lock and takes the next. All of
them must be possible at the same time: by different threads, none of which has a lock that another
one has, and of which none has ended before another was started. No input or output here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

MOST_WORK = 300_000

Moment = tuple[int, int]  # a thread, and how many of the starts and joins were before
Life = tuple[str, int, int]  # "start" or "join", who did it, and of whom


@dataclass(frozen=True, slots=True)
class Edge:
    """A lock was taken by somebody who had another. Two with the same `places` are one to people.

    `guards` are all locks that were held; `left_out` says how many moments are not known.
    """

    source: int
    target: int
    guards: frozenset[int]
    moments: tuple[Moment, ...]
    places: Hashable
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """An edge of a cycle, and the thread that goes it."""

    edge: Edge
    thread: int


@dataclass(frozen=True, slots=True)
class Found:
    """Cycles, shortest first; not complete if there may be others, of which too little is known."""

    cycles: tuple[tuple[Step, ...], ...]
    is_complete: bool


class Order:
    """Which moments come before which, by starts and joins alone."""

    def __init__(self, lives: Sequence[Life]) -> None:
        self._lives = lives
        self._known: dict[Moment, dict[int, int]] = {}

    def is_before(self, one: Moment, other: Moment) -> bool:
        if one[0] == other[0]:
            return one[1] < other[1]
        reached = self._reached_from(one).get(other[0])
        return reached is not None and reached <= other[1]

    def can_overlap(self, one: Moment, other: Moment) -> bool:
        return not self.is_before(one, other) and not self.is_before(other, one)

    def _reached_from(self, moment: Moment) -> dict[int, int]:
        """Threads that know of the moment, each with the first of its lives in which it does."""
        known = self._known.get(moment)
        if known is None:
            thread, life = moment
            known = {thread: life}
            for number, (kind, doer, other) in enumerate(self._lives[life:], life + 1):
                knows, learns = (doer, other) if kind == "start" else (other, doer)
                if knows in known:
                    known.setdefault(learns, number)
            self._known[moment] = known
        return known


def find(edges: Sequence[Edge], lives: Sequence[Life], most_work: int = MOST_WORK) -> Found:
    """All cycles, but one of those that are made of the same places."""
    search = _Search(_within_components(edges), Order(lives), most_work)
    try:
        search.go()
    except _TooMuchWork:
        return Found(tuple(search.found), False)
    return Found(tuple(search.found), not search.is_undecided)


class _TooMuchWork(Exception):
    pass


class _Search:
    """Paths of one length after the other, each begun at its smallest lock."""

    def __init__(self, edges: Sequence[Edge], order: Order, work: int) -> None:
        self.order = order
        self.work = work
        self.found: list[tuple[Step, ...]] = []
        self.is_undecided = False
        self.length = 2
        self._goes_on = True  # there are paths that may be longer
        self._told: list[Counter[Hashable]] = []  # the places of each cycle found
        self._from: dict[int, list[Edge]] = {}
        for edge in edges:
            self._from.setdefault(edge.source, []).append(edge)

    def go(self) -> None:
        while self._goes_on:
            self._goes_on = False
            for start in sorted(self._from):
                self._extend(start, [])
            self.length += 1

    def _extend(self, start: int, path: list[Edge]) -> None:
        is_last = len(path) + 1 == self.length
        for edge in self._from.get(path[-1].target if path else start, ()):
            self._spend()
            longer = [*path, edge]
            if edge.target == start:
                if is_last and self._is_new(longer):
                    self._close(longer)
            elif _is_simple(start, path, edge) and self._is_new(longer):
                if is_last:
                    self._goes_on = True
                elif self._is_possible(longer):
                    self._extend(start, longer)

    def _close(self, path: list[Edge]) -> None:
        moments = self._assign(path, [])
        if moments is not None:
            threads = [thread for thread, _ in moments]
            self.found.append(tuple(map(Step, path, threads)))
            self._told.append(Counter(edge.places for edge in path))
        elif any(edge.left_out for edge in path):
            self.is_undecided = True

    def _is_possible(self, path: list[Edge]) -> bool:
        return any(edge.left_out for edge in path) or self._assign(path, []) is not None

    def _assign(self, path: list[Edge], moments: list[Moment]) -> list[Moment] | None:
        """A moment for each edge, so that all can be at once."""
        if len(moments) == len(path):
            return moments
        for moment in path[len(moments)].moments:
            self._spend()
            if all(self._fit(moment, other) for other in moments):
                assigned = self._assign(path, [*moments, moment])
                if assigned is not None:
                    return assigned
        return None

    def _fit(self, one: Moment, other: Moment) -> bool:
        return one[0] != other[0] and self.order.can_overlap(one, other)

    def _is_new(self, path: list[Edge]) -> bool:
        """Not guarded, and not a cycle that was found, at other locks or by another way round."""
        if any(not path[-1].guards.isdisjoint(other.guards) for other in path[:-1]):
            return False
        places = Counter(edge.places for edge in path)
        return not any(told <= places for told in self._told)

    def _spend(self) -> None:
        self.work -= 1
        if self.work < 0:
            raise _TooMuchWork


def _is_simple(start: int, path: list[Edge], edge: Edge) -> bool:
    return edge.target > start and all(edge.target != other.source for other in path)


# ---- locks that reach each other ----


def _within_components(edges: Sequence[Edge]) -> list[Edge]:
    """Without the edges that no cycle can have."""
    following: dict[int, set[int]] = {}
    for edge in edges:
        following.setdefault(edge.source, set()).add(edge.target)
        following.setdefault(edge.target, set())
    component = _components(following)
    return [
        edge
        for edge in edges
        if edge.source != edge.target and component[edge.source] == component[edge.target]
    ]


def _components(following: dict[int, set[int]]) -> dict[int, int]:
    """For each node the component that it is in, by two walks: on, and back from the last."""
    before: dict[int, set[int]] = {node: set() for node in following}
    for node, others in following.items():
        for other in others:
            before[other].add(node)
    order = list(_in_order_of_leaving(following))
    component: dict[int, int] = {}
    for root in reversed(order):
        pending = [root]
        while pending:
            node = pending.pop()
            if node not in component:
                component[node] = root
                pending.extend(before[node] - component.keys())
    return component


def _in_order_of_leaving(following: dict[int, set[int]]) -> Iterator[int]:
    seen: set[int] = set()
    for root in sorted(following):
        pending = [(root, iter(sorted(following[root])))] if root not in seen else []
        seen.add(root)
        while pending:
            node, others = pending[-1]
            other = next((each for each in others if each not in seen), None)
            if other is None:
                pending.pop()
                yield node
            else:
                seen.add(other)
                pending.append((other, iter(sorted(following[other]))))
