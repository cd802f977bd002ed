"""What a journey through a recording is told in: places, frames, stops, and what to look out for.

A *place* is a step and the number of lines that were begun since it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from reenact.errors import ReenactError

LAST = 1 << 40  # more lines than there are in a step: its end


class Place(NamedTuple):
    """Where an execution is; places are in order of time."""

    step: int
    line: int = 0

    def __str__(self) -> str:
        if self.line == 0:
            return f"{self.step}"
        return f"{self.step} (end)" if self.line >= LAST else f"{self.step}+{self.line}"


BEGINNING = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Frame:
    """A call that has not returned. `depth` counts all frames below it."""

    file: str
    line: int
    function: str
    depth: int
    first: int


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A line to stop at."""

    number: int
    file: str
    line: int
    condition: str = ""
    is_temporary: bool = False
    is_enabled: bool = True


@dataclass(frozen=True, slots=True)
class Watch:
    """An expression; one that can be written to stops at the lines that write to it, any other at
    lines after which it has another value. Names mean what they mean in the frame."""

    number: int
    text: str
    thread: int
    frame: Frame
    place: Place
    index: int  # of the frame, at the place
    is_written: bool


@dataclass(frozen=True, slots=True)
class Move:
    """How far to go: over lines of one thread that are at most so deep, from a line on, and not in
    files whose names begin so; without a thread, to the next breakpoint or watched expression."""

    thread: int = -1
    deepest: int = 1 << 40
    least: int = 0
    skips: tuple[str, ...] = ()


TO_THE_NEXT_STOP = Move()


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the traveller is: `why` is step, breakpoint, watch, beginning, end, deadlock,
    divergence, failure or place."""

    place: Place
    thread: int
    why: str
    hits: tuple[int, ...] = ()
    changed: tuple[str, str] | None = None
    stack: tuple[Frame, ...] = ()
    index: int = 0  # of the frame that it is about: one that writes may wait for a call to return

    @property
    def frame(self) -> Frame | None:
        return self.stack[0] if self.stack else None


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that nobody caught: where the line began that raised it, and in which thread."""

    place: Place
    thread: int
    kind: str
    message: str
    trace: str


class Write(NamedTuple):
    """A write: the last place before it that can be gone to, where its line began or its thread
    went on with it; the thread, and how deep the frame is."""

    place: Place
    thread: int
    depth: int


@dataclass(frozen=True, slots=True)
class Meant:
    """Something that can be written to, as a frame at a place has it."""

    text: str
    thread: int
    frame: int
    place: Place

    @classmethod
    def by(cls, watch: Watch) -> Meant:
        return cls(watch.text, watch.thread, watch.index, watch.place)


class TravelError(ReenactError):
    """What was asked for cannot be done; the traveller is where it was."""
