"""Rewriting of accesses: what all parts of it share.

Owns the state of one rewriting and the questions that every part asks: can this hold a point, can
nobody else reach it, and how does a site go around a container. The parts: `accesses.py`,
`calls.py`.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.containers import is_nobodys
from reenact.instrument.places import last_place
from reenact.instrument.rewrite import DETECTOR, HEURISTIC
from reenact.instrument.scopes import viewed
from reenact.instrument.sites import (
    CONTENTS,
    MOST_OPERANDS,
    Sites,
    is_constant_name,
    operands,
    wrap,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from reenact.instrument.escapes import Escapes
    from reenact.instrument.likely import Likely
    from reenact.instrument.places import Place
    from reenact.instrument.scopes import Names, Scope


# Why something has no site.
STAYS = "the container never leaves its function"
ATOM = "it is a number, a text or the like"
UNKNOWN = "no other thread can have the new object yet"
CONSTANT = "it is never bound again once others can see it"
WRITTEN = "it is written right after, which tells the race detector as much"
BEFORE = "heuristic: it was told before"
METHOD_ONLY = "heuristic: a method that nobody replaces"
UNLIKELY = "heuristic: it is not used as a container"


class Rewriting:
    """One file that gets its sites."""

    def __init__(self, names: Names, likely: Likely, escapes: Escapes, manner: str) -> None:
        self.names = names
        self.likely = likely
        self.escapes = escapes
        self.is_alone = manner in (DETECTOR, HEURISTIC)  # for the race detector
        self.is_heuristic = manner == HEURISTIC
        self.replaced: set[str] = set()  # attributes that the file itself sets
        self.scope: Scope  # that of the node being looked at
        self.sites = Sites()
        self.site = self.sites.site
        self.done: set[int] = set()  # nodes whose own access an outer node has dealt with

    def is_trivial(self, node: Any) -> bool:
        """Can *node* hold no point, however it is evaluated?"""
        if isinstance(node, _ast.Name):
            return not self.names.variable(self.scope, self.scope.mangled(node.id))
        if isinstance(node, _ast.UnaryOp):
            return isinstance(node.operand, _ast.Constant)
        if isinstance(node, _ast.Tuple):
            return all(map(self.is_trivial, node.elts))
        if isinstance(node, _ast.Slice):
            return all(map(self.is_trivial, (node.lower, node.upper, node.step)))
        return node is None or isinstance(node, _ast.Constant)

    def is_unshared(self, node: AST) -> bool:
        """Is *node* a value, or the view of one, that no other thread can reach?"""
        return is_nobodys(node) or any(map(self._is_private, (node, *viewed(node))))

    def _is_private(self, node: AST) -> bool:
        return self.names.is_private(self.scope, node) or self.escapes.is_kept(node)

    def is_left_out(self, kind: str, node: Any, container: AST, name: str = "") -> bool:
        """Has an access to the contents of *container* no site, since nobody else can reach it?"""
        if is_nobodys(container):
            return True
        is_unshared = self.is_unshared(container)
        if is_unshared:
            why = ATOM if self.escapes.is_atom(container) else STAYS
            self.sites.leave_out(kind, node, name, why)
        return is_unshared

    def is_builtin(self, node: AST, *names: str) -> bool:
        """Is *node* one of these names, with the meaning that Python gives it?"""
        if not isinstance(node, _ast.Name) or node.id not in names:
            return False
        return self.names.is_builtin(self.scope, node.id)

    def last_operand(self, node: _ast.Call) -> int | None:
        """The last operand of a plain call that can hold a point."""
        if not has_plain_operands(node):
            return None
        return _last(not self.is_trivial(each) for each in operands(node))

    def contents(self, node: Any, asks: str = "__iter__", place: Place | None = None) -> Any:
        """*node* with a site around it; *asks* is the method by which its contents are asked for.

        Loops and tests go by the position of what they have."""
        if is_constant_name(node) or self.is_left_out(CONTENTS, node, node, asks):
            return node
        return wrap(self.site(CONTENTS, node, asks), node, place or last_place(node))


def has_plain_operands(node: Any) -> bool:
    """Do the operands of a call lie on the stack one by one?"""
    starred = any(isinstance(each, _ast.Starred) for each in node.args)
    packed = any(each.arg is None for each in node.keywords)
    return not starred and not packed and len(operands(node)) <= MOST_OPERANDS


def _last(flags: Iterable[bool]) -> int | None:
    numbers = [number for number, flag in enumerate(flags) if flag]
    return numbers[-1] if numbers else None
