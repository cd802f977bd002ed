"""Sites: what stands in the rewritten source for the note that an access is about to happen.

Owns the placeholder that says all about a site, which `_core/access.c` reads, and the expressions
that a site can stand in. Where sites stand is decided by `accesses.py`.
"""

from __future__ import annotations

import _ast

from reenact.instrument.places import first_place, last_place, spot
from reenact.instrument.rewrite import position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from reenact.instrument.places import Place

    # Kind, line, column, name, and whether it writes.
    Made = tuple[str, int, int, str, bool]
    # What has no site: kind, line, column, name, and why.
    Cut = tuple[str, int, int, str, str]

PREFIX = "\0reenact access\0"

# Letters of kinds; `_core/core.h` has them in this order.
ATTRIBUTE, ITEM, CONTENTS, GLOBAL, CLOSURE, METHOD, TURN, MEMBER, NAMED, BOTH, CREATED = (
    "aicgvmtexon"
)
MOST_OPERANDS = 12  # of a call: Python keeps so many on its stack one by one
_SUBSCRIPTED = (_ast.Name, _ast.Attribute, _ast.Call)  # what no version folds or warns about


class Sites:
    """Makes the placeholders of one file, and knows what was made and what was not."""

    def __init__(self) -> None:
        self.count = 0
        self.made: list[Made] = []
        self.cut: list[Cut] = []

    def site(
        self,
        kind: str,
        node: Any,
        name: str = "",
        *,
        writes: bool = False,
        remembers: bool = False,
        augments: bool = False,
        commutes: bool = False,
        deletes: bool = False,
        is_unbound: bool = False,
        is_bound: bool = False,
        is_raw: bool = False,
        depth: int = 0,
        pair: int = 0,
    ) -> str:
        """A placeholder for an access to *node*; its fields are told in `_core/core.h`."""
        self.count += 1  # every placeholder is another constant
        flags = "-" + "w" * writes + "r" * remembers + "a" * augments + "c" * commutes
        flags += "d" * deletes + "u" * is_unbound + "b" * is_bound + "p" * is_raw
        line, column = spot(node)
        if not remembers:  # the other site of the same call is the one that counts
            self.made.append((kind, line, column, name, writes))
        numbers = f"{depth} {pair} {line} {column} {self.count}"
        return f"{PREFIX}{kind} {flags} {numbers} {name}"

    def leave_out(self, kind: str, node: Any, name: str, why: str) -> None:
        """Remember what has no site."""
        self.cut.append((kind, *spot(node), name, why))


def is_site(value: object) -> bool:
    return isinstance(value, str) and value.startswith(PREFIX)


def with_tick(site: str) -> str:
    """The same site, or guard, which is a tick as well."""
    return _flagged(site, "t")


def quiet(site: str) -> str:
    """The same site, which is no point."""
    return _flagged(site, "q")


def _flagged(site: str, flag: str) -> str:
    kind, flags, rest = site[len(PREFIX) :].split(" ", 2)
    return f"{PREFIX}{kind} {flags}{flag} {rest}"


def wrap(site: str, operand: Any, place: Place) -> Any:
    """*operand*, with *site* around it that stands at *place* once it is evaluated."""
    constant = _ast.Constant(site, None, **first_place(operand))
    if _is_computed(operand) or isinstance(operand, _ast.Slice) or _is_index_only(operand):
        return _ast.Subscript(constant, operand, _ast.Load(), **place)
    return _ast.BinOp(constant, _ast.MatMult(), operand, **place)


def _is_computed(node: Any) -> bool:
    """Does *node* stay what it is, whatever the compiler does with constants? Then a subscript
    does, which is quicker than an operator."""
    while isinstance(node, (_ast.BinOp, _ast.Subscript)):
        if isinstance(node, _ast.Subscript):
            node = node.value
        elif isinstance(node.op, _ast.Mod):
            return False  # formatting
        else:
            node = node.right if isinstance(node.left, _ast.Constant) else node.left
    return isinstance(node, _SUBSCRIPTED) and not is_constant_name(node)


def operands(call: _ast.Call) -> list[Any]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def wrap_operand(call: Any, number: int, site: str) -> None:
    """Wrap the operand of a plain call; those after it are trivial."""
    every = operands(call)
    is_last = number == len(every) - 1
    place = last_place(call) if is_last else position(every[number + 1])
    wrapped = wrap(site, every[number], place)
    if number < len(call.args):
        call.args[number] = wrapped
    else:
        call.keywords[number - len(call.args)].value = wrapped


def is_constant_name(node: _ast.AST) -> bool:
    return isinstance(node, _ast.Name) and node.id == "__debug__"


def _is_index_only(index: _ast.AST) -> bool:
    """A tuple that can stand in brackets alone."""
    return isinstance(index, _ast.Tuple) and any(isinstance(e, _ast.Slice) for e in index.elts)
