"""Variables have the names that a person would use, found at the sites that there really are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.analysis import findings_of
from reenact.analysis.findings import Race

from .raws import Program, access, document, race, variable

SOURCE = """\
import threading

table = {}
queue = []


class Cache:
    total = 0

    def __init__(self):
        self.items = []
        self.__pin = 0

    def add(self, item, key):
        self.items.append(item)
        self.parts[key].append(item)
        self.parts[key] = item
        del self.items[0]
        for each in self.items:
            print(each)
        if key in self.seen:
            return len(self.parts[key])
        Cache.total += 1
        type(self).total = 2
        self.total = 3
        fill.calls = 4
        self.__pin = item
        return self.items[-1]

    @classmethod
    def reset(cls):
        cls.total = 0


def fill(key, cache):
    table[key] = 1
    if not table:
        queue.append(key)
    cache.items.clear()
    first, *rest = cache.found(key)
    ä = "ö"; cache.ready = ä


def outer():
    count = 0

    def inner():
        nonlocal count
        count += 1

    return [inner, lambda: count]
"""


@pytest.fixture
def app(tmp_path: Path) -> Program:
    return Program(tmp_path, SOURCE)


def name(app: Program, of: dict[str, Any], at: dict[str, Any]) -> tuple[str, str]:
    """Both names, told by one access alone: the other is in a file that is not there."""
    elsewhere = access(str(app.root / "gone.py"), 1)
    (found,) = findings_of(document(race(of, elsewhere, at)), app.root)
    assert isinstance(found, Race)
    return found.called.short, found.called.full


def test_an_attribute_of_an_object_with_its_birth(app: Program) -> None:
    file = str(app.path)
    made = {
        "thread": 0,
        "stack": [[file, 11, "Cache.__init__"], [file, 30, "start"], [file, 40, "<module>"]],
    }
    of = variable("attribute", "ready", "Cache", address=0x7F10, created=made)
    at = app.access("cache.ready", name="ready")
    full = "Cache.ready of <Cache at 0x7f10> created at app.py:30 by thread 0"
    assert name(app, of, at) == ("Cache.ready", full)


def test_nobody_saw_the_object_made(app: Program) -> None:
    of = variable("attribute", "ready", "Cache", address=0x7F10)
    at = app.access("cache.ready", name="ready")
    assert name(app, of, at)[1] == "Cache.ready of <Cache at 0x7f10>"


def test_only_the_init_is_known(app: Program) -> None:
    made = {"thread": 0, "stack": [[str(app.path), 11, "Cache.__init__"]]}
    of = variable("attribute", "ready", "Cache", created=made)
    at = app.access("cache.ready", name="ready")
    assert name(app, of, at)[1].endswith("created at app.py:11 by thread 0")


def test_private_attributes_are_called_as_they_are_written(app: Program) -> None:
    of = variable("attribute", "_Cache__pin", "Cache")
    at = app.access("self.__pin = item", name="_Cache__pin")
    assert name(app, of, at)[0] == "Cache.__pin"


def test_an_attribute_of_a_class(app: Program) -> None:
    of = variable("attribute", "total", "type")
    for text in ("Cache.total += 1", "type(self).total = 2", "self.total = 3", "cls.total = 0"):
        at = app.access(text, name="total")
        assert name(app, of, at) == ("Cache.total", "Cache.total, an attribute of the class")


def test_an_attribute_of_a_function(app: Program) -> None:
    at = app.access("fill.calls = 4", name="calls")
    named = ("fill.calls", "fill.calls, an attribute of the function")
    assert name(app, variable("attribute", "calls", "function"), at) == named


def test_a_global(app: Program) -> None:
    of = variable("global", "table", "app")
    at = app.access("table[key] = 1", kind="i")
    assert name(app, of, at) == ("app.table", "global table of module app")


def test_closures_are_named_by_the_function_that_has_them(app: Program) -> None:
    of = variable("closure", "count", "cell")
    for text in ("count += 1", "lambda: count"):
        at = app.access(text, kind="v", name="count")
        short, full = name(app, of, at)
        assert short == "outer.count"
        assert full == "variable count of function outer, shared by the functions in it"


@pytest.mark.parametrize(
    ("text", "kind", "type", "mode", "expected"),
    [
        ("self.items.append(item)", "m", "list", "update", "the list Cache.items"),
        ("self.parts[key].append(item)", "m", "list", "update", "the list Cache.parts[key]"),
        ("for each in self.items", "c", "list", "whole_read", "the list Cache.items"),
        ("in self.seen", "e", "set", "item_test", "the set Cache.seen"),
        ("len(self.parts[key])", "c", "list", "whole_read", "the list Cache.parts[key]"),
        ("del self.items[0]", "i", "list", "whole_write", "the list Cache.items"),
        ("self.items[-1]", "i", "list", "whole_read", "the list Cache.items"),
        ("if not table", "c", "dict", "whole_read", "the dict table"),
        ("queue.append(key)", "m", "deque", "put", "the deque queue"),
        ("cache.items.clear()", "m", "list", "whole_write", "the list cache.items"),
    ],
)
def test_contents(app: Program, text: str, kind: str, type: str, mode: str, expected: str) -> None:
    short, full = name(app, variable("contents", "", type), app.access(text, kind=kind, mode=mode))
    assert full == expected
    assert short == expected.split()[-1]


@pytest.mark.parametrize(
    ("text", "mode", "key", "expected"),
    [
        ("table[key] = 1", "item_write", "'k'", "item 'k' of the dict table"),
        ("self.parts[key] = item", "item_write", "7", "item 7 of the dict Cache.parts"),
        ("len(self.parts[key])", "item_read", "", "an item of the dict Cache.parts"),
        ("self.parts[key] = item", "item_write", repr("x" * 99), "of the dict Cache.parts"),
    ],
)
def test_items(app: Program, text: str, mode: str, key: str, expected: str) -> None:
    at = app.access(text, kind="i", mode=mode)
    full = name(app, variable("item", key, "dict"), at)[1]
    assert full.endswith(expected)
    assert len(full) < 100


def test_without_a_source_the_address_has_to_do(app: Program) -> None:
    at = access(str(app.root / "gone.py"), 3, 4, mode="update")
    short, full = name(app, variable("contents", "", "list", address=0x7F10), at)
    assert (short, full) == ("list", "the list at 0x7f10")


def test_the_name_of_a_cell_without_a_source(app: Program) -> None:
    at = access(str(app.root / "gone.py"), 3, 4)
    assert name(app, variable("closure", "n", "cell"), at) == ("n", "closure variable n")


def test_columns_are_found_after_letters_of_two_bytes(app: Program) -> None:
    at = app.access("cache.ready", name="ready")
    of = variable("attribute", "ready", "type")
    assert name(app, of, at)[0] == "cache.ready"


def test_every_site_of_an_item_or_a_container_has_a_name(app: Program) -> None:
    """None of them leaves the reader with nothing but an address."""
    modes = {
        "i": "item_read",
        "c": "whole_read",
        "e": "item_test",
        "m": "update",
        "t": "whole_read",
    }
    seen = 0
    for site in app.sites:
        if site.kind not in modes:
            continue
        at = access(str(app.path), site.line, site.column, mode=modes[site.kind])
        kind = "item" if site.kind == "i" else "contents"
        assert "0x" not in name(app, variable(kind, "", "list"), at)[1], site
        seen += 1
    assert seen > 10
