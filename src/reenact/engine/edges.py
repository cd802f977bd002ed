"""Edges that no lock makes: what Python's synchronisation promises beyond the locks it takes.

Called by `detecting.py`, once in a process and for good. `Event.is_set` and `Thread.is_alive`
answer without a lock, a thread that has been joined is joined again without one, and an event loop
takes callbacks from other threads off a deque. Each is given its edge here, for the race detector
alone.

Nothing is imported here, nor in `detecting.py`, that Python or reenact would not have imported
anyway: a replay must stay in step with a recording in which the program was the first to do so.
"""

from __future__ import annotations

import builtins
import sys
import threading
from _weakref import ref

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_edge = _core.races_edge
_ended = object()  # what all threads but daemons pass on as they end
names: dict[int, str] = {}  # of threads, by index
PUT = ("_before.<locals>.method", "_after.<locals>.method")  # what stands around the originals
_indexes: dict[int, tuple[ref[threading.Thread], int]] = {}  # of threads, by their addresses


def install() -> None:
    _before(threading.Thread, "_set_ident", _keep_name)
    _before(threading.Event, "set", lambda event: _edge(event, True))
    _after(threading.Event, "is_set", _learn_if_set)
    _before(threading.Thread, "_delete", _tell_end)
    _after(threading.Thread, "join", _learn_if_ended)
    _after(threading.Thread, "is_alive", _learn_if_ended)
    _after_shutdown()
    _patch_imports()
    _patch_loaded()


def begin() -> None:
    """A run begins, in this thread: what was known of threads is forgotten."""
    names.clear()
    _indexes.clear()
    _keep_name(threading.current_thread())


def _keep_name(thread: threading.Thread) -> None:
    """Called as the thread begins, by itself."""
    index = _core.explore_me()
    if index >= 0:  # it is under the gate
        _indexes[id(thread)] = _core.quietly(ref, thread), index  # no recording has it
        names[index] = _core.quietly(getattr, thread, "name")


def _index_of(thread: threading.Thread) -> int | None:
    known, index = _indexes.get(id(thread), (None, -1))
    return index if known is not None and known() is thread else None


def _tell_end(thread: threading.Thread) -> None:
    _edge(thread, True)
    if not thread.daemon:
        _edge(_ended, True)


def _learn_if_set(event: threading.Event, is_set: bool) -> None:
    if is_set:
        _edge(event, False)


def _learn_if_ended(thread: threading.Thread, is_alive: object) -> None:
    """Asked quietly: questions may have sites, and on 3.13 be operations, which a recording does
    not have here."""
    if not is_alive and _core.quietly(_has_ended, thread):
        _edge(thread, False)
        index = _index_of(thread)
        if index is not None:
            _core.locks_joined(index)


_is_alive = threading.Thread.is_alive


def _has_ended(thread: threading.Thread) -> bool:
    return thread.ident is not None and not _is_alive(thread)


def _after_shutdown() -> None:
    """What is called at exit comes after the end of all threads but daemons."""
    original = threading._shutdown  # type: ignore[attr-defined]

    def shutdown() -> None:
        original()
        _edge(_ended, False)

    threading._shutdown = shutdown  # type: ignore[attr-defined]


def _patch_imports() -> None:
    """Whoever has imported a module has all that its body did, whichever thread ran that."""
    original = builtins.__import__
    token = object()

    def imported(*args: Any, **named: Any) -> Any:
        count = len(sys.modules)
        module = original(*args, **named)
        _edge(token, False)
        if len(sys.modules) != count:
            _edge(token, True)
            _patch_loaded()
        return module

    builtins.__import__ = imported


def _patch_loaded() -> None:
    """Not by a finder: the import system takes locks for each, and a replay must stay in step with
    a recording in which there was none."""
    for name, patch in tuple(_pending.items()):
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if spec is not None and not getattr(spec, "_initializing", False):
            del _pending[name]
            patch(sys.modules[name])


def _patch_loops(module: ModuleType) -> None:
    _before(module.BaseEventLoop, "call_soon_threadsafe", lambda loop: _edge(loop, True))


def _patch_handles(module: ModuleType) -> None:
    _before(module.Handle, "_run", lambda handle: _edge(handle._loop, False))


_pending = {"asyncio.base_events": _patch_loops, "asyncio.events": _patch_handles}


def _before(owner: type, name: str, note: Callable[[Any], None]) -> None:
    original = getattr(owner, name)

    def method(self: Any, *args: Any, **named: Any) -> Any:
        note(self)
        return original(self, *args, **named)

    _put(owner, name, method, original)


def _after(owner: type, name: str, note: Callable[[Any, Any], None]) -> None:
    original = getattr(owner, name)

    def method(self: Any, *args: Any, **named: Any) -> Any:
        result = original(self, *args, **named)
        note(self, result)
        return result

    _put(owner, name, method, original)


def _put(owner: type, name: str, method: Any, original: Any) -> None:
    """In place of the original, and as if it stood in its file: what threading does for itself it
    still does for itself."""
    code = method.__code__
    method.__code__ = code.replace(co_filename=original.__code__.co_filename)
    for each in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(method, each, getattr(original, each))
    method.__wrapped__ = original
    setattr(owner, name, method)
