"""Commands that go somewhere, forwards or backwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from reenact.analysis.text import Row
from reenact.debug.terminal.session import Session
from reenact.debug.terminal.words import Refused, command, number_of
from reenact.debug.traveller import TO_THE_NEXT_STOP, Move, Place, Stop

_GROUP = "moving"
_UNLIMITED = 1 << 40
_MOST_BEFORE = 60  # lines of preparations before the program's first
_PLACE = re.compile(r"(\d[\d_,]*)(?:\+(\d+))?")


def _depth(session: Session) -> int:
    return session.frame.depth if session.stack else _UNLIMITED


def _step(session: Session) -> Move:
    return Move(session.thread)


def _next(session: Session) -> Move:
    return Move(session.thread, _depth(session))


def _return(session: Session) -> Move:
    return Move(session.thread, session.frame.depth - 1)


def _go(
    session: Session, argument: str, move: Callable[[Session], Move], is_forward: bool
) -> Iterator[Row]:
    """As often as is said, or until there is another reason to stop."""
    traveller = session.traveller
    for _ in range(number_of(argument, "lines") if argument else 1):
        if is_forward and traveller.stop.place == traveller.beginning:
            _begin(session)
        elif is_forward:
            traveller.forward(move(session))
        else:
            traveller.backward(move(session))
            _stay_inside(session)
        if traveller.stop.why != "step":
            break
        session.select(session.thread)
    yield from session.arrived()


def _begin(session: Session) -> None:
    """To the program's first line: others run before it, which prepare it."""
    traveller = session.traveller
    for _ in range(_MOST_BEFORE):
        stop = traveller.forward(Move(0))
        if _is_inside(stop) or stop.why != "step":
            return


def _stay_inside(session: Session) -> None:
    """What comes before the program's first line is its beginning."""
    stop = session.traveller.stop
    if (
        stop.why == "step"
        and stop.place.step == session.traveller.beginning.step
        and not _is_inside(stop)
    ):
        session.traveller.go_to(session.traveller.beginning)


def _is_inside(stop: Stop) -> bool:
    return any(each.function == "<module>" for each in stop.stack)


@command("step [COUNT]", "s", group=_GROUP)
def step(session: Session, argument: str) -> Iterator[Row]:
    """Go to the next line of this thread, into functions that are called. Other threads run
    meanwhile as they did. With a COUNT, so many lines."""
    yield from _go(session, argument, _step, True)


@command("next [COUNT]", "n", group=_GROUP)
def next_(session: Session, argument: str) -> Iterator[Row]:
    """Go to the next line of this function, or of its caller if it returns."""
    yield from _go(session, argument, _next, True)


@command("return", "r", group=_GROUP)
def return_(session: Session, argument: str) -> Iterator[Row]:
    """Go on until this function has returned. Stops at the next line that its caller begins."""
    yield from _go(session, "", _return, True)


@command("until [LINE]", "unt", group=_GROUP)
def until(session: Session, argument: str) -> Iterator[Row]:
    """Go on to a later line of this function, or to this LINE or a later one. Loops are left
    behind. Stops as well when the function returns."""
    least = number_of(argument, "a line") if argument else session.frame.line + 1
    session.traveller.forward(Move(session.thread, session.frame.depth, least))
    yield from session.arrived()


@command("continue", "c", "cont", group=_GROUP)
def continue_(session: Session, argument: str) -> Iterator[Row]:
    """Go on to the next breakpoint or watched write, in any thread, or to the end."""
    session.traveller.forward(TO_THE_NEXT_STOP)
    yield from session.arrived()


@command("reverse-step [COUNT]", "rs", group=_GROUP)
def reverse_step(session: Session, argument: str) -> Iterator[Row]:
    """Go back to the line that this thread was in before, be it in a function that was called."""
    yield from _go(session, argument, _step, False)


@command("reverse-next [COUNT]", "rn", group=_GROUP)
def reverse_next(session: Session, argument: str) -> Iterator[Row]:
    """Go back to the line before in this function, or to the call if this is its first line."""
    yield from _go(session, argument, _next, False)


@command("reverse-return", "rr", group=_GROUP)
def reverse_return(session: Session, argument: str) -> Iterator[Row]:
    """Go back to the line that called this function."""
    yield from _go(session, "", _return, False)


@command("reverse-continue", "rc", group=_GROUP)
def reverse_continue(session: Session, argument: str) -> Iterator[Row]:
    """Go back to the last breakpoint or watched write before here, in any thread, or to the
    beginning."""
    session.traveller.backward(TO_THE_NEXT_STOP)
    yield from session.arrived()


@command("goto STEP[+LINE] | end | beginning", group=_GROUP)
def goto(session: Session, argument: str) -> Iterator[Row]:
    """Go to a step of the recording, and so many lines further; to its end, or its beginning. The
    prompt shows where you are in the same way."""
    if argument == "end":
        session.traveller.go_to_end()
    elif argument in ("beginning", "start"):
        session.traveller.go_to(session.traveller.beginning)
    else:
        session.traveller.go_to(_place(argument))
    yield from session.arrived()


def _place(text: str) -> Place:
    found = _PLACE.fullmatch(text)
    if found is None:
        raise Refused("goto what? A step such as 120, a place such as 120+3, or end")
    return Place(int(re.sub("[_,]", "", found[1])), int(found[2] or 0))


@command("restart", group=_GROUP)
def restart(session: Session, argument: str) -> Iterator[Row]:
    """Go to the program's first line. Breakpoints and watches stay."""
    session.traveller.go_to(session.traveller.beginning)
    _begin(session)
    yield from session.arrived()
