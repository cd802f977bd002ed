"""Starts a program that runs in epochs, keeps the latest copy of it, and hears of failures."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reenact import pyversion
from reenact.debug.process import Process, ProcessGone, Reason
from reenact.engine import launch, record
from reenact.engine.launch import Choices, Ended, Program
from reenact.instrument.loader import RANGES
from reenact.recordings import format

_WORD = struct.Struct("<iiqii2000s")
_ANSWER = struct.Struct("<i")
_GO_ON, _LEAVE = 0, 1
MEGABYTES = 16.0  # of log in an epoch, unless somebody says otherwise
_PASSED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_FROM_TERMINAL = 0x80
FATAL = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL)


@dataclass(frozen=True, slots=True)
class Limits:
    """When an epoch ends; 0 for never."""

    megabytes: float = MEGABYTES
    steps: int = 0
    seconds: float = 0

    @property
    def numbers(self) -> tuple[int, int, int]:
        return int(self.megabytes * (1 << 20)), self.steps, int(self.seconds * 1e9)


@dataclass(frozen=True, slots=True)
class Damage:
    """A block of memory that somebody has written to who may not."""

    kind: str
    size: int
    offset: int
    serial: int

    @classmethod
    def read(cls, text: str) -> tuple[Damage, ...]:
        lines = (line.rsplit(" ", 3) for line in text.splitlines())
        return tuple(cls(each[0], *map(int, each[1:])) for each in lines if len(each) == 4)

    def __str__(self) -> str:
        return f"{self.kind}, byte {self.offset} of a block of {self.size} bytes"


@dataclass(frozen=True, slots=True)
class Failure:
    """What the program said; `frozen` is where its epoch began, None if it had none."""

    text: str
    step: int
    thread: int
    reason: Reason
    frozen: Process | None
    directory: Path
    pid: int  # of the process, which stands still
    signal: int | None = None  # that has killed the process
    damages: tuple[Damage, ...] = ()  # of memory


def _passes(directory: Path, ended: Ended) -> bool:
    """Nobody wants to know."""
    return False


@dataclass
class Keeper:
    """`on_failure` is told of each failure; the program goes on if it says so."""

    program: Program
    choices: Choices
    limits: Limits
    on_failure: Callable[[Failure], bool]
    frozen: Process | None = None
    tools: int = 0  # 1: overflows, 2: uses after free
    on_end: Callable[[Path, Ended], bool] = _passes  # without epochs: has it failed?
    epochs: int = 0
    failures: int = 0
    refusal: str = ""  # why there are no epochs, or why one was longer than wanted

    def run(self) -> Ended:
        """Until the program ends."""
        with tempfile.TemporaryDirectory(prefix="reenact-") as name:
            directory = Path(name)
            program = _with_cheap_loops(self.program)
            header = record.header(program, self.choices)
            (directory / format.HEADER).write_text(header.to_json(), "utf-8")
            ours, theirs = socket.socketpair()
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
            try:
                process = record.to_record(program, self.choices, directory)
                limits = self.limits.numbers
                pid = launch.start_epochs(process, theirs.detach(), limits, self.tools)
                ended = self._wait(pid, ours, directory)
                if self.refusal and self.epochs == 0:
                    self.failures += self.on_end(directory, ended)
                return ended
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                if self.frozen is not None:
                    self.frozen.close()

    def _wait(self, pid: int, words: socket.socket, directory: Path) -> Ended:
        process = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.register(words, select.POLLIN)
        while True:
            ready = dict(poll.poll(100))
            _pass_on_signals(pid)
            if words.fileno() in ready and not self._hear(words, directory):
                poll.unregister(words)
            elif process in ready:
                _, status = os.waitpid(pid, 0)
                os.close(process)
                code = os.waitstatus_to_exitcode(status)
                if code >= 0:
                    return Ended(code, None)
                self._killed(-code, directory)
                return Ended(128 - code, -code)

    def _hear(self, words: socket.socket, directory: Path) -> bool:
        data, descriptors, _, _ = socket.recv_fds(words, _WORD.size, 1)
        while data and len(data) < _WORD.size:
            data += words.recv(_WORD.size - len(data))
        if not data:
            return False
        kind, pid, step, thread, reason, text = _WORD.unpack(data)
        said = text.rstrip(b"\0").decode("utf-8", "replace")
        if kind == 1:
            self._take(socket.socket(fileno=descriptors[0]), pid)
        elif kind in (2, 5):
            damages = Damage.read(said) if kind == 5 else ()
            text = f"memory was damaged: {damages[0]}" if damages else said
            goes_on = self._failed(text, step, thread, Reason(reason), directory, pid, damages)
            with suppress(OSError):
                words.sendall(_ANSWER.pack(_GO_ON if goes_on else _LEAVE))
        elif kind in (4, 6):
            self.refusal = said
        if kind == 6:
            self._drop()
        return True

    def _take(self, connection: socket.socket, pid: int) -> None:
        """A new epoch: its copy takes the place of the one before."""
        self._drop()
        try:
            self.frozen = Process(connection, pid)
            self.epochs += 1
        except ProcessGone as error:
            self.refusal = str(error)

    def _drop(self) -> None:
        """Nobody goes back to where this epoch began."""
        if self.frozen is not None:
            self.frozen.close()
            self.frozen = None

    def _failed(
        self,
        text: str,
        step: int,
        thread: int,
        reason: Reason,
        directory: Path,
        pid: int,
        damages: tuple[Damage, ...] = (),
    ) -> bool:
        self.failures += 1
        if self.frozen is None:
            print(f"reenact: {text}: no epoch to go back to: {self.refusal}", file=sys.stderr)
            return True
        failure = Failure(text, step, thread, reason, self.frozen, directory, pid, None, damages)
        return self.on_failure(failure)

    def _killed(self, number: int, directory: Path) -> None:
        """By a signal that no code could do anything about."""
        if self.frozen is None or number not in FATAL:
            return
        from reenact.recordings.reader import Recording

        state = Recording.open(directory).state
        step = state.step if state is not None else 0
        self.failures += 1
        text = f"killed by {signal.Signals(number).name}"
        self.on_failure(Failure(text, step, -1, Reason.END, self.frozen, directory, 0, number))


def _with_cheap_loops(program: Program) -> Program:
    """Where they are; nobody needs the tick of a loop to stand on a line of its own."""
    if program.packages is None or pyversion.SPECIALISES_LOOPS:
        return program
    return replace(program, packages=(*program.packages, RANGES))


def _pass_on_signals(pid: int) -> None:
    """Signals to us are for the program; those of the terminal it has got already."""
    while (arrived := signal.sigtimedwait(_PASSED_ON, 0)) is not None:
        if arrived.si_code != _FROM_TERMINAL:
            with suppress(ProcessLookupError):
                os.kill(pid, arrived.si_signo)
