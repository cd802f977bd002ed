"""Words that more than one command uses, and the terminal they are written to.

Texts of a recording come from strangers, so that nothing of theirs is written raw: characters
that a terminal could obey, or that do not fit the encoding, are shown as escapes.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import TYPE_CHECKING, TextIO

from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.events import Note
    from reenact.recordings.reader import Recording

STYLES = {"faint": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

NOTES = {
    "foreign thread": "a thread that Python did not start (OS thread {value}) ran Python code",
    "stolen baton": "the thread (OS thread {value}) was stuck in a call that is not controlled",
    "fork": "native code forked a process; what it did is not recorded",
    "log stopped": "the recording could not be written any more: {error}",
    "unblocked signal handler": "the handler of {signal} ran outside a point",
    "unlisted call": "something outside was reached by a call that is not recorded",
    "native module": "native code, of which only what it returns to Python is seen",
}


def printable(text: str) -> str:
    """One line without control characters, lone surrogates or hidden marks."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def ending(recording: Recording) -> str:
    """How the run ended, as far as anybody saw."""
    end = recording.end
    if end is None:
        return _ending_by_state(recording)
    if end.ended == "exited":
        return f"exited with code {end.exit_code}"
    if end.ended == "killed":
        return f"killed by {signal_name(end.signal or 0)}"
    return "deadlock" if end.ended == "deadlock" else "lost sight of by the launcher"


def _ending_by_state(recording: Recording) -> str:
    ended = "running" if recording.state is None else recording.state.ended
    if ended == "running":
        return "not seen: killed together with its launcher, or still running"
    return "closed its log; its exit code was not seen" if ended == "closed" else ended


def note_text(note: Note) -> str:
    words = NOTES.get(note.kind, f"{note.kind}, value {note.value}")
    filled = words.format(
        value=note.value, signal=signal_name(note.value), error=os.strerror(note.value & 0xFFFF)
    )
    return printable(f"{filled}; {note.text}" if note.text else filled)


def require_range(first: int | None, last: int | None) -> None:
    if first is not None and last is not None and first > last:
        what = f"--from {first} lies after --to {last}"
        raise UsageError(what, advice="Give the smaller step first.")


class Terminal:
    """Standard output; coloured if it is a terminal and NO_COLOR is not set."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self.has_colour = (
            self._stream.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="backslashreplace")

    def paint(self, style: str, text: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.has_colour else text

    def line(self, text: str = "") -> None:
        self._stream.write(text + "\n")
