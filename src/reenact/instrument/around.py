"""Around: what has to be known of a file before its functions are looked into for escapes.

Owns what names of functions mean, which globals are numbers or texts, which variables are used by
code that runs at another time, and which generators are used up where they stand.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.nodes import every
from reenact.instrument.scopes import COMPREHENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from reenact.instrument.scopes import Names, Scope

    Variable = tuple[int, str]

# Functions of Python's own that keep nothing of their arguments.
TO_ATOMS = {"len", "bool", "any", "all", "str", "repr", "ascii", "print"}
TO_ATOMS |= {"int", "float", "ord", "chr", "hash", "id", "range", "bytes"}
TO_SEQUENCES = {"list", "tuple", "bytearray", "sorted", "collections.deque"}
TO_SETS = {"set", "frozenset"}
OF_HEAPS = {f"heapq.{name}" for name in ("heappush", "heappop", "heapify", "heappushpop")}
OF_HEAPS.add("heapq.heapreplace")
_CONSUMING = TO_ATOMS | TO_SEQUENCES | TO_SETS | {"dict", "sum", "min", "max"}


class Around:
    """What one file tells of its names. With *is_heuristic*, operators neither hand on their
    operands nor give what others have."""

    def __init__(self, tree: AST, names: Names, is_heuristic: bool) -> None:
        self.names = names
        self.is_heuristic = is_heuristic
        self.in_place: set[int] = set()  # generator expressions that are used up where they stand
        self.origins: dict[str, str] = {}  # what is imported, by the name it has here
        self.atoms: set[str] = set()  # globals that are numbers, texts or the like
        self.functions = self._look_around(tree)
        self.captured = set(self._captures())

    def dotted(self, func: Any, scope: Scope) -> str:
        """The full name of a function of Python's own or of a module, or nothing."""
        if isinstance(func, _ast.Attribute) and isinstance(func.value, _ast.Name):
            module = self._origin(func.value.id, scope)
            return f"{module}.{func.attr}" if module else ""
        if not isinstance(func, _ast.Name):
            return ""
        if self.names.is_builtin(scope, func.id):
            return func.id if "*" not in self.origins else ""
        return self._origin(func.id, scope)

    def _origin(self, name: str, scope: Scope) -> str:
        is_import = self.names.is_import(scope, name)
        return self.origins.get(name, "") if is_import else ""

    def _look_around(self, tree: AST) -> list[Any]:
        functions: list[Any] = []
        module = self.names.scopes[id(tree)]
        for node in every(tree):
            if isinstance(node, _ast.FunctionDef):
                functions.append(node)
            elif isinstance(node, (_ast.Import, _ast.ImportFrom)):
                self._note_import(node)
            elif isinstance(node, _ast.Call):
                self._note_consumer(node)
        for node in getattr(tree, "body", ()):
            self._note_constant(node, module)
        return functions

    def _note_import(self, node: Any) -> None:
        module = getattr(node, "module", None)
        for each in node.names:
            name = each.asname or each.name
            origin = f"{module}.{each.name}" if isinstance(node, _ast.ImportFrom) else each.name
            is_known = self.origins.get(name, origin) == origin and not getattr(node, "level", 0)
            self.origins[name] = origin if is_known else "?"

    def _note_consumer(self, node: _ast.Call) -> None:
        """`sum(f(x) for x in xs)`, and `"".join(...)`: the generator has ended when they return."""
        func = node.func
        if len(node.args) != 1 or not isinstance(node.args[0], _ast.GeneratorExp):
            return
        is_join = isinstance(func, _ast.Attribute) and isinstance(func.value, _ast.Constant)
        name = func.id if isinstance(func, _ast.Name) else ""
        is_known = any(
            self.names.is_builtin(scope, name)
            for scope in [self.names.scopes[id(node.args[0])]]
            if name in _CONSUMING
        )
        if is_known or (is_join and getattr(func, "attr", "") == "join"):
            self.in_place.add(id(node.args[0]))

    def _note_constant(self, node: Any, module: Scope) -> None:
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        value = getattr(node, "value", None)
        if len(targets) != 1 or not isinstance(targets[0], _ast.Name) or not _is_atom(value):
            return
        name = targets[0].id
        if module.bindings.get(name) == 1 and name not in module.shared | module.rebound:
            self.atoms.add(name)

    def _captures(self) -> Iterator[Variable]:
        """Variables that code uses which may run at another time."""
        for scope in self.names.scopes.values():
            for name in scope.used | scope.nonlocals | set(scope.bindings):
                owner = scope.owner(name)
                if owner.parent is not None and not self._runs_in(scope, owner):
                    yield id(owner), name

    def _runs_in(self, scope: Scope, owner: Scope) -> bool:
        while scope is not owner and scope.parent is not None:
            node = scope.node
            is_lazy = isinstance(node, _ast.GeneratorExp) and id(node) not in self.in_place
            if is_lazy or not isinstance(node, COMPREHENSIONS):
                return False
            scope = scope.parent
        return scope is owner


def _is_atom(node: Any) -> bool:
    if isinstance(node, _ast.BinOp):
        return _is_atom(node.left) and _is_atom(node.right)
    if isinstance(node, _ast.UnaryOp):
        return _is_atom(node.operand)
    return isinstance(node, _ast.Constant)
