"""What the race detector alone need not be told, and what is left out on trust."""

from __future__ import annotations

import random
import textwrap
from collections import Counter
from typing import Any

import pytest

from reenact import _core
from reenact.instrument.loader import ACCESSES, ON_TRUST, RACES, Policy
from reenact.instrument.rewrite import ALL, DETECTOR, HEURISTIC, PLACEHOLDER, rewrite
from reenact.instrument.shown import Shown, show


def shown(body: str, manner: str, head: str = "") -> Shown:
    source = f"{head}\ndef f(a, b, i, *c):\n{textwrap.indent(body, '    ')}\n"
    return show(source.encode(), "program.py", manner)


def sites(body: str, manner: str = HEURISTIC, head: str = "") -> list[str]:
    return [each.text for each in shown(body, manner, head).sites]


# Augmented assignments: the detector takes the write for both.


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("a.x += 1", "writes attribute x"),
        ("a[0] += b", "writes item"),
        ("a[i] -= b * 2", "writes item"),
        ("global g; g += 1", "writes global g"),
    ],
)
def test_reads_of_augmented_assignments(body: str, written: str) -> None:
    read = written.replace("writes", "reads")
    assert sites(body, ALL) == [read, written]
    assert sites(body, DETECTOR) == [written]


def test_other_reads_stay_for_the_detector() -> None:
    body = "a.x += b.y\na.x = a.x + 1\nb = a.x, a.x\nif a: b.f()"
    left = Counter(sites(body, ALL)) - Counter(sites(body, DETECTOR))
    assert left == Counter(["reads attribute x"])


def test_whom_sites_are_for() -> None:
    races = f"{RACES}1:0"
    assert Policy.of([races], True).manner == DETECTOR
    assert Policy.of([races, ON_TRUST], True).manner == HEURISTIC
    assert Policy.of([races, ON_TRUST, ACCESSES], True).manner == ALL
    assert Policy.of([ACCESSES], True).manner == ALL
    assert Policy.of([ON_TRUST], True).manner == ALL


# On trust: what was told before.

AGAIN = [
    "a.x\na.x",
    "a.x = 1\na.x",
    "a.x = 1\na.x = 2",
    "a.x += 1\na.x",
    "return a.x + a.x * b",
    "a[0]\na[0]",
    "a[i] = 1\na[i]",
    "a[i] += 1\nif a[i] <= i: return True",
    "b = a.x\nc = len('abc') + a.x",
    "a.x\nif b is None: i = 1\nelse: i = 2\na.x",
    "a.x\nif a.x is None: a.x",
    "if b is None:\n  a.x\nelse:\n  a.x\na.x",
    "if b is None:\n  return\nelse:\n  a.x\na.x",
    "for i in range(9):\n  a[i] = 1\n  a[i]",
    "a.x; lambda: b(); a.x",
    "while a[i] > 1: i += 1\na[i]",
]
NOT_AGAIN = [
    "a.x\nb()\na.x",
    "a.x\nb.m()\na.x",
    "a.x\nwith b: pass\na.x",
    "a.x\na = b\na.x",
    "a.x\nb.x",
    "a.x\na.y",
    "a.x\na.x = 1",
    "a[i]\ni = 2\na[i]",
    "a[i]\na[i + 1]",
    "a[i]\na[0]",
    "a.x\nyield\na.x",
    "a.x\nfor i in range(3): b()\na.x",
    "a.x\nfor i in range(3): a.x",
    "while i > 1: a.x\na.x",
    "while a[i] > 1:\n  i += 1\n  if i > 9: break\na[i]",
    "if b is None: a.x\na.x",
    "b is None or a.x\na.x",
    "b is None and a.x\na.x",
    "(a.x if b is None else 1)\na.x",
    "try: a.x\nfinally: a.x",
    "a.x\n[b() for _ in range(3)]\na.x",
    "a.x\nimport os\na.x",
    "a.x\nsorted('ab', key=b)\na.x",
    "if b is None: a.x = 1\nelse: a.x\na.x = 2",
    "if (a := b) is None: pass\na.x\nif (a := b) is None: pass\na.x",
    "a[i]; del a[i]; a[i]",
    "a.x\na, b = b, a\na.x",
    "a.x\nfor a in range(9): pass\na.x",
    "a.x\nasync def g(): await b\na.x",
    "[a.x for _ in range(9)]\na.x",
]


def told(body: str) -> list[str]:
    """What is left out because it was told before; of attributes and items."""
    cut = shown(body, HEURISTIC).cut
    return [each.text for each in cut if each.reason.endswith("told before")]


@pytest.mark.parametrize("body", AGAIN)
def test_what_was_told_before(body: str) -> None:
    assert told(body) != []


@pytest.mark.parametrize("body", NOT_AGAIN)
def test_what_was_not(body: str) -> None:
    assert told(body) == []


def test_what_a_chain_leads_to() -> None:
    assert sites("a.x[i]\na.x[i]") == ["reads attribute x", "reads item"]
    assert sites("a.x[i]\na.x = b\na.x[i]").count("reads item") == 2
    assert sites("a.x[i]\nb.x = b\na.x[i]").count("reads item") == 2
    assert sites("a[i][0]\nb[i] = 1\na[i][0]").count("reads item") == 3


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for i in a: b = i + 1", 0),
        ("for i in a: b = len(i)", 0),
        ("for i in a: b(i)", 1),
        ("for i in a:\n  with b: pass", 1),
        ("for i in a: yield i", 1),
        ("for i in a:\n  if i is None: b.m()", 1),
    ],
)
def test_turns_of_loops_that_cannot_synchronise(body: str, count: int) -> None:
    turn = "reads the contents, at each turn"
    assert sites(body).count(turn) == count
    assert sites(body, DETECTOR).count(turn) == 1


def test_methods_that_are_called() -> None:
    assert sites("a.m()") == []
    assert sites("a.m()\nb = a.m", DETECTOR) == ["reads attribute m"] * 2
    assert sites("b = a.m") == ["reads attribute m"]
    assert sites("a.m()", head="x.m = 1") == ["writes attribute m", "reads attribute m"]
    assert sites("a.append(1)") == sites("a.append(1)", DETECTOR) != []


def test_what_is_no_container() -> None:
    assert sites("if a: pass\nb += i\nwhile a.x: pass") == ["reads attribute x"]
    assert "reads contents" in sites("if a: a[0]")
    assert "writes contents" in sites("a += b\nb[0]")
    assert "writes contents" in sites("a += [b]")


def test_annotations_are_believed() -> None:
    for statement, count in ((b"a", 0), (b"c", 1), (b"d", 1), (b"e: int = c; e", 0)):
        body = b"def f(a: str, c: list, d: other):\n    " + statement + b"[0]\n"
        assert len(show(body, "p", HEURISTIC).sites) == count
        assert len(show(body, "p", DETECTOR).sites) == 1


def test_nothing_is_left_out_on_trust_otherwise() -> None:
    for body in (*AGAIN, "a.m()", "if a: pass", "for i in a: pass"):
        for manner in (ALL, DETECTOR):
            assert not any("heuristic" in each.reason for each in shown(body, manner).cut)


# Whatever is left out, programs do the same.

PIECES = """
a.x = i | a.x += i | b = a.x | a.y.append(a.x) | a.y[0] = a.x | a.y[i] += a.x | i = a.y[i] | a.m()
b = a.y[0] if a.x else a.y[i] | i = len(a.y) | a.x, i = i, a.x | b = [a.x for _ in a.y]
a.y = [i, i] | b = a.x and a.y[0] or a.x | a.z[i] = a.x | a.z[i] = a.z.get(i, 0) + a.x
b = f'{a.x} {a.y}'
"""


def a_program(choose: random.Random) -> str:
    pieces = [each.strip() for line in PIECES.strip().splitlines() for each in line.split(" | ")]
    lines = ["def f(a, i):", " b = None"]
    for _ in range(choose.randint(3, 12)):
        heads = ["", "if a.x: ", "for i in (0, 1): ", "for b in a.y[:]: "]
        lines.append(f" {choose.choice(heads)}{choose.choice(pieces)}")
    return "\n".join([*lines, " return a.x, a.y, a.z, i, b", ""])


class Shared:
    def __init__(self) -> None:
        self.x, self.y, self.z = 1, [1, 2], {0: 1}

    def m(self) -> None:
        self.x += 1


@pytest.mark.parametrize("seed", range(60))
def test_programs_do_the_same_in_each_manner(seed: int) -> None:
    source = a_program(random.Random(seed))
    results = []
    for manner in (ALL, DETECTOR, HEURISTIC):
        code = rewrite(source.encode(), "program.py", accesses=True, manner=manner)
        assert code is not None
        space: dict[str, Any] = {}
        exec(_core.plant(code, PLACEHOLDER), space)
        try:
            results.append(repr(space["f"](Shared(), 1)))
        except (IndexError, TypeError) as error:
            results.append(repr(error))
    plain: dict[str, Any] = {}
    exec(source, plain)
    try:
        expected = repr(plain["f"](Shared(), 1))
    except (IndexError, TypeError) as error:
        expected = repr(error)
    assert results == [expected] * 3
