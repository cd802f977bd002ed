"""One process of a replay that is travelled through, seen from outside: orders and answers.

The other end is `_core/checkpoint.c`. A process is stopped whenever it can be given an order. It
can be copied as often as one likes; to be sent on, or made to talk, changes it for good.
"""

from __future__ import annotations

import marshal
import os
import shutil
import signal
import socket
import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from reenact.errors import ReenactError

_ORDER = struct.Struct("<iiq")
_ANSWER = struct.Struct("<iiqii96s")
_SIZE = struct.Struct("<I")
_RUN, _COPY, _TALK = 1, 2, 3


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

    def __init__(self, connection: socket.socket, pid: int, directory: Path) -> None:
        self._connection = connection
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
        """A copy that is stopped at the same step, or None if there cannot be one."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._order(_COPY, descriptor=theirs.fileno())
            answer = self._answer()
        if answer.number <= 0:
            ours.close()
            self.refusal = self.refusal or os.strerror(-answer.number)
            return None
        copied = Process(ours, answer.number, self._directory)
        copied.thread, copied.reason = self.thread, self.reason
        return copied

    def run(self, step: int) -> None:
        """Go on to a step, or to the end if that comes first."""
        self._order(_RUN, step)
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

    def hear(self) -> dict[str, Any]:
        """What the agent says next."""
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
        shutil.rmtree(self._directory / f"c{self.pid}", ignore_errors=True)
