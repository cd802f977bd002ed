"""Which code has two versions, with sites and without, and that they do the same."""

from __future__ import annotations

import ast
import textwrap
from types import CodeType
from typing import Any

import pytest
from hypothesis import given, settings

from reenact import _core
from reenact.instrument.loader import ACCESSES, COLD_CODE, RACES, SHARED, Policy, marks_of
from reenact.instrument.rewrite import COLD, COLD_LOOKED_AT, PLACEHOLDER, insert_points
from reenact.instrument.sites import PREFIX
from reenact.pyversion import HAS_GIL

from .test_accesses_alike import outcome, program, statements, untouched, without_addresses
from .test_regions import PROGRAM, observed

IS_KNOWN = "is_known"


def tree_of(source: str, manner: str = COLD) -> ast.Module:
    tree = ast.parse(textwrap.dedent(source))
    insert_points(tree, accesses=True, manner=manner)
    return tree


def is_guard(node: ast.AST) -> bool:
    constant = node.operand if isinstance(node, ast.UnaryOp) else None
    text = constant.value if isinstance(constant, ast.Constant) else None
    return isinstance(text, str) and text.startswith(f"{PREFIX}h ")


class _Chosen(ast.NodeTransformer):
    """A variable in place of each guard says which version is run."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(ast.Name(IS_KNOWN, ast.Load()), node) if is_guard(node) else node


def compiled(source: str, manner: str, is_known: bool) -> CodeType:
    tree = _Chosen().visit(tree_of(source, manner))
    code = compile(tree, "program.py", "exec", dont_inherit=True)
    __builtins__[IS_KNOWN] = is_known  # type: ignore[index]
    return _core.plant(code, PLACEHOLDER)


def counts(nodes: list[ast.stmt]) -> dict[str, int]:
    """How many guards, ticks, sites and quiet sites there are."""
    found = {"guards": 0, "ticks": 0, "sites": 0, "quiet": 0}
    for node in (each for statement in nodes for each in ast.walk(statement)):
        text = node.value if isinstance(node, ast.Constant) else None
        if text == PLACEHOLDER:
            found["ticks"] += 1
        elif isinstance(text, str) and text.startswith(f"{PREFIX}h "):
            found["guards"] += 1
        elif isinstance(text, str) and text.startswith(PREFIX):
            flags = text.removeprefix(PREFIX).split(" ")[1]
            found["quiet" if "q" in flags else "sites"] += 1
    return found


def versions(body: list[ast.stmt]) -> tuple[dict[str, int], dict[str, int]]:
    """What the version of known code has, and the other."""
    split = next(each for each in body if isinstance(each, ast.If) and is_guard(each.test))
    return counts(split.body), counts(split.orelse)


LOOPS = """
    def walk(self, rows):
        "What it does."
        for row in rows:
            while row.more():
                self.total += row.next
        return self.total
"""


def test_a_function_and_its_loops_have_two_versions() -> None:
    function: Any = tree_of(LOOPS).body[0]
    assert ast.get_docstring(function) == "What it does."
    known, cold = versions(function.body)
    assert known == {"guards": 0, "ticks": 2, "sites": 0, "quiet": 0}
    # the loops are split in the cold version alone, and have their ticks in the other
    assert cold["guards"] == 2
    assert cold["ticks"] == 1  # of the inner loop, in the version of known code of the outer one
    assert cold["sites"] > 4


def test_where_others_look_both_versions_have_sites() -> None:
    function: Any = tree_of(LOOPS, COLD_LOOKED_AT).body[0]
    known, cold = versions(function.body)
    assert known["guards"] == known["sites"] == 0
    assert known["quiet"] > 4
    assert cold["sites"] > 4


def test_what_defines_something_is_not_split() -> None:
    function: Any = tree_of(
        """
        def outer(items):
            def inner(item):
                return item.value
            for item in items:
                item.value = inner(item)
        """
    ).body[0]
    assert not any(isinstance(each, ast.If) for each in function.body)
    inner, loop = (each for each in function.body if hasattr(each, "body"))
    assert versions(inner.body)[1]["sites"] == 1
    assert versions(loop.body)[1]["sites"] > 0


def test_what_has_no_sites_is_not_split() -> None:
    assert counts(tree_of("def add(a, b):\n    c = a\n    return c").body)["guards"] == 0


def test_declarations_come_first() -> None:
    source = """
        count = 0
        def add(box):
            box.n += 1
            if box:
                global count
            count += box.n
    """
    function: Any = tree_of(source).body[1]
    assert isinstance(function.body[0], ast.Global)
    names: dict[str, Any] = {"Box": type("Box", (), {"n": 1})}
    exec(compiled(source, COLD, is_known=False), names)
    names["add"](names["Box"]())
    assert names["count"] == 2


def test_python_warns_once(recwarn: pytest.WarningsRecorder) -> None:
    source = "def f(a):\n    a.x = a.y\n    return a is 1000\n"
    compile(tree_of(source), "program.py", "exec")
    assert len(recwarn) == 1


@pytest.mark.parametrize("manner", [COLD, COLD_LOOKED_AT])
@pytest.mark.parametrize("is_known", [False, True])
def test_line_events_and_outcomes_stay_what_they_are(manner: str, is_known: bool) -> None:
    code = compiled(PROGRAM, manner, is_known)
    assert observed(code) == observed(compile(PROGRAM, "program.py", "exec"))


@settings(max_examples=100, deadline=None)
@given(statements)
def test_programs_do_the_same(lines: list[str]) -> None:
    source = program(lines)
    expected = untouched(source)
    for is_known in (False, True) if expected is not None else ():
        assert without_addresses(outcome(compiled(source, COLD, is_known))) == expected


def test_whom_it_is_for() -> None:
    assert marks_of("sync") == (() if HAS_GIL else (ACCESSES, SHARED, COLD_CODE))
    assert COLD_CODE not in marks_of("ditto")
    assert Policy.of([ACCESSES, COLD_CODE], True).manner == COLD
    assert Policy.of([ACCESSES, COLD_CODE, f"{RACES}1:0"], True).manner == COLD_LOOKED_AT
