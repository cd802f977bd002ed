"""Where the hints of a recording with Light's order contradict the rest: a question to a solver.

Light (PLDI 2015) gives all dependences to a solver of integer difference logic: a number for each
access that says when it comes. Here it gets what a ring of threads that wait for each other is made
of, and no more: what is known of their order, and for the chains of a location that the ring goes
through, and all between them, that of any two one comes before the other. Each ring adds something;
an answer can make no ring of what is in the question, so there is an end to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise
from typing import Any

from reenact.engine.chains import Chain, Point, Version
from reenact.engine.linear import Unordered
from reenact.errors import UsageError

# A position, from which on a thread comes after what another does, up to a position of that; and
# the location if that follows from accesses.
Need = tuple[int, int, int, int]
KNOWN = 0  # in place of a location
Before = tuple[Point, Point]


def _solver() -> Any:
    try:
        import z3
    except ImportError:
        raise UsageError(
            "the order of accesses in this recording takes a solver to find",
            advice="Install z3-solver, or reenact[light], which asks for it.",
        ) from None
    return z3


class Conflict:
    """What is in question: of some locations the chains from one place to another, and what is
    known to come before what."""

    def __init__(self, chains: dict[int, list[Chain]]) -> None:
        self._chains = chains
        self._windows: dict[int, tuple[int, int]] = {}
        self._known: set[Before] = set()

    def widen(self, rings: Iterable[tuple[int, Need]]) -> None:
        before = dict(self._windows), len(self._known)
        for thread, (position, other, wanted, location) in rings:
            place = self._place(location, (thread, position))
            if place is None:
                self._known.add(((other, wanted), (thread, position)))
            else:
                first, last = self._windows.get(location, (place, place))
                self._windows[location] = min(first, place - 1), max(last, place)
        if before == (self._windows, len(self._known)):
            raise Unordered("accesses come before each other in a ring")

    def _place(self, location: int, point: Point) -> int | None:
        """Which chain begins there; None if it is none, and what comes before it was no choice."""
        for place, chain in enumerate(self._chains.get(location, ())):
            if place > 0 and _start(chain) == point:
                return place
        return None

    def settle(self) -> None:
        """Put the chains in question into an order that agrees with what is known."""
        z3 = _solver()
        question = _Question(z3)
        for first, second in self._known:
            question.add(first, second)
        for location, (low, high) in self._windows.items():
            question.add_chains(self._chains[location][low : high + 1], is_first_fixed=low == 0)
        moments = question.answer()
        for location, (low, high) in self._windows.items():
            fixed = max(low, 1)
            ordered = self._chains[location]
            ordered[fixed : high + 1] = sorted(
                ordered[fixed : high + 1], key=lambda chain: moments[_start(chain)]
            )


def _start(chain: Chain) -> Point:
    interval = chain[0].interval
    assert interval is not None, "only the first chain of a location begins before any write"
    return interval.thread, interval.first


def _inside(chain: Chain) -> Iterator[Before]:
    """What is known of the accesses of a chain."""
    before: Version | None = None
    for version in chain:
        interval = version.interval
        if interval is not None:
            yield from _own(version, interval.thread, interval.first, interval.write or 0)
            for end in before.ends() if before is not None else ():
                yield end, (interval.thread, interval.first)
        before = version


def _own(version: Version, thread: int, first: int, write: int) -> Iterator[Before]:
    for reader in version.readers:
        yield (thread, write), (reader.thread, reader.first)


class _Question:
    def __init__(self, z3: Any) -> None:
        self._z3 = z3
        self._solver = z3.SolverFor("QF_IDL")
        self._moments: dict[Point, Any] = {}

    def _moment(self, point: Point) -> Any:
        if point not in self._moments:
            self._moments[point] = self._z3.Int(f"{point[0]}_{point[1]}")
        return self._moments[point]

    def _is_before(self, first: Point, second: Point) -> Any:
        if first == second:  # two accesses of one site, in the order of the program
            return self._z3.BoolVal(True)
        return self._moment(first) < self._moment(second)

    def add(self, first: Point, second: Point) -> None:
        self._solver.add(self._is_before(first, second))

    def add_chains(self, chains: list[Chain], is_first_fixed: bool) -> None:
        for chain in chains:
            for first, second in _inside(chain):
                self.add(first, second)
        # pairs with the first chain come first
        for place, (one, other) in enumerate(combinations(chains, 2)):
            if is_first_fixed and place < len(chains) - 1:
                self._solver.add(self._all_before(one, other))
            else:
                either = (self._all_before(one, other), self._all_before(other, one))
                self._solver.add(self._z3.Or(*either))

    def _all_before(self, one: Chain, other: Chain) -> Any:
        start = _start(other)
        return self._z3.And(*(self._is_before(end, start) for end in one[-1].ends()))

    def answer(self) -> dict[Point, int]:
        """When each access comes; those of a thread in their order."""
        points = sorted(self._moments)
        for first, second in pairwise(points):
            if first[0] == second[0]:
                self.add(first, second)
        if self._solver.check() != self._z3.sat:
            raise Unordered("no order of accesses shows each read the write that it saw")
        model = self._solver.model()
        return {point: model[moment].as_long() for point, moment in self._moments.items()}
