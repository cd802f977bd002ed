"""Schedules as text: where a thread gives way, and to whom, in words that outlive edits.

    reenact schedule 1
    run bank:main
    python 3.11
    points accesses
    0.1 at Account.withdraw+2 before write of balance, first time: 0 goes on
    0 waits at main+6 before read of threads, second time: 0.2 goes on

Owns the form, both ways. Threads are named by their paths: 0.2 is the second one that 0 started.
A place is a function, a line counted from the function's first one, and what the thread is about to
do there; so what stands elsewhere in the file does not matter, nor the Python version. A line holds
for a run in which all lines before it have happened. Where nothing is said, the running thread
goes on as long as it can, then the one that was started first.

From switches to text leads a run with a `trail.Trail`; from text to a run leads `follow.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reenact.errors import UsageError
from reenact.explore.trail import Event, Place
from reenact.strategies.searching import AMONG, FORCED, PREEMPTS, Switch

VERSION = 1
_HEAD = "reenact schedule"
_TIMES = ("first", "second", "third")
_PLACE = (
    r"(?P<function>\S+)\+(?P<offset>\d+)(?: in (?P<via>\S+))? before (?P<operation>[a-z ]+?)"
    r"(?: of (?P<name>\S+))?, (?P<times>\w+) time"
)
_LINE = re.compile(
    rf"(?P<thread>\d+(?:\.\d+)*) (?P<verb>at|waits at|ends after) (?:its start|{_PLACE}): "
    r"(?:(?P<to>\d+(?:\.\d+)*)|task (?P<task>\d+)) goes on"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One line: at this place of a thread another goes on. Without a place, it is at its start."""

    thread: str
    place: Place | None
    occurrence: int
    kind: int
    to: str  # a thread, or the position of a task
    has_ended: bool = False

    def __str__(self) -> str:
        where = "its start"
        if self.place is not None:
            where = f"{self.place}, {_ordinal(self.occurrence)} time"
        verb = "at"
        if self.kind == FORCED:
            verb = "ends after" if self.has_ended else "waits at"
        whom = f"task {self.to}" if self.kind == AMONG else self.to
        return f"{self.thread} {verb} {where}: {whom} goes on"

    @classmethod
    def parse(cls, line: str) -> Turn:
        found = _LINE.fullmatch(line)
        if found is None:
            raise ValueError("is no line of a schedule: THREAD at PLACE: THREAD goes on")
        place = None
        if found["function"] is not None:
            place = Place(
                found["function"],
                int(found["offset"]),
                found["via"] or "",
                found["operation"],
                found["name"] or "",
            )
        kind = PREEMPTS if found["verb"] == "at" else FORCED
        if found["task"] is not None:
            kind = AMONG
        return cls(
            found["thread"],
            place,
            _number(found["times"]) if found["times"] else 0,
            kind,
            found["to"] or found["task"],
            found["verb"] == "ends after",
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule with what it is of."""

    what: str  # was run, as a user would name it
    python: str
    points: str
    turns: tuple[Turn, ...]

    def text(self) -> str:
        head = [
            f"{_HEAD} {VERSION}",
            f"run {self.what}",
            f"python {self.python}",
            f"points {self.points}",
        ]
        return "\n".join([*head, *map(str, self.turns)]) + "\n"

    @property
    def first_turn_line(self) -> int:
        """The number of the line of the first turn in `text`."""
        return 5

    @classmethod
    def parse(cls, text: str) -> Schedule:
        lines = [
            (number, line.strip())
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.strip().startswith("#")
        ]
        _check_head(lines[0] if lines else (1, ""))
        fields = {"run": "", "python": "", "points": "accesses"}
        turns: list[Turn] = []
        for number, line in lines[1:]:
            word, _, rest = line.partition(" ")
            if word in fields and not turns:
                fields[word] = rest
                continue
            try:
                turns.append(Turn.parse(line))
            except ValueError as error:
                raise _error(number, f"{line!r} {error}") from None
        if fields["points"] not in ("sync", "ticks", "accesses"):
            raise _error(0, f"there are no points called {fields['points']!r}")
        return cls(fields["run"], fields["python"], fields["points"], tuple(turns))


def _check_head(first: tuple[int, str]) -> None:
    number, line = first
    version = line.removeprefix(_HEAD).strip()
    if not line.startswith(_HEAD) or not version.isdecimal():
        raise _error(number, f"is no schedule: it must begin with '{_HEAD} {VERSION}'")
    if int(version) != VERSION:
        raise _error(number, f"is of version {version}, and only {VERSION} is known here")


def _error(number: int, what: str) -> UsageError:
    return UsageError(what, where=f"schedule, line {number}" if number else "schedule")


def turns_of(
    switches: Sequence[Switch], events: Sequence[Event], paths: Sequence[str]
) -> tuple[Turn, ...]:
    """The switches of a run in words, from its trail and the paths of its threads."""
    at = {(event.index, event.position): event for event in events}
    last = {event.index: event.position for event in events}
    return tuple(_turn(switch, at, last, paths) for switch in switches)


def _turn(
    switch: Switch,
    at: dict[tuple[int, int], Event],
    last: dict[int, int],
    paths: Sequence[str],
) -> Turn:
    event = at.get((switch.thread, switch.position))
    is_over = switch.kind == FORCED and last.get(switch.thread, 0) == switch.position
    return Turn(
        paths[switch.thread],
        None if event is None else event.place,
        0 if event is None else event.occurrence,
        switch.kind,
        str(switch.to) if switch.kind == AMONG else paths[switch.to],
        is_over and event is not None and event.order >= 0,
    )


def _ordinal(number: int) -> str:
    if number <= len(_TIMES):
        return _TIMES[number - 1]
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else suffix}"


def _number(word: str) -> int:
    if word in _TIMES:
        return _TIMES.index(word) + 1
    if word[:-2].isdecimal():
        return int(word[:-2])
    raise ValueError(f"has {word!r} where a word such as 'first' or '4th' should be")
