"""Starting `reenact` as people do, and looking at it while it runs; for the tests here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reenact.engine.record import directory_of
from reenact.errors import ReenactError
from reenact.recordings.reader import Recording

from ..children import children_of, kill_children

PROGRAMS = Path(__file__).resolve().parent / "programs"
LIMIT_S = 120  # only against hanging for ever
_STEP = re.compile(r"the recording ends here, at step ([\d,]+)")


@dataclass(frozen=True)
class Done:
    """A command that ended: `code` is negative if a signal ended it."""

    code: int
    stdout: str
    stderr: str

    @property
    def end_of_recording(self) -> int | None:
        """The step at which a replay said that there is no more."""
        found = _STEP.search(self.stderr)
        return None if found is None else int(found[1].replace(",", ""))


def reenact(*words: object, **options: object) -> Done:
    """A whole command; its output comes back as text."""
    return finish(start(*words, **options))


def start(*words: object, **options: object) -> subprocess.Popen[bytes]:
    """In a session of its own, so that a signal to its group goes nowhere else."""
    command = [sys.executable, "-m", "reenact", *map(str, words)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, start_new_session=True, **(pipes | options))  # type: ignore[call-overload,no-any-return]


def finish(process: subprocess.Popen[bytes]) -> Done:
    try:
        stdout, stderr = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        kill_children(process.pid)
        process.kill()
        stdout, stderr = process.communicate()
        raise AssertionError(f"it hangs: {process.args}\n{stderr.decode()[-2000:]}") from None
    return Done(process.returncode, _text(stdout), _text(stderr))


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "backslashreplace")


def wait_until(process: subprocess.Popen[bytes], is_so: Callable[[], bool]) -> None:
    """Looks again and again; gives up when the process has ended."""
    deadline = time.monotonic() + LIMIT_S
    while process.poll() is None and time.monotonic() < deadline:
        if is_so():
            return
        time.sleep(0.0005)
    raise AssertionError(f"never came true; exit code {process.poll()}")


def program_of(process: subprocess.Popen[bytes]) -> int:
    """The process that runs the program, once the launcher has started it."""
    wait_until(process, lambda: bool(children_of(process.pid)))
    return children_of(process.pid)[0]


def step_of(path: Path) -> int:
    """How far a run has come that is being recorded to `path`; -1 if it has not begun."""
    try:
        state = Recording.open(directory_of(path)).state
    except ReenactError:
        return -1
    return -1 if state is None else state.step


def left_at(path: Path) -> Path:
    """What a run left: the packed file, or the directory if nobody could pack it."""
    return path if path.exists() else directory_of(path)


def group_of(process: subprocess.Popen[bytes]) -> int:
    return os.getpgid(process.pid)
