"""Every error reenact raises on purpose, grouped by who is at fault.

An error builds its text from its fields: where, what happened, what to do next, and a slug
that `docs/messages.md` explains. Everybody raises these; the command line prints them. How an
error becomes an exit code is not decided here but in `cli/exits.py`.
"""

from __future__ import annotations

import os
from typing import ClassVar, Literal

Fault = Literal[
    "missing",
    "unreadable",
    "foreign",
    "newer",
    "older",
    "truncated",
    "damaged",
    "oversized",
    "unfit",
]


class ReenactError(Exception):
    """Something reenact can name. `str()` of it is one line, ready to print."""

    slug: str = "error"

    def __init__(self, what: str, *, where: str = "", advice: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" {self.advice}" if self.advice else ""
        return f"{place}{self.what}.{advice} [{self.slug}]"


class UsageError(ReenactError):
    """The command, or the call, asks for something that cannot be done."""

    slug = "usage"


class RecordingError(ReenactError):
    """A recording cannot be used; `fault` says in which way, `reason` what was seen."""

    advices: ClassVar[dict[Fault, str]] = {
        "missing": "Check the path; `reenact record` prints the path of what it wrote.",
        "unreadable": "Check the file's permissions and the disk it is on.",
        "foreign": "Give a file NAME.reenact or a directory NAME.reenact.d.",
        "newer": "Update reenact to read it, for example `pip install --upgrade reenact`.",
        "older": "Record again, or use it with the reenact that made it.",
        "truncated": "Copy it again from where it came from, or record again.",
        "damaged": "Copy it again from where it came from, or record again.",
        "oversized": "If you trust where it came from, read it where it was made.",
        "unfit": "Use it with the Python and in the place it was recorded with.",
    }

    def __init__(
        self, path: str | os.PathLike[str], fault: Fault, reason: str, advice: str | None = None
    ) -> None:
        advice = self.advices[fault] if advice is None else advice
        super().__init__(reason, where=os.fspath(path), advice=advice)
        self.path = os.fspath(path)
        self.fault = fault
        self.reason = reason
        self.slug = f"recording-{fault}"


class Divergence(ReenactError):
    """A replay did something the recording does not allow."""

    slug = "divergence"

    def __init__(self, *, reason: str, step: int, thread: str, report: str) -> None:
        super().__init__(
            report,
            advice="Compare the sources and inputs with those of the recorded run; "
            "`reenact info` lists the files that changed.",
        )
        self.reason = reason
        self.step = step
        self.thread = thread
        self.report = report


class StaleSchedule(ReenactError):
    """A schedule says nothing about the program as it is now: `line` of it has no place there."""

    slug = "stale-schedule"

    def __init__(self, *, line: int, turn: str, reason: str) -> None:
        super().__init__(
            f"the program has changed since the schedule was made: {reason} ({turn})",
            where=f"schedule, line {line}",
            advice="Explore again for a schedule of the program as it is now.",
        )
        self.line = line
        self.turn = turn
        self.reason = reason


class Deadlock(ReenactError):
    """All threads of a run wait for ever; `threads` says for what, one line for each."""

    slug = "deadlock"

    def __init__(self, what: str, threads: tuple[str, ...] = ()) -> None:
        super().__init__("; ".join((what, *threads)))
        self.threads = threads


class Livelock(ReenactError):
    """A run came to no end within its step limit."""

    slug = "livelock"


class InternalError(ReenactError):
    """A bug in us: an invariant of reenact does not hold."""

    slug = "internal"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"internal error: {what}",
            advice="This is a bug in reenact; please report it with the recording.",
        )


class ExecutionAborted(BaseException):
    """Ends the program's threads from within. Not an Exception, so that the program's own
    `except Exception` cannot swallow it."""

    slug = "aborted"


def slugs() -> tuple[str, ...]:
    """Every slug there is; `docs/messages.md` has an entry for each."""
    faults = [f"recording-{fault}" for fault in RecordingError.advices]
    classes = (
        UsageError,
        Divergence,
        StaleSchedule,
        Deadlock,
        Livelock,
        InternalError,
        ExecutionAborted,
    )
    return (*faults, *(each.slug for each in classes))
