"""What takes a hunt through a recording to find: who wrote a value, failures, races, last lines.

Nobody goes anywhere for it. What a name means is known at a place; writes before that are noted by
what could be meant, and told when a copy has come there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from reenact.debug.places import BEGINNING, LAST, Failure, Meant, Place, Stop, TravelError, Write
from reenact.debug.process import Process, ProcessGone
from reenact.debug.reaching import Reaching, asked


@dataclass
class Finding(Reaching):
    """`stop` is where somebody is who asks."""

    stop: Stop = field(default=Stop(BEGINNING, 0, "beginning"))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._failures: tuple[Failure, ...] | None = None

    # ---- writes ----

    def last_write(self, text: str, thread: int, frame: int = 0) -> tuple[Place, int] | None:
        """Where the value of a name, an attribute or an item was written last before here, and by
        which thread."""
        found = self.last_writer(text, thread, frame)
        return None if found is None else (found.place, found.thread)

    def last_writer(self, text: str, thread: int, frame: int = 0) -> Write | None:
        """The same, with all that is known of it."""
        here = self.stop.place
        return self._last_write(Meant(text, thread, frame, here), here)

    def begun(self, write: Write) -> Place:
        """Where the line began that writes: others may have run since."""
        if write.place.line > 0:
            return write.place
        for base, until in self._stretches_before(write.place):
            said = self._hunted(base, until, thread=write.thread, deepest=write.depth)
            if said["found"] is not None:
                return Place(*said["found"][:2])
        return write.place

    def _first_write(self, meant: Meant, after: Place, before: Place) -> Write | None:
        """What a name means is known at the place where it was said: writes are noted up to there,
        or looked for from there on."""
        if meant.place > after:
            with self._copy_at(after) as process:
                self._hunt(process, end=meant.place, written=meant.text, after=list(after))
                first = self._writes(process, meant)["first"]
            if first is not None:
                return write_of(first)
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
            frames = asked(process, {"do": "stack", "thread": found[2]})["frames"]
        return Write(Place(*found[:2]), found[2], frames[0]["depth"] if frames else 0)

    def _last_write(self, meant: Meant, before: Place) -> Write | None:
        if meant.place < before:
            with self._copy_at(meant.place) as process:
                means = {"thread": meant.thread, "frame": meant.frame}
                self._hunt(process, end=before, written=meant.text, means=means)
                last = self._writes(process, meant)["last"]
            if last is not None:
                return write_of(last)
            before = meant.place
        for base, until in self._stretches_before(before):
            last, is_all = self._last_write_in(base, until, meant)
            while last is not None and self._began_before(base, last):
                base = self._copies.before(base)
                last, is_all = self._last_write_in(base, until, meant)
            if last is not None:
                return write_of(last)
            if is_all:
                break
        return None

    def _last_write_in(
        self, base: int, until: Place, meant: Meant
    ) -> tuple[list[int] | None, bool]:
        """And whether there is nothing before: the variable itself is no older."""
        with self._copy_at(Place(base)) as process:
            self._hunt(process, end=until, backward=True, written=meant.text)
            self._go_on(process, until, meant.place)
            said = self._writes(process, meant)
        return said["last"], said["begun"]

    def _go_on(self, process: Process, here: Place, place: Place) -> None:
        """Let a process that has hunted come to a place, with what it has noted."""
        if place.step > here.step and place.line < LAST:
            self._hunt(process, end=Place(place.step), keeps=True)
        if place > here and place.line > 0:
            self._hunt(process, end=place, keeps=True)

    def _writes(self, process: Process, meant: Meant) -> dict[str, Any]:
        where = {"thread": meant.thread, "frame": meant.frame}
        return asked(process, {"do": "writes", "text": meant.text, **where})

    # ---- failures ----

    def failures(self) -> tuple[Failure, ...]:
        """All exceptions that nobody caught, in order of time. Looked for once, which takes as
        long as to go through the whole recording."""
        if self._failures is None:
            self._failures = self._find_failures() if self._has_failed() else ()
        return self._failures

    def _has_failed(self) -> bool:
        end = self.recording.end
        said = b"".join(self.recording.output(2))
        return (end is not None and end.exit_code != 0) or b"Traceback (most recent" in said

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

    # ---- the rest ----

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
            self._hunt(process, end=Place(self.last_step, LAST), serials=list(serials))
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


def write_of(noted: list[int]) -> Write:
    step, line, thread, depth = noted
    return Write(Place(step, line), thread, depth)
