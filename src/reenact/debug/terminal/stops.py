"""Commands about what a move stops at: breakpoints and watches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from reenact.analysis.text import Row
from reenact.debug.terminal.session import Session
from reenact.debug.terminal.words import Refused, command, number_of
from reenact.debug.traveller import Breakpoint, TravelError, Watch

_GROUP = "stopping"


@command("break [[FILE:]LINE | FUNCTION] [, CONDITION]", "b", group=_GROUP, repeats=False)
def break_(session: Session, argument: str) -> Iterator[Row]:
    """Stop at a line, or at the first line of a function. Whichever thread comes there, forwards
    and backwards. With a CONDITION, only where it holds. A FILE may be the end of its name.
    Without anything, show all breakpoints and watches."""
    if not argument:
        yield from listed(session)
        return
    yield from _set(session, argument, is_temporary=False)


@command("tbreak [FILE:]LINE | FUNCTION [, CONDITION]", group=_GROUP, repeats=False)
def tbreak(session: Session, argument: str) -> Iterator[Row]:
    """A breakpoint that is deleted when it was stopped at."""
    if not argument:
        raise Refused("where? Give a line, FILE:LINE or a function")
    yield from _set(session, argument, is_temporary=True)


def _set(session: Session, argument: str, is_temporary: bool) -> Iterator[Row]:
    where, _, condition = (part.strip() for part in argument.partition(","))
    if condition:
        _check(condition)
    file, line = _spot(session, where)
    number = session.traveller.number()
    made = Breakpoint(number, file, line, condition, is_temporary)
    session.traveller.breakpoints[number] = made
    yield [("", _told(session, made))]


def _check(condition: str) -> None:
    try:
        ast.parse(condition, mode="eval")
    except SyntaxError as error:
        raise Refused(f"{condition!r} is no expression: {error.msg}") from None


def _spot(session: Session, where: str) -> tuple[str, int]:
    """File and line that somebody means."""
    name, colon, after = where.rpartition(":")
    if where.isdecimal():
        file, line = session.frame.file if session.stack else _script(session), int(where)
    elif colon and after.isdecimal():
        file, line = _file(session, name), int(after)
    elif colon:
        return _function(session, after, [_file(session, name)])
    else:
        return _function(session, where, list(session.sources.known))
    code = session.sources.code_lines(file)
    if code and line not in code:
        lines = session.sources.lines(file)
        what = "nothing runs in that line" if line <= len(lines) else "the file has no such line"
        raise Refused(f"{session.sources.shown(file)}:{line}: {what}")
    return file, line


def _script(session: Session) -> str:
    """Where no frame says which file is meant."""
    target = session.traveller.recording.header.target
    if target not in session.sources.known:
        raise Refused("of which file? Give FILE:LINE")
    return target


def _file(session: Session, name: str) -> str:
    """As code objects have it."""
    known = dict.fromkeys((*session.sources.known, *(each.file for each in session.stack)))
    if name in known:
        return name
    path = session.sources.path(name)
    found = [each for each in known if session.sources.path(each) == path]
    found = found or [each for each in known if each.endswith("/" + name)]
    found = found or _loaded(session, name)
    if len(found) > 1:
        raise Refused(f"{name} may be {' or '.join(sorted(found))}")
    if not found:
        raise Refused(f"the program has loaded no file {name} up to here")
    return found[0]


def _loaded(session: Session, name: str) -> list[str]:
    """Files of modules that the program has loaded."""
    text = (
        "sorted({each for each in [getattr(module, '__file__', None)"
        " for module in list(__import__('sys').modules.values())]"
        f" if isinstance(each, str) and ('/' + each).endswith({'/' + name!r})}})"
    )
    return _answer(session, text)


def _function(session: Session, name: str, files: list[str]) -> tuple[str, int]:
    """The first line of its body; by what the name means here, or else by the source."""
    text = (
        "[[each.co_filename, each.co_firstlineno] for each in [getattr(getattr("
        f"__import__('inspect').unwrap({name}), '__func__', {name}), '__code__', None)] if each]"
    )
    for file, first in _answer(session, text) if _is_path(name) else ():
        return file, session.sources.body_of(file, first) or first
    found = [
        (file, session.sources.body_line(file, function))
        for file in files
        for function in session.sources.functions(file, name)
    ]
    if len(found) > 1:
        places = " or ".join(f"{session.sources.shown(file)}:{line}" for file, line in found)
        raise Refused(f"{name} may be {places}")
    if not found:
        raise Refused(f"there is no line and no function {name!r} here")
    return found[0]


def _is_path(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _answer(session: Session, text: str) -> list[Any]:
    """What an expression of ours comes to, which makes a list."""
    if not session.stack:
        return []
    try:
        said = session.evaluate(text)
    except TravelError:
        return []
    found: list[Any] = [] if "raised" in said else ast.literal_eval(said["value"])
    return found


# ---- all that there are ----


def listed(session: Session) -> Iterator[Row]:
    traveller = session.traveller
    for point in traveller.breakpoints.values():
        yield [("", _told(session, point))]
    for watch in traveller.watches.values():
        yield [("", _told_watch(watch))]
    if not traveller.breakpoints and not traveller.watches:
        yield [("", "no breakpoints, no watches")]


def _told(session: Session, point: Breakpoint) -> str:
    kind = "temporary breakpoint" if point.is_temporary else "breakpoint"
    condition = f" if {point.condition}" if point.condition else ""
    off = "" if point.is_enabled else " (disabled)"
    place = f"{session.sources.shown(point.file)}:{point.line}"
    return f"{kind} {point.number} at {place}{condition}{off}"


def _told_watch(watch: Watch) -> str:
    how = "is written" if watch.is_written else "has changed"
    where = f"in {watch.frame.function} of thread {watch.thread}"
    return (
        f"watch {watch.number}: where {watch.text} {how}, as it is meant {where} at {watch.place}"
    )


@command("clear [NUMBER... | [FILE:]LINE]", "cl", "delete", group=_GROUP, repeats=False)
def clear(session: Session, argument: str) -> Iterator[Row]:
    """Delete breakpoints and watches, by their numbers or by their line; without anything, all."""
    traveller = session.traveller
    if not argument:
        gone = [*traveller.breakpoints, *traveller.watches]
    elif ":" in argument:
        spot = _spot(session, argument)
        points = traveller.breakpoints.values()
        gone = [each.number for each in points if (each.file, each.line) == spot]
        if not gone:
            raise Refused(f"there is no breakpoint at {argument}")
    else:
        gone = _numbers(session, argument)
    for number in gone:
        traveller.breakpoints.pop(number, None)
        traveller.watches.pop(number, None)
    yield [("", f"deleted {', '.join(map(str, gone))}" if gone else "there was nothing to delete")]


def _numbers(session: Session, argument: str) -> list[int]:
    traveller = session.traveller
    numbers = [number_of(each, "a breakpoint") for each in argument.replace(",", " ").split()]
    for number in numbers:
        if number not in traveller.breakpoints and number not in traveller.watches:
            raise Refused(f"there is no breakpoint and no watch {number}")
    return numbers


@command("disable NUMBER...", group=_GROUP, repeats=False)
def disable(session: Session, argument: str) -> Iterator[Row]:
    """Do not stop at these breakpoints, but keep them."""
    yield from _switch(session, argument, False)


@command("enable NUMBER...", group=_GROUP, repeats=False)
def enable(session: Session, argument: str) -> Iterator[Row]:
    """Stop at these breakpoints again."""
    yield from _switch(session, argument, True)


def _switch(session: Session, argument: str, is_enabled: bool) -> Iterator[Row]:
    points = session.traveller.breakpoints
    numbers = _numbers(session, argument) if argument else list(points)
    for number in numbers:
        if number not in points:
            raise Refused(f"{number} is a watch: those are only deleted")
        points[number] = replace(points[number], is_enabled=is_enabled)
        yield [("", _told(session, points[number]))]


@command("condition NUMBER [CONDITION]", group=_GROUP, repeats=False)
def condition(session: Session, argument: str) -> Iterator[Row]:
    """Give a breakpoint another condition, or none."""
    number, _, text = argument.partition(" ")
    (found,) = _numbers(session, number) or [0]
    points = session.traveller.breakpoints
    if found not in points:
        raise Refused("which breakpoint? Give its number")
    if text.strip():
        _check(text.strip())
    points[found] = replace(points[found], condition=text.strip())
    yield [("", _told(session, points[found]))]


# ---- watches ----


@command("watch EXPRESSION", group=_GROUP, repeats=False)
def watch(session: Session, argument: str) -> Iterator[Row]:
    """Stop at every line that writes to a name, an attribute or an item. Forwards and backwards,
    whichever thread does and by whichever name; the object meant is the one that it is here. Any
    other expression: stop where it has another value than before, in a frame of this function."""
    if not argument:
        raise Refused("what? Give a name, an attribute, an item or an expression")
    session.need_frame()
    if session.value_of(argument).startswith("** raised SyntaxError"):
        raise Refused(f"{argument!r} is no expression")
    made = session.traveller.watch(argument, session.thread, session.index)
    yield [("", _told_watch(made))]


@command("unwatch [NUMBER...]", group=_GROUP, repeats=False)
def unwatch(session: Session, argument: str) -> Iterator[Row]:
    """Delete watches, by their numbers; without any, all."""
    watches = session.traveller.watches
    numbers = _numbers(session, argument) if argument else list(watches)
    for number in numbers:
        if watches.pop(number, None) is None:
            raise Refused(f"{number} is no watch")
    yield [("", f"deleted {', '.join(map(str, numbers))}" if numbers else "there were no watches")]
