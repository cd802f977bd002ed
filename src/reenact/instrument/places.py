"""Places: which position in the source a site bears.

Owns the rule that what `accesses.py` puts in bears the position of the instruction it precedes, so
that line events, tracebacks and coverage stay those of the untouched program.
"""

from __future__ import annotations

import _ast

from reenact.instrument.rewrite import first_evaluated, position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Place = dict[str, int]


def first_place(node: Any) -> Place:
    """Where the first instruction of *node* stands."""
    return position(first_evaluated(node))


def last_place(node: Any) -> Place:
    """Where the last instruction of *node* stands: that of an attribute on the attribute's line."""
    place = position(node)
    attribute = node.func if isinstance(node, _ast.Call) else node
    if isinstance(attribute, _ast.Attribute) and attribute.lineno != attribute.end_lineno:
        end = position(attribute)
        place["lineno"] = end["end_lineno"]
        place["col_offset"] = max(0, end["end_col_offset"] - len(attribute.attr))
    return place


def spot(node: Any) -> tuple[int, int]:
    """Line and column that tell an access from others: `a.b` and `a.b.c` begin alike."""
    if isinstance(node, _ast.Attribute):
        place = position(node)
        return place["end_lineno"], max(0, place["end_col_offset"] - len(node.attr))
    if isinstance(node, _ast.Subscript):
        return position(node.value)["end_lineno"], position(node.value)["end_col_offset"]
    return node.lineno, node.col_offset


def before(site: str, place: Place) -> _ast.Expr:
    """The statement that is nothing but a site."""
    constant = _ast.Constant(site, None, **place)
    return _ast.Expr(_ast.UnaryOp(_ast.USub(), constant, **place), **place)
