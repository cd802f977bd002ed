"""The outcome member: the program's own report of a deadlock or a divergence.

`streams.py` parses it with this; the launcher turns it into words or an error. It is a report
and decides nothing, so a line that cannot be understood is passed over: a report with a hole
is better than none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from reenact.events import Names
from reenact.recordings.state import STATUSES

LIMIT = 1 << 24


@dataclass(frozen=True, slots=True)
class RecordedOperation:
    """What the recording expected; the site is that of the recording."""

    site: int
    thread: int
    object: int
    step: int


@dataclass(frozen=True, slots=True)
class ReplayedOperation:
    """What the replay came to instead."""

    operation: str
    thread: int
    object: int
    step: int
    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A schedule entry that was expected, or what was done instead of obeying it."""

    what: str
    argument: int
    step: int


@dataclass(frozen=True, slots=True)
class ClockRead:
    clock: int


@dataclass(frozen=True, slots=True)
class InputTaken:
    """A call of the table whose outcome is kept, or in words what became of it."""

    call: str


Side = RecordedOperation | ReplayedOperation | Turn | ClockRead | InputTaken


@dataclass(frozen=True, slots=True)
class Frame:
    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class ThreadReport:
    """Where a thread was. `owner` is the index of the thread it waits for, if there is one."""

    index: int
    status: str
    operation: str
    object_kind: str
    object: int
    owner: int | None
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """`thread` is -1 if none ran."""

    reason: str = ""
    step: int = 0
    thread: int = -1
    expected: Side | None = None
    actual: Side | None = None
    threads: tuple[ThreadReport, ...] = field(default=())


def parse_outcome(data: bytes, names: Names) -> Outcome | None:
    """None if nothing was reported."""
    if not data:
        return None
    report = _Report(names)
    for line in data.decode("utf-8", "backslashreplace").split("\n"):
        kind, *fields = line.split("\t")
        if kind in report.takers:
            try:
                report.takers[kind](fields)
            except (ValueError, IndexError):
                continue
    return report.outcome()


class _Report:
    """Collects the lines; ValueError or IndexError if one lacks what it should have."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._outcome = Outcome()
        self._threads: list[tuple[ThreadReport, list[Frame]]] = []
        self.takers: dict[str, Callable[[list[str]], None]] = {
            "reason": self._reason,
            "at": self._at,
            "expected": self._expected,
            "actual": self._actual,
            "thread": self._thread,
            "frame": self._frame,
        }

    def outcome(self) -> Outcome:
        threads = tuple(replace(each, frames=tuple(frames)) for each, frames in self._threads)
        return replace(self._outcome, threads=threads)

    def _reason(self, fields: list[str]) -> None:
        self._outcome = replace(self._outcome, reason=fields[0])

    def _at(self, fields: list[str]) -> None:
        self._outcome = replace(self._outcome, step=int(fields[0]), thread=int(fields[1]))

    def _expected(self, fields: list[str]) -> None:
        side = self._side(fields) or RecordedOperation(*map(int, fields[1:5]))
        self._outcome = replace(self._outcome, expected=side)

    def _actual(self, fields: list[str]) -> None:
        self._outcome = replace(self._outcome, actual=self._side(fields) or self._replayed(fields))

    def _side(self, fields: list[str]) -> Side | None:
        """What both sides write in the same way; None for an operation."""
        if fields[0] == "schedule":
            return Turn(fields[1], int(fields[2]), int(fields[3]))
        if fields[0] == "clock":
            return ClockRead(int(fields[1]))
        if fields[0] == "input":
            return InputTaken(fields[1])
        if fields[0] != "operation":
            raise ValueError(fields[0])
        return None

    def _replayed(self, fields: list[str]) -> ReplayedOperation:
        kind, thread, number, step = map(int, fields[1:5])
        file, line, function = fields[5:8]
        operation = self._names.operation(kind)
        return ReplayedOperation(operation, thread, number, step, file, int(line), function)

    def _thread(self, fields: list[str]) -> None:
        index, status, kind, object_kind, number, owner = map(int, fields[:6])
        report = ThreadReport(
            index,
            STATUSES[status] if 0 <= status < len(STATUSES) else f"status {status}",
            self._names.operation(kind),
            self._names.object(object_kind),
            number,
            owner if owner >= 0 else None,
        )
        self._threads.append((report, []))

    def _frame(self, fields: list[str]) -> None:
        file, line, function = fields[:3]
        self._threads[-1][1].append(Frame(file, int(line), function))
