"""Ticks in ranges: a loop over a range goes over the same numbers, with as many points as turns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reenact import _core
from reenact.instrument.rewrite import ALL, IN_RANGES, PLACEHOLDER, rewrite

from .standins import plant

LARGE = 1 << 40
RANGES = [
    *((n,) for n in (0, 1, 5, -3, True)),
    *((2, 5), (5, 2), (-3, 3), (0, 10, 3), (0, 9, 3), (0, 10, -1), (10, 0, -1), (10, 0, -3)),
    *((10, -1, -11), (0, (1 << 31) - 1, 1 << 30), (-(1 << 31), 0, 1 << 30), (0, -5, -(1 << 31))),
    *((LARGE, LARGE + 3), (0, LARGE, LARGE // 2), (3, 0, -LARGE), (LARGE, 0, -LARGE)),
]


def loop(source: str, manner: str = IN_RANGES) -> Callable[..., Any]:
    code = rewrite(source.encode(), "program.py", manner=manner)
    assert code is not None
    space: dict[str, Any] = {"__name__": "program"}
    exec(_core.plant(code, PLACEHOLDER), space)
    made: Callable[..., Any] = space["f"]
    return made


COLLECT = (
    "def f(*of):\n    seen = []\n    for x in range(*of):\n        seen.append(x)\n    return seen"
)


@pytest.mark.parametrize("of", RANGES, ids=str)
def test_the_same_numbers(of: tuple[int, ...]) -> None:
    assert loop(COLLECT)(*of) == list(range(*of))


class Counted:
    """Stands for the tick."""

    def __init__(self) -> None:
        self.count = 0

    def __neg__(self) -> None:
        self.count += 1

    def __getitem__(self, iterated: Any) -> Iterator[Any]:
        for item in iterated:
            self.count += 1
            yield item


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(3): pass",
        "for i in range(5):\n  if i == 1: continue\n  if i == 3: break",
        "for i in range(2):\n  for j in range(3): pass\nelse: pass",
        "for i in [1, 2]: pass\nwhile i: i -= 1",
    ],
)
def test_as_many_points_as_turns(body: str) -> None:
    counts = []
    for manner in (ALL, IN_RANGES):
        code = rewrite(body.encode(), "program.py", manner=manner)
        assert code is not None
        counted = Counted()
        plant(code, counted)
        exec(code, {})
        counts.append(counted.count)
    assert counts[0] == counts[1] > 0


def test_whatever_is_called_range() -> None:
    source = "def f(range):\n    return [x for x in (1,)] + g(range)\ndef g(range):\n"
    source += "    seen = []\n    for x in range(2):\n        seen.append(x)\n    return seen"
    assert loop(source)(lambda n: "ab"[:n]) == [1, "a", "b"]
    assert loop(source)(lambda n: iter({n: 1})) == [1, 2]


def test_errors_are_pythons() -> None:
    source = "def f(range):\n    for x in range(2):\n        pass"
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        loop(source)(lambda n: n)

    def failing(n: int) -> Iterator[int]:
        yield n
        raise KeyError(n)

    with pytest.raises(KeyError):
        loop(source)(failing)
    with pytest.raises(TypeError):
        loop(COLLECT)("a")


def test_nothing_is_left_behind() -> None:
    items = [object()]
    source = "def f(range):\n    for x in range(2):\n        return x"
    before = sys.getrefcount(items)
    for _ in range(100):
        assert loop(source)(lambda n: items) is items[0]
    assert sys.getrefcount(items) == before
