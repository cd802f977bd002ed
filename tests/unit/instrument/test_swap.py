"""Functions that are loaded already get rewritten code, and stay what they were."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from reenact import _core
from reenact.instrument.swap import swap

from .watching import with_accesses

SOURCE = """
import functools

def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

def plain(t, default=5, *, named=6):
    "Its docstring."
    return t.n, default, named

class C:
    n = 7

    def method(self):
        return self.n

    @staticmethod
    def static(t):
        return t.n

    @classmethod
    def klass(cls):
        return cls.n

    @property
    def prop(self):
        return self.n

    @wrapped
    def wrapped(self):
        return self.n

    def made_of_super(self):
        return super().__init__() or self.n

def closure(start):
    n = start
    def up(t):
        nonlocal n
        n += t.n
        return n
    return up

def numbers(t):
    yield t.n
    yield t.n

lambdas = [lambda t: t.n + 1, lambda t: t.n + 2, lambda t: (t.n, 3)]
partial = functools.partial(plain, named=8)
up = closure(10)
running = numbers(C)
first = next(running)
"""


def make(path: str) -> CodeType:
    return with_accesses(Path(path).read_text("utf-8"), path)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "loaded_before.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("loaded_before")
    del sys.modules["loaded_before"]


CALLS: dict[str, Callable[[Any], object]] = {
    "function": lambda m: m.plain(m.C),
    "method": lambda m: m.C().method(),
    "static": lambda m: m.C.static(m.C),
    "class method": lambda m: m.C.klass(),
    "property": lambda m: m.C().prop,
    "wrapped": lambda m: m.C().wrapped(),
    "super": lambda m: m.C().made_of_super(),
    "closure": lambda m: m.up(m.C),
    "partial": lambda m: m.partial(m.C, 4),
    "new generator": lambda m: list(m.numbers(m.C)),
    "first lambda": lambda m: m.lambdas[0](m.C),
    "second lambda": lambda m: m.lambdas[1](m.C),
    "third lambda": lambda m: m.lambdas[2](m.C),
    "new closure": lambda m: m.closure(1)(m.C),
}


def accesses(call: Callable[[ModuleType], object], module: ModuleType) -> list[str | None]:
    seen: list[str | None] = []
    _core.watch_accesses(lambda kind, name, *rest: seen.append(name))
    try:
        call(module)
    finally:
        _core.watch_accesses(None)
    return seen


@pytest.mark.parametrize("frozen", [False, True])
def test_every_kind_of_function_is_swapped(module: Any, frozen: bool) -> None:
    before = [call(module) for call in CALLS.values()]
    for call in CALLS.values():
        assert accesses(call, module) == []
    module.up = module.closure(17)  # as it was after the first call
    if frozen:  # then the collector lists none of them
        gc.freeze()
    try:
        assert swap({module.__file__}, make) == {}
    finally:
        gc.unfreeze()
    assert module.plain.__doc__ == "Its docstring."
    module.up = module.closure(10)
    assert [call(module) for call in CALLS.values()] == before
    for name, call in CALLS.items():
        assert "n" in accesses(call, module), name


def test_a_running_generator_keeps_its_code(module: Any) -> None:
    swap({module.__file__}, make)
    assert accesses(lambda m: next(m.running), module) == []


def test_a_predicate_says_which_files(module: Any) -> None:
    assert swap(lambda path: False, make) == {}
    assert accesses(CALLS["function"], module) == []
    assert swap(lambda path: path.endswith("loaded_before.py"), make) == {}
    assert accesses(CALLS["function"], module) == ["n"]


def test_swapping_twice(module: Any) -> None:
    for _ in range(2):
        assert swap({module.__file__}, make) == {}
    assert accesses(CALLS["method"], module) == ["method", "n"][1:]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import functools\n", "import functools\n\n"),
        ("return t.n, default", "return t.m, default"),
        ("def method(self)", "def other(self)"),
        ("default=5, *", "default=5, other=1, *"),
        ("    nonlocal n\n        n += t.n", "    x = 1\n        x += t.n"),
    ],
)
def test_changed_source_is_not_swapped(module: Any, old: str, new: str) -> None:
    path = module.__file__
    assert old in SOURCE
    Path(path).write_text(SOURCE.replace(old, new))
    assert "not what was loaded" in swap({path}, make)[path]
    assert all(accesses(call, module) == [] for call in CALLS.values())


def test_missing_and_broken_source_is_reported(module: Any) -> None:
    path = module.__file__
    Path(path).write_text("def f(:\n")
    assert "cannot be used" in swap({path}, compile_file)[path]
    Path(path).unlink()
    assert "cannot be used" in swap({path}, make)[path]


def compile_file(path: str) -> CodeType:
    return compile(Path(path).read_text(), path, "exec")
