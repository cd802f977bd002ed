"""Cold code: has sites only until a thread has run it often enough.

Owns the two versions of what a function or a loop does: one with sites, and one with none but the
ticks of its loops. `if -COLD: without else: with` stands in the place of the tick, and is one;
which of the two is run, the thread's own past decides (`_core/cold.c`), so that a replay runs the
same. Races are mostly in code that is seldom run (LiteRace: Marino and others, PLDI 2009), and what
costs is code that is run all the time.

A body that defines functions or classes is not split, since these would be there twice; its loops
may be. What loops over no block of its own, such as a comprehension, is a part of what is around
it. Where others look at a replay, both versions have sites: those of the second are no points.
"""

from __future__ import annotations

import _ast
from _ast import AST

from reenact.instrument.nodes import children, compares_identity, copied, every
from reenact.instrument.rewrite import COLD, FUNCTIONS, TICKED, is_tick, position
from reenact.instrument.sites import PREFIX, is_site, quiet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from reenact.instrument.places import Place

GUARD = "h"  # letter of a kind, as in `sites.py`
_DECLARATIONS = (_ast.Global, _ast.Nonlocal)
_UNFIT = (*FUNCTIONS, _ast.ClassDef, *_DECLARATIONS)


class Cold:
    """The bodies of a file that are to be split: found before it gets its sites, split after."""

    def __init__(self, tree: AST, manner: str) -> None:
        self.is_looked_at = manner != COLD
        self.bodies: list[tuple[list[Any], list[Any]]] = []  # and what each was without sites
        pending: list[Any] = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, FUNCTIONS):
                _declare_first(node)
            if isinstance(node, TICKED) and _is_fit(node):
                rest = node.body[_place_of_tick(node.body) + 1 :]
                self.bodies.append((node.body, [] if self.is_looked_at else copied(rest)))
            pending += children(node)

    def split(self) -> None:
        """After all sites were put in; from the outside in, so that a copy has no guards."""
        for number, (body, without) in enumerate(self.bodies, 1):
            at = _place_of_tick(body)
            rest = body[at + 1 :]
            if any(map(_has_sites, rest)):
                other = _made_quiet(copied(rest)) if self.is_looked_at else without
                place = position(body[at])
                body[at:] = [_ast.If(_guard(number, place), other, rest, **place)]


def _place_of_tick(body: list[Any]) -> int:
    return next(number for number, each in enumerate(body) if is_tick(each))


def _is_fit(node: Any) -> bool:
    rest = node.body[_place_of_tick(node.body) + 1 :]
    nodes = (each for statement in rest for each in every(statement))
    return bool(rest) and not any(map(_is_unfit, nodes))


def _is_unfit(node: AST) -> bool:
    return isinstance(node, _UNFIT) or compares_identity(node)


def _declare_first(function: Any) -> None:
    """A declaration must come before all that it is about, in either version."""
    found = list(_taken_out(function.body))
    at = _place_of_tick(function.body)
    function.body[at:at] = found


def _taken_out(body: list[Any]) -> Iterator[Any]:
    found = [each for each in body if isinstance(each, _DECLARATIONS)]
    if found:
        rest = [each for each in body if not isinstance(each, _DECLARATIONS)]
        body[:] = rest or [_ast.Pass(**position(found[0]))]
        yield from found
    for statement in body:
        if not isinstance(statement, (*FUNCTIONS, _ast.ClassDef)):
            for block in _blocks_of(statement):
                yield from _taken_out(block)


def _blocks_of(node: Any) -> Iterator[list[Any]]:
    for field in ("body", "orelse", "finalbody"):
        if isinstance(block := getattr(node, field, None), list):
            yield block
    for field in ("handlers", "cases"):
        for part in getattr(node, field, ()):
            yield part.body


def _guard(number: int, place: Place) -> Any:
    spec = f"{PREFIX}{GUARD} - 0 {number} 0 0 0 "
    return _ast.UnaryOp(_ast.USub(), _ast.Constant(spec, None, **place), **place)


def _has_sites(statement: Any) -> bool:
    return any(isinstance(each, _ast.Constant) and is_site(each.value) for each in every(statement))


def _made_quiet(body: list[Any]) -> list[Any]:
    for statement in body:
        for node in every(statement):
            if isinstance(node, _ast.Constant) and is_site(node.value):
                node.value = quiet(str(node.value))
    return body
