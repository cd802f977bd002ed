"""Records a real program while driving it from outside, takes its world away, and replays it.

A `Stage` has a fresh work directory with the program's input files. `record` starts the program
under `reenact record`; the test drives it, from other processes, and calls `finish`. Then
`check_replays` stops what still serves the program, empties the work directory, and replays three
times (once on other versions than the default one): in an empty network namespace, without input,
at another date. A replay must end as the recording did, with the same output to the last byte, and
say that it was exact.

The date is changed by a library of ours (`outside/date.c`), which is loaded in the recording as
well, with the true date: a library more or less would move every address. A file says how far the
date is off, since a replay has the environment of the recording.

REENACT_STOCK=1 runs the programs without reenact, to see that a scenario itself is sound.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from ..children import children_of, kill_children
from ..free_threaded import GIL_IS_BACK
from ..versions import IS_DEFAULT
from .servers import ended

HERE = Path(__file__).resolve().parent
LIMIT_S = 60  # for one run; longer is hanging
REPLAYS = 3 if IS_DEFAULT else 1
IS_STOCK = os.environ.get("REENACT_STOCK") == "1"
TRUE_DATE = "0"
DATES = ("4000", "-300", "1")  # days from today, one for each replay


@dataclass(frozen=True)
class Done:
    """What could be seen of a run: `stderr` without what reenact itself said, which is `words`."""

    code: int
    stdout: bytes
    stderr: bytes
    words: str

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "backslashreplace")


class Running:
    """A command that was started; its output goes to files, or to a terminal we look at."""

    def __init__(
        self,
        command: list[str],
        directory: Path,
        cwd: Path,
        env: dict[str, str],
        terminal: Terminal | None = None,
        has_input: bool = False,
    ) -> None:
        self._paths = [directory / "stdout", directory / "stderr"]
        self._terminal = terminal
        with self._paths[0].open("wb") as stdout, self._paths[1].open("wb") as stderr:
            self.process = subprocess.Popen(
                command,
                stdin=terminal.slave if terminal and has_input else subprocess.DEVNULL,
                stdout=terminal.slave if terminal and terminal.shows_output else stdout,
                stderr=stderr,
                cwd=cwd,
                env=env,
                start_new_session=True,
                preexec_fn=terminal.take_control if terminal and has_input else None,
            )

    @property
    def program_pid(self) -> int:
        """The process of the program, once the launcher has started it."""
        if IS_STOCK:
            return self.process.pid
        self.wait_until(lambda: bool(children_of(self.process.pid)))
        return children_of(self.process.pid)[0]

    @property
    def output(self) -> bytes:
        if self._terminal is not None and self._terminal.shows_output:
            return self._terminal.shown
        return self._paths[0].read_bytes()

    def wait_for(self, text: bytes) -> None:
        self.wait_until(lambda: text in self.output)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not is_so():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"never came true\n{self.finish()}")
            time.sleep(0.005)

    def finish(self) -> Done:
        try:
            self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it hangs: {self.process.args!r}\n{self._look()}") from None
        return self._look()

    def kill(self) -> None:
        """The program and what it started, too."""
        kill_children(self.process.pid)
        self.process.kill()
        self.process.wait()

    def _look(self) -> Done:
        if self._terminal is not None:
            self._terminal.close()
        lines = self._paths[1].read_bytes().splitlines(keepends=True)
        own = [line for line in lines if not line.startswith(b"reenact: ")]
        said = [line for line in lines if line.startswith(b"reenact: ")]
        code = -1 if self.process.returncode is None else self.process.returncode
        return Done(code, self.output, b"".join(own), b"".join(said).decode())


class Terminal:
    """A pseudo-terminal of 80 by 24; a thread takes in what is shown on it.

    Output is not translated, so that it does not depend on who sets the terminal's modes when.
    """

    def __init__(self, shows_output: bool = True) -> None:
        self.shows_output = shows_output
        self.shown = b""
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        modes = termios.tcgetattr(self.slave)
        modes[1] &= ~termios.OPOST
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(self.slave, termios.TCSANOW, modes)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def take_control(self) -> None:
        """In the new process: the terminal's Ctrl-C goes to it."""
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def close(self) -> None:
        """When the last process has let go of it, what is left is read, and reading fails."""
        with suppress(OSError):
            os.close(self.slave)
        self._reader.join(5)

    def _read(self) -> None:
        with suppress(OSError):
            while data := os.read(self.master, 65536):
                self.shown += data
                for _ in range(data.count(b"\x1b[6n")):  # where is the cursor?
                    self.type(b"\x1b[1;1R")
        os.close(self.master)


class Stage:
    """One scenario: its directory, what runs around the program, the recording."""

    def __init__(self, directory: Path, library: Path) -> None:
        """`library`: what `date.c` was compiled to."""
        self.around = ExitStack()  # whatever the program needs; gone before the replays
        self.work = directory / "work"
        self.work.mkdir()
        self.recording = directory / "run.reenact"
        self._directory = directory
        self._date = directory / "date"
        self._library = library
        self._running: list[Running] = []

    def record(
        self,
        program: str,
        *words: object,
        terminal: Terminal | None = None,
        options: tuple[str, ...] = (),
    ) -> Running:
        _need_libraries(program)
        path = str(HERE / "programs" / program)
        command = [sys.executable, "-m", "reenact", "record", *options, "-o", str(self.recording)]
        if IS_STOCK:
            command = [sys.executable]
        self._date.write_text(TRUE_DATE)
        command += [path, *map(str, words)]
        return self._start("record", command, terminal, has_input=True)

    def outside(self, program: str, *words: object) -> subprocess.Popen[bytes]:
        """Another process, stopped before the replays."""
        command = [sys.executable, str(HERE / "outside" / program), *map(str, words)]
        process = subprocess.Popen(command, cwd=self._directory, stdin=subprocess.DEVNULL)
        return self.around.enter_context(ended(process))

    def drive(self, program: str, *words: object) -> None:
        """Another process, to its end, which must be a good one."""
        process = self.outside(program, *words)
        deadline = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < deadline and self._is_running():
            time.sleep(0.01)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)  # the program may have ended just before
        if process.poll() != 0:
            raise AssertionError(f"{program} failed\n{[each.finish() for each in self._running]}")

    def check_replays(self, recorded: Done, shows_output: bool = False) -> None:
        """`shows_output`: on a terminal, as in the recording."""
        self.around.close()
        if IS_STOCK:
            return
        _empty(self.work)
        for number in range(REPLAYS):
            self._date.write_text(DATES[number])
            terminal = Terminal() if shows_output else None
            command = ["unshare", "-rn", sys.executable, "-m", "reenact", "replay"]
            name = f"replay{number + 1}"
            replayed = self._start(name, [*command, str(self.recording)], terminal).finish()
            _compare(name, replayed, recorded)

    def _is_running(self) -> bool:
        return any(each.process.poll() is None for each in self._running)

    def close(self) -> None:
        for running in self._running:
            if running.process.poll() is None:
                running.kill()
        self.around.close()

    def _start(
        self, name: str, command: list[str], terminal: Terminal | None, has_input: bool = False
    ) -> Running:
        place = self._directory / name
        place.mkdir()
        environment = os.environ | {
            "LD_PRELOAD": str(self._library),
            "SCENARIO_DATE": str(self._date),
            "TERM": "xterm",
        }
        running = Running(command, place, self.work, environment, terminal, has_input)
        self._running.append(running)
        return running


def checked(running: Running, *expected: str) -> Done:
    """The recording run to its end: it went well, and its output has what it should have."""
    done = running.finish()
    assert done.code == 0, done
    assert GIL_IS_BACK not in done.stderr, done
    for text in expected:
        assert text in done.text, done
    return done


def compile_date_library(directory: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler: nothing could be replayed at another date")
    library = directory / "date.so"
    source = HERE / "outside" / "date.c"
    subprocess.run(
        [compiler, "-O1", "-Wall", "-fPIC", "-shared", source, "-o", library], check=True
    )
    return library


def need_network_namespaces() -> None:
    if not IS_STOCK and not _can_unshare():
        pytest.skip(
            "`unshare -rn` is not permitted here: nothing could be replayed without network"
        )


@cache
def _can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0


_LIBRARIES = ("aiohttp", "flask", "httpx", "prompt_toolkit", "psycopg2", "pygame", "redis",
              "requests", "sqlalchemy", "waitress")  # fmt: skip


def _need_libraries(program: str) -> None:
    text = (HERE / "programs" / program).read_text()
    for name in _LIBRARIES:
        is_used = f"import {name}" in text or f"from {name}" in text
        if is_used and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install '.[scenarios]'")


def _empty(directory: Path) -> None:
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _compare(name: str, replayed: Done, recorded: Done) -> None:
    problems = []
    if "exactly as recorded" not in replayed.words:
        problems.append("it does not say that it was exact")
    if replayed.code != recorded.code:
        problems.append(f"exit code {replayed.code}, recorded {recorded.code}")
    for stream in ("stdout", "stderr"):
        if getattr(replayed, stream) != getattr(recorded, stream):
            problems.append(f"{stream} is not the same")
    if problems:
        told = f"{replayed.words}{replayed.stdout[-500:]!r}\n{replayed.stderr[-1500:].decode()}"
        pytest.fail(f"{name}: {'; '.join(problems)}\n{told}", pytrace=False)
