"""One session: where somebody is, which thread and frame are looked at, and what was typed.

Gives rows, as reports do (`reenact.analysis.text`): parts of a line with their styles.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reenact.analysis.report import Report
from reenact.analysis.text import Row
from reenact.debug.process import ProcessGone
from reenact.debug.terminal import words
from reenact.debug.terminal.sources import Sources
from reenact.debug.terminal.words import Refused
from reenact.debug.traveller import Frame, Stop, TravelError, Traveller
from reenact.errors import ReenactError

COPY = "(done in a copy of the program that is thrown away: here, nothing has changed)"


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line knows how to do: events between two steps, the races of the whole run,
    and how the run ended, in words."""

    events: Callable[[int, int], Iterator[tuple[int, Row]]]
    races: Callable[[], Report]
    ending: str = ""


@dataclass
class Display:
    """An expression that is shown at every stop; `value` is what it was at the last one."""

    text: str
    value: str = ""


class Session:
    """`thread` and `index` say which frame is looked at; 0 is the innermost."""

    def __init__(self, traveller: Traveller, given: Given) -> None:
        self.traveller = traveller
        self.given = given
        self.sources = Sources(traveller.recording)
        self.thread = 0
        self.index = 0
        self.stack: tuple[Frame, ...] = ()
        self.displays: list[Display] = []
        self.listed: int | None = None  # the last line that `list` has shown
        self.report: Report | None = None  # of races, once it was asked for
        self.is_over = False
        self._last = ""
        self._has_told_refusal = False

    # ---- where ----

    @property
    def prompt(self) -> str:
        place = str(self.traveller.stop.place)
        if place.endswith("(end)"):
            place = "end"
        return f"(reenact {place} thread {self.thread}) "

    @property
    def frame(self) -> Frame:
        self.need_frame()
        return self.stack[self.index]

    def need_frame(self) -> None:
        if not self.stack:
            stop = self.traveller.stop
            advice = {
                "end": "; `reverse-step` goes to its last line",
                "beginning": "; `restart` goes to its first line",
            }
            what = f"thread {self.thread} runs no code of the program's here"
            raise Refused(what + advice.get(stop.why, ""))

    @property
    def here(self) -> dict[str, int]:
        """For questions about the frame that is looked at."""
        return {"thread": self.thread, "frame": self.index}

    def select(self, thread: int, index: int = 0) -> None:
        stop = self.traveller.stop
        stack = stop.stack if thread == stop.thread else self.traveller.stack(thread)
        self.thread, self.stack = thread, stack
        self.index = max(0, min(index, len(stack) - 1))
        self.listed = None

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Whoever looks around comes back."""
        stop, thread, index = self.traveller.stop, self.thread, self.index
        try:
            yield
        finally:
            if self.traveller.stop.place != stop.place:
                self.traveller.go_to(stop.place)
                self.traveller.stop = stop
            self.select(thread, index)

    # ---- what is shown ----

    def opened(self) -> Iterator[Row]:
        """The first stop."""
        self.thread = self.traveller.stop.thread
        yield [("faint", f"{self.summary}; `help` shows all commands")]
        yield from self.arrived()

    @property
    def summary(self) -> str:
        recording = self.traveller.recording
        steps = f"{recording.last_step:,} steps, {recording.thread_count:,} threads"
        return f"{recording.origin}: {steps}; {self.given.ending}"

    def arrived(self) -> Iterator[Row]:
        """After a move: why it ended, in which thread, where, and what is displayed."""
        stop, before = self.traveller.stop, self.thread
        self.select(stop.thread, stop.index)
        yield from self._refusal()
        yield from self._why(stop)
        if stop.thread != before:
            yield [("cyan", f"[thread {stop.thread}{self._named(stop.thread)}]")]
        if self.stack:
            yield from self.at(self.frame)
        elif stop.place == self.traveller.beginning:
            yield [("", "before the program's first line")]
        yield from self.displayed()

    def _refusal(self) -> Iterator[Row]:
        """Said once; a single copy may fail, and others succeed."""
        refusal = self.traveller.refusal
        if refusal and not self.traveller.checkpoints and not self._has_told_refusal:
            self._has_told_refusal = True
            told = (
                f"no checkpoints: {refusal}; every move starts at the beginning, and takes longer"
            )
            yield [("yellow", told)]

    def _why(self, stop: Stop) -> Iterator[Row]:
        for number in stop.hits:
            yield [("cyan", self._hit(number, stop))]
        if stop.why == "failure":
            text = failure_of(b"".join(self.traveller.recording.output(2)))
            yield [("red", f"it failed here: {text}" if text else "it failed here")]
        elif stop.why == "deadlock":
            yield [("red", "deadlock: all threads wait for ever (`threads` says for what)")]
        elif stop.why == "divergence":
            yield [("red", "the replay does something here that was not recorded")]
        elif stop.why == "end":
            ending = f": {self.given.ending}" if self.given.ending else ""
            yield [("cyan", f"the end{ending}")]

    def _hit(self, number: int, stop: Stop) -> str:
        traveller = self.traveller
        if number in traveller.watches:
            watch = traveller.watches[number]
            if stop.changed is not None and not watch.is_written:
                return f"watch {number}: {watch.text}: {stop.changed[0]} -> {stop.changed[1]}"
            return f"watch {number}: {watch.text} is written here"
        found = traveller.breakpoints.get(number)
        if found is not None and found.is_temporary:
            del traveller.breakpoints[number]
            return f"temporary breakpoint {number}, which is deleted now"
        return f"breakpoint {number}"

    def _named(self, thread: int) -> str:
        for each in self.traveller.ask("threads")["threads"]:
            if each["index"] == thread and each["name"]:
                return f" {each['name']}"
        return ""

    def at(self, frame: Frame, mark: str = "> ") -> Iterator[Row]:
        """A frame as pdb shows it: the place, and the line."""
        changed = " (source changed)" if self.sources.has_changed(frame.file) else ""
        name = f"{self.sources.shown(frame.file)}({frame.line}){frame.function}()"
        yield [("", mark), ("cyan" if mark == "> " else "", name), ("yellow", changed)]
        text = self.sources.line(frame.file, frame.line).strip()
        if text:
            yield [("green", "-> "), ("", text)]

    def displayed(self, is_asked: bool = False) -> Iterator[Row]:
        for each in self.displays:
            value = self.value_of(each.text)
            old = f"  [old: {each.value}]" if each.value and each.value != value else ""
            if is_asked or old or not each.value:
                yield from lines(f"display {each.text}: {value}{old}")
            each.value = value

    # ---- values ----

    def evaluate(self, text: str, pretty: bool = False) -> dict[str, Any]:
        return self.traveller.ask("evaluate", text=text, pretty=pretty, **self.here)

    def value_of(self, text: str) -> str:
        """In one line, whatever comes of it."""
        try:
            said = self.evaluate(text)
        except TravelError as error:
            return f"** {said_of(error)} **"
        if "raised" in said:
            return f"** raised {said['raised']}: {said['message']} **"
        return str(said["value"])

    # ---- what is typed ----

    def do(self, typed: str) -> Iterator[Row]:
        """Rows of a command, or of an expression; an empty line does the last command again."""
        typed = typed.strip()
        if typed.startswith("#"):
            return
        line = typed or self._last
        if not line:
            return
        found = words.split(line)
        self._last = line if found is None or found[0].repeats else ""
        try:
            if line.startswith("?"):
                found = words.NAMES["help"], line[1:].strip()
            if found is not None:
                yield from found[0].run(self, found[1])
            else:
                yield from words.NAMES["!"].run(self, line.removeprefix("!").strip())
        except Refused as error:
            yield [("red", f"*** {error}")]
        except ProcessGone:
            yield [("red", "*** the replayed program has ended on the way there")]
        except ReenactError as error:
            yield [("red", f"*** {said_of(error)}")]


def lines(text: str, style: str = "") -> Iterator[Row]:
    for each in text.split("\n"):
        yield [(style, each)]


def said_of(error: ReenactError) -> str:
    """Without the class that the agent has put before it."""
    return error.what.removeprefix("LookupError: ")


def failure_of(errors: bytes) -> str:
    """What the last traceback on standard error says at its end."""
    text = errors.decode("utf-8", "replace")
    _, found, after = text.rpartition("Traceback (most recent call last):\n")
    for line in after.splitlines() if found else ():
        if line and not line.startswith((" ", os.linesep)):
            return line
    return ""
