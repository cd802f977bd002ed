"""Functions and classes that the configuration declares as boundaries."""

from __future__ import annotations

import inspect
import sys

from reenact import _core
from reenact.intercept import crossing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any

# Instances of these are values: they are recorded as such, whoever makes them.
_VALUES = (int, float, complex, str, bytes, bytearray, tuple, BaseException)


def patch(module: ModuleType, names: Iterable[str]) -> None:
    wanted = [each for name in names for each in (_all_of(module) if name == "*" else [name])]
    natives = {name: _native(module, name) for name in dict.fromkeys(wanted)}
    for name, native in sorted(natives.items(), key=_bases_first):
        setattr(module, name, replacement(native, f"{module.__name__}.{name}"))


def _bases_first(item: tuple[str, Any]) -> tuple[int, str]:
    return len(getattr(item[1], "__mro__", ())), item[0]


def _native(module: ModuleType, name: str) -> Any:
    native = getattr(module, name, None)
    if not callable(native) or _is_value_class(native):
        raise ImportError(
            f"reenact: the boundary {module.__name__}:{name} is no function or class of objects",
            name=module.__name__,
        )
    return native


def _all_of(module: ModuleType) -> list[str]:
    """Public functions and classes that the module itself defines."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name in vars(module) if not name.startswith("_")]
    return [name for name in names if _is_own(module, getattr(module, name, None))]


def _is_own(module: ModuleType, value: Any) -> bool:
    is_here = getattr(value, "__module__", None) in (module.__name__, None)
    return is_here and callable(value) and not _is_value_class(value)


def _is_value_class(value: Any) -> bool:
    enum = sys.modules.get("enum")
    values = _VALUES if enum is None else (*_VALUES, enum.Enum)
    return isinstance(value, type) and issubclass(value, values)


def replacement(native: Any, name: str) -> Any:
    if isinstance(native, type):
        return crossing.stand_in(native)
    crossed = crossing.crossing(name, native)
    return _dressed(crossed if inspect.isfunction(native) else _Unbound(crossed), native)


class _Unbound:
    """A function that does not turn into a method in a class body, as those of C modules."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **names: Any) -> Any:
        return self._function(*args, **names)

    def __repr__(self) -> str:
        return f"<boundary function {self.__name__}>"

    __name__: str


def _dressed(ours: Any, native: Any) -> Any:
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        if hasattr(native, name):
            setattr(ours, name, getattr(native, name))
    return ours


_core.hide_frames(patch.__code__)
