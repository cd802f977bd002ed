"""The raw findings: the document that a run with the detector on leaves, taken apart.

Version 1 is one JSON object. `races` has one entry for each pair of sites and modes; `left_out` is
how many more there were; `overflow` says that there were too many threads to keep apart at once,
`forgotten` how many were forgotten since they had ended long before, if any were; `unseen` tells in
words what else was not looked at; `sample` is the share of variables that was; `threads` are the
names of threads, if they are known, and `locks` is for `locks.py`. Written by us for us: what is
not as expected is a bug.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from reenact.analysis.findings import Access, Lock, Stack, Thread, Variable
from reenact.errors import InternalError
from reenact.findings import Line

VERSION = 1


@dataclass(frozen=True, slots=True)
class Raw:
    """A race as the core has seen it."""

    variable: Variable
    first: Access
    second: Access
    count: int


class Reader:
    """Reads one document; `shown` gives the name of a file as it is to be shown."""

    def __init__(self, document: dict[str, Any], shown: Callable[[str], str]) -> None:
        if document.get("version") != VERSION:
            version = document.get("version")
            raise InternalError(f"raw findings of version {version}, and not {VERSION}")
        self._document = document
        self._shown = shown
        self._names = {each["index"]: each["name"] for each in document.get("threads", ())}

    def races(self) -> list[Raw]:
        return [
            Raw(
                self._variable(each["variable"]),
                self._access(each["first"]),
                self._access(each["second"]),
                each["count"],
            )
            for each in self._document["races"]
        ]

    def thread(self, index: int) -> Thread:
        return Thread(index, self._names.get(index, ""))

    def stack(self, lines: list[Any]) -> Stack:
        return tuple(self.line(each) for each in lines)

    def line(self, fields: list[Any]) -> Line:
        file, line, function = fields
        return Line(self._shown(file), line, function)

    def lock(self, fields: dict[str, Any]) -> Lock:
        where = None if fields["where"] is None else self.line(fields["where"])
        return Lock(fields["id"], fields["kind"], where)

    def _variable(self, fields: dict[str, Any]) -> Variable:
        made = fields["created"]
        return Variable(
            fields["kind"],
            fields["name"],
            _without_module(fields["kind"], fields["type"]),
            fields["address"],
            None if made is None else self.thread(made["thread"]),
            () if made is None else self.stack(made["stack"]),
        )

    def _access(self, fields: dict[str, Any]) -> Access:
        stack = self.stack(fields["stack"])
        if stack:  # the turn of a loop is seen in the loop's first statement
            stack = (replace(stack[0], line=fields["line"]), *stack[1:])
        return Access(
            self.thread(fields["thread"]),
            fields["mode"].lower().replace(" ", "_"),
            fields["line"],
            fields["column"],
            fields["pair"],
            stack,
            tuple(self.lock(each) for each in fields["locks"]),
            fields.get("ended", False),
        )


def _without_module(kind: str, name: str) -> str:
    """The core calls a type as C does: built-in ones with their module."""
    return name if kind == "global" else name.rpartition(".")[2]
