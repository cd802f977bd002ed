"""New objects: where they are told of, and what a constructor does unseen."""

from __future__ import annotations

import textwrap
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from tests.races.judged import reported

from .watching import created, touched


def constructed(body: str, head: str = "", base: str = "") -> list[str]:
    """What is told of the attributes of an object whose constructor has this *body*."""
    source = f"""
import threading
known = []
def use(thing): return thing
class Base:
    inherited = 1
    def hook(self): pass
class C{base}:
    default = 1
{textwrap.indent(head, "    ")}
    def method(self): return 1
    def __init__(self, value, other):
{textwrap.indent(body, "        ")}
C(1, [])
"""
    return [each for each in touched(source) if each.split()[1] in ("a", "b", "c", "default")]


UNSEEN = [
    "self.a = value\nself.b = self.a",
    "'text'\nself.a = 1\nself.a += 1",
    "self.a: int = 1\nself.b = self.c = use(value)",
    "self.a = []\nself.a.append(1)\nself.b = len(self.a)",
    "if value:\n  self.a = 1\nelse:\n  self.b = 2\nself.c = 3",
    "with threading.Lock():\n  self.a = 1",
    "for each in other:\n  self.a = each\nself.b = 1",
    "try:\n  self.a = int(value)\nexcept ValueError:\n  self.a = 1",
    "self.a, self.b = value, other\nself.c = self.a, self.b",
    "f = lambda x: x\nself.a = f(1)\nself.b = [x for x in other]",
    "self.default = 2",
    "self.a = 1\ndel self.a",
]
SEEN = [
    "known.append(self)\nself.a = 1",
    "use(self)\nself.a = 1",
    "self.a = use(self)",
    "x = self\nself.a = 1",
    "self.method()\nself.a = 1",
    "self.b = threading.Thread(target=self.method)\nself.a = 1",
    "f = lambda: self\nself.a = 1",
    "known.extend([self for x in (1,)])\nself.a = 1",
    "def f():\n  self.b = 1\nself.a = 1",
    "super().__init__()\nself.a = 1",
    "vars()\nself.a = 1",
    "for x in (1, 2):\n  self.a = x\n  use(self)",
    "if value:\n  use(self)\nself.a = 1",
    "self.a = 1 if use(self) else 2",
    "getattr(self, 'method')\nself.a = 1",
    "f'{self}'\nself.a = 1",
    "self.default\nself.a = 1",
    "self.default += 1",
]


@pytest.mark.parametrize("body", UNSEEN)
def test_what_a_constructor_does_unseen(body: str) -> None:
    assert constructed(body) == []


@pytest.mark.parametrize("body", SEEN)
def test_what_others_could_see(body: str) -> None:
    assert constructed(body) != []


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ("@property\ndef a(self): pass\n@a.setter\ndef a(self, v): self.b = v", ""),
        ("def __new__(cls, *a):\n  known.append(x := super().__new__(cls))\n  return x", ""),
        ("a = property(lambda self: 1, lambda self, value: use(self))", ""),
    ],
)
def test_classes_whose_constructors_are_seen(head: str, base: str) -> None:
    assert constructed("self.a = 1\nself.b = 2", head, base) != []


def test_inherited_methods_may_pass_the_object_on() -> None:
    body = "self.b = threading.Thread(target=self.hook)\nself.a = 1"
    assert constructed(body, base="(Base)") != []


@pytest.mark.parametrize("name", ["__init__", "__post_init__"])
def test_a_new_object_is_told_of(name: str) -> None:
    source = f"class C:\n  def {name}(self):\n    'text'\n    self.a = 1\nc = C()\nc.{name}()"
    things = created(source)
    assert len(things) == 1 + (name == "__init__")
    assert {type(each).__name__ for each in things} == {"C"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("t.x = []", [[]]),
        ("t.x = y = {}", [{}]),
        ("t.x: set = set()", [set()]),
        ("from collections import deque\nt.x = deque()", [deque()]),
        ("import collections\nt.x = collections.deque()", [deque()]),
        ("g = [1]\ndef f(): return g", [[1]]),
        ("def f():\n  g = [1]\n  return lambda: g\nf()", [[1]]),
        ("class C:\n  items = []", [[]]),
        ("g = [1]", []),
        ("def f():\n  g = [1]\nf()", []),
        ("t.x = 1; t.x = t", []),
    ],
)
def test_a_new_container_is_told_of_if_others_may_have_it(
    source: str, expected: list[object]
) -> None:
    class T:
        pass

    assert created(source, t=T()) == expected


# The detector, told all at once, sees what the sites that were left out would have shown.

START = """
import threading, time
class Base:
    def __init__(self):
        self.first = 1
        self.second = 2
found = []
def look():
    while not found: time.sleep(0.01)
    found[0].second
thread = threading.Thread(target=look)
thread.start()
"""
LEAKS = {
    "before the base's constructor": """
class Early(Base):
    def __init__(self):
        found.append(self)
        super().__init__()
        self.third = 3
Early()
""",
    "constructed again": """
once = Base()
found.append(once)
once.__init__()
""",
    "a setter": """
class Setting:
    @property
    def parent(self): return None
    @parent.setter
    def parent(self, parent): found.append(self)
class Child(Setting):
    def __init__(self):
        self.parent = None
        self.second = 2
Child()
""",
}
KEPT = {
    "after the base's constructor": """
class Late(Base):
    def __init__(self):
        super().__init__()
        self.third = 3
late = Late()
lock = threading.Lock()
with lock: found.append(late)
""",
}


def races(tmp_path: Path, source: str) -> list[dict[str, Any]]:
    script = tmp_path / "program.py"
    script.write_text(START + source + "thread.join()\n")
    document, _ = reported(script)
    found: list[dict[str, Any]] = document["findings"]
    return [each for each in found if each["variable"]["name"] == "second"]


@pytest.mark.parametrize("source", LEAKS.values(), ids=LEAKS.keys())
def test_an_object_that_leaves_its_constructor_early(tmp_path: Path, source: str) -> None:
    assert len(races(tmp_path, source)) == 1


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT.keys())
def test_an_object_that_does_not(tmp_path: Path, source: str) -> None:
    assert races(tmp_path, source) == []


def test_reports_say_where_an_object_was_made(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        textwrap.dedent("""
        import threading
        class Account:
            def __init__(self):
                self.balance = 0
                self.log = []
        account = Account()
        def work():
            account.balance += 1
            account.log[:] = []
        threads = [threading.Thread(target=work) for _ in range(2)]
        for each in threads: each.start()
        for each in threads: each.join()
        """)
    )
    document, _ = reported(script)
    made = {
        each["variable"]["name"]: [
            line["line"] for line in each["variable"]["created"]["stack"][:2]
        ]
        for each in document["findings"]
        if each["kind"] == "race"
    }
    assert made["balance"] == [5, 7]
    assert made[""] == [6, 7]
