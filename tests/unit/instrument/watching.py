"""Runs programs rewritten with accesses, and tells what a watcher was told."""

from __future__ import annotations

import sys
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


def touched(source: str, **space: Any) -> list[str]:
    """What the race detector would be told of a run of *source*, as in "read n" and "put deque".

    Names are told as they are, items as numbers: `key` makes the same of a key.
    """
    return [f"{mode} {what}" for _, what, mode in touches(source, **space)]


def touches(source: str, **space: Any) -> list[tuple[object, str, str]]:
    """The objects too."""
    return [each for each in told(source, **space) if each[2] != "created"]


def created(source: str, **space: Any) -> list[object]:
    """The objects that it would be told were made."""
    return [thing for thing, _, mode in told(source, **space) if mode == "created"]


def told(source: str, **space: Any) -> list[tuple[object, str, str]]:
    """All that it would be told."""
    seen: list[tuple[object, str, str]] = []
    code = with_accesses(source)
    words = set(source.replace(".", " ").split()) | all_names(code)
    names = {id(sys.intern(word)): word for word in words}

    def watcher(thing: object, what: int, mode: str, line: int) -> None:
        whole = type(thing).__name__
        seen.append((thing, names.get(what, str(what)) if what else whole, mode))

    space["__name__"] = "program"
    _core.watch_races(watcher)
    try:
        exec(code, space)
    finally:
        _core.watch_races(None)
    return seen


def key(value: object) -> str:
    """What an item with this key is called, if its hash is the program's to know."""
    number = -1 if value == -1 else hash(value)
    return str((number << 1 | 1) % (1 << 64))


def all_names(code: CodeType) -> set[str]:
    """Every name and word that *code* uses, and that code inside it does."""
    found = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found |= all_names(each)
        elif isinstance(each, str):
            found.add(each)
    return found
