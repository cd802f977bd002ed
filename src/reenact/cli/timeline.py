"""One recording as one sequence: events, schedule entries and notes in the order of a run.

`dump` prints it. The streams give steps alone. At equal steps, collections and signals come
first: they belong to the point before an operation. An event of the thread that holds the baton
comes before the entry that takes the baton away, and any other event after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reenact.events import Event, Note, ScheduleEntry
from reenact.recordings.reader import Recording

AT_POINTS = frozenset({"collect", "signal"})


@dataclass(frozen=True, slots=True)
class Turn:
    """A schedule entry, with the thread that held the baton before it and the one after."""

    entry: ScheduleEntry
    before: str
    after: str

    @property
    def step(self) -> int:
        return self.entry.step


Item = Event | Turn | Note


@dataclass(frozen=True, slots=True)
class Window:
    """What part of a run is wanted; None is no limit."""

    thread: str | None = None
    first: int | None = None
    last: int | None = None

    def holds(self, step: int, *threads: str) -> bool:
        if self.first is not None and step < self.first:
            return False
        if self.last is not None and step > self.last:
            return False
        return self.thread is None or self.thread in threads

    def is_past(self, step: int) -> bool:
        return self.last is not None and step > self.last


def timeline(recording: Recording, window: Window) -> Iterator[Item]:
    events = recording.events(window.thread, window.first, window.last)
    merged = _with_notes(_with_turns(events, _turns(recording)), recording.notes())
    for item in merged:
        if window.is_past(item.step):
            return
        if window.holds(item.step, *_threads(item)):
            yield item


def _threads(item: Item) -> tuple[str, ...]:
    return (item.before, item.after) if isinstance(item, Turn) else (item.thread,)


def _turns(recording: Recording) -> Iterator[Turn]:
    holder = "0"
    for entry in recording.schedule():
        after = recording.thread_path(entry.argument) if entry.is_switch else holder
        yield Turn(entry, holder, after)
        holder = after


def _with_turns(events: Iterator[Event], turns: Iterator[Turn]) -> Iterator[Event | Turn]:
    turn = next(turns, None)
    for event in events:
        while turn is not None and _comes_first(turn, event):
            yield turn
            turn = next(turns, None)
        yield event
    if turn is not None:
        yield turn
        yield from turns


def _comes_first(turn: Turn, event: Event) -> bool:
    if turn.step == event.step:
        return turn.entry.kind in AT_POINTS or event.thread != turn.before
    return turn.step < event.step


def _with_notes(items: Iterator[Event | Turn], notes: Iterator[Note]) -> Iterator[Item]:
    """A note follows everything of its step."""
    note = next(notes, None)
    for item in items:
        while note is not None and note.step < item.step:
            yield note
            note = next(notes, None)
        yield item
    if note is not None:
        yield note
        yield from notes
