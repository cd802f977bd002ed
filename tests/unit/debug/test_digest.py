"""The fingerprint of objects changes with everything that they reach."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import pytest

from reenact import _core


class Name(str):
    """A plain value with attributes of its own."""

    kind: object


class Thing:
    def __init__(self) -> None:
        self.number = 10**30
        self.items: list[Any] = ["one", 2.5, {"key": b"bytes"}]
        self.bytes = bytearray(b"some bytes")
        self.view = memoryview(array("d", [1, 2, 3, 4]))[::2]
        self.name = Name("name")
        self.name.kind = 1


CHANGES: dict[str, Callable[[Thing], object]] = {
    "an attribute": lambda thing: setattr(thing, "number", 10**30 + 1),
    "a deep item": lambda thing: thing.items[2].update(key=b"others"),
    "a float's sign": lambda thing: thing.items.__setitem__(1, -0.0),
    "a buffer": lambda thing: thing.bytes.__setitem__(3, 0),
    "a buffer with gaps": lambda thing: thing.view.__setitem__(1, 5.0),
    "an attribute of a string": lambda thing: setattr(thing.name, "kind", 2),
    "another object": lambda thing: thing.items.append(None),
}


def digest(*roots: object, left_out: tuple[int, ...] = ()) -> int:
    return _core.digest(list(roots), set(left_out), 0)


def test_it_stays_the_same_if_nothing_changes() -> None:
    thing = Thing()
    assert digest(thing) == digest(thing)


@pytest.mark.parametrize("what", CHANGES)
def test_it_changes_with(what: str) -> None:
    thing = Thing()
    before = digest(thing)
    CHANGES[what](thing)
    assert digest(thing) != before


def test_equal_objects_elsewhere_are_others() -> None:
    one, other = [1, 2], [1, 2]
    assert digest(one) != digest(other)


def test_what_is_left_out_is_not_seen() -> None:
    kept, inner = [object()], [1]
    kept.append(inner)
    before = digest(kept, left_out=(id(inner),))
    inner.append(2)
    assert digest(kept, left_out=(id(inner),)) == before


def test_no_code_of_the_program_runs() -> None:
    ran: list[str] = []

    class Loud(int):
        def __repr__(self) -> str:
            ran.append("repr")
            return "loud"

        def __hash__(self) -> int:
            ran.append("hash")
            return 0

    digest(Loud(3))
    assert ran == []
