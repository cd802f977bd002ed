"""Where this interpreter can switch threads, counted while a program runs.

With the GIL, threads are switched in one place of the interpreter, which these instructions jump
to: the entry of a function (RESUME), jumps backward, and calls of what is not a Python function,
once they are done. `docs/design.md` says where that was looked up, and how it was tried. A tracer
goes through the instructions of every thread and counts them.

Some calls do not check once they have run often and are specialised (`len`, `isinstance`, `type`,
`list.append`). They count here: in code that runs for the first time they do.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dis import opname
from types import CodeType, FrameType
from typing import Any

from reenact import _core

_RESUMED_INSIDE = 2  # RESUME's argument from here on: after `yield from` and `await`, no check
_CALLS = {"CALL", "PRECALL", "CALL_FUNCTION_EX", "CALL_KW"}


def is_backward(name: str) -> bool:
    return "JUMP_BACKWARD" in name and "NO_INTERRUPT" not in name


class Checks:
    """Counts them, for each thread by its ident; a context of one run."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self._names: dict[CodeType, bytes] = {}
        self._calling: dict[FrameType, bool] = {}  # frames that are in a call now
        self._before: tuple[Any, Any] = (None, None)  # a debugger's, or that of coverage

    def start(self) -> None:
        self._before = sys.gettrace(), threading.gettrace()
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def stop(self) -> None:
        here, in_threads = self._before
        sys.settrace(here)
        threading.settrace(in_threads)
        self._calling.clear()

    def at(self, frame: FrameType | None) -> tuple[int, bool]:
        """How many the running thread has passed, and whether its operation ends with one."""
        count = self.counts.get(threading.get_ident(), -1)
        return count, frame is not None and self._name(frame) in _CALLS

    def _name(self, frame: FrameType) -> str:
        code = self._names.setdefault(frame.f_code, frame.f_code.co_code)
        return opname[code[frame.f_lasti]] if 0 <= frame.f_lasti < len(code) else ""

    def _trace(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        """A function is entered, or a generator goes on."""
        if _core.is_quiet():  # an observer of ours
            return None
        frame.f_trace = self._step  # 3.13 heeds f_trace_opcodes only after this
        frame.f_trace_lines = False
        frame.f_trace_opcodes = True
        ident = threading.get_ident()
        if self._resumes(frame):
            self.counts[ident] = self.counts.get(ident, 0) + 1
        if frame.f_back is not None:
            self._calling.pop(frame.f_back, None)  # it called a Python function: no check after it
        return self._step

    def _resumes(self, frame: FrameType) -> bool:
        code = self._names.setdefault(frame.f_code, frame.f_code.co_code)
        at = frame.f_lasti
        is_resume = 0 <= at < len(code) and opname[code[at]] == "RESUME"
        return not is_resume or code[at + 1] & 3 < _RESUMED_INSIDE

    def _step(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        if event != "opcode":
            if event == "return":
                self._calling.pop(frame, None)
            return self._step
        name = self._name(frame)
        has_called = self._calling.pop(frame, False)
        if has_called or is_backward(name):
            ident = threading.get_ident()
            self.counts[ident] = self.counts.get(ident, 0) + 1
        if name in _CALLS and name != "PRECALL":
            self._calling[frame] = True
        return self._step
