"""Shown: what the rewriting of accesses makes of a source file, for people to read.

Owns the words for sites and for what was left out. Rewrites the file as for a search or the race
detector, and throws the result away. Called by `reenact instrument`.
"""

from __future__ import annotations

import _ast
from dataclasses import dataclass

from reenact.instrument.accesses import insert_accesses
from reenact.instrument.rewrite import ALL, insert_points
from reenact.instrument.sites import (
    ATTRIBUTE,
    BOTH,
    CLOSURE,
    CONTENTS,
    CREATED,
    GLOBAL,
    ITEM,
    MEMBER,
    METHOD,
    NAMED,
    TURN,
)

_KINDS = {
    ATTRIBUTE: "attribute",
    ITEM: "item",
    CONTENTS: "contents",
    GLOBAL: "global",
    CLOSURE: "closure",
    METHOD: "method",
    TURN: "turn",
    MEMBER: "membership",
    NAMED: "attribute by name",
    BOTH: "operands",
    CREATED: "new object",
}
_NAMELESS = {"contents", "membership", "operands", "turn", "new object"}  # or Python's own names


@dataclass(frozen=True, order=True)
class Site:
    """A place that tells of an access."""

    line: int
    column: int
    kind: str
    name: str
    writes: bool

    @property
    def text(self) -> str:
        """As in "writes attribute balance"."""
        if self.kind in ("new object", "end of an object"):
            return f"tells of {'a new object' if self.kind == 'new object' else 'its end'}"
        if self.kind == "method":
            does = "writes" if self.writes else "reads"
            return f"calls method {self.name}: {does} the contents, if it is of a container"
        what = {
            "operands": "the contents of both operands",
            "turn": "the contents, at each turn",
            "membership": "whether the contents have something",
        }.get(self.kind, f"{self.kind} {self.name}".strip())
        return f"{'writes' if self.writes else 'reads'} {what}"


@dataclass(frozen=True, order=True)
class Cut:
    """An access that has no site."""

    line: int
    column: int
    kind: str
    name: str
    reason: str

    @property
    def text(self) -> str:
        return f"{self.kind} {self.name}".strip() + f": {self.reason}"


@dataclass(frozen=True)
class Shown:
    """A source file with its sites."""

    lines: tuple[str, ...]
    sites: tuple[Site, ...]
    cut: tuple[Cut, ...]


def show(source: bytes, filename: str, manner: str = ALL) -> Shown:
    """Raises what `compile` raises for a source that is none."""
    tree = compile(source, filename, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, _ast.Module)
    insert_points(tree, accesses=False)
    found = insert_accesses(tree, manner)
    sites = {
        Site(line, column, _kind(kind, name), _name(_KINDS[kind], name), writes)
        for kind, line, column, name, writes in found.made
    }
    cut = {
        Cut(line, column, _KINDS[kind], _name(_KINDS[kind], name), reason)
        for kind, line, column, name, reason in found.cut
    }
    return Shown(_lines(source), tuple(sorted(sites)), tuple(sorted(cut)))


def _kind(letter: str, name: str) -> str:
    return "end of an object" if (letter, name) == (CREATED, "__del__") else _KINDS[letter]


def _name(kind: str, name: str) -> str:
    return "" if kind in _NAMELESS else name


def _lines(source: bytes) -> tuple[str, ...]:
    """As Python counts them, whatever the file is encoded in."""
    from importlib.util import decode_source

    return tuple(decode_source(source).split("\n"))
