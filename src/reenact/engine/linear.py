"""Puts the lanes of a parallel run into one order, which the serial engine can follow.

Each thread runs on until something that it does next comes after what another has not done yet;
then that one runs. A thread can be stopped where it comes to a point, so before anything that it
does; once it is past the point it does what it did there. What is in the lanes happened, so there
is an order: a ring means that the lanes are not those of one run. Hints are gone by in the same
way, but only as long as they lead to no ring.

`convert.py` writes down what comes of it: `Sink` is told of everything in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from reenact.engine.ways import ANYBODY, Left, Way, laid
from reenact.recordings.lanes import (
    ACCESS,
    BETWEEN,
    CLOSE,
    END,
    FINAL,
    OPERATION,
    WAIT,
    YIELD,
    Hint,
    Item,
)

_LAST = (WAIT, YIELD, END, CLOSE)  # what a thread does not go on after, or in another way


class Unordered(Exception):
    """There is no order in which the lanes could have happened."""


class Sink(Protocol):
    """Who is told what happens, at which step, by which thread."""

    def switch(self, step: int, kind: str, thread: int) -> None: ...
    def between(self, step: int, thread: int, item: Item) -> None: ...
    def happens(self, step: int, thread: int, item: Item) -> None: ...
    def end(self, step: int, is_deadlock: bool) -> None: ...


def _settled(items: Sequence[Item], waits: frozenset[int]) -> list[Item]:
    """Without the waits that a serial replay does not make, since what is waited for is there by
    then; and with all that must come before something at a point before the first thing there, or
    after it was left for a while."""
    settled: list[Item] = []
    for at, item in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else None
        if item.kind == FINAL or (item.kind == WAIT and not _is_in_vain(following, waits)):
            continue
        first = len(settled)
        is_ordered = item.after or item.hints
        while is_ordered and first > 0 and _is_together(settled[first - 1], item):
            first -= 1
        settled.append(item)
        if first < len(settled) - 1:
            before = settled[first]
            after, hints = before.after + item.after, before.hints + item.hints
            settled[first] = before._replace(after=after, hints=hints)
    return settled


def _is_in_vain(following: Item | None, waits: frozenset[int]) -> bool:
    return following is None or (following.kind == OPERATION and following.first in waits)


def _is_together(earlier: Item, item: Item) -> bool:
    is_between = BETWEEN in (earlier.kind, item.kind)
    return earlier.position == item.position and earlier.kind != YIELD and not is_between


class _Lane:
    def __init__(self, thread: int, items: list[Item]) -> None:
        self.thread = thread
        self.items = items
        self.at = 0
        self.position = 0  # the point that it has come to
        self.is_past = True  # whether it is past that point
        self.is_outside = False  # whether it has let go of the baton there
        self.unhinted = -1  # of which item the hints count no more

    @property
    def next(self) -> Item | None:
        return self.items[self.at] if self.at < len(self.items) else None

    def has_come(self, hint: Hint) -> bool:
        """To the place of a hint, or if it has none to the point after its position."""
        item = self.next
        is_next = item is None or item.position > hint.position
        return is_next or (hint.code != 0 and self.has_done(hint.position))

    def has_done(self, position: int | None) -> bool:
        item = self.next
        if item is None or position is None:
            return item is None
        is_past = item.kind == BETWEEN and item.position == position
        return item.position > position or is_past


class Linear:
    """Lanes by thread; `waits` are the sites of operations that have waited in vain, or slept,
    `ends` those of ends of threads, and `finals` where threads were when the run ended, of those
    that had not. `is_cut`: the run was killed."""

    def __init__(
        self,
        lanes: dict[int, Sequence[Item]],
        waits: frozenset[int],
        ends: frozenset[int],
        finals: dict[int, int],
        is_deadlock: bool,
        is_cut: bool = False,
        way: Way | None = None,
    ) -> None:
        self._way = way or Way()
        lanes = laid(lanes, self._way)
        for items in lanes.values():
            finals = finals | {item.first: item.second for item in items if item.kind == FINAL}
        self._lanes = {
            thread: _Lane(thread, _settled(items, waits)) for thread, items in lanes.items()
        }
        self._is_deadlock = is_deadlock
        self._is_cut = is_cut
        self._ends = ends
        self._step = 0
        self._go_on_to(finals)

    def _go_on_to(self, finals: dict[int, int]) -> None:
        """Threads that were in the middle of something come as far as they came."""
        for thread, lane in self._lanes.items():
            last = lane.items[-1] if lane.items else None
            if last is not None and last.kind not in _LAST and self._is_leaving(lane):
                lane.items.append(Item(last.position, END, thread))
            elif thread in finals and (last is None or last.kind not in _LAST):
                lane.items.append(Item(self._last_point(last, finals[thread]), ACCESS))

    def _is_leaving(self, lane: _Lane) -> bool:
        """It has told its end, and there is nothing more to come but finalizers."""
        return any(item.kind == OPERATION and item.first in self._ends for item in lane.items)

    def _last_point(self, last: Item | None, final: int) -> int:
        """Who was killed past a point may not have done yet what comes there: that is not known
        to have happened, and the thread stays before the point."""
        has_done = last is not None and last.position >= final
        return final if self._is_cut and not has_done else final + 1

    def run(self, sink: Sink) -> int:
        """Tell everything; the number of steps."""
        lane: _Lane | None = self._lanes[0]
        closing: _Lane | None = None
        while lane is not None:
            blocker = self._advance(lane, sink)
            if blocker is None and lane.next is not None:
                closing = lane
            following = self._successor(blocker, closing)
            if following is not None:
                self._leave(lane, sink, following.thread)
            lane = following
        sink.end(self._step, self._is_deadlock)
        return self._step

    def _advance(self, lane: _Lane, sink: Sink) -> _Lane | None:
        """Run a thread as far as it can go; whom it has to wait for."""
        while (item := lane.next) is not None:
            if item.position > lane.position:
                self._come_back(lane, sink)
            if item.kind == CLOSE and self._are_others_left(lane):
                self._arrive(lane, item.position)
                return None
            blocker = self._blocker(lane, item)
            self._arrive(lane, item.position)
            if blocker is not None:
                return blocker
            self._come_back(lane, sink)
            lane.is_past = True
            self._do(lane, item, sink)
        return None

    def _come_back(self, lane: _Lane, sink: Sink) -> None:
        if lane.is_outside:
            sink.switch(self._step, "yield", lane.thread)
            lane.is_outside = False

    def _are_others_left(self, closing: _Lane) -> bool:
        return any(lane.next is not None for lane in self._lanes.values() if lane is not closing)

    def _blocker(self, lane: _Lane, item: Item) -> _Lane | None:
        blocker = self._known_blocker(item)
        can_wait = not lane.is_past or lane.is_outside or item.kind == BETWEEN or lane.at == 0
        is_hinted = item.hints and lane.unhinted != lane.at
        if blocker is None and is_hinted and (can_wait or item.position > lane.position):
            return self._hinted_blocker(lane, item)
        return blocker

    def _hinted_blocker(self, lane: _Lane, item: Item) -> _Lane | None:
        for hint in item.hints:
            is_anybody = hint.thread == ANYBODY
            other = self._free(lane) if is_anybody else self._lanes.get(hint.thread)
            if other is not None and (is_anybody or not other.has_come(hint)):
                return other
        return None

    def _free(self, held: _Lane) -> _Lane | None:
        """Somebody who can go on while this one is held."""
        for lane in self._unfinished():
            seen = {held.thread}
            found: _Lane | None = lane
            while found is not None and found.thread not in seen:
                seen.add(found.thread)
                item = found.next
                found = held if item is None or item.kind == CLOSE else self._known_blocker(item)
            if found is None:
                return lane
        return None

    def _known_blocker(self, item: Item) -> _Lane | None:
        for thread, position in item.after:
            other = self._lanes.get(thread)
            if other is None:
                raise Unordered(f"thread {thread} did nothing, and something comes after it")
            if not other.has_done(position):
                return other
        return None

    def _arrive(self, lane: _Lane, position: int) -> None:
        if position > lane.position:
            self._step += position - lane.position
            lane.position = position
            lane.is_past = False

    def _do(self, lane: _Lane, item: Item, sink: Sink) -> None:
        if item.kind not in (YIELD, CLOSE, END, ACCESS, BETWEEN):
            sink.happens(self._step, lane.thread, item)
        lane.is_outside = item.kind in (WAIT, YIELD)
        lane.at += 1

    def _successor(self, blocker: _Lane | None, closing: _Lane | None) -> _Lane | None:
        """Whoever runs next: whom the others wait for in the end."""
        candidates = [blocker] if blocker is not None else list(self._unfinished())
        for candidate in candidates:
            found = self._root_of(candidate, closing)
            if found is not None:
                return found
        return closing if closing is not None and closing.next is not None else None

    def _unfinished(self) -> Iterator[_Lane]:
        return (lane for lane in self._lanes.values() if lane.next is not None)

    def _root_of(self, start: _Lane, closing: _Lane | None) -> _Lane | None:
        lane = start
        path: list[_Lane] = []
        while True:
            item = lane.next
            is_closing = lane is closing and item is not None and item.kind == CLOSE
            if item is None or (is_closing and not self._forget_hint(path)):
                return None
            if lane in path and not self._forget_hint(path[path.index(lane) :]):
                threads = sorted(each.thread for each in path)
                raise Unordered(f"threads {threads} wait for each other in a ring")
            if is_closing or lane in path:
                lane, path = start, []
                continue
            path.append(lane)
            blocker = self._blocker(lane, item)
            if blocker is None:
                return lane
            lane = blocker

    def _forget_hint(self, path: list[_Lane]) -> bool:
        """One of these waits only because of a hint, and does so no more; or none of them does."""
        for lane in path:
            item = lane.next
            if item is not None and self._known_blocker(item) is None:
                lane.unhinted = lane.at
                return True
        return False

    def _leave(self, lane: _Lane, sink: Sink, to: int) -> None:
        """A thread gives way: at a point, or in a wait that has no end, or because it has ended."""
        if to == lane.thread:
            return
        if lane.is_outside:
            sink.switch(self._step, "yield", to)
            lane.is_outside = False
            return
        item = lane.next
        if item is not None and item.kind == BETWEEN:
            self._way.left.append(Left(self._step, (lane.thread, lane.position), True))
            lane.is_past = True
            sink.between(self._step, to, item)
            return
        if item is not None:
            if lane.is_past:
                raise Unordered(f"thread {lane.thread} cannot stop at its point {lane.position}")
            self._way.left.append(Left(self._step, (lane.thread, lane.position - 1), False))
            sink.switch(self._step, "preempt", to)
            return
        has_ended = lane.items and lane.items[-1].kind == END
        sink.switch(self._step, "yield" if has_ended else "preempt", to)
