"""Replays what the parallel engine recorded, again and again, until one is as recorded.

Lanes leave open in which order threads did what nothing orders, and a race may go another way in
the replay. The replay tells where it disagrees; the next try holds a thread a little earlier, at
the last place before the disagreement where one was left for another (iReplayer delays threads
there at random). Where lanes say when things happened, all tries but the first go by that. What
comes further than all before is kept, and gone on from. Each try is a process of its own, and
prints into files: what is shown is what one of them printed, that which was as recorded, or else
came furthest.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from tempfile import mkstemp

from reenact.engine import convert, replay, report
from reenact.engine.launch import Printed
from reenact.engine.replay import Replayed
from reenact.engine.ways import AFTER, BEFORE, Spot, Way
from reenact.recordings.reader import Recording

TRIES = 20
_PIECE = 1 << 16
# Of spots where a thread was left, what else may have been; the likeliest first
_OTHERWISE = {True: (AFTER, 1, BEFORE, 2), False: (BEFORE,)}
Spots = dict[Spot, int]


@dataclass(frozen=True, slots=True)
class Tried:
    """What the replays came to: the one that was as recorded, or else the best; and in words."""

    result: Replayed
    tries: int
    words: tuple[str, ...]


def replayed(recording: Recording, limit: int = TRIES, in_parallel: bool = False) -> Tried:
    """What one engine recorded and follows step by step is as recorded at the first try, or
    never."""
    if recording.is_parallel:
        return search(recording, limit, in_parallel)
    result = replay.replay(recording)
    return Tried(result, 1, tuple(report.replayed(recording, result)))


def search(recording: Recording, limit: int = TRIES, in_parallel: bool = False) -> Tried:
    """Replay a recording of the parallel engine, up to so many times."""
    search = _Search()
    best = _try(recording, search.next(), in_parallel)
    search.learn(best)
    count = 1
    while best.has_diverged and count < limit:
        tried = _try(recording, search.next(), in_parallel)
        search.learn(tried)
        count += 1
        is_better = not tried.has_diverged or tried.score > best.score
        best, other = (tried, best) if is_better else (best, tried)
        other.printed.close()
    best.printed.show()
    return Tried(best.result, count, best.words)


class _Output:
    """Files in place of the descriptors 1 and 2, or one if both lead to the same."""

    def __init__(self) -> None:
        self._files = [_nameless()]
        if not os.path.sameopenfile(1, 2):
            self._files.append(_nameless())

    def descriptors(self) -> Printed:
        return self._files[0], self._files[-1]

    def show(self) -> None:
        for descriptor, file in zip((1, 2), self._files, strict=False):
            os.lseek(file, 0, os.SEEK_SET)
            while piece := os.read(file, _PIECE):
                _write(descriptor, piece)
        self.close()

    def close(self) -> None:
        for file in self._files:
            os.close(file)


def _nameless() -> int:
    descriptor, name = mkstemp(prefix="reenact-")
    os.unlink(name)
    return descriptor


def _write(descriptor: int, piece: bytes) -> None:
    while piece:
        piece = piece[os.write(descriptor, piece) :]


@dataclass(frozen=True, slots=True)
class _Try:
    way: Way
    result: Replayed
    words: tuple[str, ...]
    printed: _Output

    @property
    def has_diverged(self) -> bool:
        return self.result.has_diverged

    @property
    def score(self) -> tuple[int, int]:
        """How far it came: operations, and bytes of the output."""
        return self.result.operations, self.result.agreed

    @property
    def diverged_at(self) -> int | None:
        """The step, if it is known."""
        outcome = self.result.outcome
        return None if outcome is None or outcome.reason == "deadlock" else outcome.step


def _try(recording: Recording, way: Way, in_parallel: bool) -> _Try:
    printed = _Output()
    with _prepared(recording, way, in_parallel) as made:
        result = replay.replay(made, in_parallel=in_parallel, printed=printed.descriptors())
        return _Try(way, result, tuple(report.replayed(made, result)), printed)


@contextmanager
def _prepared(recording: Recording, way: Way, in_parallel: bool) -> Iterator[Recording]:
    if in_parallel:  # which run at the same time go another way by themselves
        yield recording
        return
    with convert.serial(recording, way) as made:
        yield made


class _Search:
    """Which way is gone in the next try. Most need no times, and change threads less without."""

    def __init__(self) -> None:
        self._goes_by_times = False
        self._base: Spots = {}
        self._score = (-1, -1)
        self._changes: list[tuple[Spot, int]] = []  # of the base, the likeliest first
        self._tried: list[Spots] = []
        self._chance = random.Random(0)

    def next(self) -> Way:
        return Way(self._next_spots(), self._goes_by_times)

    def _next_spots(self) -> Spots:
        ways = chain([self._base], (self._base | {spot: how} for spot, how in self._changes))
        chosen = next((way for way in ways if way not in self._tried), None)
        chosen = self._at_random() if chosen is None else chosen
        self._tried.append(chosen)
        return chosen

    def learn(self, tried: _Try) -> None:
        """What comes further than all before is what the next tries change."""
        if tried.way.knows_times and not self._goes_by_times:
            self._goes_by_times = True
            self._tried.clear()
            return
        if tried.score > self._score:
            self._score = tried.score
            self._base = tried.way.spots
            self._changes = list(_changes_of(tried))

    def _at_random(self) -> Spots:
        """Some changes at once, rather those near the disagreement."""
        near = self._changes[: 2 + len(self._tried)]
        return self._base | dict(each for each in near if self._chance.random() < 0.3)


def _changes_of(tried: _Try) -> Iterator[tuple[Spot, int]]:
    """At spots where a thread was left before the disagreement, the last of them first."""
    until = tried.diverged_at
    left = [each for each in reversed(tried.way.left) if until is None or each.step <= until]
    for number in range(max(map(len, _OTHERWISE.values()))):
        for each in left:
            otherwise = _OTHERWISE[each.is_between]
            if number < len(otherwise):
                yield each.spot, otherwise[number]
