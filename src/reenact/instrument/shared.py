"""What of the standard library has sites, where the order of accesses is kept.

Most of it guards what threads share by locks, whose order is kept anyway. What is listed here reads
or writes something without one: `Event.is_set`, say, or an executor's workers that look whether it
was shut down. Modules that are loaded later have sites throughout, as the program's own have
(`Policy`); of those that are there already, some functions get the code of a version with sites.
"""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader

from reenact.pyversion import HAS_GIL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FunctionType, ModuleType
    from typing import Any

    Make = Callable[[bytes, str], CodeType]

MODULES: tuple[str, ...] = (
    "asyncio",
    "collections",
    "concurrent",
    "functools",
    "multiprocessing.dummy",
    "multiprocessing.pool",
    "queue",
    "random",
    "weakref",
)
_FUNCTIONS = {
    "threading": (
        *("Event.is_set", "Event.set", "Event.clear"),
        *("Thread.is_alive", "Thread.join", "Thread.ident", "Thread.name", "Thread.native_id"),
        *("Thread._set_ident", "Thread._set_native_id", "Thread._stop"),
        *("Thread._wait_for_tstate_lock", "Thread._set_tstate_lock"),
        *("Barrier.n_waiting", "Barrier.broken", "Timer.cancel"),
    ),
    "_frozen_importlib": (
        *("_find_and_load", "_find_and_load_unlocked", "_load_unlocked", "_handle_fromlist"),
        *("_has_deadlocked", "_BlockingOnManager.__enter__", "_BlockingOnManager.__exit__"),
        *("_ModuleLock.acquire", "_ModuleLock.has_deadlock"),
    ),
    "_weakrefset": ("WeakSet.add", "WeakSet.__len__", "WeakSet.__contains__", "WeakSet.discard"),
}
if not HAS_GIL:  # nothing but sites tells who came first, so these, too, which seldom matter
    MODULES += (
        *("_strptime", "contextlib", "http", "locale", "logging", "mimetypes", "re", "sched"),
        *("selectors", "shelve", "socketserver", "sqlite3", "subprocess", "tempfile"),
        *("traceback", "urllib"),
    )
    _FUNCTIONS["threading"] += ("Thread._delete",)  # what dies there may ask which thread it is
    _FUNCTIONS["_weakrefset"] += (
        *("_IterationGuard.__enter__", "_IterationGuard.__exit__"),
        *("WeakSet.__init__", "WeakSet.__iter__", "WeakSet._commit_removals", "WeakSet.clear"),
        *("WeakSet.pop", "WeakSet.remove", "WeakSet.update"),
    )
    _FUNCTIONS["linecache"] = ("getlines", "updatecache", "checkcache", "lazycache", "clearcache")
# As the interpreter knows it, which leaves its frames out of tracebacks.
_FROZEN = {"_frozen_importlib": "<frozen importlib._bootstrap>"}


def give_sites(make: Make) -> Iterator[str]:
    """To functions of modules that are loaded; the files of these. *make* makes the code of one."""
    for name, wanted in _FUNCTIONS.items():
        module = sys.modules[name]
        path = module.__file__
        assert path is not None
        source = SourceFileLoader(name, path).get_data(path)
        file = _FROZEN.get(name, path)
        codes = dict(_named(make(source, file)))
        yield file
        for qualified in wanted:
            for function in _functions(module, qualified):
                _swap(function, codes)


def _named(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """By name and line: a property's two functions have one name."""
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _named(constant)


def _functions(module: ModuleType, qualified: str) -> list[Any]:
    """None in versions of Python that do not have it."""
    owner, _, name = qualified.rpartition(".")
    holder: Any = getattr(module, owner, None) if owner else module
    found: Any = None if holder is None else vars(holder).get(name)
    if isinstance(found, property):
        return [each for each in (found.fget, found.fset) if each is not None]
    return [] if found is None else [found]


def _swap(function: FunctionType, codes: dict[tuple[str, int], CodeType]) -> None:
    old = function.__code__
    code = codes.get((old.co_qualname, old.co_firstlineno))
    if code is not None and code.co_freevars == old.co_freevars:
        function.__code__ = code
