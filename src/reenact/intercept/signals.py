"""signal.signal: handlers written in Python run at points.

The core holds such signals back (`_core/signals.c`); here it is told which ones.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_native: Callable[..., Any] = _signal.signal


def _signal_signal(signalnum: Any, handler: Any, /) -> Any:
    _core.point()  # signals that came before must find the handler of before, as in Python
    before = _native(signalnum, handler)
    if callable(handler):
        _core.watch_signal(int(signalnum), handler is _signal.default_int_handler)
    return before


def install() -> None:
    _signal.signal = _signal_signal
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _core.watch_signal(_signal.SIGINT, True)
