"""Breakpoints of all kinds, as an editor sets them: always all of one kind, or of one file.

One breakpoint of the editor's may be several of the traveller's: a file can have more than one
name, and a function more than one definition. They share the number of the first.
"""

from __future__ import annotations

import ast
import bisect
from dataclasses import dataclass, field
from typing import Any

from reenact.debug.dap.arguments import Arguments
from reenact.debug.dap.messages import Refused
from reenact.debug.dap.sources import Sources, first_line_of, lines_of
from reenact.debug.traveller import Breakpoint, TravelError, Traveller, Watch
from reenact.errors import ReenactError

FILTERS = [
    {
        "filter": "uncaught",
        "label": "Uncaught Exceptions",
        "description": "Stops where an exception is raised that nobody catches.",
        "default": True,
    }
]
_WHERE_CODE = (
    "(lambda code: (code.co_filename, code.co_firstlineno, code.co_qualname))({}.__code__)"
)


@dataclass
class Group:
    """What is replaced together: the traveller's numbers, and functions that are not known yet."""

    numbers: list[int] = field(default_factory=list)
    unknown: dict[int, tuple[str, str]] = field(default_factory=dict)


class Breakpoints:
    def __init__(self, traveller: Traveller, sources: Sources) -> None:
        self._traveller = traveller
        self._sources = sources
        self._groups: dict[str, Group] = {}
        self._ids: dict[int, int] = {}  # of the editor's, by the traveller's numbers
        self._watches: dict[str, Watch] = {}  # that could be set, by what the editor calls them

    def ids(self, numbers: tuple[int, ...]) -> list[int]:
        return sorted({self._ids[each] for each in numbers if each in self._ids})

    def are_functions(self, numbers: tuple[int, ...]) -> bool:
        group = self._groups.get("functions", Group())
        return any(each in group.numbers for each in numbers)

    # ---- lines ----

    def set_lines(self, path: str, wanted: list[Arguments], base: int) -> list[dict[str, Any]]:
        """`base` is what the editor calls the first line."""
        group = self._renew(f"file {self._sources.full(path)}")
        lines = lines_of(self._sources.full(path))
        return [self._set_line(group, path, lines, each, base) for each in wanted]

    def _set_line(
        self, group: Group, path: str, lines: list[int], wanted: Arguments, base: int
    ) -> dict[str, Any]:
        line = wanted.number("line") - base + 1
        condition = wanted.text("condition", "")
        number = self._traveller.number()
        if not lines:
            return _unverified(number, f"{path} is no Python source that can be read")
        place = bisect.bisect_left(lines, line)
        if place == len(lines):
            return _unverified(number, "there is no code in this line, or after it")
        problem = _problem(condition)
        if problem:
            return _unverified(number, problem)
        self._add(group, number, path, lines[place], condition)
        return {"id": number, "verified": True, "line": lines[place] - 1 + base}

    def _add(self, group: Group, shared: int, path: str, line: int, condition: str) -> None:
        number = shared if shared not in self._ids else self._traveller.number()
        for file in self._sources.spellings(path):
            self._traveller.breakpoints[number] = Breakpoint(number, file, line, condition)
            self._ids[number] = shared
            group.numbers.append(number)
            number = self._traveller.number()

    def _renew(self, name: str) -> Group:
        for number in self._groups.get(name, Group()).numbers:
            self._traveller.breakpoints.pop(number, None)
            self._traveller.watches.pop(number, None)
            self._ids.pop(number, None)
        self._groups[name] = Group()
        return self._groups[name]

    # ---- functions ----

    def set_functions(self, wanted: list[Arguments]) -> list[dict[str, Any]]:
        group = self._renew("functions")
        return [self._set_function(group, each) for each in wanted]

    def _set_function(self, group: Group, wanted: Arguments) -> dict[str, Any]:
        name, condition = wanted.text("name").strip(), wanted.text("condition", "")
        number = self._traveller.number()
        problem = _problem(condition)
        if problem:
            return _unverified(number, problem)
        if self._find_function(group, number, name, condition):
            return {"id": number, "verified": True}
        group.unknown[number] = (name, condition)
        return _unverified(number, f"no function {name} is known so far")

    def _find_function(self, group: Group, number: int, name: str, condition: str) -> bool:
        found = self._sources.functions(name) or self._evaluated(name)
        for file, line in found:
            self._add(group, number, file, line, condition)
        return bool(found)

    def _evaluated(self, name: str) -> list[tuple[str, int]]:
        """Functions that are not in the program's own files, as the program knows them here."""
        if _problem(name) or not self._traveller.stop.stack:
            return []
        try:
            said = self._traveller.ask(
                "evaluate", thread=self._traveller.stop.thread, text=_WHERE_CODE.format(name)
            )
            file, defined, function = ast.literal_eval(said["value"])
        except (ReenactError, KeyError, ValueError, SyntaxError):
            return []
        return [(file, first_line_of(self._sources.full(file), function, defined))]

    def look_again(self) -> list[dict[str, Any]]:
        """Functions that are known by now."""
        group = self._groups.get("functions", Group())
        found = []
        for number, (name, condition) in list(group.unknown.items()):
            if self._find_function(group, number, name, condition):
                del group.unknown[number]
                found.append({"id": number, "verified": True})
        return found

    # ---- data ----

    def offer_watch(self, text: str, thread: int, frame: int) -> str:
        """What `set_watches` will know it by."""
        for part in _parts(text):
            said = self._traveller.ask("evaluate", thread=thread, frame=frame, text=part)
            if "raised" in said:
                raise Refused(f"{part} has no value here: {said['raised']}: {said['message']}")
        try:
            watch = self._traveller.watch(text, thread, frame)
        except TravelError as error:
            raise Refused(error.what) from None
        del self._traveller.watches[watch.number]
        name = f"{text} in {watch.frame.function}, thread {thread + 1}, step {watch.place}"
        self._watches.setdefault(name, watch)
        return name

    def set_watches(self, wanted: list[Arguments]) -> list[dict[str, Any]]:
        group = self._renew("data")
        return [self._set_watch(group, each) for each in wanted]

    def _set_watch(self, group: Group, wanted: Arguments) -> dict[str, Any]:
        watch = self._watches.get(wanted.text("dataId"))
        if watch is None:
            return {"verified": False, "message": "ask for dataBreakpointInfo first"}
        if wanted.text("accessType", "write") != "write":
            return _unverified(watch.number, "only writes can be watched")
        if wanted.has("condition") or wanted.has("hitCondition"):
            return _unverified(watch.number, "conditions of data breakpoints are not supported")
        self._traveller.watches[watch.number] = watch
        self._ids[watch.number] = watch.number
        group.numbers.append(watch.number)
        return {"id": watch.number, "verified": True, "message": watch.text}

    # ---- exceptions ----

    def set_exceptions(self, filters: list[str]) -> list[dict[str, Any]]:
        known = [each["filter"] for each in FILTERS]
        self._traveller.stops_at_failures = "uncaught" in filters
        return [
            {"verified": True}
            if each in known
            else {
                "verified": False,
                "message": f"{each!r} is not one of {', '.join(map(str, known))}",
            }
            for each in filters
        ]


def _unverified(number: int, message: str) -> dict[str, Any]:
    return {"id": number, "verified": False, "message": message}


def _parts(text: str) -> list[str]:
    """What has to have a value so that it is known what is written to."""
    try:
        tree = ast.parse(text.strip(), "<typed>", "eval").body
    except (SyntaxError, ValueError, RecursionError):
        return []  # the traveller says what is wrong with it
    if isinstance(tree, ast.Attribute):
        return [ast.unparse(tree.value)]
    if isinstance(tree, ast.Subscript):
        return [ast.unparse(tree.value), ast.unparse(tree.slice)]
    return []


def _problem(expression: str) -> str:
    """What is wrong with it, if anything is."""
    try:
        if expression.strip():
            ast.parse(expression.strip(), "<typed>", "eval")
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"{expression!r} is no expression: {error}"
    return ""
