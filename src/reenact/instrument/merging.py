"""Merging: a site that comes right after a tick does the tick's work, too.

Owns which sites do: those that are asked as often as the tick is, after nothing but what cannot
fail and what nobody else can change, such as a parameter or a constant. A tick costs the
interpreter as much as a site does, and most functions begin with `self` and a site. Only for the
race detector: in a search ticks and sites are points of their own. Works last, on a tree that has
all its sites.

The tick of a loop over a range, if no site does it, goes into what is gone over, where that costs
less (`IN_RANGES` of `rewrite.py`): then it comes before the variable is set, so nobody else may see
that one, and it must hold nothing before the loop.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.nodes import children, every
from reenact.instrument.rewrite import is_tick, ticking
from reenact.instrument.scopes import parameters
from reenact.instrument.sites import PREFIX, with_tick
from reenact.pyversion import SPECIALISES_LOOPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from reenact.instrument.scopes import Names, Scope

_FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef)
_BOUND = "bound"  # all that an evaluation has done is to come by a value

# What statements and expressions evaluate, in this order, before they do anything themselves. Not
# the test of a loop, which is evaluated more often than the tick before it.
_PARTS: dict[type[AST], tuple[str, ...]] = {
    _ast.Expr: ("value",),
    _ast.Return: ("value",),
    _ast.Assign: ("value", "targets"),
    _ast.If: ("test",),
    _ast.For: ("iter",),
    _ast.Attribute: ("value",),
    _ast.Subscript: ("value", "slice"),
    _ast.Call: ("func", "args"),
    _ast.BinOp: ("left", "right"),
    _ast.UnaryOp: ("operand",),
    _ast.Compare: ("left",),
    _ast.BoolOp: ("values",),
}


# Functions of Python's own that a file may well call first; to look them up does nothing else.
_BUILTINS = {
    *("abs", "all", "any", "bool", "dict", "enumerate", "float", "int", "isinstance", "len"),
    *("list", "max", "min", "print", "range", "repr", "reversed", "round", "set", "sorted"),
    *("str", "sum", "tuple", "zip"),
}


def merge_ticks(tree: _ast.Module, names: Names) -> None:
    """Take out the ticks that a site can do."""
    deleted = set(_deleted(tree))
    pending: list[tuple[Any, Scope]] = [(tree, names.scopes[id(tree)])]
    while pending:
        node, scope = pending.pop()
        inner = names.scopes.get(id(node), scope)
        if isinstance(node, (*_FUNCTIONS, _ast.For, _ast.While)):
            is_local = isinstance(inner.node, _FUNCTIONS)
            bound = _bound(node, inner, names) - deleted if is_local else set()
            _merge(node.body, bound, _new_names(node, inner, names))
            if isinstance(node, _ast.For) and is_local and not SPECIALISES_LOOPS:
                _move_into_range(node, inner, names)
        pending += [(part, inner) for part in children(node)]


def _move_into_range(loop: _ast.For, function: Scope, names: Names) -> None:
    target = loop.target.id if isinstance(loop.target, _ast.Name) else ""
    is_alone = function.bindings.get(function.mangled(target)) == 1
    is_own = is_alone and not _is_shared(target, function, names)
    if (
        is_own
        and names.is_range(function, loop.iter)
        and is_tick(loop.body[0])
        and len(loop.body) > 1
    ):
        loop.iter = ticking(loop.iter)
        del loop.body[0]


def _bound(node: Any, function: Any, names: Names) -> set[str]:
    """Names whose values are there as *node* begins its body, and that nobody else can change."""
    own = {each for each in parameters(function.node.args) if not _is_shared(each, function, names)}
    target = getattr(node, "target", None)
    if isinstance(target, _ast.Name) and not _is_shared(target.id, function, names):
        own.add(target.id)
    return own | {each for each in _BUILTINS if names.is_builtin(function, each)}


def _is_shared(name: str, function: Scope, names: Names) -> bool:
    mangled = function.mangled(name)
    return function.owner(mangled) is not function or bool(names.variable(function, mangled))


def _new_names(node: Any, scope: Scope, names: Names) -> set[str]:
    """Variables of a function that are not there as it begins: to set them does nothing else."""
    if not isinstance(node, _FUNCTIONS):
        return set()
    own = {each for each in scope.bindings if not _is_shared(each, scope, names)}
    return own - set(map(scope.mangled, parameters(node.args)))


def _merge(body: list[Any], bound: set[str], new: set[str]) -> None:
    """The tick stands first, but for a docstring; what is set to constants may come between."""
    number = next((number for number, each in enumerate(body[:2]) if is_tick(each)), None)
    if number is None:
        return
    for statement in body[number + 1 :]:
        if not _sets_new(statement, bound, new):
            site = _first_site(statement, bound)
            if isinstance(site, _ast.Constant):
                site.value = with_tick(str(site.value))
                del body[number]
            return


def _sets_new(statement: Any, bound: set[str], new: set[str]) -> bool:
    return (
        isinstance(statement, _ast.Assign)
        and all(isinstance(each, _ast.Name) and each.id in new for each in statement.targets)
        and _first_site(statement.value, bound) is _BOUND
    )


def _first_site(node: Any, bound: set[str]) -> _ast.Constant | str | None:
    """The site that is asked first; _BOUND if there is none, and nothing happens; else None."""
    if isinstance(node, _ast.Constant):
        return _BOUND
    if isinstance(node, _ast.Name):
        return _BOUND if node.id in bound and isinstance(node.ctx, _ast.Load) else None
    site = _own_site(node)
    for part in _parts(node):
        if part is not site:
            found = _first_site(part, bound)
            if found is not _BOUND:
                return found
    return site


def _own_site(node: Any) -> _ast.Constant | None:
    """That of `SITE[x]`, `SITE @ x` and `-SITE`."""
    first: Any = getattr(node, _PARTS.get(type(node), ("",))[0], None)
    if not isinstance(first, _ast.Constant) or not isinstance(first.value, str):
        return None
    return first if first.value.startswith(PREFIX) else None


def _parts(node: AST) -> list[AST]:
    """Those that are evaluated whatever the others come to."""
    values = [getattr(node, field) for field in _PARTS.get(type(node), ())]
    parts = [part for value in values for part in (value if isinstance(value, list) else [value])]
    return parts[:1] if isinstance(node, _ast.BoolOp) else [part for part in parts if part]


def _deleted(tree: AST) -> Iterator[str]:
    for node in every(tree):
        if isinstance(node, _ast.Name) and isinstance(node.ctx, _ast.Del):
            yield node.id
        elif isinstance(node, _ast.ExceptHandler) and node.name:
            yield node.name
