"""Commands about who wrote a value: `last-write`, and `why`, the chain of writes behind a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.analysis.text import Row
from reenact.debug.terminal.reading import read_by, written_by
from reenact.debug.terminal.session import Session, said_of
from reenact.debug.terminal.words import Refused, command
from reenact.debug.traveller import Place, TravelError, Write

_GROUP = "finding out"
_LEVELS = 3  # of lines, the failing one included
_MOST = 10  # values of a line
_LONGEST = 70
# Values of these types are what a program consists of, and no news.
FIXED = ("function", "builtin_function_or_method", "method", "module", "type", "method-wrapper")
_UNSEEN = "methods that change a container, such as append, are no writes to its items"


@command("last-write NAME | OBJECT.ATTRIBUTE | OBJECT[KEY]", "lw", group=_GROUP, repeats=False)
def last_write(session: Session, argument: str) -> Iterator[Row]:
    """Go back to the line that wrote last to a name, an attribute or an item. Whichever thread it
    was, and by whichever name. What is not seen: methods that change a container, such as append,
    and native code."""
    if not argument:
        raise Refused("to what? Give a name, an attribute or an item")
    session.need_frame()
    found = _last_write(session, argument)
    if found is None:
        raise Refused(f"no line before here writes to {argument} ({_UNSEEN})")
    value = _value(session, argument)
    session.traveller.go_to_write(found)
    yield from session.arrived()
    told = f"thread {found.thread} writes to {argument} here"
    yield [("cyan", told if value is None else f"{told}; it was {value} later")]


def _last_write(session: Session, text: str) -> Write | None:
    try:
        return session.traveller.last_writer(text, session.thread, session.index)
    except (TravelError, ValueError, SyntaxError) as error:
        what = said_of(error) if isinstance(error, TravelError) else str(error)
        raise Refused(f"{text}: {what}") from None


def _value(session: Session, text: str) -> str | None:
    """None if it is of no interest: a function, a class or a module."""
    said = session.evaluate(text)
    if "raised" in said:
        return f"not there ({said['raised']}: {said['message']})"
    if said.get("type") in FIXED:
        return None
    value = str(said["value"]).replace("\n", " ")
    return value if len(value) <= _LONGEST else value[:_LONGEST] + "..."


# ---- why ----


@command("why", group=_GROUP)
def why(session: Session, argument: str) -> Iterator[Row]:
    """The chain of writes behind the values in this line. What each name, attribute and item in it
    is, who wrote it last and where, and in the same way what those lines had read, unless they are
    a library's. Writes of other threads than this one are marked, and writes that were overwritten
    unseen. At a failure that is why it failed; it can be asked at any line."""
    frame = session.frame
    if not session.sources.statement(frame.file, frame.line):
        raise Refused(f"the source of {frame.file} cannot be read")
    yield from session.at(frame)
    with session.elsewhere():
        yield from _Chain(session).below(1)


class _Chain:
    """Goes from place to place; whoever follows it brings the session back."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._thread = session.thread  # the one that failed
        self._seen: set[tuple[Place, str]] = set()

    def below(self, level: int) -> Iterator[Row]:
        """The values that the line reads at which the session is."""
        session = self._session
        frame, stop = session.frame, session.traveller.stop
        thread, index = session.thread, session.index
        texts = read_by(session.sources.statement(frame.file, frame.line), self._length)
        has_any = False
        for text in texts[:_MOST]:
            value = _value(session, text)
            if value is None or (level > 1 and value.startswith("not there")):
                continue
            has_any = True
            yield from self._value(level, text, value)
            if session.traveller.stop.place != stop.place:
                session.traveller.go_to(stop.place)
            session.select(thread, index)
        if not has_any and level == 1:
            yield [("", "  nothing in this line was written by the program")]

    def _length(self, text: str) -> int | None:
        said = self._session.evaluate(f"len({text}) if type({text}) in (list, tuple) else None")
        value = said.get("value")
        return int(value) if value is not None and value.isdecimal() else None

    def _value(self, level: int, text: str, value: str) -> Iterator[Row]:
        indent = "    " * level
        session = self._session
        try:
            write = session.traveller.last_writer(text, session.thread, session.index)
        except (TravelError, ValueError, SyntaxError):
            write = None
        if write is None:
            yield [("", f"{indent}{text} is {value}, "), ("faint", "and no line has written it")]
            return
        # What its line has read, it has read from where it began on.
        session.traveller.go_to_write(write._replace(place=session.traveller.begun(write)))
        session.select(write.thread, session.traveller.stop.index)
        yield from self._writer(indent, write, f"{text} is {value}")
        if (write.place, text) in self._seen:
            return
        self._seen.add((write.place, text))
        is_own = session.stack and not session.sources.is_library(session.frame.file)
        if level < _LEVELS and is_own:
            yield from self.below(level + 1)

    def _writer(self, indent: str, write: Write, what: str) -> Iterator[Row]:
        session = self._session
        is_other = write.thread != self._thread
        who = f"ANOTHER THREAD, {write.thread}," if is_other else f"thread {write.thread}"
        where = f" at {write.place}"
        line = ""
        if session.stack:
            frame = session.frame
            where += f", {session.sources.shown(frame.file)}:{frame.line} in {frame.function}"
            line = session.sources.line(frame.file, frame.line).strip()
        style = "yellow" if is_other else ""
        yield [("", f"{indent}{what}, written by "), (style, who), ("", where)]
        if line:
            yield [("green", f"{indent}-> "), ("", line)]
            yield from self._lost(indent, write)

    def _lost(self, indent: str, write: Write) -> Iterator[Row]:
        """A line that reads and writes a value, while somebody else writes to it."""
        session = self._session
        around = session.sources.statement(session.frame.file, session.frame.line)
        both = set(written_by(around)) & {*read_by(around, self._length), *_updated(around)}
        for text in sorted(both):
            other = session.traveller.meanwhile(text, write.thread, session.index)
            if other is not None:
                told = f"thread {other.thread} wrote to it at {other.place}"
                between = f"{indent}   between its read and its write of {text}, "
                yield [("", between), ("red", told), ("", ": that is lost")]


def _updated(around: list[ast.stmt]) -> list[str]:
    return written_by(around) if isinstance(around[0], ast.AugAssign) else []
