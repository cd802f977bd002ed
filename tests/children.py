"""Which processes a process has started: the harnesses need it to stop or kill a program."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def children_of(pid: int) -> list[int]:
    """Those of all its threads; where the kernel has no list of them, all processes are asked."""
    try:
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # a thread ended just now, or the process
        lists = []
    if lists:
        return sorted(int(each) for text in lists for each in text.split())
    return [each for each in _processes() if _parent_of(each) == pid]


def kill_children(pid: int) -> None:
    """And theirs, first: a grandchild left alone would keep its pipes open."""
    for child in children_of(pid):
        kill_children(child)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _parent_of(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # it ended just now
        return -1
    return int(text.rpartition(")")[2].split()[1])
