"""Results of thread pools in runs of a search: exceptions that stay in them are not lost.

A pool keeps what its task raised for whoever asks for the result. If nobody does, Python says
nothing. Owns the patches of `concurrent.futures` and `multiprocessing.pool` by which a search hears
of it. They do nothing outside of runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from reenact import _core
from reenact.intercept.lazy import call_when_loaded

_NOTE = "_reenact_unseen"

_report: Callable[[str], object] | None = None
_unseen: list[list[str]] = []  # a note for each exception that nobody has asked for yet


def report_to(report: Callable[[str], object] | None) -> None:
    """Who is told; None outside of runs."""
    global _report
    _report = report
    _unseen.clear()


def look_for_unseen() -> None:
    """Once the program has run to its end."""
    for note in _unseen:
        if _report is not None:
            _report(note[0])
    _unseen.clear()


def install() -> None:
    """Patch them, now or when they are loaded. Once in a process."""
    _core.hide_frames(install.__code__)
    patches = {"concurrent.futures._base": _patch_futures, "multiprocessing.pool": _patch_pools}
    for name, patch in patches.items():
        if name in sys.modules:
            patch(sys.modules[name])
    call_when_loaded({name: patch for name, patch in patches.items() if name not in sys.modules})


def is_cancellation(error: BaseException | None) -> bool:
    """Of whatever kind: somebody has wanted it."""
    return type(error).__name__ == "CancelledError"


def _keep(holder: Any, error: BaseException, what: str) -> None:
    if _report is None or _core.explore_is_aborting():
        return
    if is_cancellation(error):
        return
    note = [f"{what}: {type(error).__name__}: {error}"]
    holder.__dict__[_NOTE] = note
    _unseen.append(note)


def _see(holder: Any) -> None:
    note = holder.__dict__.pop(_NOTE, None)
    if note is not None:
        _unseen[:] = [each for each in _unseen if each is not note]


def _patch_futures(module: ModuleType) -> None:
    future: Any = module.Future
    native_set, native_result = future.set_exception, future.result
    native_exception = future.exception

    def set_exception(self: Any, exception: Any) -> None:
        if isinstance(exception, BaseException):
            _keep(self, exception, "it stayed in a future")
        native_set(self, exception)

    def result(self: Any, timeout: Any = None) -> Any:
        try:
            return native_result(self, timeout)
        finally:
            _see(self)

    def exception(self: Any, timeout: Any = None) -> Any:
        try:
            return native_exception(self, timeout)
        finally:
            _see(self)

    future.set_exception, future.result, future.exception = set_exception, result, exception


def _patch_pools(module: ModuleType) -> None:
    for kind in (module.ApplyResult, module.MapResult):
        kind._set = _set_of(kind._set)
    native_get = module.ApplyResult.get

    def get(self: Any, timeout: Any = None) -> Any:
        try:
            return native_get(self, timeout)
        finally:
            _see(self)

    module.ApplyResult.get = get


def _set_of(native: Callable[..., None]) -> Callable[..., None]:
    def _set(self: Any, number: int, outcome: tuple[bool, Any]) -> None:
        is_good, value = outcome
        if not is_good and self._error_callback is None:
            _keep(self, value, "it stayed in the result of a pool")
        native(self, number, outcome)

    return _set
