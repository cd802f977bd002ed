"""Which instructions of the program read or write something that threads may share.

For looking for races in a copy of the program whose code has no sites of accesses: the race
detector is told of instructions instead (`_core/trace.c`). Attributes, items, globals and
variables of closures are seen; what methods of containers do to them is not.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from reenact import _core
from reenact.debug.frames import outside
from reenact.debug.operands import depths
from reenact.instrument.sites import PREFIX

Row = tuple[Any, ...]

# The letter of the site's kind, and whether it writes.
_KINDS = {
    "LOAD_ATTR": ("a", False),
    "LOAD_METHOD": ("a", False),
    "STORE_ATTR": ("a", True),
    "DELETE_ATTR": ("a", True),
    "BINARY_SUBSCR": ("i", False),
    "STORE_SUBSCR": ("i", True),
    "DELETE_SUBSCR": ("i", True),
    "LOAD_GLOBAL": ("g", False),
    "STORE_GLOBAL": ("g", True),
    "DELETE_GLOBAL": ("g", True),
    "LOAD_DEREF": ("v", False),
    "STORE_DEREF": ("v", True),
    "DELETE_DEREF": ("v", True),
}


def row(code: CodeType) -> Row | None:
    """For each instruction None, or its site and how high the stack is there."""
    if code.co_filename.startswith(outside()):
        return None
    heights = depths(code)
    found: list[tuple[Any, int] | None] = [None] * (len(code.co_code) // 2)
    for each in dis.get_instructions(code):
        kind = _KINDS.get(each.opname)
        if kind is not None and each.offset in heights:
            found[each.offset // 2] = (_site(kind, each), heights[each.offset])
    return tuple(found) if any(found) else None


def _site(kind: tuple[str, bool], instruction: dis.Instruction) -> Any:
    letter, writes = kind
    name = "" if letter == "i" else str(instruction.argval)
    where = instruction.positions
    line = where.lineno or 0 if where is not None else 0
    column = where.col_offset or 0 if where is not None else 0
    flags = "w" if writes else "-"
    if instruction.opname.startswith("DELETE"):
        flags += "d"
    return _core.site(f"{PREFIX}{letter} {flags} 0 0 {line} {column} 0 {name}")
