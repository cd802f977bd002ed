"""One process of a replay that is travelled through, seen from outside: orders and answers.

The other end is `_core/checkpoint.c`. A process is stopped whenever it can be given an order. It
can be copied as often as one likes; to be sent on, or made to talk, changes it for good.
"""

from __future__ import annotations

import errno
import marshal
import os
import select
import shutil
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from reenact.errors import ReenactError

_ORDER = struct.Struct("<iiq")
_ANSWER = struct.Struct("<iiqii96s")
_SIZE = struct.Struct("<I")
_RUN, _COPY, _TALK, _REPLAY = 1, 2, 3, 4


class Reason(IntEnum):
    """Why a process has stopped, as the core numbers it."""

    BEGINNING = 0
    STEP = 1
    END = 2
    DEADLOCK = 3
    DIVERGED = 4
    PLACE = 5


ENDS = (Reason.END, Reason.DEADLOCK, Reason.DIVERGED)


class ProcessGone(ReenactError):
    """The process has ended: by os._exit, by a fatal signal, or because the replay went wrong."""


class Interrupted(ReenactError):
    """Somebody does not want to wait any longer; the process that was waited for is of no use."""


class Interruption:
    """How another thread ends the waiting: `ask` ends one run or hunt, now or later, and is taken
    back by `take`; `ask_all` ends all there will ever be, and short questions, too."""

    def __init__(self) -> None:
        self._once = os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._always = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def ask(self) -> None:
        os.eventfd_write(self._once, 1)

    def take(self) -> None:
        with suppress(BlockingIOError):
            os.eventfd_read(self._once)

    def ask_all(self) -> None:
        os.eventfd_write(self._always, 1)

    def wait(self, descriptor: int, is_short: bool) -> None:
        """Until there is something to read."""
        waiting = select.poll()
        for each in (descriptor, self._always, *(() if is_short else (self._once,))):
            waiting.register(each, select.POLLIN)
        if {each for each, _ in waiting.poll()} - {descriptor}:
            raise Interrupted("interrupted")

    def __del__(self) -> None:
        os.close(self._once)
        os.close(self._always)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A question must not be left without having heard the answer: Ctrl-C waits meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True, slots=True)
class _Answer:
    number: int
    step: int
    thread: int
    reason: Reason
    refusal: str


class Process:
    """A stopped process. `step`, `thread` and `reason` say where and why; copies have directories
    of their own below `directory`."""

    def __init__(
        self,
        connection: socket.socket,
        pid: int,
        interruption: Interruption | None = None,
        directory: Path | None = None,
    ) -> None:
        self._connection = connection
        self._interruption = interruption
        self._directory = directory
        self.pid = pid
        try:
            answer = self._answer()
        except ProcessGone:
            self.close()
            raise
        self.refusal = answer.refusal  # why it cannot be copied; empty if it can
        self._take(answer)

    def _take(self, answer: _Answer) -> None:
        self.step, self.thread, self.reason = answer.step, answer.thread, answer.reason

    def _answer(self) -> _Answer:
        _, number, step, thread, reason, refusal = _ANSWER.unpack(self._receive(_ANSWER.size))
        text = refusal.rstrip(b"\0").decode()
        return _Answer(number, step, thread, Reason(reason), text)

    def _wait(self, is_short: bool) -> None:
        if self._interruption is not None:
            self._interruption.wait(self._connection.fileno(), is_short)

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            try:
                more = self._connection.recv(size - len(data))
            except OSError:
                more = b""
            if not more:
                raise ProcessGone(f"process {self.pid} of the replay has ended")
            data += more
        return data

    def _order(self, kind: int, step: int = 0, descriptor: int = -1) -> None:
        data = _ORDER.pack(kind, 0, step)
        try:
            if descriptor >= 0:
                socket.send_fds(self._connection, [data], [descriptor])
            else:
                self._connection.sendall(data)
        except OSError as error:
            raise ProcessGone(f"process {self.pid} of the replay has ended") from error

    def copy(self) -> Process | None:
        """A copy that is stopped at the same step, or None if there cannot be one: `refusal` says
        why, or is empty if there may be one later."""
        with uninterrupted():
            return self._copy()

    def _copy(self) -> Process | None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._order(_COPY, descriptor=theirs.fileno())
            answer = self._answer()
        if answer.number <= 0:
            ours.close()
            if answer.number != -errno.EAGAIN:  # else some thread was not where it can be held
                self.refusal = self.refusal or os.strerror(-answer.number)
            return None
        copied = Process(ours, answer.number, self._interruption, self._directory)
        copied.thread, copied.reason = self.thread, self.reason
        return copied

    def become_replay(self, last_step: int) -> None:
        """A copy of a process that records is a replay from now on, of what was logged since."""
        self._order(_REPLAY, last_step)
        self._take(self._answer())

    def run(self, step: int) -> None:
        """Go on to a step, or to the end if that comes first."""
        self._order(_RUN, step)
        self._wait(is_short=False)
        self._take(self._answer())

    def talk(self) -> dict[str, Any]:
        """Ask for what `agent.py` gives; it says where it is first."""
        self._order(_TALK)
        return self.hear()

    def say(self, request: dict[str, Any]) -> None:
        """A request to the agent, which `hear` gives the answer of."""
        data = marshal.dumps(request)
        try:
            self._connection.sendall(_SIZE.pack(len(data)) + data)
        except OSError as error:
            raise ProcessGone(f"process {self.pid} of the replay has ended") from error

    def hear(self, is_short: bool = False) -> dict[str, Any]:
        """What the agent says next."""
        self._wait(is_short)
        (size,) = _SIZE.unpack(self._receive(_SIZE.size))
        heard: dict[str, Any] = marshal.loads(self._receive(size))
        return heard

    @property
    def memory(self) -> int:
        """Bytes that are this process's alone."""
        try:
            with open(f"/proc/{self.pid}/smaps_rollup", "rb") as file:
                fields = dict(line.split(None, 1) for line in file)
            return int(fields[b"Private_Dirty:"].split()[0]) * 1024
        except (OSError, KeyError, ValueError):
            return 0

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        if self._directory is not None:
            # A Path would have the name interned: the table of such names grows with each copy.
            shutil.rmtree(f"{self._directory}{os.sep}c{self.pid}", ignore_errors=True)
