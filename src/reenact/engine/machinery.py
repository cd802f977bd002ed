"""What `threading` does for itself: how a thread starts and ends is no matter of choice, and the
locks that it takes meanwhile order nothing that the program does."""

from __future__ import annotations

import threading

from reenact import _core

_METHODS = ("start", "_bootstrap", "_bootstrap_inner", "_delete", "join")


_is_told = False


def tell_core() -> None:
    """Once in a process, and before anybody else patches these."""
    global _is_told
    if _is_told:
        return
    _is_told = True
    methods = vars(threading.Thread)
    codes = [methods[name].__code__ for name in _METHODS if name in methods]
    _core.explore_machinery((*codes, threading._shutdown.__code__))  # type: ignore[attr-defined]
    _core.locks_know_wait(threading.Condition.wait.__code__)
