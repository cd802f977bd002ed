"""Which code has a version without sites, and what must hold for it to run."""

from __future__ import annotations

import ast
import sys
import textwrap
from types import CodeType, FrameType
from typing import Any

import pytest

from reenact._core import plant
from reenact.instrument.accesses import insert_accesses
from reenact.instrument.rewrite import ALL, DETECTOR, PLACEHOLDER, insert_points, rewrite
from reenact.instrument.sites import PREFIX


def guards(source: str, manner: str = DETECTOR) -> list[str]:
    """Kind and conditions of each guard."""
    tree = ast.parse(textwrap.dedent(source))
    insert_points(tree, accesses=False)
    insert_accesses(tree, manner)
    compile(tree, "file", "exec")
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    fields = [each.removeprefix(PREFIX).split(" ", 7) for each in texts if each.startswith(PREFIX)]
    return sorted(f"{each[0]} {each[7]}" for each in fields if each[0] in "pqy")


FITTING = {
    "attributes": (
        """
        def add(self, other, factor):
            self.x += other.x * factor
            self.y += other.y * factor
            self.z = other.z
        """,
        ["p v:factor o:self:x,y,+z o:other:x,y,z"],
    ),
    "a list": (
        """
        def add(speed, dx):
            speed[0] += dx
            speed[1] += dx
            speed[2] += dx
        """,
        ["p v:dx w:speed"],
    ),
    "a loop with a test": (
        """
        def skip(self):
            text, place = self.text, self.place
            while text[place] in " ":
                place += 1
            self.place = place
            return text[place]
        """,
        ["p s: v:text v:place o:self:text,place"],
    ),
    "a loop that reads lists": (
        """
        def product(left, right, row, column, size):
            total = 0
            for place in range(size):
                total += left[row][place] * right[place][column]
            return total
        """,
        [
            "q t:place v:place v:total v:row v:column p:left:row:* p:right:*:column",
            "y t:place v:place v:total v:row v:column p:left:row:* p:right:*:column",
        ],
    ),
    "a part of a function": (
        """
        def use(self, other):
            other.call()
            self.x = self.y + self.z
            self.z = self.x * self.y
            other.call()
        """,
        ["p o:self:y,z,x"],
    ),
}

UNFIT = {
    "calls": "self.x = f(self.y, self.z, self.x, self.y, self.z)",
    "methods": "self.x = self.f(self.y, self.z, self.x, self.y, self.z)",
    "what is reached by an attribute": "return self.x.a + self.y.a + self.z.a + self.x.b",
    "an object that is bound in it": "return (o := self.x).a + o.b + o.c + o.d + o.e",
    "globals that are bound again": "self.x = G + self.x + self.y + self.z + self.x + self.y",
    "a generator": "self.x = (yield self.x + self.y + self.z + self.x + self.y)",
    "new containers": "self.x = [self.x, self.y, self.z, self.x, self.y]",
    "deletions": "del self.x, self.y, self.z, self.u, self.v",
    "little": "return self.x",
}


@pytest.mark.parametrize("source, expected", FITTING.values(), ids=FITTING)
def test_what_fits(source: str, expected: list[str]) -> None:
    assert guards(source) == expected


@pytest.mark.parametrize("body", UNFIT.values(), ids=UNFIT)
def test_what_does_not_fit(body: str) -> None:
    source = f"G = 1\ndef again():\n    global G\n    G = 2\ndef f(self):\n    {body}\n"
    assert guards(source) == []


def test_a_search_has_all_its_sites() -> None:
    source, expected = FITTING["attributes"]
    assert guards(source, ALL) == []
    assert guards(source, DETECTOR) == expected


PROGRAM = """
class Sum:
    def __init__(self):
        self.a, self.b, self.c, self.text = 1, 2, 3, "   ab"

    def add(self, other, factor):
        self.a += other.a * factor
        self.b += (other.b *
                   factor)
        self.c = other.c
        if self.a > 3:
            self.a = self.b + self.c
            return self.a

    def skip(self, place):
        while self.text[place] in " ":
            place += 1
        return self.text[
            place]

def total(rows, number, size):
    result = 0
    for i in range(size):
        result += rows[number][i]
        if result > 1000:
            break
    else:
        result += 1
    return result

def fail(some, number):
    some.a = some.b + some.c
    some.b = some.a / number
    some.c = some.b * some.a

one, two = Sum(), Sum()
found = [one.add(two, 1), one.add(two, 2), one.skip(0), total([[1, 2, 3], [4, 5, 600]], 1, 3)]
try:
    fail(one, 0)
except ZeroDivisionError as error:
    found += [error.__traceback__.tb_next.tb_lineno, one.a, one.b]
"""


def observed(code: CodeType) -> tuple[list[tuple[str, str, int]], Any]:
    """What line events tell, and what is found."""
    events: list[tuple[str, str, int]] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename == "program.py":
            events.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace

    names: dict[str, Any] = {}
    sys.settrace(trace)
    try:
        exec(code, names)
    finally:
        sys.settrace(None)
    return events, names["found"]


def test_line_events_and_outcomes_stay_what_they_are() -> None:
    code = rewrite(PROGRAM.encode(), "program.py", accesses=True, manner=DETECTOR)
    assert code is not None
    assert len(guards(PROGRAM)) >= 4
    assert observed(plant(code, PLACEHOLDER)) == observed(compile(PROGRAM, "program.py", "exec"))
