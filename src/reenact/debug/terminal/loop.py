"""Typing commands: the prompt, history, completion, and Ctrl-C.

On a terminal lines are edited by readline. From anywhere else they are read as they are, and
shown after the prompt, so that what is printed reads like a session.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reenact.analysis.text import Row

# The commands register themselves.
from reenact.debug.terminal import around, general, moving, seeing, stops, writers
from reenact.debug.terminal.session import Session
from reenact.debug.terminal.words import COMMANDS, NAMES
from reenact.debug.traveller import TravelError

Show = Callable[[Iterable[Row]], None]
_ALL = (moving, stops, seeing, writers, around, general)
_HISTORY = 1000
_DELIMITERS = " \t\n`~!@#$%^&*()=+[{]}\\|;:'\",<>/?"
_INTERRUPTED: Row = [("yellow", "interrupted; still here")]


def run(session: Session, show: Show, typed: Iterable[str]) -> None:
    """Do what is typed until that ends."""
    for line in typed:
        do(session, show, line)
        if session.is_over:
            return


def do(session: Session, show: Show, line: str) -> None:
    """One command. Ctrl-C ends it, and leaves the session where it was."""
    stop, thread, index = session.traveller.stop, session.thread, session.index
    try:
        show(session.do(line))
    except KeyboardInterrupt:
        with _deaf():
            if session.traveller.stop.place != stop.place:
                session.traveller.go_to(stop.place)
                session.traveller.stop = stop
            session.select(thread, index)
            show([_INTERRUPTED])


@contextmanager
def _deaf() -> Iterator[None]:
    """Coming back is not interrupted."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def given(session: Session, lines: Iterable[str], echo: Callable[[str], None]) -> Iterator[str]:
    """Lines that are there already, each shown as if it had been typed."""
    for line in lines:
        echo(session.prompt + line.rstrip("\n"))
        yield line


def asked(session: Session, history: Path | None) -> Iterator[str]:
    """Lines that somebody types at a terminal, until Ctrl-D."""
    with _editing(session, history):
        while True:
            try:
                yield input(session.prompt)
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                print()


@contextmanager
def _editing(session: Session, history: Path | None) -> Iterator[None]:
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_completer(Completer(session, readline.get_line_buffer).complete)
    readline.set_completer_delims(_DELIMITERS)
    readline.parse_and_bind("tab: complete")
    if history is not None:
        with suppress(OSError):
            readline.read_history_file(history)
    try:
        yield
    finally:
        if history is not None:
            readline.set_history_length(_HISTORY)
            with suppress(OSError):
                history.parent.mkdir(parents=True, exist_ok=True)
                readline.write_history_file(history)


class Completer:
    """What a word could go on as: a command at the beginning of the line, or else a name or an
    attribute of the frame."""

    def __init__(self, session: Session, line: Callable[[], str]) -> None:
        self._session = session
        self._line = line
        self._found: list[str] = []

    def complete(self, text: str, state: int) -> str | None:
        if state == 0:
            self._found = self.candidates(text)
        return self._found[state] if state < len(self._found) else None

    def candidates(self, text: str) -> list[str]:
        before, _, after = self._line().lstrip().partition(" ")
        is_first = not after and " " not in self._line().lstrip()
        if is_first and "." not in text:
            names = [each for each in COMMANDS if each.startswith(text) and each != "!"]
            return sorted(names) + ([] if names else self._names(text))
        if NAMES.get(before) is NAMES["help"]:
            return sorted(each for each in COMMANDS if each.startswith(text))
        return self._names(text)

    def _names(self, text: str) -> list[str]:
        head, minus, tail = text.rpartition("-")  # no delimiter, since commands have it
        try:
            said = self._session.traveller.ask("complete", text=tail, **self._session.here)
        except TravelError:
            return []
        return [f"{head}{minus}{each}" for each in said["names"]]


def is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
