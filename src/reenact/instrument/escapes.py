"""Escapes: which containers never leave the activation of the function that made them.

Owns the walk over a function that tells `flows.py` what is put where. Nobody else can reach an
object that is only bound to local variables, put into others like it, and used by operations of
Python's own that keep nothing; so accesses to it need no site. To return it is no escape: all that
the function does with it comes before. The order of statements is not looked at.

Strict about who may see an object: an operator with an unknown operand may hand it on (`__radd__`),
and so may a comparison of its items with unknown ones. Taken on trust: that `[x] * n` makes a list
whatever *n* is; that names nobody in the file binds are Python's own, and modules what they are
called; that frames and the garbage collector are not asked for objects. Left alone: generators and
coroutines, functions that name `locals`, `eval` and the like, and expressions nested very deeply,
since this walk, unlike the others, is recursive.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.around import Around
from reenact.instrument.called import Called
from reenact.instrument.flows import HASHED, has_escaped, items_of
from reenact.instrument.nodes import every
from reenact.instrument.scopes import slots
from reenact.instrument.values import SCOPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from reenact.instrument.flows import Value
    from reenact.instrument.scopes import Names

_MOST_PASSES = 20
_DEEPEST = 60
_REFLECTIVE = {"locals", "vars", "exec", "eval", "dir", "globals", "_getframe", "currentframe"}
_ATOMIC = {"int", "float", "complex", "bool", "str", "bytes"}
_LEFT_ALONE = (_ast.Yield, _ast.YieldFrom, _ast.Await)


class Escapes:
    """What is kept to itself by each function of a file."""

    def __init__(self, tree: AST, names: Names, is_heuristic: bool = False) -> None:
        self._kept: dict[int, bool] = {}  # by the identity of the node: does it stand for objects?
        around = Around(tree, names, is_heuristic)
        for node in around.functions:
            if _is_simple(node):
                self._look_into(node, around)

    def is_kept(self, node: AST) -> bool:
        """Is all that *node* may stand for out of reach for others?"""
        return id(node) in self._kept

    def is_atom(self, node: AST) -> bool:
        """Can it be nothing but a number, a text or the like?"""
        return self._kept.get(id(node)) is False

    def _look_into(self, node: Any, around: Around) -> None:
        walk = _Walk(around, node)
        try:
            is_finished = walk.repeat(node)
        except RecursionError:  # whoever imports the file left too little of the stack
            return
        for key, value in walk.flows.values.items() if is_finished else ():
            if not has_escaped(value):
                self._kept[key] = bool(value)


class _Walk(Called):
    """Goes over one function, once for each pass."""

    def __init__(self, around: Around, node: Any) -> None:
        super().__init__(around, node)
        self.statements = {
            _ast.Assign: self._assign,
            _ast.AnnAssign: self._annotated,
            _ast.AugAssign: self._augmented,
            _ast.For: self._for,
            _ast.Return: self._value_only,
            _ast.Expr: self._value_only,
            _ast.If: self._test_only,
            _ast.While: self._test_only,
            _ast.Assert: self._assert,
            _ast.Delete: self._delete,
            _ast.With: self._with,
            _ast.Try: self._nothing,
            _ast.TryStar: self._nothing,
            _ast.ExceptHandler: self._binding,
            _ast.Import: self._binding,
            _ast.ImportFrom: self._binding,
            _ast.Match: self._match,
            _ast.match_case: self._case,
            _ast.Pass: self._nothing,
            _ast.Break: self._nothing,
            _ast.Continue: self._nothing,
            _ast.Global: self._nothing,
            _ast.Nonlocal: self._nothing,
        }

    def repeat(self, node: Any) -> bool:
        """Go over the function until nothing is new; False if that takes too long."""
        for _ in range(_MOST_PASSES):
            self.flows.has_changed = False
            self._function(node)
            if not self.flows.has_changed:
                return True
        return False

    def _function(self, node: Any) -> None:
        arguments = node.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self._bind(each.arg, set() if self._is_trusted(each.annotation) else self.elsewhere)
        if arguments.vararg is not None:
            self._bind(arguments.vararg.arg, self.flows.thing(arguments.vararg, self.elsewhere))
        if arguments.kwarg is not None:
            made = self.flows.thing(arguments.kwarg, self.elsewhere, kind=HASHED)
            self._bind(arguments.kwarg.arg, made)
        pending = list(reversed(node.body))
        while pending:
            statement = pending.pop()
            self.statements.get(type(statement), self._unknown)(statement)
            if not isinstance(statement, SCOPES):
                for field in ("finalbody", "orelse", "cases", "handlers", "body"):
                    pending += reversed(getattr(statement, field, ()))

    def _nothing(self, node: Any) -> None:
        """Holds no expression of its own."""

    def _unknown(self, node: Any) -> None:
        """All that stands in it may go anywhere."""
        self._escape_parts(node)
        if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            self._bind(node.name, self.elsewhere)

    def _assign(self, node: Any) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._assign_to(target, node.value, value)

    def _assign_to(self, target: Any, node: Any, value: Value) -> None:
        """`a, b = b, a` mixes up nothing."""
        if not _are_alike(target, node):
            self._set(target, value)
            return
        for each, given in zip(target.elts, node.elts, strict=True):
            self._assign_to(each, given, self.value(given))

    def _annotated(self, node: Any) -> None:
        if node.value is not None:
            value = self.value(node.value)
            self._set(node.target, set() if self._is_trusted(node.annotation) else value)

    def _is_trusted(self, annotation: Any) -> bool:
        """On trust: what is said to be a number or a text is one."""
        is_named = isinstance(annotation, _ast.Name) and annotation.id in _ATOMIC
        return self.around.is_heuristic and is_named

    def _augmented(self, node: Any) -> None:
        target, given = node.target, self.value(node.value)
        if isinstance(target, _ast.Name):
            before = self._name(target)
        elif isinstance(target, _ast.Subscript):
            before = self._item(target)
        else:
            self._set(target, given)
            return
        self._note(target, before)
        self._set(target, before | self._operate(node, before, given))
        added = items_of(given) | items_of(items_of(given))  # a dict takes pairs
        self.flows.store({each for each in before if not each.has_escaped}, added)

    def _for(self, node: Any) -> None:
        self._turn(node.target, node.iter)

    def _value_only(self, node: Any) -> None:
        if node.value is not None:
            self.value(node.value)

    def _test_only(self, node: Any) -> None:
        self.value(node.test)

    def _assert(self, node: Any) -> None:
        self.value(node.test)
        if node.msg is not None:
            self.flows.escape(self.value(node.msg))

    def _delete(self, node: Any) -> None:
        for target in node.targets:
            if isinstance(target, _ast.Subscript):
                self._item(target)
            elif not isinstance(target, _ast.Name):
                self._escape_parts(target)

    def _with(self, node: Any) -> None:
        for each in node.items:
            self.flows.escape(self.value(each.context_expr))
            if each.optional_vars is not None:
                self._set(each.optional_vars, self.elsewhere)

    def _binding(self, node: Any) -> None:
        if isinstance(node, _ast.ExceptHandler):
            names = [node.name] if node.name else []
            self._escape_parts(node)
        else:
            names = [each.asname or each.name.partition(".")[0] for each in node.names]
        for name in names:
            self._bind(name, self.elsewhere)

    def _match(self, node: Any) -> None:
        self.flows.escape(self.value(node.subject))

    def _case(self, node: Any) -> None:
        if node.guard is not None:
            self.value(node.guard)
        for each in every(node.pattern):
            for name in (getattr(each, "name", None), getattr(each, "rest", None)):
                if isinstance(name, str):
                    self._bind(name, self.elsewhere)


def _is_simple(function: AST) -> bool:
    """Is it a plain function, with nothing in it that could look at its variables by name?"""
    pending: list[tuple[Any, int]] = [(function, 0)]
    while pending:
        node, depth = pending.pop()
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if depth > _DEEPEST or isinstance(node, _LEFT_ALONE) or name in _REFLECTIVE:
            return False
        is_inner = node is not function and isinstance(node, SCOPES)
        for _, _, _, child, is_outside in slots(node):
            if is_outside or not is_inner:  # what inner functions use counts as captured
                pending.append((child, 0 if isinstance(child, _ast.stmt) else depth + 1))
    return True


def _are_alike(target: Any, node: Any) -> bool:
    """Two displays whose elements go with one another?"""
    if not isinstance(target, (_ast.Tuple, _ast.List)) or not isinstance(node, _ast.Tuple):
        return False
    has_star = any(isinstance(each, _ast.Starred) for each in (*target.elts, *node.elts))
    return not has_star and len(target.elts) == len(node.elts)
