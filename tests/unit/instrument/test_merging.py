"""A site that does a tick's work does it as often as the tick would have: a replay with sites must
stay in step with a recording that had none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any

import pytest

from reenact.instrument.rewrite import ALL, DETECTOR, HEURISTIC, PLACEHOLDER, insert_points, rewrite
from reenact.instrument.sites import PREFIX

from .standins import _overwrite, code_objects

TURN = "q"  # a guard that is a tick whenever it says yes


class Point:
    """Stands for a tick, a site or a guard."""

    def __init__(self, text: str, says: bool, ticked: list[str]) -> None:
        kind, flags = ("", "t") if text == PLACEHOLDER else text[len(PREFIX) :].split()[:2]
        self.kind, self.ticks, self.says, self.ticked = kind, "t" in flags, says, ticked

    def __getitem__(self, operand: Any) -> Any:
        if not self.kind:
            return self._going_over(operand)
        self.ticked += ["site"] * self.ticks
        return operand

    __matmul__ = __getitem__

    def _going_over(self, operand: Any) -> Iterator[Any]:
        for item in operand:
            self.ticked.append("range")
            yield item

    def __neg__(self) -> bool:
        is_guard = self.kind in tuple("pqy")
        self.ticked += ["guard" if is_guard else "site" if self.kind else "tick"] * self.ticks
        self.ticked += ["guard"] * (self.kind == TURN and self.says)
        return self.says if is_guard else True


def ticked(source: str, manner: str = "", says: bool = False, optimize: int = -1) -> list[str]:
    """What ticked when *source* was run, whose guards say yes or no."""
    accesses = bool(manner)
    code = rewrite(
        source.encode(), "program.py", accesses=accesses, manner=manner or ALL, optimize=optimize
    )
    assert code is not None
    done: list[str] = []
    plant(code, says, done)
    try:
        exec(code, {"__name__": "program"})
    except (LookupError, NameError):
        done.append("raised")
    return done


def plant(code: CodeType, says: bool, done: list[str]) -> None:
    for each in code_objects(code):
        for index, const in enumerate(each.co_consts):
            if isinstance(const, str) and const.startswith((PREFIX, PLACEHOLDER)):
                _overwrite(each.co_consts, index, Point(const, says, done))


HEAD = """
class Box:
    def __init__(self, n=0):
        self.n = n
        self.items = [1, 2, 3]
    def get(self):
        return self.n
    def set(self, n):
        self.n = n
    def add(self, items):
        total = 0
        for item in items:
            total += item
        self.n = total
        return self
box, shared = Box(), [1, 2, 3]
"""

PROGRAMS = {
    "methods": "box.set(box.get() + 1); box.add([4, 5])",
    "constructor": "[Box(n) for n in range(3)]",
    "loop over what is shared": "def f(of):\n for x in of:\n  x.get()\nf([box, box])",
    "loop over a range": "def f(of):\n for i in range(len(of)):\n  of[i] += 1\nf(shared)",
    "while, whose test has a site": "def f(b):\n while b.n < 3:\n  b.n += 1\nf(box)",
    "function that begins with a while": "def f(b):\n while b.get() < 3:\n  b.set(b.n + 1)\nf(box)",
    "new names first": "def f(b):\n total = count = 0\n more = b\n return b.n + total\nf(box)",
    "a name that is dropped": "def f(b):\n for i in range(2):\n  b = Box()\n  b.get()\nf(box)",
    "a name that is deleted": "def f(b):\n for i in range(3):\n  b.get()\n  if i: del b\nf(box)",
    "a handler's name": (
        "def f(e):\n for i in range(3):\n  e.get()\n  try: {}[1]\n  except LookupError as e: pass\n"
        "f(box)"
    ),
    "no name at all": "def f():\n for i in range(2):\n  x.get()\n  if i: x = 1\nf()",
    "module's loop": "for x in shared:\n x.real\nfor y in range(2):\n shared[y]",
    "assertion": "def f(b):\n assert b.get() == 0\n return b.get()\nf(box)",
    "short circuit": "def f(b, c):\n return b or c.n\nf(box, box); f(0, box)",
    "comparison": "def f(b, c):\n return b < c < box.n\nf(1, 2); f(2, 1)",
    "condition": "def f(b):\n if b.n: return 1\n return b.n\nf(box)",
    "item": "def f(of, i):\n return of[i]\nf(shared, 1); f(shared, 7)",
    "attribute set": "def f(b, v):\n b.n = v\nf(box, 3)",
    "global": "count = 0\ndef f():\n global count\n count += 1\n return count\nf(); f()",
    "closure": "def f(b):\n def g():\n  nonlocal b\n  b = b.add(shared)\n g(); g()\nf(box)",
    "generator": "def f(b):\n yield b.n\n for x in b.items: yield x\nlist(f(box))",
    "default and star": "def f(b, *more, k=box, **rest):\n return k.n, more, rest\nf(box, 1, z=2)",
    "try": "def f(b):\n try: return b.n\n finally: b.n\nf(box)",
    "with": "import threading\nlock = threading.Lock()\ndef f(b):\n with lock: b.n += 1\nf(box)",
    "builtins": "def f(b):\n return len(b.items) + sum(b.items)\nf(box)",
    "docstring": 'def f(b):\n "It says."\n return b.n\nf(box)',
    "ranges": (
        "def f(n):\n total = 0\n for i in range(n):\n  total += i\n"
        " for j in range(n):\n  if j == 1: continue\n  if j == 3: break\n  total += j\n"
        " for i in range(n):\n  total += i\n return total\nf(5)"
    ),
    "a range in a module": "for k in range(3):\n k + 1",
    "nothing": "def f(b):\n pass\nf(box)",
}


@pytest.mark.parametrize("says", [False, True], ids=["guards say no", "guards say yes"])
@pytest.mark.parametrize("manner", [DETECTOR, HEURISTIC])
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_many_ticks_as_without_sites(name: str, manner: str, says: bool) -> None:
    source = HEAD + PROGRAMS[name]
    for optimize in (0, 2):
        alone = [each == "raised" for each in ticked(source, optimize=optimize)]
        merged = [each == "raised" for each in ticked(source, manner, says, optimize)]
        assert alone == merged


def test_most_ticks_of_methods_are_done_by_sites() -> None:
    done = ticked(HEAD + "box.set(box.get() + 1)", DETECTOR)
    assert (done.count("tick"), len(done)) == (0, 3)


def test_in_a_search_each_tick_stands_alone() -> None:
    tree = ast.parse(HEAD)
    insert_points(tree, True, ALL)
    assert ast.unparse(tree).count("reenact tick") == 5


@pytest.mark.parametrize(
    "name",
    [
        "while, whose test has a site",
        "a name that is deleted",
        "a handler's name",
        "no name at all",
        "module's loop",
        "assertion",
    ],
)
def test_a_tick_stays_where_it_could_be_lost(name: str) -> None:
    assert "tick" in ticked(HEAD + PROGRAMS[name], DETECTOR)
