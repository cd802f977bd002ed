"""What reads the clock without going through a function of `time` that the core has.

`time.time()` and its like are the core's (`_core/clock.c`). Here are the calls that read a clock
in C when they are given no time: they are given one.
"""

from __future__ import annotations

import warnings

from reenact import _core, pyversion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
_UTCNOW = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. "
    "Use timezone-aware objects to represent datetimes in UTC: "
    "datetime.datetime.now(datetime.UTC)."
)


def patch_time(module: ModuleType) -> None:
    for name in _CLOCKS:
        setattr(module, name, getattr(_core, name))
        setattr(module, f"{name}_ns", getattr(_core, f"{name}_ns"))
    for name in ("localtime", "gmtime", "ctime"):
        setattr(module, name, _of_now(getattr(module, name)))
    for name in ("asctime", "strftime"):
        setattr(module, name, _of_today(getattr(module, name), module.localtime))


def _of_now(native: Callable[[float], Any]) -> Any:
    def of_now(seconds: float | None = None, /) -> Any:
        return native(_core.time() if seconds is None else seconds)

    _dress(of_now, native)
    return of_now


def _of_today(native: Callable[..., Any], localtime: Callable[[], Any]) -> Any:
    is_format = native.__name__ == "strftime"

    def of_today(*args: Any) -> Any:
        return native(*args, localtime()) if len(args) == is_format else native(*args)

    _dress(of_today, native)
    return of_today


def _dress(ours: Any, native: Any) -> None:
    ours.__name__ = ours.__qualname__ = native.__name__
    ours.__doc__ = native.__doc__


def patch_datetime(module: ModuleType) -> None:
    """Of the C class alone: the one in Python reads `time.time`. `today` does so in both."""

    def now(cls: Any, tz: Any = None) -> Any:
        return cls.fromtimestamp(_core.time(), tz)

    def utcnow(cls: Any) -> Any:
        if pyversion.RUNNING >= "3.12":
            warnings.warn(_UTCNOW, DeprecationWarning, stacklevel=2)
        return cls.fromtimestamp(_core.time(), module.timezone.utc).replace(tzinfo=None)

    _core.put(module.datetime, "now", classmethod(now))
    _core.put(module.datetime, "utcnow", classmethod(utcnow))
