"""Likely containers: which names of a file hold lists, dicts and the like, as its own code shows.

Owns the guess by which `==`, `<`, `+` and their kin have sites. Two numbers are compared far more
often than two containers, and a site at each would cost more than all others together. So an
operator has a site only if the file somewhere uses one of its operands like a container: makes it
of one, loops over it, indexes it, asks for its length or calls a method that containers have. Names
are taken as such, whatever they are attributes of, and wherever they stand. Works on the untouched
tree.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.containers import CONSUMERS, METHODS, VIEWS, is_fresh
from reenact.instrument.scopes import COMPREHENSIONS, slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAKERS = {"deque", "defaultdict", "OrderedDict", "Counter", "bytearray", "sorted"}
_OF_NUMBERS = {"str", "repr", "bool", "min", "max", "print"}  # these take anything
_OF_TEXT = {
    *("count", "index", "find", "rfind", "rindex", "split", "rsplit", "splitlines", "partition"),
    *("rpartition", "startswith", "endswith", "hex", "join", "replace", "strip", "lstrip"),
    *("rstrip", "lower", "upper", "title", "translate", "decode"),
}


class Likely:
    """The names in one file that stand for containers."""

    def __init__(self, tree: AST) -> None:
        self.names: set[str] = set()
        self._given: list[tuple[str, str]] = []  # who is given the value of whom
        pending: list[AST] = [tree]
        while pending:
            node = pending.pop()
            self._note(node)
            pending += [child for _, _, _, child, _ in slots(node)]
        self._pass_on()

    def holds(self, node: AST) -> bool:
        """Does *node* stand for a container?"""
        return is_fresh(node) or _name(node) in self.names

    def _note(self, node: Any) -> None:
        if isinstance(node, _ast.Assign):
            for target in node.targets:
                self._note_given(target, node.value)
        elif isinstance(node, (_ast.AnnAssign, _ast.NamedExpr)):
            self._note_given(node.target, node.value)
        elif isinstance(node, _ast.For):
            self._add(node.iter)
        elif isinstance(node, COMPREHENSIONS):
            self._add(*(each.iter for each in node.generators))
        elif isinstance(node, _ast.Subscript):
            self._add(node.value)
        elif isinstance(node, _ast.Call):
            self._note_call(node)

    def _note_call(self, node: Any) -> None:
        func = node.func
        if isinstance(func, _ast.Attribute) and func.attr in METHODS:
            if func.attr not in _OF_TEXT:
                self._add(func.value)
        elif isinstance(func, _ast.Name) and func.id in CONSUMERS and func.id not in _OF_NUMBERS:
            self._add(*node.args[:1])

    def _note_given(self, target: Any, value: Any) -> None:
        if isinstance(target, (_ast.Tuple, _ast.List)):
            values = value.elts if isinstance(value, (_ast.Tuple, _ast.List)) else ()
            for each, given in zip(target.elts, values, strict=False):
                self._note_given(each, given)
            return
        if is_fresh(value) or _is_made(value):
            self._add(target)
        self._given.append((_name(target), _name(value)))

    def _add(self, *nodes: AST) -> None:
        self.names.update(_name(node) for node in nodes)
        self.names.discard("")

    def _pass_on(self) -> None:
        before = -1
        while len(self.names) > before:
            before = len(self.names)
            self.names.update(name for name, given in self._given if given in self.names and name)


def _name(node: Any) -> str:
    """The name that *node* goes by; that of its dictionary, if it is a view."""
    if isinstance(node, _ast.Call) and isinstance(node.func, _ast.Attribute):
        return _name(node.func.value) if node.func.attr in VIEWS else ""
    if isinstance(node, _ast.Attribute):
        return str(node.attr)
    return str(node.id) if isinstance(node, _ast.Name) else ""


def _is_made(node: AST) -> bool:
    return isinstance(node, _ast.Call) and _name(node.func) in _MAKERS
