"""Creation: what a constructor does to its object before anyone else can have it.

Owns the analysis of `__init__` that leaves out sites. Until `self` is used for anything but setting
its attributes, and reading those that were just set, no other thread can reach the object. One site
at the start tells that it was created, and with which attributes: if the object was known to others
even so, because a class derived from this one passed it on before it called this `__init__`, or
because `__init__` is called once more, the detector takes note of all of them there.

A statement counts as a whole: if it lets `self` escape anywhere, nothing in it is left out, nor
after it. So does reading what was not set here, which may be a method, and what the class has a
property or the like for. A class with a `__new__` of its own may have given away anything.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.scopes import COMPREHENSIONS, FUNCTIONS, mangle, slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

CONSTRUCTORS = ("__init__", "__post_init__")
_REFLECTIVE = {"super", "locals", "vars", "eval", "exec", "dir"}
_SCOPES = (*FUNCTIONS, *COMPREHENSIONS, _ast.ClassDef)
_ROLES = {(_ast.Call, "func"): "called", (_ast.AugAssign, "target"): "augmented"}


class Creation:
    """A constructor: which accesses to its own object nobody can see."""

    def __init__(self, cls: _ast.ClassDef, function: _ast.FunctionDef) -> None:
        self.unseen: set[int] = set()  # by the identity of the attribute's node
        self.names: dict[str, None] = {}  # those that are set in them, mangled
        self.leaks_early = False  # before a constructor of a base is called
        self._class = cls
        self._own = _bound_in(cls)
        positional = [*function.args.posonlyargs, *function.args.args]
        self.object = positional[0].arg if positional else ""
        if self.object and not function.decorator_list and "__new__" not in self._own:
            self._look(function.body)

    def _look(self, body: list[_ast.stmt]) -> None:
        for number, statement in enumerate(body):
            found = self._attributes(statement)
            if found is None:
                self.leaks_early = _leaks_early(body[number:], self.object)
                return
            self.unseen.update(id(node) for node in found)

    def _attributes(self, statement: _ast.stmt) -> list[Any] | None:
        """The accesses to attributes of the object; None if it could escape."""
        found, uses = [], 0
        for node, role in _inside(statement):
            if isinstance(node, _SCOPES) and _uses(node, self.object):
                return None
            if isinstance(node, _ast.Name) and node.id in _REFLECTIVE:
                return None
            uses += isinstance(node, _ast.Name) and node.id == self.object
            if isinstance(node, _ast.Attribute) and self._is_object(node.value):
                if role == "called" or node.attr in self._own:
                    return None
                found.append((node, role))
        is_safe = uses == len(found) and self._are_known(found)
        return [node for node, _ in found] if is_safe else None

    def _is_object(self, node: AST) -> bool:
        return isinstance(node, _ast.Name) and node.id == self.object

    def _are_known(self, found: list[tuple[Any, str]]) -> bool:
        """Was everything that is read set before? What this statement sets comes too late."""
        names = [mangle(node.attr, self._class.name) for node, _ in found]
        for name, (node, role) in zip(names, found, strict=True):
            is_read = isinstance(node.ctx, _ast.Load) or role == "augmented"
            if is_read and name not in self.names:
                return False
        self.names.update(dict.fromkeys(names))
        return True


def creations(tree: AST) -> dict[int, Creation]:
    """Every constructor in *tree*, by the identity of its node."""
    found: dict[int, Creation] = {}
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        for _, _, _, child, _ in slots(node):
            is_function = isinstance(node, _ast.ClassDef) and isinstance(child, _ast.FunctionDef)
            if is_function and child.name in CONSTRUCTORS:
                found[id(child)] = Creation(node, child)
            pending.append(child)
    return found


def _inside(statement: AST) -> Iterator[tuple[Any, str]]:
    """Every node of *statement*, and what it is to the one around; of scopes only the outside."""
    pending: list[tuple[Any, str]] = [(statement, "")]
    while pending:
        node, role = pending.pop()
        yield node, role
        if isinstance(node, _SCOPES):
            continue
        for _, field, _, child, _ in slots(node):
            pending.append((child, _ROLES.get((type(node), field), "")))


def _uses(scope: AST, name: str) -> bool:
    pending: list[AST] = [scope]
    while pending:
        node = pending.pop()
        if isinstance(node, _ast.Name) and node.id in (name, *_REFLECTIVE):
            return True
        pending += [child for _, _, _, child, _ in slots(node)]
    return False


def _leaks_early(rest: list[_ast.stmt], name: str) -> bool:
    """May the object escape before a constructor of a base gets it?"""
    is_passed_on = False
    for statement in rest:
        calls = _delegates(statement)
        if calls and (is_passed_on or not _is_delegation(statement)):
            return True
        is_passed_on = is_passed_on or calls or _uses(statement, name)
    return False


def _delegates(statement: AST) -> bool:
    return any(_is_constructor_call(node) for node, _ in _inside(statement))


def _is_delegation(statement: Any) -> bool:
    return isinstance(statement, _ast.Expr) and _is_constructor_call(statement.value)


def _is_constructor_call(node: Any) -> bool:
    if not isinstance(node, _ast.Call) or not isinstance(node.func, _ast.Attribute):
        return False
    return node.func.attr in CONSTRUCTORS


def _bound_in(cls: _ast.ClassDef) -> set[str]:
    """Names in the class that may stand for more than a value: properties, methods, descriptors."""
    names = set()
    for node in cls.body:
        if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, _ast.Assign) and not isinstance(node.value, _ast.Constant):
            names.update(each.id for each in node.targets if isinstance(each, _ast.Name))
        elif isinstance(node, _ast.AnnAssign) and isinstance(node.target, _ast.Name):
            if node.value is not None and not isinstance(node.value, _ast.Constant):
                names.add(node.target.id)
        elif not isinstance(node, (_ast.Expr, _ast.Pass, _ast.AnnAssign, _ast.Assign)):
            names |= _stored(node)
    return names


def _stored(statement: AST) -> set[str]:
    """Names that some other statement of a class body could bind."""
    nodes = [node for node, _ in _inside(statement)]
    named = {getattr(node, "name", None) for node in nodes}
    stored = {node.id for node in nodes if isinstance(node, _ast.Name)}
    return stored | {name for name in named if isinstance(name, str)}
