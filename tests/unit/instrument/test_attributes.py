"""Which variables the race detector is told of for an attribute: the object's, or its class's."""

from __future__ import annotations

import gc
import sys

import pytest

from reenact import _core

from .watching import touches, with_accesses

CLASSES = """
import functools, threading, types, weakref

class Base:
    shared = 1
    def method(self): return 1

class Own(Base):
    inherited = 2
    def __init__(self):
        self.__dict__["n"] = 0
    @property
    def prop(self): return self.n
    @prop.setter
    def prop(self, value): self.n = value
    @functools.cached_property
    def cached(self): return self.n

class Slots:
    __slots__ = ("s",)

class Hook:
    def __getattr__(self, name): return 7

class Guarded:
    def __setattr__(self, name, value): object.__setattr__(self, name, value)
    def __getattribute__(self, name): return object.__getattribute__(self, name)

class Asking:
    def __setattr__(self, name, value): super().__setattr__(name, value)

class Local(threading.local):
    pass

class Meta(type):
    @property
    def computed(cls): return 1

class Made(metaclass=Meta):
    x = 1

class Descriptor:
    def __get__(self, instance, owner): return 5
    def __set__(self, instance, value): pass

class Described:
    d = Descriptor()

class Names(types.SimpleNamespace):
    pass

o, s, h, g, a, l, k = Own(), Slots(), Hook(), Guarded(), Asking(), Local(), Names(n=1)
s.s = 1
p = weakref.proxy(o)
d = Described()
"""


def told(source: str) -> list[str]:
    """As in "write Own.n" for what is an object's, and "read <Own>.n" for what is the class's."""
    names = []
    for thing, what, mode in touches(CLASSES + "START = 1\n" + source):
        owner = f"<{thing.__name__}>" if isinstance(thing, type) else type(thing).__name__
        names.append(f"{mode} {owner}.{what}")
    return names[names_before() :]


def names_before() -> int:
    return len(touches(CLASSES + "START = 1\n"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # the object's own
        ("o.n", ["read Own.n"]),
        ("o.n = 1", ["write Own.n"]),
        ("o.gone = 1; del o.gone", ["write Own.gone"] * 2),
        ("hasattr(o, 'gone')", ["read Own.gone"]),
        ("s.s; s.s = 2; del s.s", ["read Slots.s", "write Slots.s", "write Slots.s"]),
        ("k.n; k.n = 1", ["read Names.n", "write Names.n"]),
        ("p.n; p.n = 1", ["read Own.n", "write Own.n"]),
        # the class's, unless the object has it
        ("o.inherited", ["read Own.inherited", "read <Own>.inherited"]),
        ("o.shared", ["read Own.shared", "read <Own>.shared", "read <Base>.shared"]),
        ("o.shared = 2; o.shared", ["write Own.shared", "read Own.shared"]),
        ("o.__dict__; o.n", ["read Own.__dict__", "read Own.n"]),
        ("Own.shared", ["read <Own>.shared", "read <Base>.shared"]),
        ("Own.shared = 2; Own.shared", ["write <Own>.shared", "read <Own>.shared"]),
        ("Own.gone = 1; del Own.gone", ["write <Own>.gone"] * 2),
        ("hasattr(Own, 'gone')", ["read <Own>.gone", "read <Base>.gone"]),
        ("Made.x", ["read <Made>.x"]),
        # code of the program's tells for itself
        ("o.prop", ["read Own.n"]),
        ("o.prop = 3", ["write Own.n"]),
        ("d.d; d.d = 1", []),
        ("Made.computed", []),
        ("g.n = 1", ["write Guarded.n"]),
        ("g.n = 1; g.n", ["write Guarded.n", "read Guarded.n"]),
        ("a.n = 1", ["write Asking.n"]),
        ("h.n = 1; h.n", ["write Hook.n", "read Hook.n"]),
        ("h.gone", ["read Hook.gone"]),
        # nobody else's
        ("l.n = 1; l.n; del l.n", []),
        ("(1).real, 'a'.upper, [].append", []),
    ],
)  # fmt: skip
def test_where_an_attribute_is(source: str, expected: list[str]) -> None:
    assert told(source) == expected


def test_a_cached_property_is_the_object_s_once_it_is_there() -> None:
    expected = ["read Own.cached", "read <Own>.cached", "read Own.n", "read Own.cached"]
    assert told("o.cached; o.cached") == expected


def test_a_module_s_attribute_is_its_global() -> None:
    [(thing, name, mode)] = touches("sys.flags", sys=sys)
    assert thing is vars(sys)
    assert (name, mode) == ("flags", "read")


def test_names_that_a_program_makes_up() -> None:
    source = "for n in 'one', 'two':\n  setattr(x, n + 'er', 1); getattr(x, n + 'er')"
    thing = type("T", (), {})()
    seen = [(what, mode) for _, what, mode in touches(source, x=thing)]
    assert [mode for _, mode in seen] == ["write", "read"] * 2
    assert seen[0][0] == seen[1][0] != seen[2][0] == seen[3][0]
    assert seen[0][0] == str(id(sys.intern("oneer")))


def test_a_site_notices_that_a_class_has_changed() -> None:
    source = """
class C: pass
c = C()
def read(): return c.x
c.x = 1
read()
C.x = property(lambda self: 2)
read()
del C.x
read()
C.x = 3
read()
del c.x
read()
"""
    seen = [
        (mode, isinstance(thing, type))
        for thing, what, mode in touches(source)
        if what == "x" and mode == "read"
    ]
    own, of_class = ("read", False), ("read", True)
    assert seen == [own, own, own, own, of_class]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="3.13 does not show the dictionary")
def test_looking_makes_no_dictionary() -> None:
    """The interpreter reads attributes faster as long as an object has none."""
    source = "class C:\n  x = 1\nc = C()\nc.y = 1\nc.x\nc.x = 2\nc.x"
    space: dict[str, object] = {}
    _core.watch_races(lambda *access: None)
    try:
        exec(with_accesses(source), space)
    finally:
        _core.watch_races(None)
    assert not any(isinstance(each, dict) for each in gc.get_referents(space["c"]))
    assert vars(space["c"]) == {"y": 1, "x": 2}
    assert any(isinstance(each, dict) for each in gc.get_referents(space["c"]))
