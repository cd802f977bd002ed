"""What the race detector is told: which variable, and in which mode."""

from __future__ import annotations

import array
import enum
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from types import SimpleNamespace
from typing import Any

import pytest

from reenact import _core

from .watching import key, touched, touches, with_accesses

WHOLE_READ, WHOLE_WRITE = "whole read", "whole write"


def item_read(value: object) -> str:
    return f"item read {key(value)}"


def item_write(value: object) -> str:
    return f"item write {key(value)}"


# A container `x`, an operation on it, and what the detector is told.
OPERATIONS: list[tuple[object, str, list[str]]] = [
    # lists: items by their place
    ([1, 2], "x[1]", [item_read(1)]),
    ([1, 2], "x[1] = 3", [item_write(1)]),
    ([1, 2], "x[True]", [item_read(1)]),
    ([1, 2], "x[-1]", ["whole read list", item_read(1)]),
    ([1, 2], "x[-2] = 1", ["whole read list", item_write(0)]),
    ([1, 2], "try: x[2]\nexcept IndexError: pass", ["whole read list"]),
    ([1, 2], "try: x[-3]\nexcept IndexError: pass", ["whole read list"]),
    ([1, 2], "try: x[10**30]\nexcept IndexError: pass", ["whole read list"]),
    ([1, 2], "x[0] += 1", [item_read(0), item_write(0)]),
    ([1, 2], "x[0:1], x[:], x[::2]", ["whole read list"] * 3),
    ([1, 2], "x[0:1] = [4]", ["whole write list"]),
    ([1, 2], "del x[0]", ["whole write list"]),
    ([1, 2], "del x[0:1]", ["whole write list"]),
    ([1, 2], "x.__getitem__(0); x.__setitem__(1, 2)", [item_read(0), item_write(1)]),
    ([1, 2], "x.__delitem__(0)", ["whole write list"]),
    # lists as a whole
    ([1, 2], "x.append(1); x.extend([1])", ["update list"] * 2),
    ([1, 2], "x += [1]", ["update list"]),
    ([1, 2], "x.__iadd__([1])", ["update list"]),
    ([1, 2], "x *= len('ab')", ["whole write list"]),
    ([1, 2], "x.insert(0, 1); x.pop(); x.pop(0)", ["whole write list"] * 3),
    ([1, 2], "x.remove(1); x.sort(); x.reverse(); x.clear()", ["whole write list"] * 4),
    ([1, 2], "1 in x, len(x), x.index(1), x.count(1), x.copy()", ["whole read list"] * 5),
    ([1, 2], "if x: pass\nnot x", ["whole read list"] * 2),
    ([1, 2], "for y in x: pass", ["whole read list"] * 3),
    ([1, 2], "a, b = x; [*x]; print(*x, end='')", ["whole read list"] * 3),
    # dicts
    ({"a": 1}, "x['a']", [item_read("a")]),
    ({"a": 1}, "x['a'] = 2", [item_write("a")]),
    ({"a": 1}, "del x['a']", [item_write("a")]),
    ({"a": 1}, "x.get('a'), x.get('b', 2)", [item_read("a"), item_read("b")]),
    ({"a": 1}, "'a' in x", [item_read("a")]),
    ({"a": 1}, "'a' not in x.keys()", ["whole read dict", item_read("a")]),
    ({"a": 1}, "x.__contains__('a')", [item_read("a")]),
    ({"a": 1}, "x.pop('a')", [item_write("a")]),
    ({"a": 1}, "x.pop('b', None)", [item_write("b")]),
    ({"a": 1}, "x.setdefault('b', 2)", [f"item default {key('b')}"]),
    ({"a": 1}, "x['a'] += 1", [item_read("a"), item_write("a")]),
    ({"a": 1}, "x.update(b=1)", ["whole write dict"]),
    ({"a": 1}, "x |= {'b': 1}", ["whole write dict"]),
    ({"a": 1}, "x.popitem(); x.clear()", ["whole write dict"] * 2),
    ({"a": 1}, "x.keys(), x.values(), x.items(), x.copy(), len(x)", ["whole read dict"] * 5),
    ({"a": 1}, "1 in x.values()", ["whole read dict"] * 2),
    ({"a": 1}, "dict(**x); {**x}", ["whole read dict"] * 2),
    ({"a": 1}, "x.get(*['a'])", ["whole read dict"]),
    # sets
    ({1}, "x.add(2)", [f"item update {key(2)}"]),
    ({1}, "x.discard(2); x.remove(1)", [item_write(2), item_write(1)]),
    ({1}, "1 in x", [f"item test {key(1)}"]),
    ({1}, "0 < 1 in x", [f"item test {key(1)}"]),
    ({1}, "x.update([2])", ["update set"]),
    ({1}, "x |= {2}", ["update set"]),
    ({1}, "x -= {2}", ["whole write set"]),
    ({1}, "x.pop()", ["whole write set"]),
    # deques
    (deque([1]), "x.append(1); x.appendleft(1); x.extend([1])", ["put deque"] * 3),
    (deque([1]), "x += [1]", ["put deque"]),
    (deque([1, 2]), "x.pop(); x.popleft()", ["take deque"] * 2),
    (deque([1, 2]), "x.rotate(); x.remove(1); x.clear()", ["whole write deque"] * 3),
    (deque([1, 2]), "x[0], x[-1]", [item_read(0), "whole read deque", item_read(1)]),
    (deque([1, 2]), "del x[0]", ["whole write deque"]),
    # bytearrays
    (bytearray(b"ab"), "x[0]; x[1] = 1", [item_read(0), item_write(1)]),
    (bytearray(b"ab"), "x.append(1); x.extend(b'c')", ["update bytearray"] * 2),
    # relatives
    (defaultdict(list, a=[]), "x['a']", [item_read("a")]),
    (defaultdict(list), "x['a']", [item_write("a")]),
    (defaultdict(list), "x.get('a')", [item_read("a")]),
    (Counter("a"), "x['a'] += 1", [item_read("a"), item_write("a")]),
    (OrderedDict(a=1), "x['a']; x.move_to_end('a')", [item_read("a"), "whole write OrderedDict"]),
    (array.array("i", [1]), "x[0] = 2; x[-1]", [item_write(0), "whole read array", item_read(0)]),
    # nobody's variables
    (UserDict(a=1), "x['a']", []),
    ((1, 2), "x[0], 1 in x, len(x)", []),
    ("text", "x[0], 'x' in x", []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "source", "expected"), OPERATIONS, ids=[f"{each[1]}-{each[0]}" for each in OPERATIONS]
)
def test_operations_of_containers(made: Any, source: str, expected: list[str]) -> None:
    copied = made.copy() if hasattr(made, "copy") else made
    assert touched(source, x=copied) == expected
    body = source.replace("\n", "\n    ")
    assert touched(f"def f(x):\n    {body}\nf(x)", x=made) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("t.n", ["read n"]),
        ("t.n = 1", ["write n"]),
        ("del t.n", ["write n"]),
        ("t.n += 1", ["read n", "write n"]),
        ("t.items += [1]", ["read items", "update list", "write items"]),
        ("t.items[t.n] = t.n", ["read n", "read items", "read n", item_write(1)]),
        ("t.table['a', t.n] = 1", ["read table", "read n", item_write(("a", 1))]),
        ("t.table.get(t.n, t.n)", ["read table", "read n", "read n", item_read(1)]),
        ("t.table.setdefault(t.n, [])", ["read table", "read n", f"item default {key(1)}"]),
        ("t.n in t.table", ["read n", "read table", item_read(1)]),
        ("t.n in t.tags", ["read n", "read tags", f"item test {key(1)}"]),
        ("t.tags.add(t.n)", ["read tags", "read n", f"item update {key(1)}"]),
    ],
)
def test_attributes_and_what_they_hold(source: str, expected: list[str]) -> None:
    def thing() -> SimpleNamespace:
        return SimpleNamespace(n=1, items=[1, 2], table={"a": 1}, tags={1})

    assert touched(source, t=thing()) == expected
    assert touched(f"def f(t):\n    {source}\nf(t)", t=thing()) == expected


def test_variables_of_modules_and_closures() -> None:
    source = "g = []\ndef f():\n  global g\n  g += [1]\nf()\ng"
    assert touched(source) == ["read g", "update list", "write g", "read g"]
    source = "def f():\n  n = 0\n  def g():\n    nonlocal n\n    n += 1\n  g()\nf()"
    assert touched(source) == ["write n", "read n", "write n"]


class Plain:
    pass


class Hashed:
    asked = 0

    def __hash__(self) -> int:
        Hashed.asked += 1
        return 7


class Number(enum.IntEnum):
    ONE = 1


PLAIN, HASHED = Plain(), Hashed()


def told(value: object) -> int:
    [(_, what, _)] = touches("x = {}\ndef f(k):\n  x.get(k)\nf(k)", k=value)
    return int(what)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (1, True), ("a", "".join("a")), ((1, "a"), (1.0, "a")), (1, Number.ONE)],
)
def test_equal_keys_are_one_item(one: object, other: object) -> None:
    assert told(one) == told(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 2), (-1, -2), ("a", "b"), ((1, 2), (2, 1)), (PLAIN, Plain()), (HASHED, Hashed())],
    ids=["numbers", "negative", "text", "tuples", "objects", "hashed"],
)
def test_other_keys_are_other_items(one: object, other: object) -> None:
    assert told(one) != told(other)


@pytest.mark.parametrize(
    "value", [PLAIN, HASHED, (1, HASHED), "a", None], ids=["plain", "own", "tuple", "text", "none"]
)
def test_items_have_odd_names(value: object) -> None:
    Hashed.asked = 0
    assert told(value) % 2 == 1
    assert Hashed.asked <= 1, "only the program asks for a hash of its own"
    assert told(value) == told(value)


OWN = """
class Own(list):
    def __len__(self):
        return super().__len__()
    def __getitem__(self, index):
        return super().__getitem__(index)
    def __contains__(self, value):
        return super().__contains__(value)
    def __iter__(self):
        return iter([])
x = Own([1])
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("len(x)", ["whole read Own"]),
        ("x[0]", [item_read(0)]),
        ("1 in x", ["whole read Own"]),
        ("sum(x)", []),
        ("for y in x: pass", []),
        ("x.append(1)", ["update Own"]),
    ],
)
def test_methods_of_the_program_s_own_are_told_by_their_bodies(
    source: str, expected: list[str]
) -> None:
    assert touched(OWN + source) == expected


def test_what_the_watcher_raises_comes_out() -> None:
    def refuse(*access: object) -> None:
        raise KeyError("no")

    items = [1]
    _core.watch_races(refuse)
    try:
        with pytest.raises(KeyError):
            exec(with_accesses("x.append(2)"), {"x": items})
    finally:
        _core.watch_races(None)
    assert items == [1]
