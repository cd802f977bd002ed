"""Objects of a library behind a boundary, as the program sees them.

Such an object is a `Proxy`. It holds the real object in a recording; in a replay there is none.
Proxies are numbered on the program's side alone, in the order of the schedule, so that numbers are
the same in a replay and can name them in a recording.
"""

from __future__ import annotations

import weakref

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _release(proxy: Proxy) -> None:
    object.__delattr__(proxy, "_reenact_real")


class Proxy:
    """Stands for an object inside a boundary. Classes of proxies are made in `crossing.py`."""

    __slots__ = ("__weakref__", "_reenact_number", "_reenact_real")

    _reenact_number: int
    _reenact_real: Any

    def __hash__(self) -> int:
        return number_of(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __del__(self, quietly: Any = _core.quietly, release: Any = _release) -> None:
        """The end of the real object is the library's business, and no replay has it."""
        if hasattr(self, "_reenact_real"):
            quietly(release, self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot copy or pickle {type(self).__qualname__}: it is at a boundary")


class _Weak(weakref.ref[Proxy]):
    """Knows where it is registered."""

    __slots__ = ("number", "real_id")

    number: int
    real_id: int


_proxies: dict[int, Any] = {}  # by number
_by_real: dict[int, Any] = {}  # by the address of the real object, in a recording
_last_number = 0


def number_of(proxy: Proxy) -> int:
    try:
        return proxy._reenact_number
    except AttributeError:
        name = type(proxy).__qualname__
        raise RuntimeError(f"{name}.__init__ of the base class was not called") from None


def real_of(proxy: Proxy) -> Any:
    number_of(proxy)
    return proxy._reenact_real


def adopt(proxy: Proxy, real: Any, number: int = 0) -> None:
    """Ties a proxy to the real object, or to none in a replay. Inside a boundary none gets a number
    that those of a replay would not get, too."""
    if not number:
        number = -id(proxy) if _core.is_quiet() else _core.in_turn(_next_number)
    object.__setattr__(proxy, "_reenact_number", number)
    object.__setattr__(proxy, "_reenact_real", real)
    weak: Any = _Weak(proxy, _forget)
    weak.number, weak.real_id = number, 0 if real is None else id(real)
    _proxies[number] = weak
    if real is not None:
        _by_real[id(real)] = weak


def _next_number() -> int:
    global _last_number
    _last_number += 1
    return _last_number


def _forget(weak: Any) -> None:
    for table, key in ((_proxies, weak.number), (_by_real, weak.real_id)):
        if table.get(key) is weak:
            del table[key]


def proxy_of_number(number: int) -> Proxy | None:
    weak = _proxies.get(number)
    return None if weak is None else weak()


def proxy_of_real(real: Any) -> Proxy | None:
    weak = _by_real.get(id(real))
    proxy = None if weak is None else weak()
    return proxy if proxy is not None and proxy._reenact_real is real else None


_declared: dict[type, str] = {}  # real classes that have a class of proxies, and its name

# Special methods that proxies have if the real class has them.
_SPECIAL = (
    "repr str eq ne hash format lt le gt ge call iter next len getitem setitem delitem "
    "contains reversed enter exit bool int float index complex bytes neg pos abs invert round "
    "trunc floor ceil add sub mul truediv floordiv mod divmod pow matmul and or xor lshift "
    "rshift radd rsub rmul rtruediv rfloordiv rmod rdivmod rpow rand ror rxor iadd isub imul "
    "ior iand fspath length_hint"
)
SPECIAL_METHODS = tuple(f"__{name}__" for name in _SPECIAL.split())


def declare(real: type, name: str) -> None:
    _declared[real] = name


def describe(real: Any) -> tuple[Any, ...]:
    """Which class of proxies a real object has."""
    kind = type(real)
    for base in kind.__mro__:
        if base in _declared:
            return (_declared[base],)
    return (kind.__module__, kind.__qualname__, special_methods(kind))


def special_methods(kind: type) -> tuple[str, ...]:
    """Those that the class has of its own; every object has some."""
    return tuple(name for name in SPECIAL_METHODS if _has_own(kind, name))


def _has_own(kind: type, name: str) -> bool:
    method = getattr(kind, name, None)
    return method is not None and method is not getattr(object, name, None)
