"""What a value consists of, as a debugger shows it."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest

from reenact.debug.looking import children


def fails(*unused: object) -> Any:
    raise RuntimeError("a method of the program's was called")


class Pair(tuple[int, int]):
    __iter__ = __len__ = __getitem__ = fails


class Stack(list[int]):
    __iter__ = __len__ = __getitem__ = fails


class Table(dict[str, int]):
    __iter__ = __len__ = __getitem__ = items = keys = fails


class Evasive:
    __slots__ = ("held",)
    __getattr__ = __getattribute__ = fails

    def __init__(self) -> None:
        object.__setattr__(self, "held", 1)


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: Pair((1, 2)), [("[0]", 1), ("[1]", 2)]),
        (lambda: Stack([1, 2]), [("[0]", 1), ("[1]", 2)]),
        (lambda: Table(a=1), [("['a']", 1)]),
        (lambda: collections.defaultdict(list, a=1), [("['a']", 1)]),
        (lambda: {5}, [("{0}", 5)]),
        (lambda: frozenset((5,)), [("{0}", 5)]),
        (lambda: Evasive(), [(".held", 1)]),
        (lambda: "text", []),
        (lambda: True, []),
    ],
)
def test_children_are_found_without_methods_of_the_value(
    make: Callable[[], object], found: list[tuple[str, object]]
) -> None:
    assert list(children(make())) == found
