"""The race detector, and the watch on locks, in the process of the program: switched on, and asked
at the end.

Called by `child.py`, before the gate is opened and after. What was found is written as one JSON
document, the *raw findings*, into a file next to the log, whichever way the process ends as far as
Python or the gate end it. The launcher reads it: `engine/races.py`.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
from typing import Any, NoReturn

from reenact import _core
from reenact.engine import edges, machinery

_exit = os._exit
_descriptor = -1
_sample = "1"


def prepare() -> None:
    """Before the gate is opened: what is done here, the program does not see."""
    global _descriptor
    _descriptor = _core.open_findings()
    machinery.tell_core()
    edges.install()
    _core.at_last(_write)
    atexit.register(_finish)
    os._exit = _exit_with_findings


def begin(text: str) -> None:
    """Look for races from now on, and at locks; `text` is the share of variables, and a seed."""
    global _sample
    _sample, _, seed = text.partition(":")
    _core.races_begin(float(_sample), int(seed or 0))
    _core.locks_watch(True)
    edges.names[0] = threading.current_thread().name


def found() -> dict[str, Any]:
    """The raw findings so far."""
    races, left_out, overflow = _core.races_found()
    return {
        "version": 1,
        "races": races,
        "locks": _core.locks_found(),
        "left_out": left_out,
        "overflow": overflow,
        "sample": float(_sample),
        "threads": [{"index": index, "name": name} for index, name in sorted(edges.names.items())],
    }


def _finish() -> None:
    _core.close(False)
    _write()


def _write() -> None:
    document = found()
    _core.races_end()
    _core.locks_watch(False)
    os.ftruncate(_descriptor, 0)
    os.pwrite(_descriptor, json.dumps(document).encode(), 0)


def _exit_with_findings(status: int) -> NoReturn:
    _core.quietly(_write)
    _exit(status)
