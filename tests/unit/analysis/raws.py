"""Raw documents made by hand, at the sites that the rewriter really puts into a source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from reenact.instrument.rewrite import insert_points
from reenact.instrument.sites import PREFIX

Raw = dict[str, Any]


class Site(NamedTuple):
    kind: str
    writes: bool
    pair: int
    line: int
    column: int
    name: str


def sites(source: str) -> Iterator[Site]:
    """All sites of a source, in the order in which they were put."""
    tree = ast.parse(source)
    insert_points(tree, accesses=True)
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and str(node.value).startswith(PREFIX):
            fields = node.value[len(PREFIX) :].split(" ", 7)
            kind, flags, _, pair, line, column, ordinal, name = fields
            found[int(ordinal)] = Site(kind, "w" in flags, int(pair), int(line), int(column), name)
    return iter([found[ordinal] for ordinal in sorted(found)])


class Program:
    """A program of one file, and documents of what might be seen of it."""

    def __init__(self, root: Path, source: str, name: str = "app.py") -> None:
        self.root = root
        self.source = source
        self.path = root / name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(source, "utf-8")
        self.sites = list(sites(source))

    def line(self, text: str) -> int:
        """The only line that has this text."""
        (number,) = [n for n, line in enumerate(self.source.split("\n"), 1) if text in line]
        return number

    def access(
        self,
        text: str,
        *,
        kind: str = "",
        name: str | None = None,
        writes: bool | None = None,
        **fields: Any,
    ) -> Raw:
        """At the first site of the line with this text that is as described."""
        number = self.line(text)
        site = next(
            each
            for each in self.sites
            if each.line == number
            and (not kind or each.kind == kind)
            and (name is None or each.name == name)
            and (writes is None or each.writes == writes)
        )
        made = access(str(self.path), site.line, site.column, pair=site.pair)
        return made | {"mode": "write" if site.writes else "read"} | fields


def access(file: str, line: int, column: int = 0, pair: int = 0, **fields: Any) -> Raw:
    made = {
        "thread": 1,
        "mode": "write",
        "line": line,
        "column": column,
        "pair": pair,
        "stack": [[file, line, "work"]],
        "locks": [],
    }
    return made | fields


def lock(number: int, file: str = "", line: int = 0, kind: str = "lock") -> Raw:
    return {"id": number, "kind": kind, "where": [file, line, "work"] if file else None}


def variable(kind: str, name: str = "", type: str = "", **fields: Any) -> Raw:
    made = {"kind": kind, "name": name, "type": type, "address": 0x7F01, "created": None}
    return made | fields


def race(variable: Raw, first: Raw, second: Raw, count: int = 1) -> Raw:
    second = second | {"thread": 2} if second["thread"] == first["thread"] else second
    return {"count": count, "variable": variable, "first": first, "second": second}


def document(*races: Raw, **fields: Any) -> Raw:
    names = ("MainThread", "Thread-1 (work)", "Thread-2 (work)")
    threads = [{"index": index, "name": name} for index, name in enumerate(names)]
    made = {
        "version": 1,
        "races": list(races),
        "left_out": 0,
        "overflow": False,
        "sample": 1.0,
        "threads": threads,
    }
    return made | fields
