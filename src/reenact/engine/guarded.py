"""Failures of a program that runs in epochs: told to the keeper, who goes back and looks.

In the program's own process, under `reenact run`; everywhere else all of this does nothing. What is
done here is done in the same way when the epoch is run again.
"""

from __future__ import annotations

import sys
import threading

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

_CO_COROUTINE = 0x80  # without importing inspect


def install() -> None:
    """Have exceptions that no code of a thread catches told; its hook runs as ever."""
    original = threading._make_invoke_excepthook  # type: ignore[attr-defined]

    def make() -> Callable[[threading.Thread], None]:
        invoke = original()

        def invoke_excepthook(thread: threading.Thread) -> None:
            error = sys.exc_info()[1]
            if error is not None:
                fail(error)
            invoke(thread)

        return invoke_excepthook

    threading._make_invoke_excepthook = make  # type: ignore[attr-defined]


def fail(error: BaseException) -> None:
    """Something went wrong here."""
    if not isinstance(error, (SystemExit, KeyboardInterrupt)):
        _tell(f"{type(error).__name__}: {_said_by(error)}", is_raised=True)


def _said_by(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as another:
        return f"(its str raised {type(another).__name__})"


def _tell(text: str, is_raised: bool) -> None:
    said = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    if _core.epoch_failed(said, is_raised) is False:
        import os

        for stream in (sys.stdout, sys.stderr):
            _core.quietly(stream.flush)
        _core.quietly(os._exit, 1)


def rollback(why: str = "") -> None:
    """Go back to where this epoch began and run it again with eyes open, in a copy; a report says
    what was seen. Then this goes on. Does nothing unless `reenact run` has started the program."""
    if _core.epoch_is_on():
        _tell(why or "reenact.rollback() was called", is_raised=False)


def begin_epoch() -> None:
    """Begin a new epoch here, as after a piece of work: from now on nobody goes back further. Does
    nothing unless `reenact run` has started the program."""
    _core.epoch_renew()


class guarded:
    """An exception that leaves this block, or the function that this decorates, is a failure even
    if somebody catches it further out. With *new_epoch* an epoch begins with each time that the
    block does, if one can: then nobody looks further back. *only* says which exceptions count. Does
    nothing unless `reenact run` has started the program."""

    def __init__(
        self,
        *,
        new_epoch: bool = False,
        only: type[BaseException] | tuple[type[BaseException], ...] = BaseException,
    ) -> None:
        self.new_epoch = new_epoch
        self.only = only

    def __enter__(self) -> guarded:
        if self.new_epoch:
            begin_epoch()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, self.only) and _core.epoch_is_on():
            fail(error)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        from functools import wraps

        code = getattr(function, "__code__", None)
        is_coroutine = code is not None and code.co_flags & _CO_COROUTINE

        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with self:
                return await function(*args, **kwargs)

        return awaited if is_coroutine else inside
