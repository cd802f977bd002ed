"""Nodes: all that a syntax tree consists of, one after another.

With a stack of its own, so that deep nesting does not use up Python's; and without the module
`ast`, which is not loaded where sources are rewritten.
"""

from __future__ import annotations

import _ast
from _ast import AST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def every(node: AST) -> Iterator[Any]:
    pending: list[AST] = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += children(each)


def children(node: AST) -> list[Any]:
    parts: list[Any] = []
    for field in node._fields:
        value = getattr(node, field, None)
        parts += value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, AST)]


def copied(node: Any) -> Any:
    if isinstance(node, list):
        return [copied(each) for each in node]
    if not isinstance(node, AST):
        return node
    fields = {name: copied(getattr(node, name)) for name in node._fields if hasattr(node, name)}
    places = {name: getattr(node, name) for name in node._attributes if hasattr(node, name)}
    return type(node)(**fields, **places)


def compares_identity(node: Any) -> bool:
    """Python warns of some of these, and would twice."""
    ops = node.ops if isinstance(node, _ast.Compare) else ()
    return any(isinstance(op, (_ast.Is, _ast.IsNot)) for op in ops) and not all(
        isinstance(each, (_ast.Name, _ast.Attribute))
        or (isinstance(each, _ast.Constant) and each.value is None)
        for each in (node.left, *node.comparators)
    )
