"""The program's frames, without ours. Loaded into copies of the program: imports little."""

from __future__ import annotations

import os
import sys

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep
_RUNNING = (  # whoever runs the program, or a test
    os.path.join(OURS, "engine", "child.py"),
    os.path.join(os.path.dirname(OURS[:-1]), "reenact_pytest", ""),
)


def outside() -> tuple[str, ...]:
    """What the names of files begin with that are not the program's own: the interpreter's, those
    of installed packages, and ours."""
    return (sys.prefix, sys.base_prefix, sys.exec_prefix, OURS, "<frozen")


def frames_of(thread: int) -> list[FrameType]:
    """The program's frames of a thread, the innermost first."""
    idents = {each[0]: each[2] for each in _core.threads()}
    frame = sys._current_frames().get(idents.get(thread, -1))
    frames = []
    while frame is not None and not frame.f_code.co_filename.startswith(_RUNNING):
        if not frame.f_code.co_filename.startswith(OURS):
            frames.append(frame)
        frame = frame.f_back
    return frames


def frame_at(where: dict[str, Any]) -> FrameType:
    """The frame that a request is about."""
    frames = frames_of(where["thread"])
    if not frames:
        raise LookupError("the program has no frame there: it has not begun, or is over")
    index: int = where.get("frame", 0)
    return frames[min(index, len(frames) - 1)]


def depth_of(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth


def described(frame: FrameType) -> dict[str, Any]:
    """What front-ends know as a Frame."""
    code = frame.f_code
    return {
        "file": code.co_filename,
        "line": frame.f_lineno,
        "function": code.co_qualname,
        "depth": depth_of(frame),
        "first": code.co_firstlineno,
    }
