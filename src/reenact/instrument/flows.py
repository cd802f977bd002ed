"""Flows: what the expressions of one function may stand for, as far as that can be told.

Owns the abstract objects that `escapes.py` reasons about, and how they reach one another. A value
is a set of objects. Each expression that makes a container is one object, whatever number of them
it makes; numbers, texts and the like are none at all; everything else is the one object `outside`,
which has escaped from the start. An object that escapes takes along what it holds.

All of it only grows, so that going over a function again and again comes to an end.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Value = set["Thing"]
    Key = tuple[int, str]


# Surely without keys; surely a dict or a set; or nobody knows.
SEQUENCE, HASHED, EITHER = "sequence", "hashed", "either"


class Thing:
    """A container, or all that comes from elsewhere."""

    def __init__(self, kind: str) -> None:
        self.holds: Value = set()
        self.has_keys = kind != SEQUENCE  # what it is indexed with is held as well
        self.is_hashed = kind == HASHED  # its items are not compared to be found
        self.has_escaped = False


class Flows:
    """The objects of one function, and the values of its variables and expressions."""

    def __init__(self) -> None:
        self.outside = Thing(EITHER)
        self.outside.has_escaped = True
        self.outside.holds.add(self.outside)
        self.things: dict[Key, Thing] = {}
        self.variables: dict[Key, Value] = {}
        self.values: dict[int, Value] = {}  # by the identity of the node
        self.has_changed = False

    def thing(self, node: object, holds: Value, what: str = "", kind: str = SEQUENCE) -> Value:
        """What *node* makes, which is always the same object."""
        made = self.things.get((id(node), what))
        if made is None:
            made = self.things[id(node), what] = Thing(kind)
            self.has_changed = True
        self.store({made}, holds)
        return {made}

    def grow(self, value: Value, more: Value) -> None:
        """Add to a value that is kept."""
        if not more <= value:
            value |= more
            self.has_changed = True

    def store(self, containers: Value, items: Value) -> None:
        """Put *items* into each of the containers."""
        for each in containers:
            if each.has_escaped:
                self.escape(items)
            else:
                self.grow(each.holds, items)

    def escape(self, value: Iterable[Thing]) -> None:
        """Others may have it from now on, and put into it what they like."""
        pending = [each for each in value if not each.has_escaped]
        while pending:
            each = pending.pop()
            if not each.has_escaped:
                each.has_escaped = self.has_changed = True
                pending += each.holds
                each.holds.add(self.outside)

    def compare(self, items: Value) -> None:
        """An object of another's class, compared with ours, is given ours."""
        reached = _reached(items)
        if has_escaped(reached):
            self.escape(reached)


def items_of(value: Value) -> Value:
    """What may be found in it."""
    return {item for each in value for item in each.holds}


def has_escaped(value: Value) -> bool:
    """May others have any of it?"""
    return any(each.has_escaped for each in value)


def _reached(value: Value) -> Value:
    found: Value = set()
    pending = list(value)
    while pending:
        each = pending.pop()
        if each not in found:
            found.add(each)
            pending += each.holds
    return found
