"""Rewriting: puts a tick at every function entry and every loop head of a source file.

Owns the shape of a tick, `-PLACEHOLDER`, and where ticks stand. The result holds the
placeholder string and can be marshalled; `plant` of `reenact._core` later puts the object that
ticks in its place. On demand `accesses.py` then adds its sites. Called by the loader, mostly in a
child process, so it needs no import beyond the built-in `_ast`: another thread may hold the import
lock of anything else.

A tick is counted from the syntax tree, so counts agree on every Python version. It bears the
position of the code it precedes: line events, tracebacks and coverage stay those of the untouched
program. A generator's tick comes with its first `next`, a coroutine's with its first `await`.

Left out on purpose: lambdas and comprehensions have no statements and get no tick of their
own; nor has a loop that runs in C (`sum`, `map`), nor code the program compiles for itself.
Python moves code about when it optimises, and we follow it only so far: of the functions of the
standard library one in 2,000 or so, where the first statement spans lines and begins with a `%`
format, a default value or a folded list, reports one line more than the untouched program.
"""

from __future__ import annotations

import _ast
from _ast import AST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType

    from reenact.instrument.elsewhere import Stored

REWRITER_VERSION = 2  # part of every cache key: raise it when the output changes
ACCESSES_VERSION = 18  # the same, for code with the sites of accesses
PLACEHOLDER = "\0reenact tick\0"

# Whom sites are for: a search has a point at each; the race detector alone is not told what tells
# it nothing; and it may be told less on top of that, on trust (`again.py`).
ALL, DETECTOR, HEURISTIC = "all", "detector", "heuristic"
# Or of those of a search only what a thread has not run often yet; others may look (`cold.py`).
COLD, COLD_LOOKED_AT = "cold", "cold, looked at"
# Or ticks alone, and those of loops over ranges in what they run over: `for x in TICK[range(n)]`,
# which costs less where the interpreter asks every iterator in the same way, as 3.11 does.
IN_RANGES = "in ranges"

FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef)
TICKED = (*FUNCTIONS, _ast.For, _ast.AsyncFor, _ast.While)

_BLOCKS: dict[type[AST], tuple[str, ...]] = {
    _ast.Module: ("body",),
    _ast.FunctionDef: ("body",),
    _ast.AsyncFunctionDef: ("body",),
    _ast.ClassDef: ("body",),
    _ast.For: ("body", "orelse"),
    _ast.AsyncFor: ("body", "orelse"),
    _ast.While: ("body", "orelse"),
    _ast.If: ("body", "orelse"),
    _ast.With: ("body",),
    _ast.AsyncWith: ("body",),
    _ast.Try: ("body", "handlers", "orelse", "finalbody"),
    _ast.TryStar: ("body", "handlers", "orelse", "finalbody"),
    _ast.ExceptHandler: ("body",),
    _ast.Match: ("cases",),
    _ast.match_case: ("body",),
}

_EVALUATED_FIRST: dict[type[AST], str] = {
    _ast.FunctionDef: "decorator_list",
    _ast.AsyncFunctionDef: "decorator_list",
    _ast.ClassDef: "decorator_list",
    _ast.Expr: "value",
    _ast.Assign: "value",
    _ast.AugAssign: "target",
    _ast.AnnAssign: "value",
    _ast.Return: "value",
    _ast.Delete: "targets",
    _ast.Raise: "exc",
    _ast.Assert: "test",
    _ast.If: "test",
    _ast.While: "test",
    _ast.For: "iter",
    _ast.AsyncFor: "iter",
    _ast.With: "items",
    _ast.AsyncWith: "items",
    _ast.withitem: "context_expr",
    _ast.Match: "subject",
    _ast.BinOp: "left",
    _ast.BoolOp: "values",
    _ast.Compare: "left",
    _ast.UnaryOp: "operand",
    _ast.Call: "func",
    _ast.Attribute: "value",
    _ast.Subscript: "value",
    _ast.IfExp: "test",
    _ast.NamedExpr: "value",
    _ast.Await: "value",
    _ast.Yield: "value",
    _ast.YieldFrom: "value",
    _ast.JoinedStr: "values",
    _ast.FormattedValue: "value",
    _ast.Tuple: "elts",
    _ast.List: "elts",
    _ast.Set: "elts",
    _ast.Dict: "keys",
}
if hasattr(_ast, "TypeAlias"):  # the Python that has it (3.12) also inlines comprehensions
    _EVALUATED_FIRST |= {
        _ast.ListComp: "generators",
        _ast.SetComp: "generators",
        _ast.DictComp: "generators",
        _ast.comprehension: "iter",
    }


def rewrite(
    source: bytes,
    filename: str,
    *,
    dont_inherit: bool = True,
    optimize: int = -1,
    accesses: bool = False,
    manner: str = ALL,
    elsewhere: tuple[str, ...] = (),
) -> CodeType | None:
    """Compile *source* with ticks, or raise what `compile` raises for it.

    With *accesses*, it also has the sites of `accesses.py`, in this *manner*; names of globals that
    are set *elsewhere* are no constants.

    None means that Python can compile the source but we cannot rewrite it: it is nested too
    deeply to be held as a tree of Python objects. The caller compiles it untouched and says so.
    """
    inserted = (accesses, manner, elsewhere)
    code = _compile_rewritten(source, filename, dont_inherit, optimize, inserted)
    if code is None:
        compile(source, filename, "exec", dont_inherit=dont_inherit, optimize=optimize)
    return code


def _compile_rewritten(
    source: bytes,
    filename: str,
    dont_inherit: bool,
    optimize: int,
    inserted: tuple[bool, str, tuple[str, ...]],
) -> CodeType | None:
    try:
        tree = compile(source, filename, "exec", _ast.PyCF_ONLY_AST, dont_inherit)
        assert isinstance(tree, _ast.Module)
        stored = insert_points(tree, *inserted)
        code = compile(tree, filename, "exec", dont_inherit=dont_inherit, optimize=optimize)
        return code if stored is None else stored.noted(code)
    except Exception:  # whatever it is, a plain compile decides whether the program is at fault
        return None


def insert_points(
    tree: _ast.Module, accesses: bool, manner: str = ALL, elsewhere: tuple[str, ...] = ()
) -> Stored | None:
    """Put ticks, and with *accesses* its sites, into a tree that others have made or changed; what
    the file sets that may be globals of other modules."""
    _insert_ticks(tree, manner == IN_RANGES)
    return _insert_accesses(tree, manner, elsewhere) if accesses else None


def _insert_accesses(tree: _ast.Module, manner: str, elsewhere: tuple[str, ...]) -> Stored:
    # Not needed to record or replay. The loader has imported it if it is.
    from reenact.instrument.accesses import insert_accesses
    from reenact.instrument.elsewhere import Stored

    stored = Stored(tree)
    insert_accesses(tree, manner, stored.names.union(elsewhere))
    return stored


def _insert_ticks(tree: _ast.Module, in_ranges: bool) -> None:
    pending: list[AST] = [tree]  # a stack of our own: nesting must not use up Python's
    while pending:
        node = pending.pop()
        for block in _BLOCKS.get(type(node), ()):
            pending += getattr(node, block)
        if in_ranges and isinstance(node, _ast.For) and _is_range(node.iter):
            node.iter = ticking(node.iter)
        elif isinstance(node, TICKED):
            start = int(isinstance(node, FUNCTIONS) and _is_docstring(node.body[0]))
            place = _place(node.body[start:]) or _header(node)
            node.body.insert(start, _tick(place))


def _is_range(node: AST) -> bool:
    """By the name; whatever that is, the tick goes over it."""
    func = node.func if isinstance(node, _ast.Call) else None
    return isinstance(func, _ast.Name) and func.id == "range"


def ticking(iterated: _ast.expr) -> _ast.expr:
    place = position(iterated)
    return _ast.Subscript(_ast.Constant(PLACEHOLDER, None, **place), iterated, _ast.Load(), **place)


def _is_docstring(statement: AST) -> bool:
    value = statement.value if isinstance(statement, _ast.Expr) else None
    return isinstance(value, _ast.Constant) and isinstance(value.value, str)


def _tick(place: dict[str, int]) -> _ast.Expr:
    constant = _ast.Constant(PLACEHOLDER, None, **place)
    return _ast.Expr(_ast.UnaryOp(_ast.USub(), constant, **place), **place)


def is_tick(statement: AST) -> bool:
    value = statement.value if isinstance(statement, _ast.Expr) else None
    constant = value.operand if isinstance(value, _ast.UnaryOp) else None
    return isinstance(constant, _ast.Constant) and constant.value == PLACEHOLDER


def _place(body: Iterable[_ast.stmt]) -> dict[str, int] | None:
    """Where the first code of *body* stands; None if it has none."""
    for statement in body:
        if not _is_silent(statement):
            return position(first_evaluated(statement))
    return None


def _header(node: _ast.stmt) -> dict[str, int]:
    """The line Python gives to the code of a function or loop whose body has none."""
    decorators = getattr(node, "decorator_list", None)
    line: int = decorators[0].lineno if decorators else node.lineno
    return {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}


def position(node: AST) -> dict[str, int]:
    fields = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return {field: getattr(node, field) for field in fields}


def _is_silent(statement: AST) -> bool:
    """Does *statement* compile to no code at all, so that no line event tells of it?"""
    if isinstance(statement, _ast.AnnAssign):
        return statement.value is None and isinstance(statement.target, _ast.Name)
    return isinstance(statement, (_ast.Global, _ast.Nonlocal))


def first_evaluated(node: AST) -> AST:
    """The part of *node* whose code runs first; it need not stand on the first line of it."""
    while not _builds_first(node):
        child = getattr(node, _EVALUATED_FIRST.get(type(node), ""), None)
        if isinstance(child, list):
            child = child[0] if child else None
        if child is None or isinstance(child, _ast.Starred):
            break
        node = child
    return node


def _builds_first(node: AST) -> bool:
    """Does Python emit code for *node* itself before that for its parts?

    It does for constants it folds, and for large displays, which it builds empty and fills.
    """
    if isinstance(node, (_ast.List, _ast.Set)):
        return len(node.elts) > 30 or (len(node.elts) > 2 and all(map(_is_folded, node.elts)))
    if isinstance(node, _ast.Dict):
        return len(node.keys) > 15
    return _is_folded(node)


def _is_folded(node: AST) -> bool:
    if isinstance(node, _ast.Tuple):
        return all(map(_is_folded, node.elts))
    if isinstance(node, _ast.UnaryOp):
        return _is_folded(node.operand)
    if isinstance(node, _ast.BinOp):
        return _is_folded(node.left) and _is_folded(node.right)
    return isinstance(node, _ast.Constant)
