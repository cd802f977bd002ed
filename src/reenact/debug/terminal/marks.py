"""Lines of the program that call `breakpoint()`: breakpoints that were there before the session.

While a program is recorded or replayed the call does nothing (`engine/child.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.debug.terminal.session import Session
from reenact.debug.terminal.sources import Sources
from reenact.debug.traveller import Breakpoint


def place(session: Session) -> None:
    traveller = session.traveller
    for file, line in sorted(set(_lines(session.sources))):
        number = traveller.number()
        traveller.breakpoints[number] = Breakpoint(number, file, line)


def open_at_first(session: Session) -> None:
    """If nothing has failed, and there are such lines."""
    traveller = session.traveller
    if traveller.breakpoints and traveller.stop.why == "end":
        traveller.go_to(0)
        traveller.forward()


def _lines(sources: Sources) -> Iterator[tuple[str, int]]:
    for file in sources.known:
        if sources.is_installed(file) or "breakpoint(" not in "\n".join(sources.lines(file)):
            continue
        for node in ast.walk(sources.tree(file) or ast.Module([], [])):
            if isinstance(node, ast.Call) and _is_named(node.func):
                yield file, node.lineno


def _is_named(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id == "breakpoint"
