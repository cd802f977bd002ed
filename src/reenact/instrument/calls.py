"""Calls: sites for what methods and functions of Python's own do to their operands.

Owns which calls have sites: methods of containers, bound or not; functions that read or write the
contents of their first argument; and `getattr` and its kin, by whatever name they are called. What
the program's own functions do, their bodies tell.
"""

from __future__ import annotations

import _ast

from reenact.instrument.containers import (
    CONSUMERS,
    ITERATING,
    KEYED,
    METHODS,
    changes_argument,
    consumed_by,
    reads_argument,
)
from reenact.instrument.places import last_place
from reenact.instrument.rewriting import METHOD_ONLY, Rewriting, has_plain_operands
from reenact.instrument.sites import ATTRIBUTE, CONTENTS, METHOD, NAMED, wrap, wrap_operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TYPES = ("list", "dict", "set", "bytearray", "deque", "OrderedDict", "defaultdict")

# Functions, and methods of every object, that access an attribute by its name.
_BY_NAME = {"getattr": "", "hasattr": "", "setattr": "w", "delattr": "wd"}
_BY_NAME |= {"__getattribute__": "", "__setattr__": "w", "__delattr__": "wd"}


class Calls(Rewriting):
    """The sites of calls."""

    def call(self, node: Any) -> None:
        func: Any = node.func
        is_attribute = isinstance(func, _ast.Attribute)
        if changes_argument(func) and self._is_of_module(func):
            self._argument(node, writes=True)
        elif reads_argument(func) and self._is_of_module(func):
            self._argument(node, "__iter__")
        elif is_attribute and func.attr in METHODS:
            self._method(node)
        elif is_attribute and func.attr in _BY_NAME:
            self._named_method(node)
        elif self.is_builtin(func, *_BY_NAME):
            self._named(node, _BY_NAME[func.id])
        elif self.is_builtin(func, *CONSUMERS):
            self._argument(node, consumed_by(func.id))
        elif is_attribute and not is_super(func.value) and self._is_method(func.attr):
            self.done.add(id(func))
            self.sites.leave_out(ATTRIBUTE, func, self.scope.mangled(func.attr), METHOD_ONLY)
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = self.contents(keyword.value, "keys")

    def _is_method(self, name: str) -> bool:
        """On trust: what is called is never replaced, unless the file itself does so."""
        return self.is_heuristic and name not in self.replaced

    def _is_of_module(self, func: Any) -> bool:
        """Is the name, or what it is an attribute of, an import's? A star could bring it, too."""
        name = func.id if isinstance(func, _ast.Name) else func.value.id
        return self.names.is_import(self.scope, name) or self.names.is_builtin(self.scope, name)

    # Methods of containers.

    def _method(self, node: Any) -> None:
        func = node.func
        self.done.add(id(func))
        is_unbound = self._is_type(func.value)
        if func.attr in ITERATING:
            self._iterate(node, int(is_unbound))
        if is_unbound:
            self._unbound(node)
        elif not self.is_left_out(METHOD, func, func.value, func.attr):
            self._bound(node)

    def _iterate(self, node: Any, first: int) -> None:
        for number, each in enumerate(node.args):
            if number >= first and not isinstance(each, _ast.Starred):
                node.args[number] = self.contents(each)

    def _bound(self, node: Any) -> None:
        func = node.func
        writes = METHODS[func.attr]
        last = self.last_operand(node)
        if last is None and func.attr in KEYED and has_plain_operands(node) and node.args:
            last = 0
        site = self.site(METHOD, func, func.attr, writes=writes, remembers=last is not None)
        func.value = wrap(site, func.value, last_place(func))
        if last is not None:
            site = self.site(METHOD, func, func.attr, writes=writes, depth=last + 1)
            wrap_operand(node, last, site)

    def _is_type(self, node: Any) -> bool:
        """`dict` in `dict.get(x, 1)`; not that of a class of the same name."""
        if not isinstance(node, _ast.Name) or node.id not in _TYPES:
            return False
        return self.names.is_builtin(self.scope, node.id) or self.names.is_import(
            self.scope, node.id
        )

    def _unbound(self, node: Any) -> None:
        attr = node.func.attr
        if not node.args or not has_plain_operands(node):
            return
        if self.is_left_out(METHOD, node.func, node.args[0], attr):
            return
        last = self.last_operand(node) or 0
        if attr in KEYED and len(node.args) > 1:
            last = max(last, 1)
        writes = METHODS[attr]
        site = self.site(METHOD, node.func, attr, writes=writes, is_unbound=True, depth=last)
        wrap_operand(node, last, site)

    # Functions.

    def _argument(self, node: Any, asks: str = "", writes: bool = False) -> None:
        """A function that reads or writes the contents of its first argument."""
        is_plain = node.args and not isinstance(node.args[0], _ast.Starred)
        if not is_plain or self.is_left_out(CONTENTS, node.args[0], node.args[0], asks):
            return
        last = self.last_operand(node) or 0
        site = self.site(CONTENTS, node.args[0], asks, writes=writes, depth=last)
        wrap_operand(node, last, site)

    # Attributes by name.

    def _named(self, node: Any, flags: str, **more: bool) -> None:
        """The object comes first, the name second."""
        if has_plain_operands(node) and len(node.args) > 1:
            last = max(self.last_operand(node) or 0, 1)
            self._wrap_named(node, flags, last, depth=last, **more)

    def _named_method(self, node: Any) -> None:
        """`object.__setattr__(x, name, value)`, and `super().__setattr__(name, value)`."""
        func = node.func
        flags = _BY_NAME[func.attr]
        if self.is_builtin(func.value, "object"):
            self.done.add(id(func))
            self._named(node, flags, is_raw=True)
        elif is_super(func.value) and has_plain_operands(node) and node.args:
            last = self.last_operand(node) or 0
            self._wrap_named(node, flags, last, depth=last + 1, is_raw=True, is_bound=True)

    def _wrap_named(self, node: Any, flags: str, last: int, **more: Any) -> None:
        """A name that stands there is told, so that it is known which one may be set."""
        writes, deletes = "w" in flags, "d" in flags
        value = getattr(node.args[0 if more.get("is_bound") else 1], "value", None)
        name = value if isinstance(value, str) and value.isidentifier() else ""
        site = self.site(NAMED, node, name, writes=writes, deletes=deletes, **more)
        wrap_operand(node, last, site)


def is_super(node: _ast.AST) -> bool:
    """`super().x` reads a class, and Python has instructions of its own for it."""
    return (
        isinstance(node, _ast.Call) and isinstance(node.func, _ast.Name) and node.func.id == "super"
    )
