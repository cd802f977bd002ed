"""What plant() makes of instructions: sites and ticks are asked however their operands come about,
again and again, and what they raise is raised."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from reenact import _core

from .watching import with_accesses

OFTEN = 40  # until the interpreter has specialised what it can


class Box:
    def __init__(self) -> None:
        self.n = 1
        self.items = [1, 2]
        self.inner: Any = self


FUNCTIONS = {
    "a variable": "def f(a):\n    return a.n",
    "an expression": "def f(a):\n    return a.inner.inner.n",
    "a call": "def f(a):\n    return (lambda: a)().n",
    "a choice": "def f(a):\n    return (a if a is not None else a).n",
    "a constant index": "def f(a):\n    return a.items[0]",
    "an index": "def f(a):\n    i = 1\n    return a.items[i]",
    "a slice": "def f(a):\n    return a.items[0:1]",
    "a write": "def f(a):\n    a.n = 2",
    "an augmented one": "def f(a):\n    a.n += 1",
    "an augmented item": "def f(a):\n    a.items[0] += 1",
    "a closure's variable": "def f(a):\n    def g():\n        return a.n\n    return g()",
    "turns": "def f(a):\n    for each in a.items:\n        pass",
    "a method": "def f(a):\n    a.items.append(3)\n    a.items.pop()",
    "many constants": "def f(a):\n"
    + "".join(f"    x = 'c{i}'\n" for i in range(300))
    + "    return a.n, a.items[1], a.inner.n",
    "a block that is compiled twice": (
        "def f(a):\n    try:\n        if a.n % 2:\n            raise KeyError(a.n)\n"
        "    except KeyError:\n        pass\n"
        "    finally:\n        a.n += 1\n        a.items[0] = a.n"
    ),
}


def function(source: str) -> Callable[[Any], object]:
    space: dict[str, Any] = {"__name__": "program"}
    exec(with_accesses(source), space)
    made: Callable[[Any], object] = space["f"]
    return made


def accesses(call: Callable[[], object]) -> list[tuple[object, ...]]:
    seen: list[tuple[object, ...]] = []
    _core.watch_accesses(
        lambda kind, name, thing, writes, line: seen.append((kind, name, writes, line))
    )
    try:
        call()
    finally:
        _core.watch_accesses(None)
    return seen


@pytest.mark.parametrize("source", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_site_tells_the_same_each_time(source: str) -> None:
    f, box = function(source), Box()
    parity = [accesses(lambda: f(box)) for _ in range(2)]
    assert parity[0]
    for number in range(OFTEN):
        assert accesses(lambda: f(box)) == parity[number % 2]


@pytest.mark.parametrize("error", [StopIteration("end"), StopIteration, ZeroDivisionError(1)])
@pytest.mark.parametrize("source", FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_a_site_raises_is_raised(source: str, error: Any) -> None:
    f = function(source)
    for number in range(12):
        told = accesses(lambda: f(Box()))
        failing = number % len(told)
        left = [failing]

        def watcher(*_: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == -1:
                raise error

        _core.watch_accesses(watcher)
        try:
            with pytest.raises(error if isinstance(error, type) else type(error)) as raised:
                f(Box())
        finally:
            _core.watch_accesses(None)
        stack = traceback.extract_tb(raised.value.__traceback__)
        assert ("program.py", "f") in [(each.filename, each.name) for each in stack]


def test_a_generator_that_waits_for_its_operand_goes_on_where_others_have_been() -> None:
    source = "def f(a):\n    for _ in range(3):\n        a.append((yield).n)"
    f, given = function(source), list[int]()
    waiting: list[Any] = [f(given) for _ in range(3)]
    for each in waiting:
        next(each)
    for each in waiting[:1] * 2 + waiting[1:] * 2:
        each.send(Box())
    assert given == [1] * 6
