"""Runs programs rewritten with accesses, and tells what a watcher was told."""

from __future__ import annotations

from types import CodeType
from typing import Any

from reenact import _core
from reenact.instrument.rewrite import PLACEHOLDER, rewrite


def with_accesses(source: str, filename: str = "program.py") -> CodeType:
    """The code of *source*, with ticks and sites that work."""
    code = rewrite(source.encode(), filename, accesses=True)
    assert code is not None
    return _core.plant(code, PLACEHOLDER)


def watched(source: str, **space: Any) -> list[str]:
    """Every access of a run of *source*, as in "attribute n!" and "contents dict"; "!" writes."""
    seen: list[str] = []

    def watcher(kind: str, name: str | None, thing: object, writes: bool, line: int) -> None:
        seen.append(f"{kind} {name or type(thing).__name__}{'!' * writes}")

    code = with_accesses(source)
    space["__name__"] = "program"
    _core.watch_accesses(watcher)
    try:
        exec(code, space)
    finally:
        _core.watch_accesses(None)
    return seen
