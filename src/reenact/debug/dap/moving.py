"""The moves that an editor knows, as moves of the traveller.

Python's own modules and installed packages are gone over unless the editor wants to see them. The
beginning is the first line of the program's own: before it there is only what starts a program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from reenact.debug.dap.messages import Refused
from reenact.debug.dap.sources import Sources
from reenact.debug.traveller import Frame, Move, Place, Stop, Traveller

ANY_DEPTH = 1 << 40


class Moves:
    """`goes_into` is for steps backwards: into what was called, not over it."""

    def __init__(
        self, traveller: Traveller, sources: Sources, just_mine: bool, goes_into: bool
    ) -> None:
        self._traveller = traveller
        self._sources = sources
        self._just_mine = just_mine
        self._goes_into = goes_into
        self._entry: Place | None = None

    def go_to_beginning(self) -> Stop:
        if self._entry is None:
            self._entry = self._find_entry()
        self._traveller.go_to(self._entry)
        return self._say("beginning")

    def forward(self) -> Stop:
        return self._traveller.forward()

    def backward(self) -> Stop:
        stop = self._traveller.backward()
        return self.go_to_beginning() if stop.why == "beginning" else stop

    def step_over(self, thread: int) -> Stop:
        return self._step(thread, self._depth(thread))

    def step_in(self, thread: int) -> Stop:
        return self._step(thread, ANY_DEPTH)

    def step_out(self, thread: int) -> Stop:
        own = self._own_frame(thread)
        return self._step(thread, ANY_DEPTH if own is None else own.depth - 1)

    def step_back(self, thread: int) -> Stop:
        """From the first line of a thread to the last one of the thread that started it."""
        here = self._traveller.stop.place
        depth = ANY_DEPTH if self._goes_into else self._depth(thread)
        while True:
            stop = self._traveller.backward(self._move(thread, depth))
            if thread == 0 or stop.thread == thread or self._has_lines_before(here, thread, depth):
                break
            thread, depth = self._parent(thread), ANY_DEPTH
            self._traveller.go_to(here)
        return self.go_to_beginning() if stop.why == "beginning" else stop

    def _has_lines_before(self, here: Place, thread: int, depth: int) -> bool:
        """Whether a step back would have got somewhere without breakpoints. Stays where it is."""
        before = self._traveller.stop
        with self._quietly():
            self._traveller.go_to(here)
            found = self._traveller.backward(self._move(thread, depth))
            self._traveller.go_to(before.place)
        self._traveller.stop = before
        return found.why != "beginning"

    def _step(self, thread: int, depth: int) -> Stop:
        if self._traveller.stop.place <= self._traveller.beginning:
            return self.go_to_beginning()
        return self._traveller.forward(self._move(thread, depth))

    def _move(self, thread: int, depth: int) -> Move:
        return Move(thread, depth, skips=self._sources.libraries if self._just_mine else ())

    def _depth(self, thread: int) -> int:
        stack = self._traveller.stack(thread)
        return stack[0].depth if stack else ANY_DEPTH

    def _own_frame(self, thread: int) -> Frame | None:
        stack = self._traveller.stack(thread)
        for frame in stack:
            if not self._just_mine or not self._sources.is_library(frame.file):
                return frame
        return stack[0] if stack else None

    def _parent(self, thread: int) -> int:
        recording = self._traveller.recording
        path, dot, _ = recording.thread_path(thread).rpartition(".")
        if not dot:
            raise Refused(f"it is not known what started thread {thread + 1}")
        return recording.thread_index(path)

    def _find_entry(self) -> Place:
        with self._quietly():
            self._traveller.go_to(self._traveller.beginning)
            stop = self._traveller.forward(Move(0, skips=self._sources.libraries))
        return stop.place if stop.why == "step" else self._traveller.beginning

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Nothing but moves stops meanwhile."""
        traveller = self._traveller
        kept = traveller.breakpoints, traveller.watches, traveller.stops_at_failures
        traveller.breakpoints, traveller.watches, traveller.stops_at_failures = {}, {}, False
        try:
            yield
        finally:
            traveller.breakpoints, traveller.watches, traveller.stops_at_failures = kept

    def _say(self, why: str) -> Stop:
        self._traveller.stop = replace(self._traveller.stop, why=why)
        return self._traveller.stop
