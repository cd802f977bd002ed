"""Finds the order of accesses that a recording with Light's order leaves open.

The chains of each location (`chains.py`) are put in the order of their hints, which is that of the
run unless the hints are wrong, and then the order of all threads is checked. A ring of threads that
wait for each other means that a hint misled: the chains of the ring become a question to a solver
(`conflict.py`), whose answer is checked in turn, until there is no ring. Light asks the solver
about everything; here it is seldom asked for anything.

`convert.py` calls it; `linear.py` puts the threads in line by what it adds to the lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from reenact.engine.chains import Chain, Version, chains_of
from reenact.engine.conflict import KNOWN, Conflict, Need
from reenact.recordings.lanes import ACCESS, Interval, Item

_END = 1 << 62  # later than any position
_ENOUGH = 10_000  # of needs in rings, before the solver is asked


def solve(
    lanes: dict[int, Sequence[Item]], intervals: Iterable[Interval]
) -> dict[int, Sequence[Item]]:
    """The lanes, with accesses in them that come after others."""
    found = order(intervals, _known(lanes))
    return {thread: _woven(items, found.get(thread, ())) for thread, items in lanes.items()}


def order(intervals: Iterable[Interval], known: dict[int, list[Need]]) -> dict[int, list[Need]]:
    """What each thread's accesses come after, by position, besides what is known already."""
    by_location: dict[int, list[Interval]] = {}
    for interval in intervals:
        by_location.setdefault(interval[1], []).append(interval)
    chains = {location: chains_of(location, found) for location, found in by_location.items()}
    conflict = Conflict(chains)
    while True:
        needs = _needs(chains, known)
        rings = _rings(needs)
        if not rings:
            return {thread: [each for each in found if each[3]] for thread, found in needs.items()}
        conflict.widen(rings)
        conflict.settle()


# ---- what comes after what ----


def _known(lanes: dict[int, Sequence[Item]]) -> dict[int, list[Need]]:
    return {
        thread: [
            (item.position, other, _END if position is None else position, KNOWN)
            for item in items
            for other, position in item.after
        ]
        for thread, items in lanes.items()
    }


def _needs(chains: dict[int, list[Chain]], known: dict[int, list[Need]]) -> dict[int, list[Need]]:
    needs = {thread: list(found) for thread, found in known.items()}
    for location, ordered in chains.items():
        before: Version | None = None
        for chain in ordered:
            for version in chain:
                _need(needs, location, before, version)
                before = version
    return {thread: _reduced(found) for thread, found in needs.items()}


def _need(
    needs: dict[int, list[Need]], location: int, before: Version | None, version: Version
) -> None:
    """A version comes after all reads of the one before it, its own reads after it. A thread's own
    order is known, and worth a word only if it is the other way round; at one point, where a read
    and a write of one site are, it is the program's."""
    interval = version.interval
    if interval is None:
        return
    thread, _, first, _, write, _, _ = interval
    for other, last in before.ends() if before is not None else ():
        if other != thread or last > first:
            needs.setdefault(thread, []).append((first, other, last, location))
    for reader in version.readers:
        if write is not None and (reader[0] != thread or reader[2] < write):
            needs.setdefault(reader[0], []).append((reader[2], thread, write, location))


def _reduced(needs: list[Need]) -> list[Need]:
    """By position, without what an earlier one says already."""
    needs.sort(key=itemgetter(0, 3))
    latest: dict[int, int] = {}
    kept = []
    for need in needs:
        _, other, wanted, _ = need
        if latest.get(other, -1) < wanted:
            latest[other] = wanted
            kept.append(need)
    return kept


def _woven(items: Sequence[Item], needs: Sequence[Need]) -> list[Item]:
    """What a thread did, and before all that it did at a position the access there."""
    accesses: dict[int, list[tuple[int, int | None]]] = {}
    for position, other, wanted, _ in needs:
        accesses.setdefault(position, []).append((other, wanted))
    woven: list[Item] = []
    waiting = iter(sorted(accesses))
    at = next(waiting, _END)
    for item in items:
        while at <= item.position:
            woven.append(Item(at, ACCESS, after=tuple(accesses[at])))
            at = next(waiting, _END)
        woven.append(item)
    woven.extend(Item(at, ACCESS, after=tuple(accesses[at])) for at in _from(at, waiting))
    return woven


def _from(at: int, following: Iterator[int]) -> Iterator[int]:
    while at != _END:
        yield at
        at = next(following, _END)


# ---- whether it can be ----


def _rings(needs: dict[int, list[Need]]) -> list[tuple[int, Need]]:
    """Threads that wait for each other, and what for; empty if all come to their ends. Behind a
    ring they go on as if there were none, to find others in one go."""
    done = dict.fromkeys(needs, 0)
    waiting: dict[int, list[int]] = {}
    found: list[tuple[int, Need]] = []
    _run(list(needs), needs, done, waiting)
    while len(found) < _ENOUGH and (stuck := _stuck(needs, done)) is not None:
        ring = _ring_from(stuck, needs, done)
        found += ring
        freed = [thread for thread, need in ring if need[3] != KNOWN]
        if not freed:
            break
        for thread in freed:
            done[thread] += 1
            freed = freed + waiting.pop(thread, [])
        _run(freed, needs, done, waiting)
    return found


def _run(
    ready: list[int],
    needs: dict[int, list[Need]],
    done: dict[int, int],
    waiting: dict[int, list[int]],
) -> None:
    while ready:
        thread = ready.pop()
        before = done[thread]
        blocker = _advance(thread, needs, done)
        if blocker is not None:
            waiting.setdefault(blocker, []).append(thread)
        if done[thread] > before:
            ready.extend(waiting.pop(thread, ()))


def _stuck(needs: dict[int, list[Need]], done: dict[int, int]) -> int | None:
    return next((thread for thread, found in needs.items() if done[thread] < len(found)), None)


def _advance(thread: int, needs: dict[int, list[Need]], done: dict[int, int]) -> int | None:
    """Let a thread do what it can; whom it waits for then."""
    mine = needs[thread]
    for at in range(done[thread], len(mine)):
        done[thread] = at
        _, other, wanted, _ = mine[at]
        theirs = needs.get(other, ())
        if done.get(other, 0) < len(theirs) and theirs[done[other]][0] <= wanted:
            return other
    done[thread] = len(mine)
    return None


def _ring_from(
    thread: int, needs: dict[int, list[Need]], done: dict[int, int]
) -> list[tuple[int, Need]]:
    path: list[tuple[int, Need]] = []
    seen: dict[int, int] = {}
    while thread not in seen:
        seen[thread] = len(path)
        need = needs[thread][done[thread]]
        path.append((thread, need))
        thread = need[1]
    return path[seen[thread] :]
