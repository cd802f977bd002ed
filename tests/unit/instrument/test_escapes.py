"""Containers that never leave their function have no sites, and no others."""

from __future__ import annotations

import gc
import random
import textwrap
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import pytest

from reenact import _core
from reenact.instrument.escapes import Escapes
from reenact.instrument.scopes import Names
from reenact.instrument.shown import show

from ...versions import IS_DEFAULT
from .watching import with_accesses

HEAD = """
import collections, heapq, threading
from collections import deque, defaultdict
from heapq import heappush
SIZE = 9
WORD = "abc"
CHANGED = 1
def change():
    global CHANGED
    CHANGED = []
"""


def sites(body: str, head: str = "") -> list[str]:
    """The sites about contents and items in a function with this *body*."""
    source = f"{HEAD}{head}\ndef f(p, n, *args, **named):\n{textwrap.indent(body, '    ')}\n"
    found = show(source.encode(), "program.py").sites
    return [each.text for each in found if each.kind not in ("attribute", "new object", "global")]


KEPT = [
    "x = [0] * n\nx[0] = 1\nreturn x",
    "x = [[0] * 3 for _ in range(9)]\nx[1][2] += 1",
    "x = [[], []]\nfor y in x: y.append(n)",
    "x = [[], []]\nfor i, y in enumerate(x): y.append(i)",
    "x, y = [], {}\nx, y = y, x\nx[0] = y[0] = 1",
    "x = sorted(range(9)); y = x; y.reverse(); return y, x",
    "x = list(range(len(WORD))); x[0] += 1; return x[:]",
    "x = {}\nx[n] = 1\nfor k, v in x.items(): len(x)\nif n in x: del x[n]",
    "x = {}\nx.setdefault(1, []).append(n)\nx[1][0] = n",
    "x = defaultdict(list)\nx[n].append(1)\nfor y in x.values(): y[0]",
    "x = deque(); x.append(n); x.popleft(); collections.deque([1]).rotate()",
    "x = deque(); x.append(n); return x.popleft()",
    "x = bytearray(9); x[0] = 1; bytes(x); len(x)",
    "x = []; x.append(n); return ''.join(x)",
    "x = []; heappush(x, 1); heapq.heappop(x); x[0]",
    "x = [1, 2]; sum(x); min(x); any(x); str(x); print(x); f'{x}'",
    "x = [[1], [2]]; return sum(y[0] for y in x)",
    "x = [[1], [2]]; return [z for y in x for z in y if y[0]]",
    "x = [1]; y = x if n is None else [2]; y[0] = 1",
    "x = [1]; y = x or [2]; y[0] = 1",
    "x = [1]; y = [2]; z = x + y; z[0] = 1; x == y",
    "x = [1]\nwith n: x[0] = 1",
    "x = [1]\ntry: x[0] = 1\nexcept KeyError as e: x.clear()\nfinally: len(x)",
    "x = [1]\nif (y := x): y[0] = 1",
    "x = [1]; x[0] = p; x.append(p); len(x)",
    "named['a'] = 1; len(named)",
    "len(args); args[0]",
    "x = dict(a=[]); x['a'].append(1)",
    "x = set(); x.add(n); x.discard(n); n in x",
    "x = {1: []}\nif n in x: x[1].append(2)",
    "x = WORD[n]; SIZE in WORD; len(WORD)",
    "x = [1]\nfor y in zip(x, x): y[0]",
    "x = 1; x += 2; y = x * 3; y += x",
    "x = [0] * n\nreturn [x[0] for _ in range(9)]",
    "x = 'a b'.split(); x[0]; x.sort(reverse=True)",
    "x = []; x.extend(map(str, x)); x[0]",
    "a, *x = 1, 2; x.append(1)",
]
LOST = [
    "x = [0]; p(x); x[0] = 1",
    "x = [0]; p.y = x; x[0] = 1",
    "x = [0]; p[0] = x; x[0] = 1",
    "x = [[0]]; y = x[0]; p(x); y[0] = 1",
    "x = [[0]]; p(x[0]); x[0][0] = 1",
    "x = [[0]]\nfor y in x: p(y)\nfor y in x: y[0] = 1",
    "x = [p]; x[0][0] = 1",
    "x = [1]; x = n; x[0] = 1",
    "x = [1]\nfor y in (1, 2):\n  x[0] = 1\n  x = p",
    "x = []; x.append(p); x[0][0] = 1",
    "x = [[]]; x.extend(p); x[0][0] = 1",
    "x = {}; x.update(p); x[0].append(1)",
    "x = {}; x.update(a=p); x['a'].append(1)",
    "x = {}; x[p] = 1\nfor y in x: y[0] = 1",
    "x = {}; x |= p; x[0].append(1)",
    "x = [0]; x + n; x[0] = 1",
    "x = [0]; x += n; x[0] = 1",
    "x = [0]; x == n; x[0] = 1",
    "x = [[0]]; n in x; x[0][0] = 1",
    "x = [[0], p]; x.sort(); x[0][0] = 1",
    "x = [[0]]; x.sort(key=p); x[0][0] = 1",
    "x = [[0]]; max(x, key=p)[0] = 1",
    "x = [[0]]; list(map(p, x)); x[0][0] = 1",
    "x = [0]; threading.Thread(target=lambda: x[0]).start(); x[0] = 1",
    "x = [0]\ndef g(): return x\nx[0] = 1",
    "x = [0]\nclass C: y = x\nx[0] = 1",
    "x = [0]; y = (z for z in x); x[0] = 1",
    "x = [0]; y = (x[0] for z in p); x[0] = 1",
    "x = [0]; y = any((x := z) for z in p); x[0] = 1",
    "x = [0]; p((x := z) for z in p); x[0] = 1",
    "x = [0]; x.append; y = x.append; x[0] = 1",
    "x = [0]; y = iter(x); x[0] = 1",
    "x = {}; y = x.values(); p(y); x[0] = 1",
    "x = {}; y = [x.items()]; p(y[0]); x[0] = 1",
    "x = [0]; x[0] = 1; raise p(x)",
    "x = [0]; x[0] = 1; yield x",
    "x = [0]; x[0] = 1; locals()",
    "x = [0]; x[0] = 1; eval('p(x)')",
    "x = [0]\nwith x: x[0] = 1",
    "x = [0]\nmatch x:\n  case y: y[0] = 1",
    "global x; x = [0]; x[0] = 1",
    "x = [0]\nassert n, x\nx[0] = 1",
    "CHANGED[0]; len(CHANGED)",
    "x = 1; x += n; y = 1 + n; y[0]",
    "for x in p: x[0] = 1",
    "x = [0]\nfor x[0] in p: x[0][0] = 1",
    "a, *x = p; x[0][0] = 1",
    "args[0][0] = 1",
    "named['a'][0] = 1",
    "x = set(); x = x.__ior__(p); p(x); x.add(1)",
    "x = {1: p}; x[1] += [2]",
]


@pytest.mark.parametrize("body", KEPT)
def test_what_is_kept_has_no_sites(body: str) -> None:
    assert sites(body) == []


@pytest.mark.parametrize("body", LOST)
def test_what_others_may_have_keeps_its_sites(body: str) -> None:
    assert sites(body) != []


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("list = change", "x = list(n); x[0] = 1"),
        ("from change import *", "x = list(n); x[0] = 1"),
        ("from change import deque", "x = deque(); x[0] = 1"),
        ("deque = change", "x = deque(); x[0] = 1"),
        ("SIZE = []", "SIZE[0]"),
        ("", "x = list(n)\nlist = n\nx[0] = 1"),
        ("sorted = max", "x = [[0]]; sorted(x)[0] = 1"),
    ],
)
def test_names_that_mean_something_else(head: str, body: str) -> None:
    assert sites(body, head) != []


def test_expressions_nested_deeply_are_left_alone() -> None:
    deep = "+".join(["n"] * 200)
    assert sites(f"x = [0]\nx[0] = 1\nx = x\nif n is None: return {deep}") != []
    assert sites("x = [0]\nx[0] = 1\nx = x\nif n is None: return n + n") == []


# Random functions: what has no site was never within the reach of others.

SOURCES = """
[] | [{0}] | [{0}, {1}] | {{}} | {{1: {0}}} | {{1: {0}, 2: {1}}} | [x for x in {0}] | {0} | {0}[0]
{0}[1] | {0}[:] | list({0}) | sorted({0}) | {0} + {1} | {0} or {1} | [{0}] * 2 | p | p[0] | o
o + {0} | {0} + o | {0} == o | o == {0} | {0} < {1} | dict(k={0}) | dict({0}) | ({0}, {1}) | o[{0}]
{0}.copy() | {0}.pop() | {0}.get(1, {1}) | {0}.get({1}) | max({0}, key=give) | list(map(give, {0}))
[y for y in {0} if give(y)] | [y[0] for y in {0} if y] | list(enumerate({0})) | list(zip({0}, {1}))
{0}.items() | {0}.values() | {0}.setdefault(1, {1}) | o in {0} | {0} in o | {0} in {1} | max({0}, o)
min({0}, {1}) | list({0}.items()) | {{**{0}}} | [*{0}] | {0} if p else {1} | (lambda: {0})
iter({0}) | (y for y in {0}) | sum(([y] for y in {0}), []) | [[y] for y in {0}] | deque({0})
{0}.append | any(y[0] for y in {0}) | {0}.index({1}) | [{0}, o] | [z for y in {0} for z in y]
{0}.__iadd__({1}) | not {0} | -{0} | reversed({0})
[y for y in reversed({0})] | tuple({0}) | (z := {0})
"""
STATEMENTS = """
{0}.append({1}) | {0}[0] = {1} | {0}[1] = {1} | {0}[{1}] = {2} | {0}[:] = {1} | {0}.extend({1})
{0}.update({1}) | {0} += {1} | {0}[0] += {1} | give({0}) | {0}.sort() | {0}.insert(0, {1})
o.x = {0} | {0}.sort(key=give) | {0}, {1} = {1}, {0} | {0}, {1} = {2} | {0}, *{1} = {2}
{0}.update(k={1}) | for {0} in {1}: pass | for {0}, {1} in {2}.items(): pass | for x in {0}: {1} = x
for {0}, {1} in enumerate({2}): pass | for x in {0}: give(x) | for {0}[0] in {1}: pass
{0}.add({1}) | del {0}[0] | give(*{0}) | give(k={0}) | {0}.remove({1}) | {0} |= {1}
assert {0} != {1}, o
"""


def pieces(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(" | ")]


def a_function(choose: random.Random) -> str:
    """A function in which each line has a try of its own, and a line for each access."""
    lines = ["def f(p, o, give, done):", " a, b, c, d = [], [[]], {}, {1: []}"]
    for _ in range(choose.randint(3, 14)):
        names = [choose.choice("abcd") for _ in range(3)]
        if choose.random() < 0.5:
            names = [choose.choice("ab"), *names[1:]]
        text = choose.choice(pieces(STATEMENTS))
        if choose.random() < 0.6:
            text = f"{choose.choice('abcd')} = {choose.choice(pieces(SOURCES))}"
        indent = " "
        if choose.random() < 0.3:
            lines.append(" for turn in range(2):")
            indent = "  "
        lines += [f"{indent}try:", f"{indent} {text.format(*names)}"]
        lines += [f"{indent}except Exception: pass"]
    lines += [" done()", " return a, b, c, d"]
    return "from collections import deque\n" + "\n".join(lines) + "\n"


class Sneaky:
    """Whatever it is asked, it keeps what it is given, and changes it."""

    def __init__(self) -> None:
        self.kept: list[object] = []
        self.x: object = None

    def keep(self, thing: Any = None, *more: Any, **named: Any) -> Any:
        self.kept += [thing, *more, *named.values()]
        if isinstance(thing, list) and len(thing) < 5:  # or a loop over it might never end
            thing.append(self.kept[0])
        return thing

    def __iter__(self) -> Any:
        return iter(self.kept[:5])

    __add__ = __radd__ = __eq__ = __lt__ = __gt__ = __getitem__ = __contains__ = keep  # type: ignore[assignment]
    __mul__ = __rmul__ = __or__ = __ror__ = __ne__ = __le__ = __ge__ = keep  # type: ignore[assignment]

    def __hash__(self) -> int:
        return 1


def reach(roots: Iterable[object]) -> dict[int, object]:
    found: dict[int, object] = {}
    pending = list(roots)
    while pending:
        thing = pending.pop()
        if id(thing) not in found and not isinstance(thing, (type, ModuleType)):
            found[id(thing)] = thing
            is_function = hasattr(thing, "__code__")  # whose globals tell nothing of variables
            pending += getattr(thing, "__closure__", None) or () if is_function else ()
            pending += () if is_function else gc.get_referents(thing)
    return found


def run(source: str, watcher: Callable[..., None]) -> tuple[list[object], list[object]]:
    """What the outside has at the end, and what the function returned."""
    sneaky = Sneaky()
    given: list[object] = [[[1]], {1: [2]}]
    ends: list[object] = []
    space: dict[str, Any] = {"__name__": "program"}
    exec(with_accesses(source), space)
    _core.watch_accesses(lambda kind, name, thing, writes, line: watcher(thing, line, outside))
    outside = [sneaky, given]
    try:
        result = space["f"](given, sneaky, sneaky.keep, lambda: ends.extend(outside))
    finally:
        _core.watch_accesses(None)
    return ends, list(result)


@pytest.mark.parametrize("seed", range(300 if IS_DEFAULT else 60))
def test_what_has_no_site_was_never_in_reach(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = a_function(random.Random(seed))
    cut = {each.line for each in show(source.encode(), "p").cut if "leaves" in each.reason}
    with_site = {each.line for each in show(source.encode(), "p").sites}
    unseen: list[tuple[int, object]] = []

    def note(thing: object, line: int, outside: list[object]) -> None:
        if line in cut - with_site:
            assert id(thing) not in reach(outside), (line, source)
            unseen.append((line, thing))

    monkeypatch.setattr(Escapes, "is_kept", lambda self, node: False)
    monkeypatch.setattr(Names, "is_private", lambda self, scope, node: False)
    ends, _ = run(source, note)
    reached = reach(ends)
    for line, thing in unseen:
        assert id(thing) not in reached, (line, source)


def test_random_functions_have_much_to_cut() -> None:
    """Else the test above says nothing."""
    shown = [show(a_function(random.Random(seed)).encode(), "p") for seed in range(300)]
    cut = [each for every in shown for each in every.cut if "leaves" in each.reason]
    assert len(cut) > 100
    assert sum(bool(every.sites) for every in shown) > 100


def shape(value: object, seen: tuple[int, ...] = ()) -> object:
    """A value without addresses."""
    if id(value) in seen:
        return "..."
    if isinstance(value, dict):
        return [shape(each, (*seen, id(value))) for pair in value.items() for each in pair]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shape(each, (*seen, id(value))) for each in value]
    return value if isinstance(value, (int, str, bool, type(None))) else type(value).__name__


@pytest.mark.parametrize("seed", range(0, 300, 9))
def test_functions_do_the_same_without_sites(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = a_function(random.Random(seed))

    def ignore(thing: object, line: int, outside: list[object]) -> None:
        """Nothing is looked at."""

    _, cut = run(source, ignore)
    monkeypatch.setattr(Escapes, "is_kept", lambda self, node: False)
    _, whole = run(source, ignore)
    assert shape(cut) == shape(whole)
