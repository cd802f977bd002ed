"""What becomes of a declared module, without a recording: the calls are simply made."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from reenact.intercept import boundary, crossing, declared, handed, proxies

SOURCE = """
import enum

class Mode(enum.Enum):
    ON = 1

class Failed(Exception):
    pass

class Plug:
    count = 3
    def __init__(self, name):
        self.name = name
        self.kept = None
    def ask(self, function, *args):
        return function(self, *args)
    def keep(self, thing):
        self.kept = thing
        return thing
    def fail(self):
        raise Failed(self.name)
    def fill(self, buffer):
        buffer[:] = b"full"
    def write(self, file):
        return file.write("text")
    def total(self, numbers):
        return sum(numbers)
    def deep(self, depth):
        value = []
        for _ in range(depth):
            value = [value]
        return value
    @classmethod
    def default(cls):
        return cls("default")
    @staticmethod
    def double(number):
        return 2 * number
    @property
    def mode(self):
        return Mode.ON

class Hidden:
    def __len__(self):
        return 0
    def __iter__(self):
        return iter([1, 2])
    def __call__(self, number):
        return number + 1
    def method(self):
        return self

class Strong(Plug):
    def power(self):
        return 9

def plug(name):
    return Strong(name)

def hidden():
    return [Hidden()]
"""


@pytest.fixture
def library() -> Iterator[Any]:
    module = ModuleType("some_library")
    sys.modules["some_library"] = module
    exec(SOURCE, module.__dict__)
    boundary.patches(["some_library:*"])["some_library"](module)
    yield module
    del sys.modules["some_library"]


def test_classes_are_stand_ins(library: Any) -> None:
    plug = library.plug("a")
    assert isinstance(plug, proxies.Proxy)
    assert isinstance(plug, library.Strong)
    assert isinstance(plug, library.Plug)
    assert (plug.name, plug.count, plug.power(), plug.mode) == ("a", 3, 9, library.Mode.ON)
    assert library.Plug.default().name == "default"
    assert library.Plug.double(4) == 8


def test_values_and_errors_stay_classes_of_the_library(library: Any) -> None:
    assert not issubclass(library.Failed, proxies.Proxy)
    with pytest.raises(library.Failed, match="a"):
        library.plug("a").fail()


def test_objects_are_the_same_when_they_come_back(library: Any) -> None:
    plug, own = library.plug("a"), object()
    assert plug.keep(plug) is plug
    assert plug.keep(own) is own
    assert plug.kept is own
    assert plug.keep(test_classes_are_stand_ins) is test_classes_are_stand_ins


def test_functions_are_called_back_with_proxies(library: Any) -> None:
    plug, own = library.plug("a"), object()
    heard: list[Any] = []
    assert plug.ask(lambda *args: heard.append(args) or own, 1, [plug]) is own
    assert heard == [(plug, 1, [plug])]
    assert plug.ask(heard.append) is None
    assert heard[1] is plug


def test_iterators_files_and_buffers_of_the_program(library: Any) -> None:
    plug, file, buffer = library.plug("a"), io.StringIO(), bytearray(4)
    assert plug.total(number for number in range(4)) == 6
    assert plug.write(file) == 4
    assert file.getvalue() == "text"
    plug.fill(buffer)
    assert buffer == b"full"


def test_objects_of_other_classes_are_proxies(library: Any) -> None:
    (hidden,) = library.hidden()
    assert isinstance(hidden, library.Hidden)
    assert (len(hidden), bool(hidden), list(hidden), hidden(1)) == (0, False, [1, 2], 2)


def test_classes_nobody_declared() -> None:
    module = ModuleType("other_library")
    exec(SOURCE, module.__dict__)
    declared.patch(module, ["hidden"])
    (hidden,) = module.hidden()
    assert hidden.method() is hidden
    assert (len(hidden), list(hidden), hidden(1)) == (0, [1, 2], 2)
    assert not hasattr(hidden, "missing")
    assert {hidden: 1}[hidden] == 1


def test_what_the_library_does_not_keep_is_forgotten(library: Any) -> None:
    plug = library.plug("a")
    before = len(handed._handed)
    for number in range(10):
        plug.ask(lambda self, n: n, number)
    assert len(handed._handed) == before
    plug.keep(lambda: None)
    assert len(handed._handed) == before + 1


def test_classes_derived_by_the_program(library: Any) -> None:
    class Own(library.Plug):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__("own")
            self.mine = 1

        def keep(self, thing: Any) -> Any:
            return [super().keep(thing)]

    own = Own()
    assert (own.keep(2), own.mine, own.name, own.kept) == ([2], 1, "own", 2)


def test_a_class_whose_initializer_was_not_called(library: Any) -> None:
    class Own(library.Plug):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pass

    with pytest.raises(RuntimeError, match="not called"):
        Own().keep(1)


@pytest.mark.parametrize("depth", range(12, 20))
def test_a_result_that_may_be_too_deep(library: Any, depth: int) -> None:
    try:
        assert repr(library.plug("a").deep(depth)) == "[" * (depth + 1) + "]" * (depth + 1)
    except crossing.TooDeep:
        assert depth > 12


def test_proxies_cannot_be_pickled(library: Any) -> None:
    import copy

    with pytest.raises(TypeError, match="boundary"):
        copy.copy(library.plug("a"))


@pytest.mark.parametrize("name", ["missing", "Failed", "Mode", "enum"])
def test_a_declaration_that_cannot_be(name: str) -> None:
    module = ModuleType("some_library")
    exec(SOURCE, module.__dict__)
    with pytest.raises(ImportError, match=f"some_library:{name}"):
        declared.patch(module, [name])


def test_a_recording_calls_no_method_but_what_was_handed() -> None:
    number = handed.hand(len)
    with pytest.raises(ValueError, match="not known"):
        handed.called(number, "__reduce__")


def test_shipped_packages_are_not_declared_twice() -> None:
    assert "psycopg2" not in boundary.patches(["psycopg2:connect"])


def test_functions_keep_their_names(library: Any) -> None:
    function: Callable[..., Any] = library.plug
    assert (function.__name__, function.__module__) == ("plug", "some_library")
