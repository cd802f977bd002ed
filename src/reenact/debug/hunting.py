"""What a hunt through the program's lines looks for, as far as numbers do not tell.

Called by `_core/trace.c`, inside a copy of the program. A hunt for writes notes the latest one to
everything that could be meant; what is meant is known at its end, where the expression can be
evaluated: addresses differ from one copy to another, and agree within one.
"""

from __future__ import annotations

import sys

from reenact import _core
from reenact.debug.frames import OURS, depth_of, frames_of, outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from reenact.debug.writes import Writers, Written


class Hunt:
    """One hunt; `previous` is the one before it in this process, whose notes may be taken over."""

    def __init__(self, request: dict[str, Any], previous: Hunt | None) -> None:
        self.breakpoints: list[dict[str, Any]] = request.get("breakpoints", [])
        self.expressions: list[dict[str, Any]] = request.get("expressions", [])
        self.hit: list[int] = []  # numbers of what the last stop was for
        self.changed: list[Any] = []
        self.failures: list[dict[str, Any]] = []  # exceptions that nobody caught
        self.describe_failure: Callable[[], dict[str, Any]] = dict
        self.written: Written | None = None
        if "written" in request:
            self._writes = _core.import_unseen("reenact.debug.writes")
            self.written = self._writes.Written(request["written"])
        self._most_lines: int = request.get("lines", 0)  # of the program's own, the last that ran
        self.lines: list[tuple[int, str, int, int, int]] = []
        self._outside = outside() if self._most_lines else ()
        if "serials" in request:
            _core.canaries_watch(request["serials"])
        self._accesses: Any = None  # the race detector is told of
        if request.get("races"):
            self._accesses = _core.import_unseen("reenact.debug.accesses")
            self.detector = _core.import_unseen("reenact.engine.detecting")
            self.detector.install()
            self.detector.begin()
        self.wanted: tuple[Any, ...] | None = None  # what is meant, if it is known already
        self.first: dict[tuple[Any, ...], tuple[int, int, int, int]] = {}
        self.latest: dict[tuple[Any, ...], tuple[int, int, int, int]] = {}
        self._begun: set[tuple[Any, ...]] = set()  # variables that are older than nothing noted
        self._is_gone = False  # what is meant was a variable of a call that is over
        self._codes: dict[int, Writers] = {}
        self._told: dict[int, CodeType] = {}
        self._values: dict[int, str] = {}
        self._is_over = bool(request.get("keeps"))  # the writes were noted by the hunt before
        self._is_stopping = bool(request.get("stops"))
        self._after = tuple(
            request.get("after", (-1, 0))
        )  # writes of lines up to here do not count
        if previous is not None:
            self.wanted, self._is_gone = previous.wanted, previous._is_gone
        if self._is_over and previous is not None:
            self.latest, self.first = previous.latest, previous.first
            self._begun, self.written = previous._begun, previous.written
            self._writes = previous._writes

    def mean(self, frame: FrameType) -> None:
        """What is hunted is what the expression means in this frame, now."""
        assert self.written is not None
        self.wanted = self.written.key_in(frame)

    @property
    def asks_every_line(self) -> bool:
        return bool(self.expressions or self._most_lines)

    @property
    def asks_writes(self) -> bool:
        return self._accesses is not None or (self.written is not None and not self._is_over)

    def judge(self, kind: str, frame: FrameType, number: int, thread: int) -> object:
        """Called by the core: whether this is what is looked for."""
        if kind == "line":
            return self._judge_line(frame, number, thread)
        if kind == "code":
            return self._mask(frame.f_code)
        if kind == "failure":
            return self._note_failure()
        if kind == "thread":
            return self._tell_again()
        if kind == "call":
            return self._note_call(frame, thread)
        return self._judge_write(frame, number, thread)

    def _judge_line(self, frame: FrameType, number: int, thread: int) -> bool:
        file = frame.f_code.co_filename
        if self._most_lines and not file.startswith(self._outside):
            self.lines.append((thread, file, number, *_core.place()))
            del self.lines[: -self._most_lines]
        hit = [
            each["number"]
            for each in self.breakpoints
            if each["line"] == number and each["file"] == file and _holds(each, frame, thread)
        ]
        hit += [each["number"] for each in self.expressions if self._has_changed(each, thread)]
        if hit:
            self.hit = hit
        return bool(hit)

    def _has_changed(self, watch: dict[str, Any], thread: int) -> bool:
        """Whether an expression has another value than at the line before."""
        value = "(not there)"
        for frame in frames_of(watch["thread"]):
            if (frame.f_code.co_filename, frame.f_code.co_qualname) == tuple(watch["code"]):
                try:
                    value = repr(eval(watch["text"], {**frame.f_globals, **frame.f_locals}))
                except Exception as error:
                    value = f"({type(error).__name__}: {error})"
                break
        before = self._values.get(watch["number"])
        self._values[watch["number"]] = value
        if before is None or before == value:
            return False
        self.changed = [before, value]
        return True

    def _note_failure(self) -> bool:
        step, line, thread = _core.found() or (0, 0, 0)
        said = self.describe_failure()
        words = {name: said.get(name, "") for name in ("kind", "message", "trace")}
        self.failures.append({"place": [step, line], "thread": thread, **words})
        return True

    def _mask(self, code: CodeType) -> bytes | tuple[Any, ...] | None:
        """Which instructions write, a byte for each; or what the race detector is told by each."""
        if self._accesses is not None:
            row: tuple[Any, ...] | None = self._accesses.row(code)
            if row is not None:
                self._told[id(code)] = code
                _tell_instructions(code)
            return row
        if self.written is None:
            return None
        found: Writers | None = self._writes.writers(self.written, code)
        if found is None:
            return None
        self._codes[id(code)] = found
        self._told[id(code)] = code
        _tell_instructions(code)
        mask = bytearray(len(code.co_code) // 2)
        for offset in found:
            mask[offset // 2] = 1
        return bytes(mask)

    def _tell_again(self) -> bool:
        """A new thread that is traced makes 3.12 forget whose instructions are to be told."""
        for code in self._told.values():
            _tell_instructions(code)
        return False

    def _note_call(self, frame: FrameType, thread: int) -> bool:
        """A call makes variables of its own, which may lie where others lay, and writes to those
        that are arguments: its caller does."""
        written = self.written
        if written is None or written.kind != "name" or not self._writes.begins(frame):
            return False
        key = self._writes.variable_in(frame, written.name)
        if self._writes.is_new(frame, written.name):
            self._begin(key)
        if written.name not in self._writes.arguments_of(frame.f_code):
            return False
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename.startswith(OURS):
            caller = caller.f_back
        return self._note(key, thread, None if caller is None else depth_of(caller))

    def _begin(self, key: tuple[Any, ...]) -> None:
        if key == self.wanted:
            self._is_gone = True
        else:
            self.first.pop(key, None)
            self.latest.pop(key, None)
            self._begun.add(key)

    def _judge_write(self, frame: FrameType, offset: int, thread: int) -> bool:
        instruction, depth = self._codes[id(frame.f_code)][offset]
        assert self.written is not None
        return self._note(self.written.key_of(frame, instruction, depth), thread)

    def _note(self, key: tuple[Any, ...], thread: int, whose: int | None = None) -> bool:
        """`whose` is the depth of the frame that writes, if not the innermost."""
        step, line, depth = _core.line_here(thread)
        if (step, line) <= self._after or (self._is_gone and key == self.wanted):
            return False
        if self._is_stopping:
            return key == self.wanted
        noted = (step, line, thread, depth if whose is None else whose)
        self.latest[key] = noted
        self.first.setdefault(key, noted)
        return False

    def writes(self, text: str, frame: FrameType | None) -> dict[str, Any]:
        """Where what is meant was written first and last, in this hunt; and whether it began in
        it."""
        key = self.wanted
        if key is None:
            assert frame is not None
            key = self._writes.Written(text).key_in(frame)
        begun = key in self._begun
        return {"first": self.first.get(key), "last": self.latest.get(key), "begun": begun}

    def look_at_frames(self) -> None:
        """Frames that run already have their instructions told as well."""
        for top in sys._current_frames().values():
            frame: FrameType | None = top
            while frame is not None:
                if self._mask(frame.f_code) is not None and not _IS_MONITORED:
                    frame.f_trace_opcodes = True
                frame = frame.f_back
        del top  # our own frame would keep all others alive


# Before 3.12 frames have a flag for it. On 3.13 the flag must not be used as well: where it is set
# for a frame, nobody else is told of the instructions of that frame's code.
_IS_MONITORED = hasattr(sys, "monitoring")
_tool = -1


def _tell_instructions(code: CodeType) -> None:
    """Have the core told of each instruction."""
    global _tool
    if not hasattr(sys, "monitoring"):
        return
    monitoring = sys.monitoring
    if _tool < 0:
        _tool = next(each for each in (5, 4, 3, 2, 1, 0) if monitoring.get_tool(each) is None)
        monitoring.use_tool_id(_tool, "reenact")
        monitoring.register_callback(_tool, monitoring.events.INSTRUCTION, _core.instruction)
    monitoring.set_local_events(_tool, code, monitoring.events.NO_EVENTS)
    monitoring.set_local_events(_tool, code, monitoring.events.INSTRUCTION)


def _holds(breakpoint: dict[str, Any], frame: FrameType, thread: int) -> bool:
    if breakpoint.get("thread", thread) != thread:
        return False
    condition = breakpoint.get("condition")
    if not condition:
        return True
    try:
        return bool(eval(condition, {**frame.f_globals, **frame.f_locals}))
    except Exception:
        return True  # as pdb does: better to stop once too often
