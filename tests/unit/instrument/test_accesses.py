"""Sites stand before each access, name it rightly, and change nothing that a program does."""

from __future__ import annotations

import marshal
import sys
import textwrap
import threading
import traceback
import warnings
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from reenact import _core
from reenact.instrument import loader
from reenact.instrument.rewrite import rewrite
from reenact.instrument.sites import PREFIX

from .standins import code_objects, in_child
from .test_rewrite import PROGRAMS, events
from .watching import watched, with_accesses


class Manager:
    def __enter__(self) -> int:
        return 1

    def __exit__(self, *exc: object) -> None:
        return None


class Thing:
    """Something with attributes of every sort."""

    def __init__(self) -> None:
        self.n = 1
        self.items = [3, 1, 2]
        self.table = {"a": 1}
        self.empty: list[int] = []
        self.type = type
        self.error = KeyError
        self.cm = Manager()

    def method(self, *values: object) -> tuple[object, ...]:
        return values


ITEMS, TABLE, N = "attribute items", "attribute table", "attribute n"
LIST, DICT = "contents list", "contents dict"

# A statement about `t`, a Thing, and the accesses that it makes.
SEQUENCES = {
    # attributes
    "t.n": [N],
    "t.n = 2": [f"{N}!"],
    "t.n: int = 2": [f"{N}!"],
    "t.n: int": [],
    "del t.n": [f"{N}!"],
    "t.n += 1": [N, f"{N}!"],
    "t.n += t.n": [N, N, f"{N}!"],
    "t.n = t.n + 1": [N, f"{N}!"],
    "t.n, t.items = 1, 2": [f"{N}!", f"{ITEMS}!"],
    "t.method().count(1)": ["attribute method"],
    "(t.n)": [N],
    "'abc'.upper(), [1].append(2), {}.get(1)": [],
    "x = 'abc'; x.upper(); (1).real": [],
    # items
    "t.items[0]": [ITEMS, "item list"],
    "t.items[-1]": [ITEMS, "item list"],
    "t.items[0:2]": [ITEMS, "item list"],
    "t.items[t.n]": [ITEMS, N, "item list"],
    "t.items[t.n:]": [ITEMS, N, "item list"],
    "t.items[0] = t.n": [N, ITEMS, "item list!"],
    "t.items[t.n] = t.n": [N, ITEMS, N, "item list!"],
    "t.items[t.n:t.n] = [1]": [ITEMS, N, N, "item list!"],
    "del t.items[0], t.n": [ITEMS, "item list!", f"{N}!"],
    "del t.items[t.n]": [ITEMS, N, "item list!"],
    "t.items[0] += 1": [ITEMS, "item list", "item list!"],
    "t.items[t.n] += t.n": [ITEMS, N, "item list", N, "item list!"],
    "t.table['b', t.n] = 1": [TABLE, N, "item dict!"],
    "t.table[f'{t.n}'] = 1": [TABLE, N, "item dict!"],
    "t.table[lambda: t.n] = 1": [TABLE, "item dict!"],
    "(1, 2)[t.n], 'abc'[t.n]": [N, N],
    "x = (1, 2); x[t.n]; list[int]": [N],
    # the contents of containers
    "t.items.append(1)": [ITEMS, f"{LIST}!"],
    "t.items.append(t.n)": [ITEMS, N, f"{LIST}!"],
    "t.items.insert(t.n, 5)": [ITEMS, N, f"{LIST}!"],
    "t.items.insert(0, t.n)": [ITEMS, N, f"{LIST}!"],
    "t.items.sort(key=lambda x: -x)": [ITEMS, f"{LIST}!"],
    "t.items.sort(key=None, reverse=t.n)": [ITEMS, N, f"{LIST}!"],
    "t.items.index(3), t.items.copy()": [ITEMS, LIST, ITEMS, LIST],
    "t.items.extend(t.table)": [ITEMS, TABLE, DICT, f"{LIST}!"],
    "t.items.append(*[1])": [ITEMS, f"{LIST}!"],
    "t.table.get('a', t.n)": [TABLE, N, DICT],
    "t.table.update(b=t.n)": [TABLE, N, f"{DICT}!"],
    "t.table.setdefault('c', [])": [TABLE, f"{DICT}!"],
    "t.method(t.n).index(1)": ["attribute method", N],
    "f = t.items.append": [ITEMS],
    "1 in t.items": [ITEMS, LIST],
    "1 not in t.table": [TABLE, DICT],
    "0 < t.n in t.items in [t.items]": [N, ITEMS, LIST, ITEMS],
    "1 in (1, 2), 1 in [1, 2]": [],
    "len(t.items)": [ITEMS, LIST],
    "sorted(t.items, key=t.method)": [ITEMS, "attribute method", LIST],
    "sum(t.items, t.n)": [ITEMS, N, LIST],
    "list(t.table.items())": [TABLE, DICT, DICT],
    "str(t.n), bool(t.n), repr(t.items)": [N, N, ITEMS, LIST],
    "list(zip(t.items, t.table))": [ITEMS, TABLE, LIST, DICT],
    "sum(map(int, t.items))": [ITEMS, LIST],
    "print(*t.items, end='')": [ITEMS, LIST],
    "dict(**t.table), {**t.table}, [*t.items]": [TABLE, DICT, TABLE, DICT, ITEMS, LIST],
    "a, b, c = t.items": [ITEMS, LIST],
    "a, *b = t.table": [TABLE, DICT],
    "a, b = b, a = 1, 2": [],
    "', '.join(t.table)": [TABLE, DICT],
    "from heapq import *; heappush(t.items, t.n)": [ITEMS, N, f"{LIST}!"],
    "print(t.items, end=''); '%s' % t.items": [ITEMS, LIST] * 2,
    "'%s %s' % (t.items, t.n)": [ITEMS, LIST, N],
    "import copy; copy.copy(t.items)": ["attribute copy", ITEMS, LIST],
    # operators, if one operand is used as a container somewhere
    "t.items == t.table; len(t.items)": [ITEMS, TABLE, LIST, DICT, ITEMS, LIST],
    "t.items <= t.items > [1]; len(t.items)": [ITEMS, ITEMS, *[LIST] * 3, ITEMS, LIST],
    "[1] + t.items; len(t.items)": [ITEMS, LIST, ITEMS, LIST],
    "x = t.items\nlen(t.items)\nx + x": [ITEMS, ITEMS, LIST, LIST, LIST],
    "t.items == 1, t.items == t.items": [ITEMS, ITEMS, ITEMS],
    "t.n == t.n, t.n + t.n": [N] * 4,
    "t.items is t.items; len(t.items)": [ITEMS] * 3 + [LIST],
    # methods of types
    "list.append(t.items, t.n)": [ITEMS, N, f"{LIST}!"],
    "dict.get(t.table, 'a', 1)": [TABLE, DICT],
    "list.sort(t.items)": [ITEMS, f"{LIST}!"],
    "class list: append = len\nlist.append('')": ["attribute append"],
    # attributes by name
    "getattr(t, 'n'), getattr(t, 'gone', t.n)": [N, N, "attribute gone"],
    "hasattr(t, 'n'); setattr(t, 'n', 2); delattr(t, 'n')": [N, f"{N}!", f"{N}!"],
    "setattr(t, ''.join('n'), t.n)": [N, f"{N}!"],
    "object.__setattr__(t, 'n', t.n)": [N, f"{N}!"],
    "object.__getattribute__(t, 'n')": [N],
    "getattr(*[t, 'n'])": [],
    "getattr = t.method; getattr(t, 'n')": ["attribute method"],
    # truth
    "if t.items: pass": [ITEMS, LIST],
    "while t.empty: pass": ["attribute empty", LIST],
    "not t.items": [ITEMS, LIST],
    "if t.n and t.items: pass": [N, ITEMS, LIST],
    "t.items and t.table": [ITEMS, LIST, TABLE],
    "1 if t.items else 2": [ITEMS, LIST],
    "assert t.items": [ITEMS, LIST],
    # loops
    "for x in t.items: pass": [ITEMS, LIST, LIST, LIST, LIST],
    "for x in t.empty: pass": ["attribute empty", LIST],
    "for i, x in enumerate(t.table): pass": [TABLE, DICT, DICT, DICT],
    "for k, v in t.table.items(): pass": [TABLE, DICT, DICT, DICT],
    "for x in reversed(t.items): break": [ITEMS, LIST, LIST, LIST],
    "for x in range(t.n): pass": [N],
    "for x in 1, 2: pass": [],
    "[x for x in t.items if t.empty]": [ITEMS, LIST, *["attribute empty", LIST, LIST] * 3],
    "{x: y for x in t.items for y in t.table}": [ITEMS, LIST, *[TABLE, DICT, LIST, DICT] * 3],
    "list(x for x in t.items)": [ITEMS, LIST, LIST, LIST, LIST],
    # where expressions hide
    "f'{t.n}{t.items!r:>{t.n}}'": [N, ITEMS, LIST, N],
    "(lambda x=t.n: t.items)()": [N, ITEMS],
    "def f(x=t.n, *, y=t.n): pass": [N, N],
    "def f(x: t.n) -> t.n: pass": [],
    "class C(metaclass=t.type): x = t.n": ["attribute type", N],
    "(y := t.n)": [N],
    "x = [t.n][0]": [N],
    "try: t.gone\nexcept (AttributeError, t.error): pass": ["attribute gone", "attribute error"],
    "with t.cm as t.n: pass": ["attribute cm", f"{N}!"],
    "for t.n in 1, 2: pass": [f"{N}!", f"{N}!"],
    "match t.n:\n  case t.n: pass": [N],
    "match t.n:\n  case x if t.items: pass": [N, ITEMS, LIST],
    "match t.items:\n  case [x, *y]: pass": [ITEMS, LIST],
    "match t.n:\n  case 1 | [2]: pass": [N],
    "match t:\n  case object(n=1, items=x) as y: pass": [N, ITEMS],
    "global g; g = 1; g": [],
}


@pytest.mark.parametrize("source", SEQUENCES)
def test_accesses_in_their_order(source: str) -> None:
    assert watched(source, t=Thing()) == SEQUENCES[source]
    if "global" not in source and "*;" not in source:
        inside = f"def f(t):\n{textwrap.indent(source, '    ')}\nf(t)"
        assert watched(inside, t=Thing()) == SEQUENCES[source]


@pytest.mark.parametrize(
    ("made", "call", "expected"),
    [
        ([1], "x.pop()", f"{LIST}!"),
        ({1: 2}, "x.pop(1)", f"{DICT}!"),
        ({1}, "x.add(2)", "contents set!"),
        (bytearray(b"a"), "x.append(2)", "contents bytearray!"),
        (deque([1]), "x.popleft()", "contents deque!"),
        (defaultdict(list), "x.keys()", "contents defaultdict"),
        (OrderedDict(a=1), "x.move_to_end('a')", "contents OrderedDict!"),
        (Counter("a"), "x.update('b')", "contents Counter!"),
        (Counter("a"), "x.most_common()", "contents Counter"),
        (type("Own", (list,), {})([1]), "x.append(1)", "contents Own!"),
        (type("Own", (dict,), {"get": lambda self: 1})(), "x.get()", "attribute get"),
        (UserDict(), "x.keys()", "attribute keys"),
        (frozenset([1]), "x.copy()", ""),
        ("text", "x.count('t')", ""),
        (SimpleNamespace(append=len), "x.append('')", "attribute append"),
        (bytearray(b"a"), "for y in x: break", "contents bytearray contents bytearray"),
        (deque([1]), "for y in x: break", "contents deque contents deque"),
        (OrderedDict(a=1), "for y in x: break", "contents OrderedDict contents OrderedDict"),
    ],
)
def test_what_is_a_container_is_found_at_run_time(made: object, call: str, expected: str) -> None:
    assert " ".join(watched(call, x=made)) == expected


def test_functions_of_modules_that_write_their_argument() -> None:
    source = "import heapq, random\nheapq.heapify(x)\nrandom.shuffle(x)\nheapq.nlargest(1, x)"
    expected = ["attribute heapify", f"{LIST}!", "attribute shuffle", f"{LIST}!"]
    assert watched(source, x=[2, 1]) == [*expected, "attribute nlargest"]


def test_a_container_reached_through_super() -> None:
    source = """
class Own(list):
    def append(self, value):
        super().append(value)
    def clear(self):
        super().clear()
    def __setitem__(self, key, value):
        super().__setitem__(int(key), value)
x = Own()
x.append(1)
x[0] = 2
x.clear()
"""
    own = "contents Own!"
    expected = ["attribute append", own, "item Own!", own, "attribute clear", own]
    assert watched(source) == expected


@pytest.mark.parametrize("value", ["[1]", "t.items"])
def test_augmenting_a_container_writes_its_contents(value: str) -> None:
    reads = [ITEMS] * ("t" in value)
    assert watched(f"t.items += {value}", t=Thing()) == [ITEMS, *reads, f"{LIST}!", f"{ITEMS}!"]
    assert watched(f"x = t.items; x += {value}", t=Thing()) == [ITEMS, *reads, f"{LIST}!"]


def test_a_module_attribute_is_the_module_s_global() -> None:
    seen: list[object] = []
    code = with_accesses("sys.flags")
    _core.watch_accesses(lambda kind, name, thing, writes, line: seen.append(thing))
    try:
        exec(code, {"sys": sys})
    finally:
        _core.watch_accesses(None)
    assert [thing is vars(sys) for thing in seen] == [True]


GLOBAL, CLOSURE = "global g", "closure n"
VARIABLES = {
    "def f():\n  global g\n  g = 1\nf()\ng": [f"{GLOBAL}!", GLOBAL],
    "g = 0\ndef f():\n  global g\n  g += 1\nf()\n": [GLOBAL, f"{GLOBAL}!"],
    "g = 0\ndef f():\n  global g\n  del g\nf()": [f"{GLOBAL}!"],
    "g = []\ndef f():\n  g.append(1)\nf()": [f"{LIST}!"],
    "g = 0\ndef f():\n  return g\nf()": [],
    "g = 0\ng = 1\ndef f():\n  return g\nf()": [f"{GLOBAL}!", f"{GLOBAL}!", GLOBAL],
    "for g in 1, 2: pass\ndef f():\n  return g\nf()": [f"{GLOBAL}!", f"{GLOBAL}!", GLOBAL],
    "g = 0\ng = 1": [],
    "g = 0\ndef f(g):\n  g += 1\n  return g\nf(1)": [],
    "g = 0\ndef f():\n  global g\n  g = g + g\nf()": [GLOBAL, GLOBAL, f"{GLOBAL}!"],
    "def f():\n  global g\n  (g := 1)\nf()": [f"{GLOBAL}!"],
    "def f():\n  global g\n  g, x = 1, 2\nf()": [f"{GLOBAL}!"],
    "def f():\n  global g\n  def g(): pass\n  import sys as g\nf()": [f"{GLOBAL}!"] * 2,
    "def f():\n  global g\n  try: 1/0\n  except ArithmeticError as g: pass\nf()": [f"{GLOBAL}!"],
    "g = 1\ndef f():\n  global g\n  g = 2\nclass C:\n  g = 3\n  g\n": [],
    "g = 1\ndef f():\n  global g\n  g = 2\nclass C:\n  x = g\n": [GLOBAL],
    "g = 1\ndef f():\n  global g\n  g = 2\n[g for x in (1, 2)]": [GLOBAL] * 2,
    "g = 1\ndef f():\n  global g\n  g = 2\n[g for g in (1, 2)]": [],
    "g = [1]\ndef f():\n  global g\n  g += [2]\nf()": [GLOBAL, f"{LIST}!", f"{GLOBAL}!"],
    "g = [0]\ndef f():\n  global g\n  g = g\nf()\nlen(g), g[g[0]]": [
        *(GLOBAL, f"{GLOBAL}!", GLOBAL, LIST),
        *(GLOBAL, GLOBAL, "item list", "item list"),
    ],
    "def f():\n  n = 0\n  def g():\n    nonlocal n\n    n += 1\n  g()\n  return n\nf()": [
        *(f"{CLOSURE}!", CLOSURE, f"{CLOSURE}!", CLOSURE)
    ],
    "def f(n):\n  def g():\n    nonlocal n\n    n = 1\n  g()\n  return [n for x in (1,)]\nf(0)": [
        *(f"{CLOSURE}!", CLOSURE)
    ],
    "def f():\n  n = 0\n  def g(): return n\n  g()\n  n = 1\nf()": [
        *(f"{CLOSURE}!", CLOSURE, f"{CLOSURE}!")
    ],
    "def f():\n  n = 0\n  def g(): return n\n  return g()\nf()": [],
    "def f():\n  n = 0\n  n = [n for x in (1, 2)]\nf()": [],
    "def f():\n  for n in (1, 2): g = lambda: n\n  g()\nf()": [f"{CLOSURE}!"] * 2 + [CLOSURE],
}


@pytest.mark.parametrize("source", VARIABLES)
def test_variables_of_modules_and_functions(source: str) -> None:
    assert watched(source) == VARIABLES[source]


def test_a_closure_is_known_by_its_cell() -> None:
    source = """
def counter():
    n = 0
    def up():
        nonlocal n
        n += 1
    return up
first, second = counter(), counter()
first(); first(); second()
"""
    cells: list[object] = []
    code = with_accesses(source)
    space: dict[str, Any] = {}
    _core.watch_accesses(lambda kind, name, thing, writes, line: cells.append(thing))
    try:
        exec(code, space)
    finally:
        _core.watch_accesses(None)
    first, second = (space[name].__closure__[0] for name in ("first", "second"))
    assert [cell is first for cell in cells[2:]] == [True] * 4 + [False] * 2
    assert cells[-1] is second


def test_private_names_are_mangled() -> None:
    source = """
class _C:
    def set(self):
        self.__x = 1
        self.__x += 1
    def get(self):
        global __g
        __g = self.__x
        return __g
c = _C()
c.set()
assert c.get() == 2
"""
    expected = ["attribute _C__x!", "attribute _C__x", "attribute _C__x!"]
    expected = ["attribute set", *expected, "attribute get"]
    expected += ["attribute _C__x", "global _C__g!", "global _C__g"]
    assert watched(source) == expected


PRIVATE = [
    "x = []; x.append(1); x[0]; x[0] += 1; len(x); 1 in x",
    "x = {}\nfor y in x: pass\nfor y in x.items(): pass\nsorted(x.values())",
    "x = set()\nif x: pass\nwhile x: x.pop()\nreturn [y for y in (1, 2) if y in x]",
    "x: list = list(); return x[:]",
    "for y in (1, 2):\n  x = [y]\n  x.sort()",
    "x = [1]; return [y for y in x]",
    "x = []; x.append(1); return x",
    "x = []; x.append(1); y = x",
    "x = []; x.append(x)",
    "x = {}; x.get(1); return x.items()",
    "x = []; x.append(1); return x or 1",
    "x = y = []; x.append(1)",
]
ESCAPING = [
    "x = []; x.append(1); yield x",
    "x = []; x.append(1); t.method(x)",
    "x = []; x.append(1); t.n = x",
    "x = []; x.append(1); x = t.items",
    "x = t.items; x.append(1)",
    "x = []; x.append(1); f = lambda: x",
    "x = []; x.append(1); g = (y for y in x)",
    "x = []; x.append(1); return iter(x)",
    "x = []; x.append(1); f = x.append",
    "x = []; x.append(1); locals()",
    "x = []; x.append(1)\ndef g(y=x): pass",
    "list = t.method; x = list(); x.count(1)\nx = []; x.append(1)",
    "global x; x = []; x.append(1)",
    "x = []\ndef g():\n  nonlocal x\n  x = t.items\ng(); x.append(1)",
]


def run_in_function(body: str) -> list[str]:
    source = f"def f(t):\n{textwrap.indent(body, '    ')}\nuse(f(t))"
    seen = watched(source, t=Thing(), use=lambda found: list(found or ()))
    return [each for each in seen if each.startswith(("contents", "item"))]


@pytest.mark.parametrize("body", PRIVATE)
def test_containers_that_stay_in_their_function_have_no_points(body: str) -> None:
    assert run_in_function(body) == []


@pytest.mark.parametrize("body", ESCAPING)
def test_containers_that_leave_their_function_have_points(body: str) -> None:
    assert run_in_function(body) != []


class Probe:
    """Notes each access to itself in the log in which the watcher notes points."""

    def __init__(self, log: list[tuple[object, ...]]) -> None:
        object.__setattr__(self, "log", log)

    def __getattribute__(self, name: str) -> Any:
        log = object.__getattribute__(self, "log")
        log.append(("done", "attribute", name, False))
        return (lambda *args, **more: self) if name == "call" else self

    def __setattr__(self, name: str, value: object) -> None:
        object.__getattribute__(self, "log").append(("done", "attribute", name, True))

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "log").append(("done", "attribute", name, True))

    def __getitem__(self, key: object) -> Any:
        object.__getattribute__(self, "log").append(("done", "item", None, False))
        return self

    def __setitem__(self, key: object, value: object) -> None:
        object.__getattribute__(self, "log").append(("done", "item", None, True))

    def __delitem__(self, key: object) -> None:
        object.__getattribute__(self, "log").append(("done", "item", None, True))

    def __iadd__(self, other: object) -> Any:
        return self


@pytest.mark.parametrize(
    "source",
    [
        "p.a.b.c",
        "p.a.b = p.c.d",
        "p[p.a][p[p.b]]",
        "p[p.a] = p.b",
        "p[p.a] += p.b",
        "p.a += p[p.b]",
        "p.a[1] += p.b",
        "p[p.a:p.b] += p.c",
        "p[1:2] += p.c",
        "p[p.a, p.b, 3] = p.c",
        "p[p.a, 1:2] = p",
        "p[1:2, p.a:p.b, 3] += p",
        "del p.a, p[p.b], p[p.c].d",
        "p.call(p.a, p.b)[p.c].call(x=p.d)",
        "[p.a for x in (1, 2) if p[p.b]]",
        "p.a = p[x] = p.b.c",
        "p.a, p[x] = p.b, p[p.c]",
        "f'{p.a}{p[p.b]:1}' if 0 else p.a",
        "(lambda q: q[p.a])(p)",
        "for p.a in (1, 2): p.b",
        "p.a[(y := p.b)].c += (yield_ := p.d)",
    ],
)
def test_each_point_comes_right_before_its_access(source: str) -> None:
    log: list[tuple[object, ...]] = []
    probe = Probe(log)
    code = with_accesses(source)

    def watcher(kind: str, name: str | None, thing: object, writes: bool, line: int) -> None:
        assert thing is probe
        log.append(("next", kind, name, writes))

    _core.watch_accesses(watcher)
    try:
        exec(code, {"p": probe, "x": 1})
    finally:
        _core.watch_accesses(None)
    assert log
    expected = [each for step in log[1::2] for each in (("next", *step[1:]), step)]
    assert log == expected


def test_a_point_is_found_in_a_generator_that_another_thread_resumes() -> None:
    code = with_accesses("def f(t):\n    t.table[(yield)] = 1\n    t.items.append((yield))\n")
    seen: list[str] = []
    space: dict[str, Any] = {}
    exec(code, space)
    generator = space["f"](thing := Thing())

    def resume(value: object) -> None:
        thread = threading.Thread(target=lambda: list(map(generator.send, [value])))
        thread.start()
        thread.join()

    _core.watch_accesses(lambda kind, name, *rest: seen.append(f"{kind} {name}"))
    try:
        next(generator)
        resume("b")
        resume(7)
    finally:
        _core.watch_accesses(None)
    assert (thing.table["b"], thing.items[-1]) == (1, 7)
    assert seen == [TABLE, "item None", ITEMS, "contents None"]


def test_recursion_between_an_object_and_its_point() -> None:
    source = """
def fill(t, depth):
    t.table[fill(t, depth - 1) if depth else 0] = depth
    return depth
fill(t, 3)
"""
    assert watched(source, t=Thing()) == [TABLE] * 4 + ["item dict!"] * 4


def test_what_the_watcher_raises_comes_out_at_the_access() -> None:
    code = with_accesses("def f(t):\n    t.n = 2\nf(t)\n")

    def refuse(*access: object) -> None:
        raise KeyError("no")

    thing = Thing()
    _core.watch_accesses(refuse)
    try:
        with pytest.raises(KeyError) as caught:
            exec(code, {"t": thing})
    finally:
        _core.watch_accesses(None)
    assert [line for _, line in traceback.walk_tb(caught.value.__traceback__)][-2:-1] == [2]
    assert thing.n == 1


# What a tracer, a traceback and the compiler's own warnings show.

MANY_LINES = {
    "attributes": """
class C:
    def same(self, *a, **k): return self
    x = [1, 2]
c = C()
y = (c
     .same()
     .same(
         c.x,
         k=c.x[
             0],
     )
     .x
     [c.x[0]])
(c
 .z) = c.same(
    1).x
c.z[
    0] += len(
    c.x)
(
    c.z
) [0] = 5
""",
    "branches": """
class C: x = []
def f(c, d=None):
    if (c.x
            and d):
        return 1
    while (not
           c.x):
        c.x = [
            1]
    for i in (c
              .x):
        if i in c.x: continue
    if (c
            .x):
        d = [y for y in (c
                         .x) if c.x]
    d = len(
        c
        .x)
    return (c if
            c.x else
            d).x
f(C)
""",
    "globals": """
def f():
    global g
    g = (
        1)
    g += (
        2)
    if (g and
            g):
        return g
    del g
f()
def h():
    n = 0
    def up():
        nonlocal n
        n += 1
        return (
            n)
    return [up()
            for x in (1, 2)
            if n < 5]
h()
""",
}


@pytest.mark.parametrize("name", [*PROGRAMS, *MANY_LINES])
def test_a_tracer_sees_the_untouched_program(name: str) -> None:
    source = {**PROGRAMS, **MANY_LINES}[name]
    plain = compile(source, "program.py", "exec", dont_inherit=True)
    assert events(with_accesses(source)) == events(plain)


@pytest.mark.parametrize(
    "line",
    [
        "t.n.gone.other",
        "t.items[t.n + 10]",
        "t.items.index(t.n + 10)",
        "t.n.gone += t.n",
        "t.items[10] += 1",
        "t.items[0] += t.items",
        "for x in t.n: pass",
        "a, b = t.n, t.gone",
        "len(t.n)",
        "1 in t.n",
        "t.method(1, *t.n)",
    ],
)
def test_tracebacks_underline_what_they_did(line: str, tmp_path: Path) -> None:
    file = tmp_path / "fails.py"
    file.write_text(f"def f(t):\n    {line}\nf(t)\n")

    def trace(code: CodeType) -> str:
        with pytest.raises((AttributeError, TypeError, IndexError, ValueError)) as caught:
            exec(code, {"t": Thing()})
        frames = traceback.extract_tb(caught.value.__traceback__)
        return "".join(traceback.format_list([f for f in frames if f.filename == str(file)]))

    plain = compile(file.read_text(), str(file), "exec", dont_inherit=True)
    assert trace(with_accesses(file.read_text(), str(file))) == trace(plain)


def standard_library() -> Iterator[Path]:
    directory = Path(warnings.__file__).parent
    return (path for path in sorted(directory.glob("[a-e]*.py")))


def test_the_standard_library_is_rewritten_without_a_warning() -> None:
    same = ("name", "qualname", "firstlineno", "flags", "varnames", "freevars", "cellvars")
    for path in standard_library():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            code = rewrite(path.read_bytes(), str(path), accesses=True)
        assert code is not None
        plain = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        for ours, theirs in zip(code_objects(code), code_objects(plain), strict=True):
            assert set(ours.co_names) == set(theirs.co_names)
            for attribute in same:
                assert getattr(ours, "co_" + attribute) == getattr(theirs, "co_" + attribute)


@pytest.mark.parametrize("depth", [10, 500, 3_000, 100_000])
@pytest.mark.parametrize("shape", ["a" + ".b{}", "not {}a", "a{}", "a[{}"])
def test_deep_nesting_never_crashes(depth: int, shape: str) -> None:
    links = {
        "a.b{}": "a" + ".b" * depth,
        "not {}a": "not " * depth + "a",
        "a{}": "a" + "+a.b" * depth,
        "a[{}": "a[" * min(depth, 90) + "0" + "]" * min(depth, 90),
    }
    source = f"def f(a):\n    return {links[shape]}\n".encode()
    try:
        compile(source, "p", "exec", dont_inherit=True)
    except (RecursionError, MemoryError) as error:
        with pytest.raises(type(error)):
            rewrite(source, "p", accesses=True)
    else:
        code = rewrite(source, "p", accesses=True)
        assert code is None or len(code_objects(code)) == 2


# Sites are there on demand only, and can be kept.


def sites(code: CodeType) -> list[str]:
    constants = [each for inner in code_objects(code) for each in inner.co_consts]
    return [each for each in constants if isinstance(each, str) and each.startswith(PREFIX)]


def test_there_are_no_sites_unless_asked_for() -> None:
    source = b"def f(t):\n    t.n += 1\n"
    plain, asked = rewrite(source, "p"), rewrite(source, "p", accesses=True)
    assert plain is not None
    assert asked is not None
    assert sites(plain) == []
    assert len(sites(asked)) == 2


def test_the_cache_tells_code_with_sites_from_code_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REENACT_CACHE_DIR", str(tmp_path / "cache"))
    script = tmp_path / "script.py"
    script.write_text("def f(t):\n    t.n += 1\n")
    found = []
    for accesses in (False, True, False, True):
        code = loader.code_for_script(
            str(script),
            loader.Policy(accesses=accesses),
            lambda code: code,
            lambda path, digest: None,
            in_child,
        )
        found.append(len(sites(code)))
    assert found == [0, 2, 0, 2]
    assert len(list((tmp_path / "cache").rglob("*"))) == 4  # two entries, each in a directory


def test_output_can_be_marshalled() -> None:
    code = rewrite(b"def f(t):\n    t.n[t.n] += t.n\n", "p", accesses=True)
    assert code is not None
    again = marshal.loads(marshal.dumps(code))
    assert again == code
    assert len(set(sites(again))) == len(sites(again)) == 5


def test_a_string_that_only_begins_like_a_placeholder_stays() -> None:
    space: dict[str, Any] = {}
    code = _core.plant(compile(f"x = {PREFIX + 'y'!r}", "p", "exec"), "")
    exec(code, space)
    assert space["x"] == PREFIX + "y"
