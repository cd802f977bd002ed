"""signal.signal: handlers written in Python run at points.

The core holds such signals back (`_core/signals.c`), and is what the interpreter calls when one
comes; the program's own handlers are kept here.
"""

from __future__ import annotations

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


def patch(module: ModuleType) -> None:
    native_signal, native_getsignal = module.signal, module.getsignal
    handlers: dict[int, Any] = {}

    def theirs(number: int, handler: Any) -> Any:
        return handlers.get(number) if handler is _core.handle_signal else handler

    def watch(number: int, handler: Any) -> None:
        handlers[number] = handler
        _core.set_handler(number, handler)
        _core.watch_signal(number, handler is module.default_int_handler)

    def signal(signalnum: Any, handler: Any, /) -> Any:
        _core.point()  # signals that came before must find the handler of before, as in Python
        number = int(signalnum)
        if not callable(handler):
            before = theirs(number, native_signal(signalnum, handler))
            _core.unwatch_signal(number)
            return before
        before = theirs(number, native_signal(signalnum, _core.handle_signal))
        watch(number, handler)
        return before

    def getsignal(signalnum: Any, /) -> Any:
        return theirs(int(signalnum), native_getsignal(signalnum))

    module.signal, module.getsignal = signal, getsignal  # type: ignore[attr-defined]
    if native_getsignal(module.SIGINT) is module.default_int_handler:
        native_signal(module.SIGINT, _core.handle_signal)
        watch(module.SIGINT, module.default_int_handler)
