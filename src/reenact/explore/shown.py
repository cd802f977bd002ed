"""Values as they are shown to a reader, without running any of the program's code.

Only what is certain to be harmless is looked into: numbers, strings and the built-in containers, of
exactly these types. Everything else is shown as what it is an instance of. Attributes are read
where they lie, past properties and `__getattr__`.
"""

from __future__ import annotations

import inspect
from collections import deque
from types import CellType, MemberDescriptorType

LONGEST = 60  # characters of a value
_MOST = 6  # items of a container
_DEPTH = 3
_PLAIN = (int, float, complex, bool, type(None))
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", deque: "[]"}


class Missing:
    """There is no such value, or none that can be had harmlessly."""


def value_of(holder: object, name: str | None) -> object:
    """What an access reads or writes; without a name, the contents of a container are meant."""
    if name is None:
        return holder
    if type(holder) is dict:  # the variables of a module
        return holder.get(name, Missing)
    if isinstance(holder, CellType):
        try:
            return holder.cell_contents
        except ValueError:
            return Missing
    return _attribute(holder, name)


def _attribute(holder: object, name: str) -> object:
    try:
        found = inspect.getattr_static(holder, name, Missing)
        if isinstance(found, MemberDescriptorType):
            return found.__get__(holder, type(holder))
    except (AttributeError, TypeError):
        return Missing
    return Missing if isinstance(found, property) else found


def show(value: object, depth: int = _DEPTH) -> str:
    """In one line of at most LONGEST characters."""
    text = _text(value, depth)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _text(value: object, depth: int) -> str:
    kind = type(value)
    if value is Missing:
        return "nothing"
    if kind in (str, bytes):
        return repr(value[:LONGEST])  # type: ignore[index]
    if kind is int and not -(1 << 200) < value < 1 << 200:  # type: ignore[operator]
        return "a large int"
    if kind in _PLAIN:
        return repr(value)
    if kind in _BRACKETS:
        return _items(list(value), _BRACKETS[kind], depth)  # type: ignore[call-overload]
    if kind is dict:
        return _dict(value, depth)  # type: ignore[arg-type]
    return value.__qualname__ if isinstance(value, type) else f"<{kind.__qualname__}>"


def _items(items: list[object], brackets: str, depth: int) -> str:
    if depth == 0 and items:
        return f"{brackets[0]}...{brackets[1]}"
    parts = [_text(each, depth - 1) for each in items[:_MOST]]
    parts += ["..."] * (len(items) > _MOST)
    return brackets[0] + ", ".join(parts) + brackets[1]


def _dict(value: dict[object, object], depth: int) -> str:
    if depth == 0 and value:
        return "{...}"
    items = list(value.items())
    parts = [f"{_text(key, depth - 1)}: {_text(each, depth - 1)}" for key, each in items[:_MOST]]
    parts += ["..."] * (len(items) > _MOST)
    return "{" + ", ".join(parts) + "}"
