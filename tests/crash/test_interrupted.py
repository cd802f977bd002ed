"""Ctrl-C: the program sees its KeyboardInterrupt, and a replay raises it at the same place."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import termios
from pathlib import Path

import pytest

from reenact.recordings.reader import Recording

from ..versions import IS_DEFAULT
from .running import PROGRAMS, Done, finish, program_of, reenact, start, step_of, wait_until

PLACES = ("join", "sleep", "alone", "compute", "lock", "queue", "condition", "event")
STRATEGIES = {"random": ("--strategy", "random", "--seed", "5"), "queue": ("--slice", "150")}
INTERRUPTED = 130


def begin(path: Path, place: str, *more: str, **options: object) -> subprocess.Popen[bytes]:
    """A program that stands in `place`, or soon will."""
    words = ("record", *more, "-o", path, PROGRAMS / "interrupted.py", place, "again")
    process = start(*words, **options)
    enough = 0 if place == "alone" else 3000
    wait_until(process, lambda: step_of(path) > enough and _has_printed(path))
    return process


def _has_printed(path: Path) -> bool:
    recording = Recording.open(path.with_name(path.name + ".d"))
    return any(b"ready" in piece for piece in recording.output(1))


def own_stderr(done: Done) -> str:
    lines = done.stderr.splitlines()
    return "\n".join(line for line in lines if not line.startswith("reenact: "))


def check_replay(path: Path, recorded: Done) -> None:
    assert recorded.code == INTERRUPTED, recorded.stderr
    assert "interrupted" in recorded.stdout
    assert "stopped" in recorded.stdout
    assert recorded.stderr.count("KeyboardInterrupt") == 1
    for _ in range(2 if IS_DEFAULT else 1):
        replayed = reenact("replay", path)
        assert replayed.code == INTERRUPTED, replayed.stderr
        assert replayed.stdout == recorded.stdout
        assert own_stderr(replayed) == own_stderr(recorded)
        assert "exactly as recorded" in replayed.stderr


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("place", PLACES)
def test_launcher_alone(tmp_path: Path, place: str, strategy: str) -> None:
    path = tmp_path / "run.reenact"
    process = begin(path, place, *STRATEGIES[strategy])
    os.kill(process.pid, signal.SIGINT)
    check_replay(path, finish(process))


@pytest.mark.parametrize("place", PLACES)
def test_program_alone(tmp_path: Path, place: str) -> None:
    path = tmp_path / "run.reenact"
    process = begin(path, place)
    os.kill(program_of(process), signal.SIGINT)
    check_replay(path, finish(process))


def test_while_it_reads_a_line(tmp_path: Path) -> None:
    """Main is outside, in a call that the signal itself must interrupt."""
    path = tmp_path / "run.reenact"
    readable, writable = os.pipe()
    process = begin(path, "input", stdin=readable)
    os.kill(process.pid, signal.SIGINT)
    recorded = finish(process)
    os.close(readable)
    os.close(writable)
    check_replay(path, recorded)


@pytest.mark.parametrize("place", PLACES)
def test_terminal(tmp_path: Path, place: str) -> None:
    """A terminal interrupts the launcher and the program; the program must see it once."""
    ours, theirs = pty.openpty()
    path = tmp_path / "run.reenact"

    def take_terminal() -> None:
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    process = begin(path, place, stdin=theirs, preexec_fn=take_terminal)
    os.close(theirs)
    os.write(ours, b"\x03")
    recorded = finish(process)
    os.close(ours)
    check_replay(path, recorded)
