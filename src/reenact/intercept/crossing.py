"""Calls across a boundary: made once, and returned by every replay.

`crossing(name, perform)` is a callable for the program. In a recording `perform` is called with
real objects, unseen by the gate, and its outcome is kept as plain values (`plain.py`); in a replay
only the outcome is there. What follows is the same code in both: the outcome becomes values,
proxies and exceptions again. `stand_in(class)` is a class of proxies whose methods and attributes
are crossings; the program may derive from it.

The core records the whole as one call that waits. A call back (`handed.Reflection`) interrupts
it: the program's function runs with the baton, and a replay runs it at the same place.
"""

from __future__ import annotations

import _thread
import inspect

from reenact import _core
from reenact.intercept import handed, plain, proxies
from reenact.intercept.proxies import Proxy
from reenact.intercept.table import WAITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Crossing = Callable[..., Any]

_open = _thread._local()  # the numbers that this thread's crossings gave out, innermost last
_stand_ins: dict[str, type[Proxy]] = {}
_undeclared: dict[tuple[Any, ...], type[Proxy]] = {}
_BUFFERS = (bytearray, list, dict)


class TooDeep(RuntimeError):
    """A result that no recording can keep."""


def crossing(name: str, perform: Callable[..., Any]) -> Crossing:
    """A function that performs in a recording, and returns the same in a replay."""
    cross = _cross(name, perform, _settle)

    def crossed(*args: Any, **names: Any) -> Any:
        return cross(args, names)

    return crossed


def _cross(name: str, perform: Callable[..., Any], settle: Callable[..., Any]) -> Crossing:
    """`settle` makes of the outcome, and of real objects that were found, what is returned."""

    def run(found: list[Any], owned: list[int], args: Any, names: Any) -> Any:
        """In a recording: what happened, what of the program's is kept, what was filled."""
        before = handed.counts(owned)
        copies = _copies(args)
        coded = _performed(perform, args, names, found)
        return (*coded, handed.still_held(owned, before), _filled(args, copies))

    recorded = _core.call(name, run, "recorded", WAITS)

    def cross(args: tuple[Any, ...], names: dict[str, Any], *more: Any) -> Any:
        found: list[Any] = []
        owned: list[int] = []
        if _core.is_quiet():
            return settle(("plain", _with_reals(perform, args, names)), found, *more)
        handed.hand_over_all(args, names, owned)
        outcome = _recorded_inside(recorded, found, owned, args, names)
        try:
            if outcome[3]:
                _fill(args, outcome[3])
            return settle(outcome, found, *more)
        finally:
            if owned:
                handed.let_go(owned, outcome[2])

    return cross


def _recorded_inside(
    recorded: Any, found: list[Any], owned: list[int], args: Any, names: Any
) -> Any:
    """Answers to calls back inside belong to this call."""
    if not handed.anything():
        return recorded(found, owned, args, names)
    outer = getattr(_open, "owned", None)
    _open.owned = owned
    try:
        return recorded(found, owned, args, names)
    finally:
        _open.owned = outer


def _with_reals(perform: Callable[..., Any], args: Any, names: dict[str, Any]) -> Any:
    to_real = handed.to_real
    if names:
        real_names = {key: to_real(value) for key, value in names.items()}
        return perform(*map(to_real, args), **real_names)
    return perform(*map(to_real, args))


def _performed(
    perform: Callable[..., Any], args: Any, names: dict[str, Any], found: list[Any]
) -> tuple[Any, ...]:
    def other(value: Any) -> Any:
        return handed.encode_object(value, found)

    try:
        result = _with_reals(perform, args, names)
        if _core.is_plain((result,)):
            return ("plain", result)
        coded = ("value", plain.encode(result, other))
    except BaseException as error:
        coded = ("raise", plain.encode_error(error, other))
        error.__traceback__ = None
    return coded if _core.is_plain((coded,)) else _too_deep(found)


def _too_deep(found: list[Any]) -> tuple[Any, ...]:
    found.clear()
    error = TooDeep("reenact: the result of a boundary is nested too deeply to be recorded")
    return ("raise", plain.encode_error(error, repr))


def _copies(args: tuple[Any, ...]) -> list[tuple[int, Any]]:
    return [(i, type(arg)(arg)) for i, arg in enumerate(args) if type(arg) in _BUFFERS]


def _filled(args: tuple[Any, ...], copies: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Buffers, lists and dicts of plain values that the call changed, as deep as they will be."""
    return [
        (index, args[index])
        for index, copy in copies
        if _core.is_plain([[[args[index]]]]) and args[index] != copy
    ]


def _fill(args: tuple[Any, ...], filled: list[tuple[int, Any]]) -> None:
    for index, content in filled:
        target = args[index]
        if target is content:
            continue
        if type(target) is dict:
            target.clear()
            target.update(content)
        else:
            target[:] = content


def _settle(outcome: Any, found: list[Any]) -> Any:
    """The outcome as the program sees it."""
    if outcome[0] == "plain":
        return outcome[1]
    if outcome[0] == "value":
        return plain.decode(outcome[1], lambda coded: _object(coded, found))
    raise plain.decode_error(outcome[1], lambda coded: _object(coded, found))


def _object(coded: tuple[Any, ...], found: list[Any]) -> Any:
    if coded[0] == "handed":
        return handed.handed(coded[1])
    if coded[0] == "class":
        kind = plain.find(coded[1], coded[2])
        if isinstance(kind, type):
            return kind
    if coded[0] == "object":
        _, number, index, description = coded
        known = proxies.proxy_of_number(number) if number else None
        if known is not None:
            return known
        return _new_proxy(description, found[index] if found else None, number)
    if coded[0] == "method":
        return _bound_method(_object(coded[1], found), coded[2])
    raise ValueError(f"reenact: {coded[0]!r} in a recorded result is not known")


def _new_proxy(description: tuple[Any, ...], real: Any, number: int) -> Proxy:
    kind = _class_of(description)
    proxy = kind.__new__(kind)
    proxies.adopt(proxy, real, number)
    return proxy


def _bound_method(proxy: Proxy, name: str) -> Any:
    """Found out as it was read for the first time, and known from then on."""
    kind = type(proxy)
    if name not in vars(kind):
        owner = f"{kind.__module__}.{kind.__qualname__}"
        setattr(kind, name, _method(owner, name, _performing(name)))
    return getattr(proxy, name)


def _class_of(description: tuple[Any, ...]) -> type[Proxy]:
    if len(description) == 1:
        return _stand_ins[description[0]]
    if description not in _undeclared:
        _undeclared[description] = _undeclared_class(*description)
    return _undeclared[description]


def _answer(value: Any) -> Any:
    """The program's part of a call back: recording and replaying alike."""
    number, method, coded, call = value
    found = handed.take_arguments(call)
    args, names = plain.decode(coded, lambda coded: _object(coded, found))
    answer = handed.called(number, method)(*args, **names)
    owned = getattr(_open, "owned", None)
    if owned is not None:
        handed.hand_over(answer, owned)
    return answer


_core.answer_with(_answer)


# ---- classes of proxies ----


def _performing(name: str) -> Callable[..., Any]:
    def perform(real: Any, *args: Any, **names: Any) -> Any:
        return getattr(real, name)(*args, **names)

    return perform


def _performing_special(name: str) -> Callable[..., Any]:
    """Looked up in the class, as Python does; a class may leave the answer to the other side."""

    def perform(real: Any, *args: Any) -> Any:
        return getattr(type(real), name)(real, *args)

    return perform


def _method(owner: str, name: str, perform: Callable[..., Any], like: Any = None) -> Any:
    crossed = crossing(f"{owner}.{name}", perform)

    def method(self: Any, *args: Any, **names: Any) -> Any:
        return crossed(self, *args, **names)

    method.__name__ = name
    method.__qualname__ = f"{owner.rpartition('.')[2]}.{name}"
    method.__doc__ = getattr(like, "__doc__", None)
    return method


def _attribute(owner: str, name: str, like: Any = None) -> property:
    get = crossing(f"{owner}.{name}", lambda real: getattr(real, name))
    put = crossing(f"{owner}.{name} =", lambda real, value: setattr(real, name, value))
    delete = crossing(f"del {owner}.{name}", lambda real: delattr(real, name))
    return property(get, put, delete, getattr(like, "__doc__", None))


def _common(owner: str, is_declared: bool) -> dict[str, Any]:
    """What is read and written by name; and a class that has no `repr` of its own."""
    get = crossing(f"{owner} attribute", getattr)
    put = crossing(f"{owner} attribute =", setattr)
    delete = crossing(f"{owner} del attribute", delattr)

    def is_ours(self: Any, name: str) -> bool:
        return is_declared and (hasattr(type(self), name) or hasattr(self, "__dict__"))

    def __getattr__(self: Any, name: str) -> Any:
        if name.startswith("_reenact") or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return get(self, name)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if is_ours(self, name):
            object.__setattr__(self, name, value)
        else:
            put(self, name, value)

    def __delattr__(self: Any, name: str) -> None:
        if is_ours(self, name):
            object.__delattr__(self, name)
        else:
            delete(self, name)

    def __repr__(self: Any) -> str:
        return f"<{owner} object {proxies.number_of(self)} at a boundary>"

    return {
        "__slots__": (),
        "__getattr__": __getattr__,
        "__setattr__": __setattr__,
        "__delattr__": __delattr__,
        "__repr__": __repr__,
    }


def _special(owner: str, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _method(owner, name, _performing_special(name)) for name in names}


def _undeclared_class(module: str, name: str, special: tuple[str, ...]) -> type[Proxy]:
    """Of objects whose class nobody declared: methods are found out as they are read."""
    owner = f"{module}.{name}"
    names = {**_common(owner, is_declared=False), **_special(owner, special)}
    names.update(__module__=module, __qualname__=name)
    real = plain.find(module, name)
    if isinstance(real, type):
        names["__class__"] = property(lambda self: real)
    return type(name.rpartition(".")[2], (Proxy,), names)


_OWN = (
    "__class__ __new__ __init__ __del__ __dict__ __weakref__ __getattribute__ __getattr__ "
    "__setattr__ __delattr__ __slots__ __doc__ __module__ __qualname__ __reduce__ __reduce_ex__ "
    "__getstate__ __setstate__ __init_subclass__ __subclasshook__ __sizeof__ __dir__ "
    "__class_getitem__ __annotations__ __abstractmethods__ __match_args__"
)
_KEPT = frozenset(_OWN.split())


def stand_in(real: type, make: Callable[..., Any] | None = None) -> type[Proxy]:
    """The class that the program gets for a declared one; `make` makes a real object of it."""
    owner = f"{real.__module__}.{real.__qualname__}"
    names = _common(owner, is_declared=True)
    names.update(__module__=real.__module__, __qualname__=real.__qualname__, __doc__=real.__doc__)
    names["__init__"] = _initializer(owner, make or real)
    names["__new__"] = _maker(real)
    base = next((base for base in real.__mro__[1:] if _name(base) in _stand_ins), object)
    for name in dir(real):
        if name not in names and name not in _KEPT and not _is_inherited(real, name, base):
            names[name] = _member(owner, real, name)
    made = type(real.__name__, (_stand_ins.get(_name(base), Proxy),), names)
    _stand_ins[owner] = made
    proxies.declare(real, owner)
    return made


def _is_inherited(real: type, name: str, base: type) -> bool:
    missing = object()
    return inspect.getattr_static(base, name, missing) is inspect.getattr_static(real, name)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def named_like(real: type, made: Any) -> type[Proxy]:
    """A class derived from a stand-in, which is to stand in for the real one."""
    made.__name__, made.__qualname__ = real.__name__, real.__qualname__
    made.__module__ = real.__module__
    _stand_ins[_name(real)] = made
    return made  # type: ignore[no-any-return]


def _member(owner: str, real: type, name: str) -> Any:
    raw = inspect.getattr_static(real, name)
    if name in proxies.SPECIAL_METHODS:
        return raw and _method(owner, name, _performing_special(name), raw)
    if isinstance(raw, (staticmethod, classmethod)) or inspect.isbuiltin(raw):
        return staticmethod(crossing(f"{owner}.{name}", getattr(real, name)))
    if type(raw).__name__ == "classmethod_descriptor":
        return staticmethod(crossing(f"{owner}.{name}", getattr(real, name)))
    if hasattr(raw, "__set__"):
        return _attribute(owner, name, raw)
    return _method(owner, name, _performing(name), raw) if callable(raw) else raw


def _maker(real: type) -> Any:
    def __new__(cls: Any, *args: Any, **names: Any) -> Any:
        """Inside a boundary there are no proxies, unless of a class derived by the program."""
        if _core.is_quiet() and _stand_ins.get(_name(real)) is cls:
            return real(*args, **names)
        return object.__new__(cls)

    return __new__


def _initializer(owner: str, make: Callable[..., Any]) -> Any:
    cross = _cross(owner, make, _settle_new)

    def __init__(self: Any, *args: Any, **names: Any) -> None:
        cross(args, names, self)

    return __init__


def _settle_new(outcome: Any, found: list[Any], proxy: Proxy) -> None:
    if outcome[0] == "plain":  # made inside another boundary, where nothing is encoded
        proxies.adopt(proxy, outcome[1])
    elif outcome[0] == "value":
        proxies.adopt(proxy, found[0] if found else None)
    else:
        _settle(outcome, found)


_core.hide_frames(crossing.__code__)
