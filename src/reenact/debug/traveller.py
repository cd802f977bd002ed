"""Moving through a recording: the one interface of all front-ends.

Somebody is always at one place, at which a process is shown. Going back means to go forward from an
earlier copy (`reaching.py`); what is looked for on the way is found by `finding.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from reenact.debug.finding import Finding, write_of
from reenact.debug.places import (
    BEGINNING,
    LAST,
    TO_THE_NEXT_STOP,
    Breakpoint,
    Failure,
    Frame,
    Meant,
    Move,
    Place,
    Stop,
    TravelError,
    Watch,
    Write,
)
from reenact.debug.process import ENDS, Process, ProcessGone, Reason
from reenact.debug.reaching import LIMIT_MB, asked

__all__ = [
    "BEGINNING",
    "LIMIT_MB",
    "TO_THE_NEXT_STOP",
    "Breakpoint",
    "Failure",
    "Frame",
    "Move",
    "Place",
    "Stop",
    "TravelError",
    "Traveller",
    "Watch",
    "Write",
]

_END_WORDS = {Reason.END: "end", Reason.DEADLOCK: "deadlock", Reason.DIVERGED: "divergence"}


@dataclass
class Traveller(Finding):
    """A recording, open at one of its places."""

    breakpoints: dict[int, Breakpoint] = field(default_factory=dict)
    watches: dict[int, Watch] = field(default_factory=dict)
    stops_at_failures: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._shown: Process | None = None
        self._numbers = 0

    def close(self) -> None:
        """End all processes."""
        if self._shown is not None:
            self._shown.close()
            self._shown = None
        super().close()

    def number(self) -> int:
        """Of the next breakpoint or watch."""
        self._numbers += 1
        return self._numbers

    # ---- where to ----

    def open(self) -> Stop:
        """Go to the failure if there was one, else to the end."""
        self.go_to_end()
        if self.stop.why == "end" and self._has_failed():
            found = self._last_failure()
            if found is not None:
                self._show(found, "failure")
        return self.stop

    def go_to_end(self) -> Stop:
        """The last step; in a process that dies of itself, the last line that it begins."""
        if self._end is not None and self._end.line < LAST:
            return self._show(self._end, "end")
        try:
            process = self._copies.at_end(self.last_step)
        except ProcessGone:
            self._end = self._last_line()
            return self._show(self._end, "end")
        with _ended_on_error(process):
            said = process.talk()
            reason = Reason(said["reason"])
            self._end = Place(process.step, LAST)
            self._diverges = reason == Reason.DIVERGED
            return self._take(process, said, _END_WORDS.get(reason, "end"), self._end)

    def _last_line(self) -> Place:
        """Of a process that os._exit or a fatal signal ends, after its last step."""
        step = self.last_step
        reached, beyond = 0, 1
        while self._is_reached(Place(step, beyond)):
            reached, beyond = beyond, 2 * beyond
        while beyond - reached > 1:
            middle = (reached + beyond) // 2
            if self._is_reached(Place(step, middle)):
                reached = middle
            else:
                beyond = middle
        return Place(step, reached)

    def _is_reached(self, place: Place) -> bool:
        process = self._copies.at(place.step)
        try:
            process.talk()
            return Reason(self._hunt(process, end=place)["reason"]) not in ENDS
        except ProcessGone:
            return False
        finally:
            process.close()

    def _death(self) -> Place:
        """The end, if the program itself ends its process there."""
        if self._end is None:
            here = self.stop
            self.go_to_end()
            self.stop = here
        if self._end is None or self._end.line >= LAST:
            raise TravelError("a process of the replay has died, as the recorded one did not")
        return self._end

    def _end_at(self, place: list[int]) -> Place:
        return self._end if self._end is not None else Place(place[0], LAST)

    @property
    def end(self) -> Place:
        if self._end is None:
            here = self.stop.place
            self.go_to_end()
            self.go_to(here)
        assert self._end is not None
        return self._end

    def go_to(self, place: Place | int) -> Stop:
        """Go to a place; beyond the end is the end."""
        wanted = place if isinstance(place, Place) else Place(place)
        if wanted.step < 0 or wanted.line < 0:
            raise TravelError(f"there is no step {wanted.step}: steps begin with 0")
        if wanted.line >= LAST or wanted.step > self.last_step >= 0:
            return self.go_to_end()
        return self._show(wanted, "beginning" if wanted <= self.beginning else "place")

    def forward(self, move: Move = TO_THE_NEXT_STOP) -> Stop:
        """Go on until the move is done, a breakpoint, a watched write or the end."""
        return self._hunt_forward(move)

    def backward(self, move: Move = TO_THE_NEXT_STOP) -> Stop:
        """The same in the other direction, down to the beginning."""
        found = self._best_backward(move)
        if found is None:
            return self._show(self.beginning, "beginning")
        place, why, hits, changed, writer = found
        self._show(place, why)
        self._turn_to(writer)
        self.stop = replace(self.stop, hits=hits, changed=changed)
        return self.stop

    def go_to_write(self, write: Write) -> Stop:
        """Go to a write, and look at the frame that writes."""
        self._show(write.place, "place")
        self._turn_to(write)
        return self.stop

    def _turn_to(self, write: Write | None) -> None:
        if write is None:
            return
        same = write.thread == self.stop.thread
        stack = self.stop.stack if same else self.stack(write.thread)
        depths = [each.depth for each in stack]
        index = depths.index(write.depth) if write.depth in depths else 0
        self.stop = replace(self.stop, thread=write.thread, stack=stack, index=index)

    # ---- questions ----

    def ask(self, question: str, **more: Any) -> dict[str, Any]:
        """What the agent says of the program, here."""
        if self._shown is None:
            if not self._starts:
                raise TravelError("the recording is not open at any place")
            self._show_again()
        assert self._shown is not None
        try:
            return asked(self._shown, {"do": question, **more}, is_short=True)
        except TravelError:
            raise
        except BaseException:  # it may still talk of this when it is asked something else
            self._shown.close()
            self._shown = None
            raise

    def _show_again(self) -> None:
        stop = self.stop
        self._show(stop.place, stop.why)
        self.stop = stop

    def stack(self, thread: int) -> tuple[Frame, ...]:
        return tuple(Frame(**each) for each in self.ask("stack", thread=thread)["frames"])

    def meanwhile(self, text: str, thread: int, frame: int = 0) -> Write | None:
        """Which other thread writes to something after the line has begun that a thread is at, and
        before that line writes to it itself or is over; and where."""
        here = self.stop.place
        meant = Meant(text, thread, frame, here)
        move = Move(thread, self.stack(thread)[frame].depth)
        with self._copy_at(here) as process:
            means = {"thread": thread, "frame": frame}
            self._hunt(process, written=text, means=means, **_moving(move))
            first = self._writes(process, meant)["first"]
        return None if first is None or first[2] == thread else write_of(first)

    def watch(self, text: str, thread: int, index: int = 0) -> Watch:
        """Stop from now on where the expression is written to, or has changed."""
        from reenact.debug.writes import Written

        try:
            written = Written(text)
        except ValueError:
            written = None
        except SyntaxError as error:
            raise TravelError(f"{text!r} is no expression: {error.msg}") from None
        stack = self.stack(thread)
        if not stack:
            raise TravelError(f"thread {thread} has no frame here")
        for part in () if written is None else written.parts:
            said = self.ask("evaluate", text=part, thread=thread, frame=index)
            if "raised" in said:
                why = f"{said['raised']}: {said['message']}"
                raise TravelError(f"{text!r} means nothing here: {why}")
        number, is_written = self.number(), written is not None
        watch = Watch(number, text, thread, stack[index], self.stop.place, index, is_written)
        self.watches[number] = watch
        return watch

    # ---- how it is done ----

    def _take(self, process: Process, said: dict[str, Any], why: str, place: Place) -> Stop:
        """The traveller is there from now on, and not before all is known of it."""
        thread = said["thread"]
        frames = asked(process, {"do": "stack", "thread": thread})["frames"]
        if self._shown is not None:
            self._shown.close()
        self._shown = process
        self.stop = Stop(place, thread, why, stack=tuple(Frame(**each) for each in frames))
        return self.stop

    def _show(self, place: Place, why: str) -> Stop:
        if place.line >= LAST:
            return self.go_to_end()
        process = self._copies.at(place.step)
        with _ended_on_error(process):
            said = process.talk()
            if place.line > 0:
                said = self._hunt(process, end=place)
            reason = Reason(said["reason"])
            if reason in ENDS:
                return self._take(process, said, _END_WORDS[reason], self._end_at(said["place"]))
            return self._take(process, said, why, Place(*said["place"]))

    def _look(self) -> dict[str, Any]:
        """What a hunt has to stop for, apart from the move."""
        return {
            "breakpoints": [
                {
                    "number": each.number,
                    "file": each.file,
                    "line": each.line,
                    "condition": each.condition,
                }
                for each in self.breakpoints.values()
                if each.is_enabled
            ],
            "expressions": [
                {
                    "number": each.number,
                    "text": each.text,
                    "thread": each.thread,
                    "code": [each.frame.file, each.frame.function],
                }
                for each in self.watches.values()
                if not each.is_written
            ],
        }

    def _hunt_forward(self, move: Move) -> Stop:
        here = self.stop.place
        if here.line >= LAST or here == self._end:
            return self.stop
        with self._copy_at(here) as process:
            try:
                said = self._hunt(process, **_moving(move), **self._look())
            except ProcessGone:
                said = {"reason": Reason.END, "place": self._death()}
        hits = tuple(said.get("hit") or ())
        changed = said.get("changed") or None
        why = self._why(hits, changed)
        is_end = Reason(said["reason"]) in ENDS
        place = self._end_at(said["place"]) if is_end else Place(*said["place"])
        writer: Write | None = None
        for watch in self._written():
            wrote = self._first_write_up_to(place, Meant.by(watch), here)
            if wrote is None or wrote.place > place:
                continue
            if wrote.place < place:
                place, hits, changed, is_end = wrote.place, (), None, False
            why, hits, writer = "watch", (*hits, watch.number), wrote
        failed = next((each for each in self._failed() if here < each <= place), None)
        if failed is not None:
            hits, changed = (hits, changed) if failed == place else ((), None)
            place, why, is_end, writer = failed, "failure", False, None
        if is_end:
            return self.go_to_end()
        self._show(place, why)
        self._turn_to(writer)
        values = (changed[0], changed[1]) if changed else None
        self.stop = replace(self.stop, hits=hits, changed=values)
        return self.stop

    def _first_write_up_to(self, place: Place, meant: Meant, after: Place) -> Write | None:
        """The line that begins there may write as well, unless the process ends in it."""
        try:
            return self._first_write(meant, after, Place(place.step, place.line + 1))
        except ProcessGone:
            return self._first_write(meant, after, place)

    def _why(self, hits: tuple[int, ...], changed: object) -> str:
        if changed or any(each in self.watches for each in hits):
            return "watch"
        return "breakpoint" if hits else "step"

    def _written(self) -> list[Watch]:
        return [each for each in self.watches.values() if each.is_written]

    def _failed(self) -> list[Place]:
        """The failures to stop at."""
        return [each.place for each in self.failures()] if self.stops_at_failures else []

    def _best_backward(self, move: Move) -> _Found | None:
        here = self.stop.place
        best: _Found | None = None
        for watch in self._written():
            wrote = self._last_write(Meant.by(watch), here)
            if wrote is not None and (best is None or wrote.place >= best[0]):
                others = best[2] if best is not None and wrote.place == best[0] else ()
                best = (wrote.place, "watch", (*others, watch.number), None, wrote)
        for base, until in self._stretches_before(here):
            if best is not None and until <= best[0]:
                break
            said = self._hunted(base, until, **_moving(move), **self._look())
            if said["found"] is not None:
                place = Place(*said["found"][:2])
                hits = tuple(said.get("hit") or ())
                changed = said.get("changed") or None
                values = (changed[0], changed[1]) if changed else None
                if best is not None and place == best[0]:
                    best = (place, "watch", (*hits, *best[2]), values, best[4])
                elif best is None or place > best[0]:
                    best = (place, self._why(hits, changed), hits, values, None)
                break
        failed = max((each for each in self._failed() if each < here), default=None)
        if failed is not None and (best is None or failed >= best[0]):
            hits, values = best[2:4] if best is not None and failed == best[0] else ((), None)
            best = (failed, "failure", hits, values, None)
        return best


_Found = tuple[Place, str, tuple[int, ...], tuple[str, str] | None, Write | None]


@contextmanager
def _ended_on_error(process: Process) -> Iterator[None]:
    try:
        yield
    except BaseException:
        process.close()
        raise


def _moving(move: Move) -> dict[str, Any]:
    how_far = {"thread": move.thread, "deepest": move.deepest, "least": move.least}
    return {**how_far, "skips": list(move.skips)}
