"""Rewritten programs do what the untouched ones do, and tick where they should."""

from __future__ import annotations
import __future__

import codeop
import doctest
import inspect
import itertools
import linecache
import marshal
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from reenact.instrument import rewrite as rewriting
from reenact.instrument.rewrite import PLACEHOLDER, rewrite

from .standins import code_objects, plant

# Each is run untouched and rewritten; its line events must be the same.
PROGRAMS = {
    "plain": """
def f(x):
    y = x + 1
    return y

f(1)
""",
    "docstring": '''
def f():
    """Say nothing."""
    return 1

def only_docstring():
    """Say nothing."""

f()
only_docstring()
''',
    "stub": """
def f(): ...
def g(): pass
def h():
    ...
f(), g(), h()
""",
    "string that is no docstring": """
for x in 1, 2:
    "not a docstring"
    x
while x:
    'nor this'
    x = 0
""",
    "global and nonlocal": """
def f():
    global a
    a = 1
def only_global():
    global a
def g():
    b = 0
    def h():
        "doc"
        nonlocal b
        global a
        b = a
    h()
f(), only_global(), g()
""",
    "annotations": """
def f():
    x: int
    y: int = 1
    return y
def g():
    x: int
def h():
    (x): int
    return 1
for i in 1, 2:
    j: int
f(), g(), h()
""",
    "decorated first": """
def same(f): return f
def f():
    @same
    @same
    def g(): pass
    return g
def h():
    @same
    class C: pass
    return C
def i():
    class C:
        x = 1
    return C
for x in 1, 2:
    @same
    def j(): "doc"
    j()
f()(), h(), i()
""",
    "decorated without code": """
def same(f): return f
@same
@same
def f():
    'only a docstring'
f()
""",
    "loops": """
for i in range(3):
    if i == 1:
        continue
    i
else:
    i
while i:
    i -= 1
    break
while True:
    for j in 1, 2: j
    while j: j = 0
    break
else:
    i
""",
    "one-line bodies": """
for i in range(3): pass
while i: i -= 1
def f(): return 1
def g(): yield 1; yield 2
f(), [x for x in g()]
""",
    "loop that begins with a loop": """
def f(n):
    while n:
        while n > 3:
            n -= 1
        n -= 1
f(6)
""",
    "try first": """
def f():
    try:
        return 1
    finally:
        2
def g():
    try:
        raise KeyError
    except KeyError:
        for i in 1, 2:
            try: i
            finally: pass
    else:
        3
for i in 1, 2:
    try:
        f()
    except* ValueError:
        pass
g()
""",
    "with first": """
import contextlib
def f():
    with contextlib.nullcontext(
        1
    ) as a:
        return a
def g():
    with (
        contextlib.nullcontext(1) as a,
        contextlib.nullcontext(2) as b,
    ):
        return a
f(), g()
""",
    "match": """
def f(x):
    match x:
        case [a, b]:
            for i in a, b:
                i
        case {'k': v}:
            def g(): return v
            return g()
        case _:
            pass
f([1, 2]), f({'k': 1}), f(0)
""",
    "statements over many lines": """
a = 1
def f():
    x = (
        a
        + 1
    )
    return x
def g():
    return (
        a
    )
def h():
    print(
        a,
        file=None if a else
            None,
    ) if not a else None
def i():
    (a
        .bit_length()
    )
def j():
    if (
        a
        and a
    ):
        return
def k():
    for x in (
        a,
        a,
    ):
        x
def l():
    x = [
        a,
        2,
    ]
def m():
    x = [
        'one', 'two',
        'three', 'four',
    ]
def n():
    x = {
        'one': 1,
        'two': a,
    }
def o():
    return [
        x
        for x in (1, 2)
    ]
def p():
    return (
        -1,
        2,
    )
def q():
    x = \\
        a
f(), g(), h(), i(), j(), k(), l(), m(), n(), o(), p(), q()
""",
    "generators and coroutines": """
async def numbers():
    "doc"
    yield 1
    yield 2
async def main():
    async for x in numbers():
        x
    async for x in numbers(): x
    return [x async for x in numbers()]
def gen():
    x = yield 1
    yield from (x, 2)
try:
    main().send(None)
except StopIteration:
    pass
g = gen()
g.send(None), g.send(1), list(g)
""",
    "classes": """
class A:
    "doc"
    for i in 1, 2:
        i
    def f(self):
        class B:
            def g(self): return __class__
        return B().g()
    __x = lambda self: self.__x
    def h(self):
        return self.__x
A().f(), A().h()
""",
    "exceptions": """
def f():
    raise ValueError
for i in 1, 2:
    try:
        f()
    except ValueError as e:
        e
def g():
    for i in 1, 2:
        1 / (i - 2)
try:
    g()
except ZeroDivisionError:
    pass
""",
}
NEWER_PROGRAMS = {
    "type parameters": """
def f[T](x: T) -> T:
    type L = list[T]
    return x
class C[T]:
    def g[S](self, s: S) -> S:
        return s
f(1), C().g(2)
""",
}
if hasattr(__import__("_ast"), "TypeAlias"):
    PROGRAMS |= NEWER_PROGRAMS


def rewritten(source: str, filename: str = "program.py") -> CodeType:
    code = rewrite(source.encode(), filename)
    assert code is not None
    return code


def ticks(source: str) -> int:
    """How often *source* ticks when run."""
    counter = itertools.count()
    tick = type("Tick", (), {"__neg__": counter.__next__})()
    code = rewritten(source)
    plant(code, tick)
    exec(code, {"__name__": "program"})
    return next(counter)


Event = tuple[str, str, int | None]


def events(code: CodeType) -> list[Event]:
    """What a tracer sees of *code* being run."""
    seen: list[Event] = []

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_filename != code.co_filename:
            return None
        seen.append((event, frame.f_code.co_qualname, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        exec(code, {"__name__": "program"})
    finally:
        sys.settrace(before)
    return seen


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tracer_sees_the_untouched_program(name: str) -> None:
    source = PROGRAMS[name]
    code = rewritten(source)
    plant(code)
    assert events(code) == events(compile(source, "program.py", "exec", dont_inherit=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_objects_differ_in_nothing_else(name: str) -> None:
    same = ("name", "qualname", "firstlineno", "flags", "names", "varnames", "freevars", "cellvars")
    untouched = code_objects(compile(PROGRAMS[name], "p", "exec", dont_inherit=True))
    for ours, theirs in zip(code_objects(rewritten(PROGRAMS[name])), untouched, strict=True):
        for attribute in same:
            assert getattr(ours, "co_" + attribute) == getattr(theirs, "co_" + attribute)


@pytest.mark.parametrize("name", PROGRAMS)
def test_coverage_is_that_of_the_untouched_program(name: str, tmp_path: Path) -> None:
    coverage = pytest.importorskip("coverage")
    file = tmp_path / "program.py"
    file.write_text(PROGRAMS[name])

    def covered(code: CodeType) -> list[int]:
        measure = coverage.Coverage(data_file=None, include=[str(file)], branch=True)
        with measure.collect():
            exec(code, {"__name__": "program"})
        return sorted(measure.get_data().lines(str(file)) or [])

    code = rewritten(PROGRAMS[name], str(file))
    plant(code)
    assert covered(code) == covered(compile(PROGRAMS[name], str(file), "exec", dont_inherit=True))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", 0),
        ("x = 1\nclass C:\n    y = 2\n", 0),
        ("def f(): pass\n", 0),
        ("def f(): pass\nf(); f()\n", 2),
        ("def f():\n    'doc'\nf()\n", 1),
        ("for i in range(5): pass\n", 5),
        ("for i in (): pass\nelse:\n    for j in range(2): pass\n", 2),
        ("i = 4\nwhile i: i -= 1\n", 4),
        ("while True: break\n", 1),
        ("for i in range(3):\n    for j in range(4): continue\n", 15),
        ("class C:\n    def f(self): pass\nC().f()\n", 1),
        ("def f():\n    def g(): pass\n    g()\nf()\n", 2),
        ("f = lambda: [x for x in range(9)]\nf()\nsum(x for x in range(9))\n", 0),
        ("def f():\n    yield 1\n    yield 2\ng = f()\n", 0),
        ("def f():\n    yield 1\n    yield 2\nlist(f())\n", 1),
        ("async def f(): pass\ntry: f().send(None)\nexcept StopIteration: pass\n", 1),
        ("try:\n    1/0\nexcept ArithmeticError:\n    for i in 1, 2: pass\n", 2),
        ("try: pass\nfinally:\n    for i in 1, 2: pass\n", 2),
        ("try: pass\nexcept* OSError: pass\nelse:\n    for i in 1, 2: pass\n", 2),
        ("match 1:\n    case 1:\n        for i in 1, 2: pass\n", 2),
        ("if 0: pass\nelif 1:\n    for i in 1, 2: pass\n", 2),
        ("from contextlib import *\nwith nullcontext():\n    for i in 1, 2: pass\n", 2),
    ],
)
def test_ticks_are_counted(source: str, expected: int) -> None:
    assert ticks(source) == expected


def test_async_for_ticks() -> None:
    assert ticks(PROGRAMS["generators and coroutines"]) == 3 + 1 + 4 + 1


def test_output_can_be_marshalled() -> None:
    code = rewritten(PROGRAMS["classes"])
    again = marshal.loads(marshal.dumps(code))
    assert again == code
    assert any(PLACEHOLDER in each.co_consts for each in code_objects(again))


def test_docstrings_stay() -> None:
    code = rewritten("'module'\ndef f():\n    'function'\nclass C:\n    'class'\n")
    plant(code)
    space: dict[str, Any] = {"__name__": "program"}
    exec(code, space)
    assert (space["__doc__"], space["f"].__doc__, space["C"].__doc__) == (
        "module",
        "function",
        "class",
    )


def test_function_without_docstring_gets_none() -> None:
    space: dict[str, Any] = {}
    exec(rewritten("def f():\n    return 1\n"), space)
    assert space["f"].__doc__ is None


@pytest.mark.parametrize("optimize", [0, 1, 2])
def test_optimize_is_passed_on(optimize: int) -> None:
    source = b"def f():\n    'doc'\n    assert 0\n    return __debug__\n"
    code = rewrite(source, "p", optimize=optimize)
    assert code is not None
    plain = compile(source, "p", "exec", dont_inherit=True, optimize=optimize)
    ours, theirs = code_objects(code)[1], code_objects(plain)[1]
    assert set(ours.co_consts) - {PLACEHOLDER} == set(theirs.co_consts)


def test_future_imports_keep_working() -> None:
    source = "'doc'\nfrom __future__ import annotations\ndef f(x: not_there): return x\n"
    space: dict[str, Any] = {}
    code = rewritten(source)
    exec(code, space)
    assert code.co_flags & __future__.annotations.compiler_flag
    assert space["f"].__annotations__ == {"x": "not_there"}


def test_our_own_future_imports_are_not_inherited() -> None:
    assert not rewritten("x = 1\n").co_flags & __future__.annotations.compiler_flag


@pytest.mark.parametrize(
    "source",
    [
        "x = 'é'\n".encode("utf-8-sig"),
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"#!/usr/bin/python\r\n# vim: set fileencoding=cp1252 :\r\nx = '\xe9'\r\n",
        "x = 'é'\n".encode(),
    ],
)
def test_source_encodings(source: bytes) -> None:
    space: dict[str, Any] = {}
    code = rewrite(source, "p")
    assert code is not None
    exec(code, space)
    assert space["x"] == "é"


@pytest.mark.parametrize(
    "source",
    [
        b"def f(:\n",
        b"x = 1\n  y = 2\n",
        b"return 1\n",
        b"break\n",
        b"def f():\n    nonlocal x\n",
        b"def f(a, a): pass\n",
        b"x = 1\0\n",
        b"# coding: nonsense\n",
        b"x = '\xff'\n",
        b"# coding: utf-8\nx = '\xff'\n",
        b"from __future__ import nonsense\n",
        b"x = 1\nfrom __future__ import annotations\n",
        b"'\\N{nothing}'\n",
        b"for x in y:\n",
        b"f() = 1\n",
        b"x = " + b"(" * 300 + b")" * 300 + b"\n",
        b"x = " + b"9" * 5000 + b"\n",
    ],
)
def test_errors_are_those_of_compile(source: bytes, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_bytes(source)

    def error(action: Callable[[], object]) -> tuple[object, ...]:
        with pytest.raises(Exception) as caught:
            action()
        assert caught.value.__context__ is None
        return type(caught.value), caught.value.args

    theirs = error(lambda: compile(source, str(file), "exec", dont_inherit=True))
    assert error(lambda: rewrite(source, str(file))) == theirs


@pytest.mark.parametrize("depth", [10, 1_000, 2_500, 6_000, 100_000])
@pytest.mark.parametrize("shape", ["a{}", "{}a", "a+{}"])
def test_deep_nesting_never_crashes(depth: int, shape: str) -> None:
    links = {"a{}": ".b" * depth, "{}a": "not " * depth, "a+{}": "+".join(["a"] * depth)}
    source = f"def f(a):\n    return {shape.format(links[shape])}\n".encode()
    try:
        compile(source, "p", "exec", dont_inherit=True)
    except (RecursionError, MemoryError) as error:
        with pytest.raises(type(error)):
            rewrite(source, "p")
    else:
        code = rewrite(source, "p")
        assert code is None or len(code_objects(code)) == 2


def test_none_if_only_the_rewriting_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(tree: object) -> None:
        raise RecursionError

    monkeypatch.setattr(rewriting, "_insert_ticks", fail)
    assert rewrite(b"x = 1\n", "p") is None
    with pytest.raises(SyntaxError):
        rewrite(b"x = = 1\n", "p")


def test_traceback_is_that_of_the_untouched_program(tmp_path: Path) -> None:
    file = tmp_path / "fails.py"
    file.write_text("def f(x):\n    for i in x:\n        return i / (i -\n            1)\nf([1])\n")

    def trace(code: CodeType) -> str:
        linecache.clearcache()
        with pytest.raises(ZeroDivisionError) as caught:
            exec(code, {})
        frames = traceback.extract_tb(caught.value.__traceback__)
        return "".join(traceback.format_list([f for f in frames if f.filename == str(file)]))

    code = rewritten(file.read_text(), str(file))
    plant(code)
    assert trace(code) == trace(compile(file.read_text(), str(file), "exec", dont_inherit=True))


def test_a_tick_that_raises_shows_the_line_it_precedes(tmp_path: Path) -> None:
    source = "def f():\n    'doc'\n    global a\n    a = 1\nf()\n"
    code = rewritten(source)
    plant(code, "cannot be negated")
    with pytest.raises(TypeError) as caught:
        exec(code, {})
    assert [line for _, line in traceback.walk_tb(caught.value.__traceback__)][-2:] == [5, 4]


def test_inspect_and_doctest_find_their_source(tmp_path: Path) -> None:
    file = tmp_path / "documented.py"
    file.write_text('def f(x):\n    """\n    >>> f(1)\n    2\n    """\n    return x + 1\n')
    module = types.ModuleType("documented")
    module.__file__ = str(file)
    code = rewritten(file.read_text(), str(file))
    plant(code)
    exec(code, vars(module))
    assert inspect.getsource(module.f) == file.read_text()
    assert doctest.testmod(module) == doctest.TestResults(failed=0, attempted=1)


def test_warnings_come_once() -> None:
    with pytest.warns(SyntaxWarning) as caught:
        rewritten("x = 1 is 1\n")
    assert len(caught) == 1


def test_rewrites_the_standard_library() -> None:
    directory = Path(codeop.__file__).parent
    for file in sorted(directory.glob("[a-d]*.py")):
        code = rewrite(file.read_bytes(), str(file))
        assert code is not None
        assert len(code_objects(code)) == len(
            code_objects(compile(file.read_bytes(), str(file), "exec", dont_inherit=True))
        )
