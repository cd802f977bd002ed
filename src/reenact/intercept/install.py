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
from reenact.intercept import (
    boundary,
    buffers,
    clock,
    directories,
    imports,
    processes,
    randomness,
    readiness,
    signals,
    table,
    terminal,
)
from reenact.intercept.lazy import call_when_loaded
from reenact.intercept.numbers import hash_by_number, number_futures

_Function: Any = type(lambda: None)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FunctionType, ModuleType
    from typing import Any

    Copies = dict[int, tuple[object, object]]

_inputs = Inputs()

# Types that their module does not export by name.
_HIDDEN_TYPES: dict[str, Callable[[ModuleType], type]] = {
    "select:poll": lambda select: type(select.poll()),
}


def _patch_posix(module: ModuleType) -> None:
    directories.patch(module)
    buffers.patch_posix(module)


# Calls whose treatment takes more than the core's wrappers: module, source, what patches it.
_OURS: tuple[tuple[str, str, Callable[[ModuleType], None]], ...] = (
    ("time", "clock", clock.patch_time),
    ("datetime", "clock", clock.patch_datetime),
    ("_random", "random", randomness.patch),
    ("posix", "files", _patch_posix),
    ("posix", "processes", processes.patch_spawn),
    ("_socket", "sockets", buffers.patch_socket),
    ("select", "sockets", readiness.patch),
    ("_posixsubprocess", "processes", processes.patch_fork_exec),
    ("_signal", "signals", signals.patch),
    ("builtins", "terminal", terminal.patch),
)


_IS_HEAP_TYPE = 1 << 9  # made by a class statement: its attributes can be set


def install(inputs: Inputs) -> None:
    global _inputs
    _inputs = inputs
    sources = inputs.sources
    _core.watch_events(inputs.strict)
    imports.stay_native()
    imports.refuse(table.REFUSED_MODULES)
    rows_of = _rows_by_module()
    copies: Copies = {}
    for name in _patched_modules(rows_of):
        if name in sys.modules:
            _patch_module(sys.modules[name], rows_of.get(name, []), sources, copies)
    _patch_files(sources)
    replace_copies(copies)
    call_when_loaded(_callbacks(rows_of, sources))
    _patch_boundaries(boundary.patches(inputs.boundary))
    hash_by_number(threading.Thread)
    if "concurrent.futures._base" in sys.modules:
        number_futures(sys.modules["concurrent.futures._base"])


def _patch_boundaries(patches: dict[str, Callable[[ModuleType], None]]) -> None:
    for name in sorted(patches):
        if name in sys.modules:
            _replace(sys.modules[name], patches[name])

    def replacing(patch: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
        return lambda module: _replace(module, patch)

    call_when_loaded({name: replacing(patch) for name, patch in patches.items()})


def _replace(module: ModuleType, patch: Callable[[ModuleType], None]) -> None:
    """Modules that it loaded on the way may have copies, too."""
    before = dict(module.__dict__)
    patch(module)
    copies: Copies = {}
    note_changes(module, before, copies)
    replace_copies(copies)


def begin() -> None:
    """What can only be settled once calls are recorded: the gate is open."""
    randomness.settle()


def _rows_by_module() -> dict[str, list[table.Row]]:
    rows_of: dict[str, list[table.Row]] = {}
    for row in table.TABLE:
        rows_of.setdefault(row.owner.partition(":")[0], []).append(row)
    return rows_of


def _patched_modules(rows_of: dict[str, list[table.Row]]) -> list[str]:
    """In the same order in every process: calls are numbered as they are wrapped."""
    return sorted({*rows_of, *table.KNOWN_TYPES, *(module for module, _, _ in _OURS)})


def _callbacks(
    rows_of: dict[str, list[table.Row]], sources: Mapping[str, str]
) -> dict[str, Callable[[ModuleType], None]]:
    def patcher(rows: list[table.Row]) -> Callable[[ModuleType], None]:
        def patch(module: ModuleType) -> None:
            copies: Copies = {}
            _patch_module(module, rows, sources, copies)

        return patch

    callbacks = {name: patcher(rows_of.get(name, [])) for name in _patched_modules(rows_of)}
    callbacks["_queue"] = lambda module: _core.install_queues(module.SimpleQueue)
    callbacks["concurrent.futures._base"] = number_futures
    return callbacks


def _patch_module(
    module: ModuleType, rows: list[table.Row], sources: Mapping[str, str], copies: Copies
) -> None:
    name = module.__name__
    for needed in table.LOADED_INSIDE.get(name, "").split():
        __import__(needed)
    for kind in table.KNOWN_TYPES.get(name, "").split():
        if hasattr(module, kind):
            _core.know_type(f"{name}.{kind}", getattr(module, kind))
    before = dict(module.__dict__)
    for row in rows:
        _apply(row, module, sources.get(row.source, table.RECORDED))
    for owner, source, patch_ours in _OURS:
        if owner == name and sources.get(source, table.RECORDED) == table.RECORDED:
            patch_ours(module)
    note_changes(module, before, copies)


def note_changes(module: ModuleType, before: dict[str, Any], copies: Copies) -> None:
    for attribute, native in before.items():
        ours = module.__dict__.get(attribute)
        if ours is not native:
            copies[id(native)] = (native, ours)


def _apply(row: table.Row, module: ModuleType, treatment: str) -> None:
    owner = _owner(row, module)
    for name in row.names:
        if owner is None or not hasattr(owner, name):
            continue
        if treatment == table.REFUSED:
            _refuse(owner, name, row)
        elif row.manner == table.MODELLED:
            _model(owner, name)
        elif row.manner != "ours":
            how = (row.manner, row.flags) if treatment == table.RECORDED else _passed(row)
            _core.wrap(owner, name, *how)


def _passed(row: table.Row) -> tuple[str, int]:
    """Of a source that the settings pass: nothing is recorded, but who waits drops the baton, and
    what must not be done twice ends the epoch of a run that has epochs."""
    flags = row.flags | (table.ENDS_EPOCH if row.undo == table.IRREVOCABLE else 0)
    return "outside" if row.flags & table.WAITS else "passed", flags


def _owner(row: table.Row, module: ModuleType) -> Any:
    type_name = row.owner.partition(":")[2]
    if not type_name:
        return module
    if row.owner in _HIDDEN_TYPES:
        return _HIDDEN_TYPES[row.owner](module)
    owner = getattr(module, type_name, None)
    return owner.__wrapped__ if isinstance(owner, _core.Call) else owner


def _model(owner: Any, name: str) -> None:
    ours = getattr(_core, name)
    if getattr(owner, name) is ours:  # the module was reloaded in place
        return
    if name == "sleep":
        _core.keep_sleep(owner.sleep)
    setattr(owner, name, ours)


def _refuse(owner: Any, name: str, row: table.Row) -> None:
    def refused(*args: object, **names: object) -> None:
        raise RuntimeError(
            f"reenact: {row.owner}.{name} is refused: the configuration says "
            f'{row.source} = "refused"'
        )

    if isinstance(owner, type):
        _core.put(owner, name, refused)
    else:
        setattr(owner, name, refused)


def _patch_files(sources: Mapping[str, str]) -> None:
    is_recorded = sources.get("files", table.RECORDED) == table.RECORDED
    _core.pass_paths(tuple(directories.passed()) if is_recorded else None)
    if is_recorded:
        _core.patch_files(sys.modules["_io"].FileIO, sys.modules["posix"].open)


def replace_copies(copies: Copies) -> None:
    """`from time import monotonic as _time` in a loaded module must mean ours too, and so must
    `unlink = os.unlink` in one of its classes or among the parameters of its functions.

    Our own modules keep what they have: what they do is not the program's.
    """
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if type(names) is not dict or names.get("__name__", "").startswith("reenact"):
            continue
        for name, value in list(names.items()):
            ours = _ours(value, copies)
            if ours is not value:
                names[name] = ours
            elif type(value) is type and value.__module__ == names.get("__name__"):
                _replace_in_class(value, copies)
            elif type(value) is _Function:
                _replace_defaults(value, copies)


def _ours(value: Any, copies: Copies) -> Any:
    pair = copies.get(id(value))
    return pair[1] if pair is not None and value is pair[0] else value


def _replace_in_class(owner: type, copies: Copies) -> None:
    for name, value in list(owner.__dict__.items()):
        ours = _ours(value, copies)
        if ours is not value and owner.__flags__ & _IS_HEAP_TYPE:
            setattr(owner, name, ours)
        elif type(value) is _Function:
            _replace_defaults(value, copies)


def _replace_defaults(function: FunctionType, copies: Copies) -> None:
    if any(id(value) in copies for value in function.__defaults__ or ()):
        function.__defaults__ = tuple(_ours(each, copies) for each in function.__defaults__ or ())
