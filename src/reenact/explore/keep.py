"""Records what a search has found: the program is run once more, with the same choices.

The recording is one like any other. If the run does not fail as it did, there is none: then
something that is not under our control decides, or it takes what the search's process had loaded.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reenact.engine import following, races, record
from reenact.engine.launch import Choices, Program
from reenact.explore.pinned import pinned
from reenact.explore.runs import Settings
from reenact.findings import Failure
from reenact.instrument.loader import ACCESSES
from reenact.recordings.reader import Recording
from reenact.strategies.searching import Switch

_SLICE = 5000
_EXITS = {"deadlock": 122, "livelock": 125}


def packages(settings: Settings) -> tuple[str, ...] | None:
    """What is instrumented, as a `Program` says it."""
    if settings.points == "sync":
        return None
    accesses = (ACCESSES,) if settings.points == "accesses" else ()
    return (*accesses, *settings.instrument)


def keep(
    program: Program,
    switches: tuple[Switch, ...],
    settings: Settings,
    failure: Failure,
    path: Path,
    loaded: tuple[str, ...] | None = None,
    exit_code: int | None = None,
) -> str:
    """Record the failing run into `path`; "" or why there is no recording.

    `loaded` are the modules that a program finds loaded; None if it begins the run by itself. One
    that knows by itself whether it has failed alike says so by `exit_code`.
    """
    line = "queue" if loaded is None else following.text(switches, settings.terms, loaded)
    with pinned(0), _silence() as printed:
        recorded = record.record(program, Choices(line, 0, 0, _SLICE), path)
        is_like = failure.is_found_by_looking and _has_race(recorded.path, settings, failure)
        text = printed()
    if recorded.path is None:
        return recorded.problem or "nothing was recorded"
    if not is_like and not _fails_alike(failure, recorded.ended.exit_code, exit_code, text):
        recorded.path.unlink(missing_ok=True)
        return (
            "the run did not fail again when it was recorded: something that is not under our "
            "control decides"
        )
    return ""


def _has_race(path: Path | None, settings: Settings, failure: Failure) -> bool:
    """A recording says nothing of races: they are looked for in a replay."""
    if path is None or settings.races is None:
        return False
    before = os.getcwd()
    try:
        looked, _ = races.over(Recording.open(path))
    finally:
        os.chdir(before)
    return looked.raw is not None and failure.is_like(settings.races.failure_of(looked.raw))


def _fails_alike(failure: Failure, exit_code: int, expected: int | None, printed: str) -> bool:
    if failure.is_found_by_looking:
        return False
    if failure.kind in _EXITS:
        return exit_code == _EXITS[failure.kind]
    if expected is not None:
        return exit_code == expected
    name = failure.summary.partition(":")[0]
    return failure.kind == "exit" or name in printed


@contextmanager
def _silence() -> Iterator[Callable[[], str]]:
    """What the program prints is not seen, but can be asked for at the end.

    It goes to what looks like our own output, a terminal or a pipe: which of them it is makes a
    difference to where Python puts its objects, and so to a replay.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(1), os.dup(2)]
    ours, theirs = os.openpty() if os.isatty(1) else os.pipe()
    chunks: list[bytes] = []
    reader = threading.Thread(target=_read, args=(ours, chunks))
    reader.start()

    def restore() -> None:
        for number, descriptor in zip((1, 2), saved, strict=True):
            os.dup2(descriptor, number)

    def printed() -> str:
        restore()
        reader.join()
        return b"".join(chunks).decode("utf-8", "replace")

    try:
        os.dup2(theirs, 1)
        os.dup2(theirs, 2)
        os.close(theirs)
        yield printed
    finally:
        restore()
        reader.join()
        for descriptor in (ours, *saved):
            os.close(descriptor)


def _read(descriptor: int, chunks: list[bytes]) -> None:
    with suppress(OSError):  # of a terminal that nobody writes to any more
        while data := os.read(descriptor, 1 << 16):
            chunks.append(data)
