"""Commands that look at the program where it is: its threads, frames, source lines and values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reenact.analysis.text import Row
from reenact.debug.terminal.session import COPY, Display, Session, lines
from reenact.debug.terminal.words import Refused, command, number_of
from reenact.recordings.streams import written

_GROUP = "looking"
_AROUND = 5  # lines before and after
_STATUS = {1: "could run", 2: "runs", 3: "waits", 4: "is outside, in a call"}


# ---- threads and frames ----


@command("where", "w", "bt", group=_GROUP)
def where(session: Session, argument: str) -> Iterator[Row]:
    """The calls that this thread is in, the innermost last. `>` is the frame that names are looked
    up in."""
    session.need_frame()
    for index in range(len(session.stack) - 1, -1, -1):
        yield from session.at(session.stack[index], "> " if index == session.index else "  ")


@command("up [COUNT]", "u", group=_GROUP)
def up(session: Session, argument: str) -> Iterator[Row]:
    """Look at the frame that called this one."""
    yield from _shift(session, number_of(argument, "frames") if argument else 1, "oldest")


@command("down [COUNT]", "d", group=_GROUP)
def down(session: Session, argument: str) -> Iterator[Row]:
    """Look at the frame that this one called."""
    yield from _shift(session, -number_of(argument, "frames") if argument else -1, "newest")


def _shift(session: Session, count: int, last: str) -> Iterator[Row]:
    index = max(0, min(session.index + count, len(session.stack) - 1))
    if index == session.index:
        raise Refused(f"this is the {last} frame")
    session.select(session.thread, index)
    yield from session.at(session.frame)


@command("threads", group=_GROUP)
def threads(session: Session, argument: str) -> Iterator[Row]:
    """All threads that have begun and not ended. What they do, and what they wait for: `*` is the
    one that is looked at. The second name is the one that `reenact dump` has for it."""
    for each in session.traveller.ask("threads")["threads"]:
        mark = "*" if each["index"] == session.thread else " "
        path = session.traveller.recording.thread_path(each["index"])
        name = f"{each['index']:>3} {path:<7} {each['name'] or '(no name yet)'}"
        at = each["at"]
        place = (
            f", {session.sources.shown(at['file'])}({at['line']}){at['function']}()" if at else ""
        )
        yield [("green", mark), ("cyan", name), ("", f": {_does(each)}{place}")]


def _does(thread: dict[str, Any]) -> str:
    words = _STATUS.get(thread["status"], "begins")
    if thread["status"] == 3 and thread["operation"]:
        words += f" ({thread['operation']} {thread['kind']} {thread['object']}"
        is_held = thread["kind"] != "thread" and thread["owner"] >= 0
        words += f", which thread {thread['owner']} has)" if is_held else ")"
    return words


@command("thread [N]", group=_GROUP)
def thread(session: Session, argument: str) -> Iterator[Row]:
    """Look at thread N from now on, where it is just now. `step` and the like are its steps.
    Without N, say which one it is."""
    if argument:
        session.select(_thread(session, argument))
    yield [("cyan", f"[thread {session.thread}]")]
    if session.stack:
        yield from session.at(session.frame)


def _thread(session: Session, text: str) -> int:
    there = {each["index"] for each in session.traveller.ask("threads")["threads"]}
    paths = {session.traveller.recording.thread_path(each): each for each in there}
    found = paths[text] if "." in text and text in paths else number_of(text, "a thread")
    if found not in there:
        raise Refused(f"there is no thread {found} here: it has not begun, or has ended")
    return found


# ---- source ----


@command("list [FIRST[, LAST] | .]", "l", group=_GROUP)
def list_(session: Session, argument: str) -> Iterator[Row]:
    """The source around here. Eleven lines, and eleven more each time; with `.` around here again,
    with FIRST around that line, with both from one to the other. `->` is the line that comes
    next, `B` a breakpoint."""
    frame = session.frame
    text = session.sources.lines(frame.file)
    if not text:
        raise Refused(f"{frame.file} cannot be read")
    first, last = _range(session, argument)
    if first > len(text):
        raise Refused("that is the end of the file")
    yield from _listed(session, first, min(last, len(text)))


def _range(session: Session, argument: str) -> tuple[int, int]:
    if argument and argument != ".":
        one, comma, other = argument.partition(",")
        first = number_of(one.strip(), "a line")
        if not comma:
            return max(1, first - _AROUND), first + _AROUND
        last = number_of(other.strip(), "a line")
        return first, last if last >= first else first + last
    if session.listed is not None and not argument:
        return session.listed + 1, session.listed + 1 + 2 * _AROUND
    first = max(1, session.frame.line - _AROUND)
    return first, first + 2 * _AROUND


@command("longlist", "ll", group=_GROUP)
def longlist(session: Session, argument: str) -> Iterator[Row]:
    """The source of the whole function."""
    frame = session.frame
    text = session.sources.lines(frame.file)
    around = session.sources.statement(frame.file, frame.line)
    ends = [each.end_lineno or 0 for each in around if each.lineno >= frame.first > 1]
    yield from _listed(session, frame.first, max(ends, default=len(text)))


def _listed(session: Session, first: int, last: int) -> Iterator[Row]:
    frame = session.frame
    points = session.traveller.breakpoints.values()
    stops = {each.line for each in points if each.file == frame.file}
    text = session.sources.lines(frame.file)
    for number in range(max(first, 1), min(last, len(text)) + 1):
        mark = f"{'B' if number in stops else ' '}{'->' if number == frame.line else '  '}"
        yield [("", f"{number:>3} "), ("green", mark), ("", f" {text[number - 1]}".rstrip())]
    session.listed = last


# ---- values ----


@command("print EXPRESSION", "p", group=_GROUP)
def print_(session: Session, argument: str) -> Iterator[Row]:
    """The value of an expression in this frame. What it changes, it changes in a copy of the
    program that is thrown away."""
    yield from _printed(session, argument)


@command("pp EXPRESSION", group=_GROUP)
def pp(session: Session, argument: str) -> Iterator[Row]:
    """The value of an expression, over several lines if it is long."""
    yield from _printed(session, argument, pretty=True)


@command("! STATEMENT", group=_GROUP)
def statement(session: Session, argument: str) -> Iterator[Row]:
    """Carry out a statement, or show the value of an expression. What is no command is taken as
    one, too. What it changes, it changes in a copy of the program that is thrown away."""
    yield from _printed(session, argument, is_typed=True)


def _printed(
    session: Session, text: str, pretty: bool = False, is_typed: bool = False
) -> Iterator[Row]:
    if not text:
        raise Refused("of what? Give an expression")
    session.need_frame()
    said = session.evaluate(text, pretty)
    if said.get("printed"):
        yield from lines(said["printed"].removesuffix("\n"))
    if "raised" in said:
        raise Refused(f"{said['raised']}: {said['message']}")
    if said["value"] is not None and not (is_typed and said["value"] == "None"):
        yield from lines(said["value"])
    if said["changes"]:
        yield [("faint", COPY)]


@command("whatis EXPRESSION", group=_GROUP)
def whatis(session: Session, argument: str) -> Iterator[Row]:
    """The type of an expression's value."""
    yield from _printed(session, f"type({argument})" if argument else "")


@command("args", "a", group=_GROUP)
def args(session: Session, argument: str) -> Iterator[Row]:
    """The arguments of this function, with the values that they have now."""
    for name, value in session.traveller.ask("arguments", **session.here)["arguments"]:
        yield from lines(f"{name} = {value}")


@command("locals", group=_GROUP)
def locals_(session: Session, argument: str) -> Iterator[Row]:
    """All variables of this frame."""
    said = session.traveller.ask("variables", scope="locals", **session.here)
    for each in said["variables"]:
        if not each["name"].startswith("__"):
            yield from lines(f"{each['name']} = {each['value']}")


@command("display [EXPRESSION]", group=_GROUP)
def display(session: Session, argument: str) -> Iterator[Row]:
    """Show the value of an expression now and at every stop where it is another one. Without an
    expression, show all that are displayed."""
    if argument:
        if argument not in [each.text for each in session.displays]:
            session.displays.append(Display(argument, session.value_of(argument)))
        yield from lines(f"display {argument}: {session.value_of(argument)}")
        return
    yield from session.displayed(is_asked=True)


@command("undisplay [EXPRESSION]", group=_GROUP)
def undisplay(session: Session, argument: str) -> Iterator[Row]:
    """Do not display an expression any more; without one, display none any more."""
    left = [each for each in session.displays if argument and each.text != argument]
    if argument and len(left) == len(session.displays):
        raise Refused(f"{argument} is not displayed")
    session.displays = left
    yield from ()


@command("output [COUNT]", group=_GROUP)
def output(session: Session, argument: str) -> Iterator[Row]:
    """What the program had printed up to here: the last COUNT lines, 20 if it is not said."""
    count = number_of(argument, "lines") if argument else 20
    data = bytes.fromhex(session.traveller.ask("output")["output"])
    text = b"".join(piece for _, piece in written(data)).decode("utf-8", "replace")
    if not text:
        raise Refused("nothing was printed up to here")
    for each in text.removesuffix("\n").split("\n")[-count:]:
        yield [("", each)]
