"""Values of common types as plain ones, and back: what a recording keeps of a boundary's results.

Plain is what the core keeps by itself (`_core/values.c`). Everything else is a tuple that starts
with a tag: containers with their items, the types of the table below, enum members, named tuples
and exceptions. What is none of these is left to the caller's `other`, which makes tuples with tags
of its own. Decoding makes instances of these types alone, and finds enum, tuple and exception
classes among those that the program has loaded: a recording cannot make it run anything else.
"""

from __future__ import annotations

import sys

from reenact import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Other = Callable[[Any], Any]

_SCALARS = (type(None), bool, int, float, str, bytes)


class Kind:
    """How values of one type are encoded: `parts` makes encodable values, `make` the value again.

    Named instead of imported: a program that has no Decimal need not load `decimal` for us.
    """

    __slots__ = ("make", "module", "name", "parts")

    def __init__(
        self,
        name: str,
        parts: Callable[[Any], Iterable[Any]],
        make: Callable[..., Any] | None = None,
    ) -> None:
        self.module, _, self.name = name.rpartition(".")
        self.parts = parts
        self.make = make

    def type(self) -> Any:
        module = sys.modules.get(self.module) or _core.quietly(_load, self.module)
        return getattr(module, self.name)

    def remake(self, parts: list[Any]) -> Any:
        return self.type()(*parts) if self.make is None else self.make(self.type(), *parts)


def _load(name: str) -> Any:
    __import__(name)
    return sys.modules[name]


def _zone(moment: Any) -> Any:
    """A tzinfo that is of no type below becomes its offset."""
    zone = moment.tzinfo
    if zone is None or type(zone).__name__ in ("timezone", "ZoneInfo"):
        return zone
    offset = moment.utcoffset()
    return None if offset is None else sys.modules["datetime"].timezone(offset)


def _moment_parts(value: Any) -> tuple[Any, ...]:
    clock = (value.hour, value.minute, value.second, value.microsecond, _zone(value), value.fold)
    return clock if not hasattr(value, "year") else (value.year, value.month, value.day, *clock)


def _make_moment(kind: Any, *parts: Any) -> Any:
    return kind(*parts[:-1], fold=parts[-1])


def _zone_parts(value: Any) -> tuple[Any, ...]:
    args: tuple[Any, ...] = value.__getinitargs__()
    return args


def _make_zoneinfo(kind: Any, key: str) -> Any:
    return _core.quietly(kind, key)


_KINDS = {
    tag: Kind(tag, *how)
    for tag, *how in (
        ("builtins.set", lambda value: (list(value),)),
        ("builtins.frozenset", lambda value: (list(value),)),
        ("builtins.memoryview", lambda value: (value.tobytes(),)),
        ("builtins.complex", lambda value: (value.real, value.imag)),
        ("builtins.range", lambda value: (value.start, value.stop, value.step)),
        ("builtins.slice", lambda value: (value.start, value.stop, value.step)),
        ("datetime.datetime", _moment_parts, _make_moment),
        ("datetime.time", _moment_parts, _make_moment),
        ("datetime.date", lambda value: (value.year, value.month, value.day)),
        ("datetime.timedelta", lambda value: (value.days, value.seconds, value.microseconds)),
        ("datetime.timezone", _zone_parts),
        ("zoneinfo.ZoneInfo", lambda value: (value.key,), _make_zoneinfo),
        ("decimal.Decimal", lambda value: (str(value),)),
        ("fractions.Fraction", lambda value: (value.numerator, value.denominator)),
        ("uuid.UUID", lambda value: (str(value),)),
        ("collections.OrderedDict", lambda value: (list(value.items()),)),
    )
}
# Values of classes derived from these become values of these.
_BASES = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
    "builtins.bytes": bytes,
    "builtins.bytearray": bytearray,
}
_CONSTANTS = {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}
# What exceptions of a class have besides arguments and attributes: how to get it and set it.
_ERROR_STATES: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], None]]] = {}


def know_kind(name: str, parts: Callable[[Any], Iterable[Any]], make: Any = None) -> None:
    """One more type whose instances are values, `module.Type`."""
    _KINDS[name] = Kind(name, parts, make)


def know_error(kind: type, get: Callable[[Any], Any], put: Callable[[Any, Any], None]) -> None:
    """Exceptions of this class have a state that is neither argument nor attribute."""
    _ERROR_STATES[kind] = (get, put)


def find(module: str, name: str) -> Any:
    """What a loaded module has under this name, which may have dots; None if nothing."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def encode(value: Any, other: Other) -> Any:
    if type(value) in _SCALARS:
        return value
    if _core.is_plain(value):
        return ("plain", value)
    return _encode_items(value, other) or _encode_special(value, other) or other(value)


def _encode_items(value: Any, other: Other) -> tuple[Any, ...] | None:
    kind = type(value)
    if kind in (tuple, list):
        return (kind.__name__, [encode(item, other) for item in value])
    if kind is dict:
        pairs = [(encode(key, other), encode(item, other)) for key, item in value.items()]
        return ("dict", pairs)
    return None


def _encode_special(value: Any, other: Other) -> tuple[Any, ...] | None:
    kind = type(value)
    if value is Ellipsis or value is NotImplemented:
        return ("constant", str(value))
    if isinstance(value, BaseException):
        return ("error", *encode_error(value, other))
    if _is_enum(kind) and find(kind.__module__, kind.__qualname__) is kind:
        return ("enum", kind.__module__, kind.__qualname__, value.name, _enum_value(value))
    if _is_named_tuple(kind) and find(kind.__module__, kind.__qualname__) is kind:
        items = [encode(item, other) for item in tuple(value)]
        return ("named tuple", kind.__module__, kind.__qualname__, items)
    return _encode_by_base(value, other)


def _encode_by_base(value: Any, other: Other) -> tuple[Any, ...] | None:
    for base in type(value).__mro__:
        tag = f"{base.__module__}.{base.__qualname__}"
        if tag in _BASES:
            return ("plain", base(value))
        if tag in _KINDS and find(base.__module__, base.__qualname__) is base:
            return (tag, [encode(part, other) for part in _KINDS[tag].parts(value)])
    return None


def _is_enum(kind: type) -> bool:
    enum = sys.modules.get("enum")
    return enum is not None and issubclass(kind, enum.Enum)


def _enum_value(member: Any) -> int | None:
    """Of a combination of flags, which is no member by name."""
    is_named = member.name in type(member).__members__
    return None if is_named or not isinstance(member.value, int) else member.value


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def decode(coded: Any, other: Other) -> Any:
    if type(coded) is not tuple:
        return coded
    decoder = _DECODERS.get(coded[0])
    if decoder is not None:
        return decoder(coded, other)
    if coded[0] in _KINDS:
        return _KINDS[coded[0]].remake([decode(part, other) for part in coded[1]])
    return other(coded)


def _decode_enum(coded: Any, other: Other) -> Any:
    kind = find(coded[1], coded[2])
    if not isinstance(kind, type) or not _is_enum(kind):
        raise ValueError(f"{coded[1]}.{coded[2]} is no enum")
    return kind(coded[4]) if coded[4] is not None else kind.__members__[coded[3]]  # type: ignore


def _decode_named_tuple(coded: Any, other: Other) -> Any:
    kind = find(coded[1], coded[2])
    if not isinstance(kind, type) or not _is_named_tuple(kind):
        raise ValueError(f"{coded[1]}.{coded[2]} is no named tuple")
    return tuple.__new__(kind, [decode(item, other) for item in coded[3]])


_DECODERS: dict[str, Callable[[Any, Other], Any]] = {
    "plain": lambda coded, other: coded[1],
    "tuple": lambda coded, other: tuple([decode(item, other) for item in coded[1]]),
    "list": lambda coded, other: [decode(item, other) for item in coded[1]],
    "dict": lambda coded, other: {decode(k, other): decode(v, other) for k, v in coded[1]},
    "constant": lambda coded, other: _CONSTANTS[coded[1]],
    "enum": _decode_enum,
    "named tuple": _decode_named_tuple,
    "error": lambda coded, other: decode_error(coded[1:], other),
}


def encode_error(error: BaseException, other: Other) -> tuple[Any, ...]:
    """Module and name of its class, or of the nearest base that can be found by name."""
    for kind in type(error).__mro__:
        if find(kind.__module__, kind.__qualname__) is kind:
            break
    get, _ = _error_state(type(error))
    attributes = {name: value for name, value in vars(error).items() if name.isidentifier()}
    parts = (error.args, attributes, get(error))
    return (kind.__module__, kind.__qualname__, *(encode(part, other) for part in parts))


def decode_error(coded: Any, other: Other) -> BaseException:
    kind = find(coded[0], coded[1])
    if not isinstance(kind, type) or not issubclass(kind, BaseException):
        raise ValueError(f"{coded[0]}.{coded[1]} is no exception")
    args, attributes, state = (decode(part, other) for part in coded[2:5])
    error = _make_error(kind, args)
    if error.args != args:
        error.args = args
    vars(error).update(attributes)
    _, put = _error_state(kind)
    put(error, state)
    return error


def _make_error(kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """Without an `__init__` written in Python, whose signature may be anything."""
    is_native = type(kind.__init__) is type(BaseException.__init__)
    return kind(*args) if is_native else kind.__new__(kind, *args)


def _no_state(error: Any) -> None:
    return None


def _keep_stateless(error: Any, state: Any) -> None:
    pass


def _os_error_state(error: OSError) -> tuple[Any, Any]:
    return (error.filename, error.filename2)


def _put_os_error_state(error: OSError, state: Any) -> None:
    if state[0] is not None:
        error.filename = state[0]
    if state[1] is not None:
        error.filename2 = state[1]


_ERROR_STATES[OSError] = (_os_error_state, _put_os_error_state)


def _error_state(kind: type) -> tuple[Callable[[Any], Any], Callable[[Any, Any], None]]:
    for base in kind.__mro__:
        if base in _ERROR_STATES:
            return _ERROR_STATES[base]
    return (_no_state, _keep_stateless)
