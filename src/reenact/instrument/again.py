"""Again: accesses that tell the race detector what it knows, if the program is an ordinary one.

Owns what is left out by `--heuristic` because it was told before: the same thread, in the same
stretch of code, has told of the same variable, and nothing in between synchronised. A write that
was told stands for reads and writes after it, a read for reads. Loops whose bodies do not
synchronise tell of their container once, not at each turn.

Taken on trust, hence not done otherwise: operators, attributes, items, loops, formatting and truth
run no code that synchronises; what a chain of attributes and items leads to stays the same while
only this function's own assignments could change it. Calls are no such thing, but for a few
functions of Python's own; nor are `with`, `await`, `yield` and comprehensions. At each, and where a
loop begins and ends, all is forgotten; where branches meet, what only one of them knew.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.containers import METHODS
from reenact.instrument.nodes import every
from reenact.instrument.scopes import COMPREHENSIONS, FUNCTIONS, slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from reenact.instrument.scopes import Names, Scope

    Path = tuple[str, ...]  # a local name, then attributes as `.x` and keys as `[k]`
    Told = dict[Path, bool]  # and whether it was written

_QUIET = {
    "len",
    "range",
    "min",
    "max",
    "abs",
    "int",
    "float",
    "str",
    "bool",
    "repr",
    "round",
    "sum",
}
_QUIET |= {"enumerate", "zip", "isinstance", "ord", "chr", "divmod", "tuple", "reversed", "sorted"}
_PAUSES = (
    *(_ast.Await, _ast.Yield, _ast.YieldFrom, _ast.With, _ast.AsyncWith, _ast.AsyncFor),
    *(_ast.Import, _ast.ImportFrom, _ast.Delete),
)
_TRANSPARENT = (
    *(_ast.Name, _ast.Constant, _ast.BinOp, _ast.UnaryOp, _ast.Tuple, _ast.List, _ast.Dict),
    *(_ast.Set, _ast.Slice, _ast.JoinedStr, _ast.FormattedValue, _ast.Starred),
)
_ENDS = (_ast.Return, _ast.Raise, _ast.Continue, _ast.Break)


class Again:
    """The accesses of a file that were told before."""

    def __init__(self, tree: AST, names: Names) -> None:
        self.names = names
        self.nodes: set[int] = set()  # by the identity of the attribute or item
        self.loops: set[int] = set()  # those that need to tell of their container only once
        for node in every(tree):
            if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef)):
                self._look_into(node)

    def _look_into(self, function: Any) -> None:
        walk = _Walk(self.names, self.names.scopes[id(function)])
        try:
            walk.block(function.body)
        except RecursionError:  # nested very deeply: nothing is left out
            return
        self.nodes |= walk.nodes
        self.loops |= walk.loops


class _Walk:
    """One function, in the order in which it runs."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope
        self.nodes: set[int] = set()
        self.loops: set[int] = set()
        self.told: Told = {}
        self.statements = {
            _ast.Assign: self._assign,
            _ast.AnnAssign: self._annotated,
            _ast.AugAssign: self._augmented,
            _ast.If: self._if,
            _ast.For: self._for,
            _ast.While: self._while,
            _ast.Expr: self._parts,
            _ast.Return: self._parts,
            _ast.Pass: self._parts,
            _ast.Break: self._parts,
            _ast.Continue: self._parts,
            _ast.Global: self._parts,
            _ast.Nonlocal: self._parts,
        }
        self.expressions = {
            _ast.Attribute: self._access,
            _ast.Subscript: self._access,
            _ast.Call: self._call,
            _ast.BoolOp: self._any_of,
            _ast.IfExp: self._if,
            _ast.NamedExpr: self._walrus,
            _ast.Compare: self._compare,
            _ast.Lambda: self._nothing,
        } | dict.fromkeys(_TRANSPARENT, self._parts)

    # Statements.

    def block(self, body: list[Any]) -> None:
        for statement in body:
            self.statements.get(type(statement), self._unknown)(statement)

    def _unknown(self, node: Any) -> None:
        """What is in it starts afresh, and nothing is known after it."""
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            for part in getattr(node, field, ()) if not _opens(node) else ():
                self.told = {}
                if isinstance(part, (_ast.ExceptHandler, _ast.match_case)):
                    self._unknown(part)
                else:
                    self.block([part])
        self.told = {}

    def _assign(self, node: Any) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._store(target)

    def _annotated(self, node: Any) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._store(node.target)

    def _augmented(self, node: Any) -> None:
        """Its own site stays: it also tells of a list that is changed in place."""
        target = node.target
        if not isinstance(target, _ast.Name):
            self._parts(target)
        self.visit(node.value)
        self._note_store(target)

    def _store(self, target: Any) -> None:
        if isinstance(target, (_ast.Tuple, _ast.List)):
            for each in target.elts:
                self._store(each)
        elif isinstance(target, _ast.Starred):
            self._store(target.value)
        else:
            if not isinstance(target, _ast.Name):
                self._parts(target)
                if self.told.get(self._path(target)):
                    self.nodes.add(id(target))
            self._note_store(target)

    def _note_store(self, target: Any) -> None:
        """What was found by way of the old value is another thing now."""
        path = self._path(target)
        step = path[-1] if path else ""
        if isinstance(target, _ast.Attribute):
            step = f".{self.scope.mangled(target.attr)}"
        is_item = isinstance(target, _ast.Subscript)
        self.told = {
            each: writes
            for each, writes in self.told.items()
            if not _goes_through(each, step, is_item, isinstance(target, _ast.Name))
        }
        if len(path) > 1:
            self.told[path] = True

    def _if(self, node: Any) -> None:
        """A statement, or an expression."""
        self.visit(node.test)
        before = dict(self.told)
        ways = []
        for way in (node.body, node.orelse):
            self.told = dict(before)
            if isinstance(way, list):
                self.block(way)
            else:
                self.visit(way)
            if not (isinstance(way, list) and way and isinstance(way[-1], _ENDS)):
                ways.append(self.told)
        self.told = _common(ways)

    def _for(self, node: Any) -> None:
        self.visit(node.iter)
        self.told = {}
        if not any(map(self._may_pause, node.body)):
            self.loops.add(id(node))
        self._store(node.target)
        self.block(node.body)
        self.told = {}
        self.block(node.orelse)
        self.told = {}

    def _while(self, node: Any) -> None:
        """It ends after its test, unless something breaks out of it."""
        self.told = {}
        self.visit(node.test)
        tested = dict(self.told)
        self.block(node.body)
        has_break = any(isinstance(each, _ast.Break) for part in node.body for each in every(part))
        self.told = tested
        self.block(node.orelse)
        self.told = {} if has_break else self.told

    # Expressions.

    def visit(self, node: Any) -> None:
        self.expressions.get(type(node), self._pause)(node)

    def _nothing(self, node: Any) -> None:
        """Runs later, if at all."""

    def _parts(self, node: Any) -> None:
        for _, _, _, child, _ in slots(node):
            if isinstance(child, _ast.expr):
                self.visit(child)

    def _pause(self, node: Any) -> None:
        """Somebody else may run, or other code of the program."""
        if isinstance(node, COMPREHENSIONS):
            self.visit(node.generators[0].iter)
        else:
            self._parts(node)
        self.told = {}

    def _access(self, node: Any) -> None:
        self._parts(node)
        path = self._path(node)
        if path in self.told:
            self.nodes.add(id(node))
        elif path:
            self.told[path] = False

    def _call(self, node: Any) -> None:
        func = node.func
        if isinstance(func, _ast.Attribute) and func.attr in METHODS:
            self.visit(func.value)
        else:
            self.visit(func)
        for each in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(each)
        if not self._is_quiet(node):
            self.told = {}

    def _any_of(self, node: Any) -> None:
        """What comes after the first may not be evaluated."""
        self.visit(node.values[0])
        self._perhaps(node.values[1:])

    def _compare(self, node: Any) -> None:
        self.visit(node.left)
        self.visit(node.comparators[0])
        self._perhaps(node.comparators[1:])

    def _perhaps(self, nodes: list[Any]) -> None:
        for node in nodes:
            before = dict(self.told)
            self.visit(node)
            self.told = _common([before, self.told])

    def _walrus(self, node: Any) -> None:
        self.visit(node.value)
        self._note_store(node.target)

    # Paths.

    def _path(self, node: Any) -> Path:
        """Nothing, if it does not begin with a variable of this function's own."""
        steps: list[str] = []
        while not isinstance(node, _ast.Name):
            if isinstance(node, _ast.Attribute):
                steps.append(f".{self.scope.mangled(node.attr)}")
            elif isinstance(node, _ast.Subscript) and (key := self._key(node.slice)):
                steps.append(f"[{key}]")
            else:
                return ()
            node = node.value
        name = self._own(node.id)
        return (name, *reversed(steps)) if name else ()

    def _key(self, node: Any) -> str:
        if isinstance(node, _ast.Constant):
            return f"={node.value!r}"
        return self._own(node.id) if isinstance(node, _ast.Name) else ""

    def _own(self, name: str) -> str:
        name = self.scope.mangled(name)
        return name if self.scope.owner(name) is self.scope else ""

    # What may synchronise.

    def _is_quiet(self, node: Any) -> bool:
        func = node.func
        is_known = isinstance(func, _ast.Name) and func.id in _QUIET
        if not is_known or any(each.arg == "key" for each in node.keywords):
            return False
        return self.names.is_builtin(self.scope, func.id)

    def _may_pause(self, statement: AST) -> bool:
        return any(
            isinstance(node, _PAUSES) or (isinstance(node, _ast.Call) and not self._is_quiet(node))
            for node in every(statement)
        )


def _goes_through(path: Path, step: str, is_item: bool, is_name: bool) -> bool:
    """Does *path* lead elsewhere, now that what *step* stands for has another value?"""
    if is_name:
        return path[0] == step or f"[{step}]" in path
    inner = path[1:-1]
    return step in inner or (is_item and any(each.startswith("[") for each in inner))


def _common(ways: list[Told]) -> Told:
    """What is told on every way; written only if it is on all."""
    if not ways:
        return {}
    shared = set(ways[0]).intersection(*ways[1:])
    return {path: all(way[path] for way in ways) for path in shared}


def _opens(node: AST) -> bool:
    return isinstance(node, (*FUNCTIONS, _ast.ClassDef))
