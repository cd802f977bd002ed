"""Programs made at random do the same with sites as without, watched or not."""

from __future__ import annotations

import re
from reprlib import recursive_repr
from types import CodeType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reenact import _core

from .watching import with_accesses


class Box:
    def __init__(self) -> None:
        self.n = 1
        self.items = [5, 3, 4]
        self.table: dict[Any, Any] = {0: 1, "a": [1]}
        self.other: Any = None

    def method(self, *values: Any, **named: Any) -> Any:
        self.items.append(len(values))
        return values[0] if values else self

    @recursive_repr()
    def __repr__(self) -> str:
        return f"Box({self.n}, {self.items}, {self.table}, {self.other})"


ATOMS = ["1", "0", "-1", "x", "y", "b", "'a'", "None", "g", "b.n", "b.items", "b.table", "b.other"]
EXPRESSIONS = [
    "{}.n",
    "{}.items",
    "{}[{}]",
    "{}[{}:{}]",
    "({} + {})",
    "({} if {} else {})",
    "({} and {})",
    "({} or not {})",
    "{}.method({}, {})",
    "{}.method(*{}, k={})",
    "{}.append({})",
    "{}.get({}, {})",
    "{}.pop({})",
    "{}.setdefault({}, {})",
    "len({})",
    "sorted({})",
    "list({})",
    "({} in {})",
    "({} < {} not in {})",
    "[z for z in {} if {}]",
    "{{z: {} for z in {}}}",
    "(lambda q: q.n + {})({})",
    "f'{{{}}}'",
    "(w := {})",
    "[{}, *{}]",
    "bump({})",
]
STATEMENTS = [
    "x = {}",
    "b.n = {}",
    "b.other = {}",
    "b.table[{}] = {}",
    "b.items[{}] = {}",
    "b.n += {}",
    "b.items += {}",
    "b.table[{}] += {}",
    "b.items[{}:{}] += {}",
    "x, y = {}",
    "x, *y = {}",
    "b.n, b.items[0] = {}, {}",
    "x += {}",
    "g += {}",
    "g = {}",
    "del b.table[{}]",
    "del b.items[{}]",
    "for x in {}:\n    b.n += 1\n    if b.n > 40: break",
    "if {}:\n    y = {}\nelif {}:\n    x = {}",
    "try:\n    y = {}\nexcept (TypeError, KeyError):\n    x = {}\nfinally:\n    b.n += 1",
    "local = []\nlocal.append({})\nfor x in local: y = x\nlocal[0] = len(local)",
    "match {}:\n    case 1: x = {}\n    case [q, *_] if {}: y = q",
    "with manager({}) as b.other:\n    x = {}",
    "assert {}, {}",
]
HEAD = """
from contextlib import contextmanager
g = 0
@contextmanager
def manager(value):
    yield value
def counter():
    n = 0
    def bump(by):
        nonlocal n
        n += by
        return n
    return bump
bump = counter()
def program(b, x=0, y=()):
    global g
    log = []
"""


def expression(depth: int) -> st.SearchStrategy[str]:
    if depth == 0:
        return st.sampled_from(ATOMS)
    inner = expression(depth - 1)
    return st.one_of(st.sampled_from(ATOMS), st.sampled_from(EXPRESSIONS).flatmap(filled(inner)))


def filled(part: st.SearchStrategy[str]) -> Any:
    """A function from a template to the ways of filling it."""

    def fill(template: str) -> st.SearchStrategy[str]:
        holes = template.replace("{{", "").replace("}}", "").count("{}")
        return st.lists(part, min_size=holes, max_size=holes).map(
            lambda parts: template.format(*parts)
        )

    return fill


statements = st.lists(
    st.sampled_from(STATEMENTS).flatmap(filled(expression(2))), min_size=1, max_size=6
)


GUARD = """
    try:
        {}
    except Exception as error:
        log.append((type(error).__name__, str(error), error.__traceback__.tb_lineno))
"""


def program(lines: list[str]) -> str:
    """The statements one after the other, whatever becomes of each."""
    guarded = [GUARD.format(line.replace("\n", "\n" + " " * 8)) for line in lines]
    return f"{HEAD}{''.join(guarded)}    return x, y, log\n"


def outcome(code: CodeType) -> tuple[object, ...]:
    """What a run returns and leaves."""
    space: dict[str, Any] = {"__name__": "program"}
    exec(code, space)
    box = Box()
    return repr(space["program"](box)), repr(box), repr(space["g"])


def without_addresses(found: tuple[object, ...]) -> list[str]:
    return [re.sub("0x[0-9a-f]+", "", str(each)) for each in found]


def untouched(source: str) -> list[str] | None:
    """What a program does by itself; None if it is none."""
    try:
        plain = compile(source, "program.py", "exec", dont_inherit=True)
    except SyntaxError:  # as `(w := 1)` in an iterable of a comprehension
        return None
    return without_addresses(outcome(plain))


@settings(max_examples=300, deadline=None)
@given(statements)
def test_programs_do_the_same(lines: list[str]) -> None:
    source = program(lines)
    expected = untouched(source)
    if expected is None:
        return
    rewritten = with_accesses(source)
    assert without_addresses(outcome(rewritten)) == expected
    _core.watch_accesses(lambda *access: None)
    try:
        assert without_addresses(outcome(rewritten)) == expected
    finally:
        _core.watch_accesses(None)
