"""Objects of the program's that go to a library behind a boundary, and come back from it.

They are numbered as they are handed over, so that a recording can name those that come back.
Those that the library calls (functions, iterators, files) are given to it as a `Reflection`, which
calls the program back through the gate; `crossing.py` answers. What the library did not keep is
forgotten when the call is over.
"""

from __future__ import annotations

import io
import sys
import types

from reenact import _core
from reenact.intercept import plain
from reenact.intercept.proxies import Proxy, describe, number_of, proxy_of_real, real_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_FILE_METHODS = ("read", "readline", "readlines", "write", "flush", "seek", "tell", "close")
_METHODS = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)
_FUNCTIONS = (types.FunctionType, *_METHODS)
_passed: tuple[type, ...] = (
    type,
    types.ModuleType,
    types.TracebackType,
    types.CodeType,
    types.FrameType,
)
_SCALARS = frozenset((type(None), bool, int, float, str, bytes))
_DEEPEST = 8


def pass_as_it_is(kind: type) -> None:
    """Instances of this class are the same to the program and to the library."""
    global _passed
    _passed = (*_passed, kind)


class Reflected:
    """An object of the program's of which the library calls these methods, and nothing else."""

    __slots__ = ("methods", "object")

    def __init__(self, object: Any, *methods: str) -> None:
        self.object = object
        self.methods = methods


class Reflection:
    """What the library gets in its stead. Exists in recordings alone."""

    _reenact_number: int

    def __init__(self, number: int) -> None:
        self._reenact_number = number


_handed: dict[int, Any] = {}
_numbers: dict[int, int] = {}  # of what is in _handed, by address
_last_handed = 0
_reflections: dict[int, Reflection] = {}  # by number
_classes: dict[tuple[bool, tuple[str, ...]], type[Reflection]] = {}
_arguments: dict[int, list[Any]] = {}  # real objects among the arguments of calls back


def methods_called(thing: Any) -> tuple[str, ...]:
    """What a library may call of this object of the program's; nothing for what it is given."""
    if isinstance(thing, Reflected):
        return thing.methods
    if isinstance(thing, _FUNCTIONS):
        return ("__call__",)
    kind = type(thing)
    if hasattr(kind, "read") or hasattr(kind, "write"):
        return tuple(name for name in _FILE_METHODS if hasattr(kind, name))
    if hasattr(kind, "__next__"):
        return ("__next__",)
    return ("__call__",) if callable(thing) else ()


def anything() -> bool:
    """Whether there is something that a library could call back."""
    return bool(_handed)


def hand_over_all(args: tuple[Any, ...], names: dict[str, Any], owned: list[int]) -> None:
    for value in args:
        if type(value) not in _SCALARS:
            hand_over(value, owned)
    for value in names.values():
        hand_over(value, owned)


def hand_over(value: Any, owned: list[int], depth: int = _DEEPEST) -> None:
    """Numbers the program's own objects in a value that goes to the library."""
    if isinstance(value, Proxy) or _core.is_plain(value):
        return
    if type(value) in (tuple, list, set, frozenset, dict) and depth:
        for item in _items(value):
            hand_over(item, owned, depth - 1)
    elif not isinstance(value, (BaseException, *_passed)):
        number = _core.in_turn(_new_number, value)
        if number:
            owned.append(number)


def _items(value: Any) -> Iterator[Any]:
    if type(value) is dict:
        yield from value.keys()
        yield from value.values()
    else:
        yield from value


def hand(thing: Any) -> int:
    """The number of what the library is told, and may call until it is let go of."""
    return _core.in_turn(_new_number, thing) or _numbers[id(thing)]


def _new_number(thing: Any) -> int:
    """Of what the library was not told of so far; else 0."""
    global _last_handed
    if id(thing) in _numbers:
        return 0
    _last_handed += 1
    _handed[_last_handed] = thing
    _numbers[id(thing)] = _last_handed
    return _last_handed


def let_go(owned: list[int], kept: list[int]) -> None:
    """The call is over: only what the library still has may come back, or be called."""
    _core.in_turn(_forget, [number for number in owned if number not in kept])


def _forget(numbers: list[int]) -> list[Any]:
    """What had them, which may be gone once the caller lets go of it."""
    things = [_handed.pop(number) for number in numbers if number in _handed]
    for thing in things:
        del _numbers[id(thing)]
    reflections = [_reflections.pop(number, None) for number in numbers]
    return [things, reflections]


def handed(number: int) -> Any:
    thing = _handed[number]
    return thing.object if isinstance(thing, Reflected) else thing


def called(number: int, method: str) -> Any:
    """The method of a handed object that a library called."""
    if method not in methods_called(_handed[number]):
        raise ValueError(f"reenact: {method!r} in a recorded call back is not known")
    return getattr(handed(number), method)


def number_handed(thing: Any) -> int:
    """Of what comes out of the library; 0 if it is no object that the program gave it."""
    if isinstance(thing, Reflection):
        return thing._reenact_number
    number = _numbers.get(id(thing), 0)
    return number if number and _handed[number] is thing else 0


def counts(owned: list[int]) -> list[int]:
    """How often each object is referred to; of a reflection only the library's own count."""
    if not owned:
        return owned
    return [
        sys.getrefcount(_reflections[number]) - 2
        if number in _reflections
        else sys.getrefcount(_handed[number])
        for number in owned
    ]


def still_held(owned: list[int], before: list[int]) -> list[int]:
    """Those that the library kept."""
    if not owned:
        return owned
    after = counts(owned)
    before = before + [sys.maxsize] * (len(after) - len(before))  # answers to calls back
    return [
        number
        for number, count, was in zip(owned, after, before, strict=True)
        if count > (0 if number in _reflections else was)
    ]


def to_real(value: Any, depth: int = _DEEPEST) -> Any:
    """What the library is given for a value of the program's that was handed over."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if isinstance(value, Proxy):
        return real_of(value)
    if kind in (tuple, list, set, frozenset) and depth and not _core.is_plain(value):
        return kind([to_real(item, depth - 1) for item in value])
    if kind is dict and depth and not _core.is_plain(value):
        return {to_real(k, depth - 1): to_real(v, depth - 1) for k, v in value.items()}
    number = _numbers.get(id(value), 0)
    return reflection(number) if number and methods_called(value) else value


def reflection(number: int) -> Reflection:
    if number not in _reflections:
        thing = _handed[number]
        key = (isinstance(thing, io.TextIOBase), methods_called(thing))
        if key not in _classes:
            _classes[key] = _reflection_class(*key)
        _reflections[number] = _classes[key](number)
    return _reflections[number]


def _reflection_class(is_text: bool, methods: tuple[str, ...]) -> type[Reflection]:
    names: dict[str, Any] = {name: _calling_back(name) for name in methods}
    if "__next__" in names:
        names["__iter__"] = lambda self: self
    if is_text:
        names["closed"] = True  # or else the end of this object would close the program's
    return type("Reflection", (Reflection, io.TextIOBase) if is_text else (Reflection,), names)


def _calling_back(method: str) -> Callable[..., Any]:
    def called(self: Reflection, *args: Any, **names: Any) -> Any:
        found: list[Any] = []
        coded = plain.encode((args, names), lambda value: encode_object(value, found))
        call = id(found)
        _arguments[call] = found
        answered = _core.call_back((self._reenact_number, method, coded, call))
        return to_real(answered)

    return called


def take_arguments(call: int) -> list[Any]:
    """The real objects among them; none in a replay."""
    return _arguments.pop(call, [])


def _is_method_of_known(method: Any) -> bool:
    owner = method.__self__
    return proxy_of_real(owner) is not None and hasattr(type(owner), method.__name__)


def encode_object(value: Any, found: list[Any]) -> tuple[Any, ...]:
    """What `plain.encode` leaves over: an object that is known on both sides, or a new one."""
    number = number_handed(value)
    if number:
        return ("handed", number)
    if isinstance(value, type) and plain.find(value.__module__, value.__qualname__) is not None:
        return ("class", value.__module__, value.__qualname__)
    if isinstance(value, _METHODS) and _is_method_of_known(value):
        return ("method", encode_object(value.__self__, found), value.__name__)
    proxy = value if isinstance(value, Proxy) else proxy_of_real(value)
    found.append(value if proxy is None else real_of(proxy))
    number = 0 if proxy is None else number_of(proxy)
    return ("object", number, len(found) - 1, describe(found[-1]))


_core.hide_frames(hand.__code__)
