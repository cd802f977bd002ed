"""Nodes: all that a syntax tree consists of, one after another.

With a stack of its own, so that deep nesting does not use up Python's; and without the module
`ast`, which is not loaded where sources are rewritten.
"""

from __future__ import annotations

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
