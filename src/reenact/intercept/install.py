"""Puts the table's rows into effect, in the process that runs the program.

Called by `engine/child.py` before the program's first line. Functions of C modules are replaced
in their module, and wherever a module that is already loaded has copied them. A module that is
loaded later, or once more (a test took it out of `sys.modules`), is patched then. Nothing here
depends on whether the run is recorded or replayed.
"""

from __future__ import annotations

import sys
import threading

from reenact import _core
from reenact.inputs import Inputs
from reenact.intercept import table
from reenact.intercept.lazy import call_when_loaded
from reenact.intercept.numbers import hash_by_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_inputs = Inputs()

# Types that their module does not export by name.
_HIDDEN_TYPES: dict[str, Callable[[ModuleType], type]] = {
    "select:poll": lambda select: type(select.poll()),
}

_WRAPPERS = {
    table.OUTSIDE: _core.outside,
    table.RECORDED: _core.recorded,
    table.SENT: _core.sent,
    table.PRINTED: _core.output,
}


def install(inputs: Inputs) -> None:
    global _inputs
    _inputs = inputs
    copies: dict[int, tuple[object, object]] = {}
    rows_of: dict[str, list[table.Row]] = {}
    for row in table.TABLE:
        module = row.owner.partition(":")[0]
        rows_of.setdefault(module, []).append(row)
        if module in sys.modules:
            apply(row, sys.modules[module], copies)
    replace_copies(copies)
    callbacks = {name: _applier(rows) for name, rows in rows_of.items()}
    callbacks["_queue"] = lambda module: _core.install_queues(module.SimpleQueue)
    callbacks["concurrent.futures._base"] = lambda module: hash_by_number(module.Future)
    hash_by_number(threading.Thread)
    if "concurrent.futures._base" in sys.modules:
        hash_by_number(sys.modules["concurrent.futures._base"].Future)
    call_when_loaded(callbacks)


def _applier(rows: list[table.Row]) -> Callable[[ModuleType], None]:
    def apply_all(module: ModuleType) -> None:
        for row in rows:
            apply(row, module, {})

    return apply_all


def apply(row: table.Row, module: ModuleType, copies: dict[int, tuple[object, object]]) -> None:
    """Patch one row; `copies` collects (native, ours) of module functions, by identity."""
    owner = _owner(row, module)
    for name in row.names:
        native = getattr(owner, name, None)
        if owner is None or native is None:
            continue
        _patch(row, owner, name)
        if owner is module:
            copies[id(native)] = (native, getattr(module, name))


def _owner(row: table.Row, module: ModuleType) -> Any:
    type_name = row.owner.partition(":")[2]
    if not type_name:
        return module
    if row.owner in _HIDDEN_TYPES:
        return _HIDDEN_TYPES[row.owner](module)
    return getattr(module, type_name, None)


def _patch(row: table.Row, owner: Any, name: str) -> None:
    wrap = _WRAPPERS.get(row.treatment)
    if wrap is not None:
        wrap(owner, name, row.on_descriptor, row.fills)
        return
    ours = getattr(_core, name)
    if getattr(owner, name) is ours:  # the module was reloaded in place
        return
    if name == "sleep":
        _core.keep_sleep(owner.sleep)
    setattr(owner, name, ours)


def replace_copies(copies: dict[int, tuple[object, object]]) -> None:
    """`from time import monotonic as _time` in a loaded module must mean ours too."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if type(names) is not dict or module is _core:
            continue
        for name, value in list(names.items()):
            pair = copies.get(id(value))
            if pair is not None:
                names[name] = pair[1]
