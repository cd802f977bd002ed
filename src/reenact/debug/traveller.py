"""Moving through a recording: the one interface of all front-ends.

A *place* is a step and the number of lines that were begun since it. The program is always looked
at in a copy that was brought to the place; going back means to go forward from an earlier copy.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from reenact.debug.checkpoints import Checkpoints
from reenact.debug.process import ENDS, Interruption, Process, ProcessGone, Reason
from reenact.engine import launch, replay
from reenact.errors import ReenactError
from reenact.recordings.reader import Recording

LIMIT_MB = 1024
_LAST = 1 << 40  # more lines than there are in a step: its end


class Place(NamedTuple):
    """Where an execution is; places are in order of time."""

    step: int
    line: int = 0

    def __str__(self) -> str:
        if self.line == 0:
            return f"{self.step}"
        return f"{self.step} (end)" if self.line >= _LAST else f"{self.step}+{self.line}"


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


class TravelError(ReenactError):
    """What was asked for cannot be done; the traveller is where it was."""


_END_WORDS = {Reason.END: "end", Reason.DEADLOCK: "deadlock", Reason.DIVERGED: "divergence"}


@dataclass
class Traveller:
    """A recording, open at one of its places."""

    recording: Recording
    limit_mb: int = LIMIT_MB
    breakpoints: dict[int, Breakpoint] = field(default_factory=dict)
    watches: dict[int, Watch] = field(default_factory=dict)
    stop: Stop = field(default=Stop(BEGINNING, 0, "beginning"))
    stops_at_failures: bool = False
    interruption: Interruption = field(default_factory=Interruption)

    def __post_init__(self) -> None:
        self._exits = ExitStack()
        self._prepare()
        self._copies = Checkpoints(self._start, self.limit_mb)
        self._exits.callback(self._copies.close)
        self._shown: Process | None = None
        self._end: Place | None = None
        self._diverges = False  # the replay itself does, at its end
        self._numbers = 0
        self._starts = 0
        self._failures: tuple[Failure, ...] | None = None

    def _prepare(self) -> None:
        """What `_start` needs."""
        replay.check_usable(self.recording)
        replay.check_modules(self.recording)
        self._read, self._write = self._exits.enter_context(replay.directories(self.recording))

    def __enter__(self) -> Traveller:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        if self._shown is not None:
            self._shown.close()
            self._shown = None
        self._exits.close()

    @property
    def refusal(self) -> str:
        """Why there are no checkpoints, so that everything is done from the beginning; or empty."""
        return self._copies.refusal

    @property
    def beginning(self) -> Place:
        return Place(self._copies.first)

    @property
    def checkpoints(self) -> list[int]:
        return self._copies.steps

    @property
    def last_step(self) -> int:
        return self.recording.last_step

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

    def _has_failed(self) -> bool:
        end = self.recording.end
        said = b"".join(self.recording.output(2))
        return (end is not None and end.exit_code != 0) or b"Traceback (most recent" in said

    def go_to_end(self) -> Stop:
        """The last step; in a process that dies of itself, the last line that it begins."""
        if self._end is not None and self._end.line < _LAST:
            return self._show(self._end, "end")
        try:
            process = self._copies.at_end(self.last_step)
        except ProcessGone:
            self._end = self._last_line()
            return self._show(self._end, "end")
        with _ended_on_error(process):
            said = process.talk()
            reason = Reason(said["reason"])
            self._end = Place(process.step, _LAST)
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
        if self._end is None or self._end.line >= _LAST:
            raise TravelError("a process of the replay has died, as the recorded one did not")
        return self._end

    def _end_at(self, place: list[int]) -> Place:
        return self._end if self._end is not None else Place(place[0], _LAST)

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
        if wanted.line >= _LAST or wanted.step > self.last_step >= 0:
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
            return _asked(self._shown, {"do": question, **more}, is_short=True)
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

    def failures(self) -> tuple[Failure, ...]:
        """All exceptions that nobody caught, in order of time. Looked for once, which takes as
        long as to go through the whole recording."""
        if self._failures is None:
            self._failures = self._find_failures() if self._has_failed() else ()
        return self._failures

    def last_write(self, text: str, thread: int, frame: int = 0) -> tuple[Place, int] | None:
        """Where the value of a name, an attribute or an item was written last before here, and by
        which thread."""
        found = self.last_writer(text, thread, frame)
        return None if found is None else (found.place, found.thread)

    def last_writer(self, text: str, thread: int, frame: int = 0) -> Write | None:
        """The same, with all that is known of it."""
        here = self.stop.place
        return self._last_write(_Meant(text, thread, frame, here), here)

    def begun(self, write: Write) -> Place:
        """Where the line began that writes: others may have run since."""
        if write.place.line > 0:
            return write.place
        for base, until in self._stretches_before(write.place):
            said = self._hunted(base, until, thread=write.thread, deepest=write.depth)
            if said["found"] is not None:
                return Place(*said["found"][:2])
        return write.place

    def meanwhile(self, text: str, thread: int, frame: int = 0) -> Write | None:
        """Which other thread writes to something after the line has begun that a thread is at, and
        before that line writes to it itself or is over; and where."""
        here = self.stop.place
        meant = _Meant(text, thread, frame, here)
        move = Move(thread, self.stack(thread)[frame].depth)
        with self._copy_at(here) as process:
            means = {"thread": thread, "frame": frame}
            self._hunt(process, written=text, means=means, **_moving(move))
            first = self._writes(process, meant)["first"]
        return None if first is None or first[2] == thread else _write(first)

    def watch(self, text: str, thread: int, index: int = 0) -> Watch:
        """Stop from now on where the expression is written to, or has changed."""
        from reenact.debug.writes import Written

        try:
            Written(text)
            is_written = True
        except ValueError:
            is_written = False
        except SyntaxError as error:
            raise TravelError(f"{text!r} is no expression: {error.msg}") from None
        stack = self.stack(thread)
        if not stack:
            raise TravelError(f"thread {thread} has no frame here")
        number = self.number()
        watch = Watch(number, text, thread, stack[index], self.stop.place, index, is_written)
        self.watches[number] = watch
        return watch

    def races(self) -> dict[str, Any]:
        """Raw findings (`engine/detecting.py`) of the race detector, from the beginning to here; it
        is told of attributes, items and variables that code of the program's own reads and
        writes."""
        with self._copy_at(self.beginning) as process:
            self._hunt(process, end=self.stop.place, races=True)
            process.say({"do": "races"})
            said = process.hear()
        if "error" in said:
            raise TravelError(said["error"])
        raw: dict[str, Any] = said["raw"]
        return raw

    def culprits(self, serials: Iterable[int]) -> list[dict[str, Any]]:
        """Which lines damage blocks of memory (`_core/culprits.c`), from the beginning to the end;
        stacks of the damage, the allocation and the free."""
        with self._copy_at(self.beginning) as process:
            self._hunt(process, end=Place(self.last_step, _LAST), serials=list(serials))
            process.say({"do": "culprits"})
            said = process.hear()
        if "error" in said:
            raise TravelError(said["error"])
        found: list[dict[str, Any]] = said["culprits"]
        return found

    def last_lines(self, count: int) -> list[tuple[int, str, int, Place]]:
        """The last lines of the program's own code that were begun before here: the thread, the
        file, the line, and where that was."""
        found: list[tuple[int, str, int, Place]] = []
        for base, until in self._stretches_before(self.stop.place):
            with self._copy_at(Place(base)) as process:
                self._hunt(process, end=until, lines=count)
                process.say({"do": "lines"})
                said = process.hear()
            lines = [(each[0], each[1], each[2], Place(*each[3:])) for each in said["lines"]]
            found = [*lines, *found][-count:]
            if len(found) == count:
                break
        return found

    # ---- how it is done ----

    def _start(self) -> Process:
        """A new replay, stopped at its beginning."""
        header = self.recording.header
        ours, theirs = socket.socketpair()
        self._starts += 1
        write = self._write / f"p{self._starts}"
        write.mkdir()
        (write / "header.json").write_text(header.to_json(), "utf-8")
        replay.enter(header.cwd, self.recording)
        to_start = replay.to_replay(self.recording, self._read, write)
        pid = launch.start_replay(to_start, theirs.detach())
        return Process(ours, pid, self.interruption, write)

    def _take(self, process: Process, said: dict[str, Any], why: str, place: Place) -> Stop:
        """The traveller is there from now on, and not before all is known of it."""
        thread = said["thread"]
        frames = _asked(process, {"do": "stack", "thread": thread})["frames"]
        if self._shown is not None:
            self._shown.close()
        self._shown = process
        self.stop = Stop(place, thread, why, stack=tuple(Frame(**each) for each in frames))
        return self.stop

    def _show(self, place: Place, why: str) -> Stop:
        if place.line >= _LAST:
            return self.go_to_end()
        process = self._copies.at(place.step)
        with _ended_on_error(process):
            said = process.talk()
            if place.line > 0:
                said = self._hunt(process, end=place)
            reason = Reason(said["reason"])
            if reason in ENDS:
                return self._take(process, said, _END_WORDS[reason], Place(process.step, _LAST))
            return self._take(process, said, why, Place(*said["place"]))

    def _hunt(self, process: Process, **request: Any) -> dict[str, Any]:
        """Have a process go on; where it is then."""
        end = request.pop("end", None)
        if end is not None:
            request["end"] = list(end)
        process.say({"do": "hunt", **request})
        said = process.hear()
        if said["reason"] == Reason.DIVERGED and self._end is not None and not self._diverges:
            what = said.get("outcome", "").replace("\t", " ").splitlines()[:4]
            raise TravelError("the replay diverged while it was looked at: " + "; ".join(what))
        return said

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
        if here.line >= _LAST or here == self._end:
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
            wrote = self._first_write(_meant(watch), here, place)
            if wrote is not None and wrote.place < place:
                place, why, hits, changed, is_end = (
                    wrote.place,
                    "watch",
                    (watch.number,),
                    None,
                    False,
                )
                writer, is_end = wrote, False
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

    def _why(self, hits: tuple[int, ...], changed: object) -> str:
        if changed or any(each in self.watches for each in hits):
            return "watch"
        return "breakpoint" if hits else "step"

    def _written(self) -> list[Watch]:
        return [each for each in self.watches.values() if each.is_written]

    def _failed(self) -> list[Place]:
        """The failures to stop at."""
        return [each.place for each in self.failures()] if self.stops_at_failures else []

    def _first_write(self, meant: _Meant, after: Place, before: Place) -> Write | None:
        """What a name means is known at the place where it was said: writes are noted up to there,
        or looked for from there on."""
        if meant.place > after:
            with self._copy_at(after) as process:
                self._hunt(process, end=meant.place, written=meant.text, after=list(after))
                first = self._writes(process, meant)["first"]
            if first is not None:
                return _write(first)
            after = meant.place
        with self._copy_at(meant.place) as process:
            means = {"thread": meant.thread, "frame": meant.frame}
            if after > meant.place:
                self._hunt(process, end=after, written=meant.text, means=means)
                means = {}
            more: dict[str, Any] = {"means": means} if means else {}
            more["after"] = list(after)
            said = self._hunt(process, end=before, written=meant.text, stops=True, **more)
            found = said["found"]
            if found is None:
                return None
            frames = _asked(process, {"do": "stack", "thread": found[2]})["frames"]
        return Write(Place(*found[:2]), found[2], frames[0]["depth"] if frames else 0)

    def _last_write(self, meant: _Meant, before: Place) -> Write | None:
        if meant.place < before:
            with self._copy_at(meant.place) as process:
                means = {"thread": meant.thread, "frame": meant.frame}
                self._hunt(process, end=before, written=meant.text, means=means)
                last = self._writes(process, meant)["last"]
            if last is not None:
                return _write(last)
            before = meant.place
        for base, until in self._stretches_before(before):
            last = self._last_write_in(base, until, meant)
            while last is not None and self._began_before(base, last):
                base = self._copies.before(base)
                last = self._last_write_in(base, until, meant)
            if last is not None:
                return _write(last)
        return None

    def _began_before(self, base: int, found: list[int]) -> bool:
        """Whether the line had begun already where the hunt began: then it is not known where."""
        return base > self.beginning.step and found[0] == base and found[1] == 0

    def _last_write_in(self, base: int, until: Place, meant: _Meant) -> list[int] | None:
        with self._copy_at(Place(base)) as process:
            self._hunt(process, end=until, backward=True, written=meant.text)
            self._go_on(process, until, meant.place)
            last: list[int] | None = self._writes(process, meant)["last"]
        return last

    def _go_on(self, process: Process, here: Place, place: Place) -> None:
        """Let a process that has hunted come to a place, with what it has noted."""
        if place.step > here.step and place.line < _LAST:
            self._hunt(process, end=Place(place.step), keeps=True)
        if place > here and place.line > 0:
            self._hunt(process, end=place, keeps=True)

    def _writes(self, process: Process, meant: _Meant) -> dict[str, Any]:
        where = {"thread": meant.thread, "frame": meant.frame}
        return _asked(process, {"do": "writes", "text": meant.text, **where})

    @contextmanager
    def _copy_at(self, place: Place) -> Iterator[Process]:
        """A process that talks, at a place; it is ended afterwards."""
        process = self._copies.at(place.step)
        try:
            process.talk()
            if place.line:
                self._hunt(process, end=place)
            yield process
        finally:
            process.close()

    def _stretches_before(self, here: Place) -> Iterator[tuple[int, Place]]:
        """Stretches of steps, the latest first, each from a copy on."""
        until = here
        if here.line > 0 and here.line < _LAST:
            yield here.step, here
            until = Place(here.step)
        while until > self.beginning:
            base = self._copies.before(until.step) if until.line < _LAST else until.step
            if until.line >= _LAST:
                base = self._copies.before(until.step + 1)
            yield base, until
            until = Place(base)

    def _best_backward(self, move: Move) -> _Found | None:
        here = self.stop.place
        best: _Found | None = None
        for watch in self._written():
            wrote = self._last_write(_meant(watch), here)
            if wrote is not None and (best is None or wrote.place > best[0]):
                best = (wrote.place, "watch", (watch.number,), None, wrote)
        for base, until in self._stretches_before(here):
            if best is not None and until <= best[0]:
                break
            said = self._hunted(base, until, **_moving(move), **self._look())
            if said["found"] is not None:
                place = Place(*said["found"][:2])
                if best is None or place > best[0]:
                    hits = tuple(said.get("hit") or ())
                    changed = said.get("changed") or None
                    values = (changed[0], changed[1]) if changed else None
                    best = (place, self._why(hits, changed), hits, values, None)
                break
        failed = max((each for each in self._failed() if each < here), default=None)
        if failed is not None and (best is None or failed >= best[0]):
            hits, values = best[2:4] if best is not None and failed == best[0] else ((), None)
            best = (failed, "failure", hits, values, None)
        return best

    def _hunted(self, base: int, until: Place, **request: Any) -> dict[str, Any]:
        with self._copy_at(Place(base)) as process:
            return self._hunt(process, end=until, backward=True, **request)

    def _last_failure(self) -> Place | None:
        for base, until in self._stretches_before(self.stop.place):
            said = self._hunted(base, until, failures=True)
            while said["found"] is not None and self._began_before(base, said["found"]):
                base = self._copies.before(base)
                said = self._hunted(base, until, failures=True)
            if said["found"] is not None:
                return Place(*said["found"][:2])
        return None

    def _find_failures(self) -> tuple[Failure, ...]:
        with self._copy_at(self.beginning) as process:
            try:
                said = self._hunt(process, failures=True)
            except ProcessGone:
                return ()
        found = [Failure(Place(*each.pop("place")), **each) for each in said["failures"]]
        return tuple(sorted(found, key=lambda each: each.place))


_Found = tuple[Place, str, tuple[int, ...], tuple[str, str] | None, Write | None]


def _write(noted: list[int]) -> Write:
    step, line, thread, depth = noted
    return Write(Place(step, line), thread, depth)


@contextmanager
def _ended_on_error(process: Process) -> Iterator[None]:
    try:
        yield
    except BaseException:
        process.close()
        raise


def _asked(process: Process, request: dict[str, Any], is_short: bool = False) -> dict[str, Any]:
    process.say(request)
    said = process.hear(is_short)
    if "error" in said:
        raise TravelError(said["error"])
    return said


def _moving(move: Move) -> dict[str, Any]:
    how_far = {"thread": move.thread, "deepest": move.deepest, "least": move.least}
    return {**how_far, "skips": list(move.skips)}


@dataclass(frozen=True, slots=True)
class _Meant:
    """Something that can be written to, as a frame at a place has it."""

    text: str
    thread: int
    frame: int
    place: Place


def _meant(watch: Watch) -> _Meant:
    return _Meant(watch.text, watch.thread, watch.index, watch.place)
