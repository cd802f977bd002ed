"""Does a race matter with the GIL, or only where threads run at the same time?

With the GIL every access is one step, and so are several that the interpreter does not switch
between (`explore/checks.py` has where it can, `docs/design.md` how that was found out). Of two
steps that nothing orders either may come first: a race is *reachable with the GIL* wherever that
makes a difference. It makes none if both steps are updates that can change places, such as two
`x += 1`, each with its read and its write in one step. Such a race is *free-threaded only*.

What is looked at is the source. A property or an operator of a class that is written in Python can
be switched in, and is not seen here.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from reenact.analysis.findings import Access, Label
from reenact.analysis.sources import Sources
from reenact.instrument.places import spot

# Operators that can change places with themselves and each other.
_GROUPS: dict[type[ast.operator], str] = {
    ast.Add: "sum",
    ast.Sub: "sum",
    ast.Mult: "product",
    ast.BitOr: "or",
    ast.BitAnd: "and",
    ast.BitXor: "xor",
}
_COMMUTING = (ast.Add, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor)
_SWITCHING = (
    *(ast.Call, ast.Await, ast.Yield, ast.YieldFrom),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_SEQUENCES = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)


@dataclass(frozen=True, slots=True)
class _Update:
    """`target = target op operand`, however it is written."""

    operator: ast.operator
    operand: ast.expr
    between: tuple[ast.expr, ...]  # what is evaluated between the read and the write
    spots: tuple[tuple[int, int], ...]


def label_of(first: Access, second: Access, sources: Sources) -> Label:
    groups = set()
    for access in (first, second):
        if not sources.has_tree(access.place.file):
            return "unknown"
        update = _update_at(access, sources)
        if update is None or not is_one_step(update):
            return "reachable with the GIL"
        groups.add(_group(update))
    is_same = len(groups) == 1 and "" not in groups
    return "free-threaded only" if is_same else "reachable with the GIL"


def is_one_step(update: _Update) -> bool:
    inside = (node for part in update.between for node in ast.walk(part))
    return not any(isinstance(node, _SWITCHING) for node in inside)


def _group(update: _Update) -> str:
    """ "" if it matters which of two such updates comes first: joining texts, say."""
    is_text = isinstance(update.operand, ast.Constant) and isinstance(
        update.operand.value, (str, bytes)
    )
    if is_text or isinstance(update.operand, _SEQUENCES):
        return ""
    return _GROUPS.get(type(update.operator), "")


def _update_at(access: Access, sources: Sources) -> _Update | None:
    """The update whose read or write the access is."""
    statement = sources.statement(access.place.file, access.line)
    update = None
    if isinstance(statement, ast.AugAssign):
        target, value = statement.target, statement.value
        update = _Update(statement.op, value, (value,), (_spot(target),))
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        update = _written_out(statement.targets[0], statement.value)
    is_meant = update is not None and (access.line, access.column) in update.spots
    return update if is_meant else None


def _written_out(target: ast.expr, value: ast.expr) -> _Update | None:
    """`x = x + 1`, which reads and writes like `x += 1`; the target is evaluated in between."""
    if not isinstance(value, ast.BinOp):
        return None
    sides = [(value.left, value.right)]
    if isinstance(value.op, _COMMUTING):
        sides.append((value.right, value.left))
    for same, operand in sides:
        if ast.unparse(same) == ast.unparse(target):
            return _Update(value.op, operand, (operand, target), (_spot(same), _spot(target)))
    return None


def _spot(node: Any) -> tuple[int, int]:
    return spot(node)
