"""Scopes: what a name in a source file means, and which variables threads can share.

Owns the analysis of names that `accesses.py` needs before it rewrites anything: which scope a
name belongs to, which globals and closure variables are bound again after other functions can see
them (*shared*), and which local containers never leave their function (*private*). Works on the
untouched tree, with a stack of its own.

A variable counts as shared if some function rebinds it that is not its owner, if its owner
binds it more than once (or in a loop) and another function uses it, or if it is set elsewhere. To
err is harmless on that side: it costs a point. A container is private only if nothing but
operations on it is done with its name.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.containers import CONSUMERS, METHODS, VIEWS, is_fresh
from reenact.instrument.elsewhere import ANY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Set
    from typing import Any

    # A node, its field, the index in it (-1: it is no list), what is there, and whether that
    # belongs to the scope around.
    Slot = tuple[Any, str, int, Any, bool]

FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.Lambda)
COMPREHENSIONS = (_ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp)
_LOOPS = (_ast.For, _ast.AsyncFor, _ast.While, _ast.If)  # a branch is taken at some later time
_REFLECTIVE = {"locals", "vars", "exec", "eval", "dir"}

# Parts of a node that hold no code to rewrite: annotations, patterns, parameters of types.
_UNTOUCHED = {"annotation", "returns", "pattern", "type_params", "type_comment", "type_ignores"}


def mangle(name: str, class_name: str) -> str:
    """The name as the compiler knows it inside a class."""
    class_name = class_name.lstrip("_")
    if not class_name or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    return f"_{class_name}{name}"


class Scope:
    """One block of names: a module, class, function, lambda or comprehension."""

    def __init__(self, node: AST, parent: Scope | None, class_name: str) -> None:
        self.node = node
        self.parent = parent
        self.class_name = class_name
        self.is_class = isinstance(node, _ast.ClassDef)
        runs_later = parent is None or isinstance(node, FUNCTIONS)
        self.function: Scope = self if runs_later or parent is None else parent.function
        self.bindings: dict[str, int] = {}  # those by name in the source, of every kind
        self.rebound: set[str] = set()
        self.imported: list[str] = []
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.used: set[str] = set()
        self.escaping: set[str] = set()
        self.fresh: dict[str, str] = {}  # names given a new container, and by which function
        self.shared: set[str] = set()
        self.captured: set[str] = set()  # names that other functions use
        self.is_reflective = False

    def mangled(self, name: str) -> str:
        return mangle(name, self.class_name)

    def owner(self, name: str) -> Scope:
        """The scope that the mangled *name*, used in this one, belongs to."""
        scope = self
        while scope.parent is not None:
            if name in scope.globals:
                return scope.module
            if name in scope.bindings and name not in scope.nonlocals:
                return scope
            scope = scope.parent
            while scope.is_class and scope.parent is not None:
                scope = scope.parent
        return scope

    @property
    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, *, assigned: bool = False, again: bool = False) -> None:
        count = self.bindings.get(name, 0)
        self.bindings[name] = count + 1
        if assigned and (again or count):
            self.rebound.add(name)


class Names:
    """What the names of one module mean; other modules set those that are set *elsewhere*."""

    def __init__(self, tree: _ast.Module, elsewhere: Set[str] = frozenset()) -> None:
        self.scopes: dict[int, Scope] = {}  # by the identity of the node that opens them
        self._safe: set[int] = set()  # names that stand where a container cannot escape
        self._noted: set[int] = set()  # names of which all has been said
        self._collect(tree)
        for scope in self.scopes.values():
            _share(scope)
        module = self.scopes[id(tree)]
        module.shared |= module.bindings.keys() & (
            module.bindings if ANY in elsewhere else elsewhere
        )
        for scope in self.scopes.values():
            _let_escape(scope)

    def variable(self, scope: Scope, name: str) -> str:
        """ "global" or "closure" if the mangled *name* is shared, else nothing."""
        owner = scope.owner(name)
        if name not in owner.shared:
            return ""
        return "closure" if owner.parent is not None else "global"

    def is_private(self, scope: Scope, node: AST) -> bool:
        """Does *node* name a container that only its own function can reach?"""
        if not isinstance(node, _ast.Name):
            return False
        name = scope.mangled(node.id)
        owner = scope.owner(name)
        return (
            name in owner.fresh
            and (not owner.fresh[name] or self.is_builtin(owner, owner.fresh[name]))
            and owner.bindings[name] == 1
            and name not in owner.escaping
            and not owner.is_reflective
            and isinstance(owner.node, FUNCTIONS)
        )

    def is_builtin(self, scope: Scope, name: str) -> bool:
        """Is *name* nobody's own? A star import could still bring one."""
        owner = scope.owner(name)
        return owner.parent is None and name not in owner.bindings

    def is_range(self, scope: Scope, node: AST) -> bool:
        """Is *node* a call of Python's own `range`?"""
        func = node.func if isinstance(node, _ast.Call) else None
        return (
            isinstance(func, _ast.Name) and func.id == "range" and self.is_builtin(scope, "range")
        )

    def is_import(self, scope: Scope, name: str) -> bool:
        """Is *name* bound by imports alone?"""
        owner = scope.owner(name)
        return owner.bindings.get(name) == owner.imported.count(name) > 0

    def outlives(self, scope: Scope, name: str) -> bool:
        """Is *name*, as it is bound in *scope*, still there for others when that has run?"""
        owner = scope.owner(name)
        return owner.is_class or name in owner.captured

    # The first pass: what is bound and used where.

    def _collect(self, tree: _ast.Module) -> None:
        module = self.scopes[id(tree)] = Scope(tree, None, "")
        pending: list[tuple[AST, Scope, bool]] = [(tree, module, False)]
        while pending:
            node, scope, again = pending.pop()
            self._note(node, scope, again)
            inner_again = not _opens(node) and (again or isinstance(node, _LOOPS))
            for _, _, _, child, outside in slots(node):
                inside = scope if outside else self.scopes.get(id(node), scope)
                pending.append((child, inside, inner_again))

    def _note(self, node: Any, scope: Scope, again: bool) -> None:
        if _opens(node) and not isinstance(node, _ast.Module):
            self._open(node, scope)
        if isinstance(node, _ast.Name):
            self._note_name(node, scope, again)
        elif isinstance(node, _ast.NamedExpr):
            self._note_walrus(node, scope)
        elif isinstance(node, (_ast.Global, _ast.Nonlocal)):
            declared = scope.globals if isinstance(node, _ast.Global) else scope.nonlocals
            declared.update(map(scope.mangled, node.names))
        else:
            for name in _bound_by(node):
                scope.bind(scope.mangled(name))
                if isinstance(node, (_ast.Import, _ast.ImportFrom)):
                    scope.imported.append(scope.mangled(name))
        self._note_container(node, scope)
        self._safe.update(id(name) for name in _operated_on(node))

    def _open(self, node: Any, scope: Scope) -> None:
        class_name = node.name if isinstance(node, _ast.ClassDef) else scope.class_name
        inner = self.scopes[id(node)] = Scope(node, scope, class_name)
        if isinstance(node, FUNCTIONS):
            for name in parameters(node.args):
                inner.bind(inner.mangled(name))
        for each in getattr(node, "type_params", ()):
            inner.bind(inner.mangled(each.name))

    def _note_name(self, node: _ast.Name, scope: Scope, again: bool) -> None:
        name = scope.mangled(node.id)
        if id(node) in self._noted:
            return
        if isinstance(node.ctx, _ast.Load):
            scope.used.add(name)
            if id(node) not in self._safe:
                scope.escaping.add(name)
            scope.function.is_reflective |= name in _REFLECTIVE
        else:
            is_loop = isinstance(scope.node, COMPREHENSIONS)
            scope.bind(name, assigned=True, again=again or is_loop)

    def _note_walrus(self, node: _ast.NamedExpr, scope: Scope) -> None:
        """Inside a comprehension, its name belongs to the function around."""
        target = scope
        while isinstance(target.node, COMPREHENSIONS) and target.parent is not None:
            target = target.parent
        if target is not scope:
            self._noted.add(id(node.target))
            target.bind(scope.mangled(node.target.id), assigned=True, again=True)

    def _note_container(self, node: Any, scope: Scope) -> None:
        if isinstance(node, _ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
        elif isinstance(node, _ast.AnnAssign):
            target = node.target
        else:
            return
        if isinstance(target, _ast.Name) and is_fresh(node.value):
            maker: str = getattr(getattr(node.value, "func", None), "id", "")
            scope.fresh[scope.mangled(target.id)] = maker


def _share(scope: Scope) -> None:
    for name in scope.bindings:
        owner = scope.owner(name)
        if owner is not scope and owner.function is not scope.function:
            owner.shared.add(name)
    for name in scope.used:
        owner = scope.owner(name)
        if owner.function is not scope.function and not owner.is_class:
            owner.captured.add(name)
            if name in owner.rebound:
                owner.shared.add(name)


def _let_escape(scope: Scope) -> None:
    """A name used in an inner scope: its container escapes unless that scope runs in place."""
    for name in scope.used:
        owner = scope.owner(name)
        leaves = owner.function is not scope.function or isinstance(
            scope.node, (_ast.GeneratorExp, _ast.ClassDef)
        )
        if owner is not scope and (leaves or name in scope.escaping):
            owner.escaping.add(name)
    for name in scope.nonlocals:  # what it binds the name to comes from elsewhere
        scope.owner(name).escaping.add(name)


def slots(node: Any) -> Iterator[Slot]:
    """The places of *node* with code in them that we may change."""
    if isinstance(node, COMPREHENSIONS):
        yield from _comprehension_slots(node)
        return
    for field in node._fields:
        value = getattr(node, field, None)
        outside = field != "body" and _opens(node)
        if field in _UNTOUCHED or (field == "value" and type(node).__name__ == "TypeAlias"):
            continue
        if isinstance(value, _ast.arguments):
            yield from _list_slots(value, "defaults", True)
            yield from _list_slots(value, "kw_defaults", True)
        elif isinstance(value, list):
            yield from _list_slots(node, field, outside)
        elif isinstance(value, AST):
            yield node, field, -1, value, outside


def _list_slots(node: AST, field: str, outside: bool) -> Iterator[Slot]:
    for index, value in enumerate(getattr(node, field)):
        if isinstance(value, AST):
            yield node, field, index, value, outside


def _comprehension_slots(node: Any) -> Iterator[Slot]:
    """The first iterable is evaluated in the scope around the comprehension."""
    for field in ("elt", "key", "value"):
        if hasattr(node, field):
            yield node, field, -1, getattr(node, field), False
    for number, each in enumerate(node.generators):
        yield each, "iter", -1, each.iter, number == 0
        yield each, "target", -1, each.target, False
        yield from _list_slots(each, "ifs", False)


def _opens(node: AST) -> bool:
    return isinstance(node, (*FUNCTIONS, *COMPREHENSIONS, _ast.ClassDef, _ast.Module))


def _defaults(arguments: _ast.arguments) -> list[AST]:
    return [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]


def parameters(arguments: _ast.arguments) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [each.arg for each in every]


def _bound_by(node: Any) -> list[str]:
    """Names that a statement or pattern binds without a node of their own."""
    if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
        return [node.name]
    if isinstance(node, (_ast.Import, _ast.ImportFrom)):
        return [each.asname or each.name.partition(".")[0] for each in node.names]
    if isinstance(node, _ast.ExceptHandler):
        return [node.name] if node.name else []
    if isinstance(node, _ast.match_case):
        return _captures(node.pattern)
    return []


def _captures(pattern: AST) -> list[str]:
    found: list[str] = []
    pending: list[Any] = [pattern]
    while pending:
        node = pending.pop()
        names = (getattr(node, "name", None), getattr(node, "rest", None))
        found += [name for name in names if isinstance(name, str)]
        for field in ("pattern", "patterns", "kwd_patterns"):
            value = getattr(node, field, None)
            pending += value if isinstance(value, list) else [value] if value else []
    return found


def _operated_on(node: Any) -> list[AST]:
    """Parts of *node* that, being containers, are used and not passed on."""
    if isinstance(node, _ast.Subscript):
        return [node.value]
    if isinstance(node, _ast.Call):
        return _operated_on_by_call(node)
    if isinstance(node, _ast.Compare):
        pairs = zip(node.ops, node.comparators, strict=True)
        return [right for op, right in pairs if isinstance(op, (_ast.In, _ast.NotIn))]
    if isinstance(node, _ast.For):
        return [node.iter, *viewed(node.iter)]
    if isinstance(node, COMPREHENSIONS):
        lasts = isinstance(node, _ast.GeneratorExp)  # it keeps its first iterable for later
        turns = [_operated_on_by_turns(each) for each in node.generators[lasts:]]
        return [name for each in turns for name in each]
    if isinstance(node, (_ast.If, _ast.While, _ast.IfExp)):
        return tested(node.test)
    if isinstance(node, _ast.UnaryOp) and isinstance(node.op, _ast.Not):
        return tested(node.operand)
    return []


def _operated_on_by_call(node: _ast.Call) -> list[AST]:
    func = node.func
    if isinstance(func, _ast.Attribute) and func.attr in METHODS and func.attr not in VIEWS:
        return [func.value]
    if isinstance(func, _ast.Name) and CONSUMERS.get(func.id) and len(node.args) == 1:
        return [node.args[0], *viewed(node.args[0])]
    return []


def _operated_on_by_turns(each: _ast.comprehension) -> list[AST]:
    return [each.iter, *viewed(each.iter), *(name for test in each.ifs for name in tested(test))]


def viewed(node: AST) -> list[AST]:
    """The dictionary of `d.items()`, if the view goes no further than here."""
    if isinstance(node, _ast.Call) and isinstance(node.func, _ast.Attribute):
        return [node.func.value] if node.func.attr in VIEWS else []
    return []


def tested(test: AST) -> list[AST]:
    """The plain names and attributes whose truth decides *test*."""
    found: list[AST] = []
    pending = [test]
    while pending:
        node = pending.pop()
        if isinstance(node, _ast.BoolOp):
            pending += node.values
        elif isinstance(node, (_ast.Name, _ast.Attribute)):
            found.append(node)
    return found
