"""What a re-execution has shown of a failure, for people: rows, as other reports have them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from reenact.analysis import text
from reenact.analysis.report import report_of
from reenact.analysis.text import Row
from reenact.debug.process import Reason
from reenact.debug.terminal.seeing import threads
from reenact.debug.terminal.session import Session
from reenact.debug.terminal.writers import FIXED, why
from reenact.debug.traveller import TravelError
from reenact.guard.again import Again
from reenact.guard.keeper import Failure

_MOST_VALUES = 12
_LONGEST = 80
_LINES = 24


def rows(failure: Failure, session: Session, again: Again) -> Iterator[Row]:
    """The place, the values there, who wrote them, who waits for whom, what ran last, and races."""
    yield [("red", f"FAILED: {failure.text}")]
    yield from _again(failure, session, again)
    if not session.traveller.stop.stack:
        yield [("", "no code of the program's runs there")]
    else:
        yield from session.at(session.frame)
        yield from _values(session)
        yield []
        yield [("bold", "the values in this line")]
        yield from list(why(session, ""))[2:]
    if failure.reason is Reason.DEADLOCK:
        yield []
        yield [("bold", "what each thread waits for")]
        yield from threads(session, "")
    yield []
    yield [("bold", "the last lines of the program's own")]
    yield from _interleaving(session)
    yield []
    yield from _races(session)


def _again(failure: Failure, session: Session, again: Again) -> Iterator[Row]:
    what = "the epoch" if failure.frozen is not None else "the whole run"
    epoch = f"{what} (steps {session.traveller.beginning.step} to {failure.step})"
    if again.disagreement:
        count = f"{again.tries} times" if again.tries > 1 else "once"
        yield [("yellow", f"{epoch} was run again {count}, and went another way each time")]
        yield [("yellow", f"  the last one: {again.disagreement}")]
        yield [("yellow", "  what follows is of such a run: it may not be what has happened")]
    else:
        tried = "at the first try" if again.tries == 1 else f"at try {again.tries}"
        yield [("", f"{epoch} was run again, identically, {tried}")]


def _values(session: Session) -> Iterator[Row]:
    said = session.traveller.ask("variables", scope="locals", **session.here)
    shown_ones = [each for each in said["variables"] if each["type"] not in FIXED]
    for each in shown_ones[:_MOST_VALUES]:
        if not each["name"].startswith("__"):
            value = each["value"].replace("\n", " ")
            shown = value if len(value) <= _LONGEST else value[:_LONGEST] + "..."
            yield [("", f"    {each['name']} = {shown}")]


def _interleaving(session: Session) -> Iterator[Row]:
    lines = session.traveller.last_lines(_LINES)
    for thread, those in groupby(lines, key=lambda each: each[0]):
        yield [("cyan", f"  thread {thread}")]
        for _, file, line, place in those:
            source = session.sources.line(file, line).strip()
            where = f"{session.sources.shown(file)}:{line}"
            yield [("", f"    {place!s:<12} {where:<24} {source}")]


def _races(session: Session) -> Iterator[Row]:
    try:
        raw = session.traveller.races()
    except TravelError as error:
        yield [("yellow", f"races could not be looked for: {error.what}")]
        return
    report = report_of(raw, session.traveller.recording.header.cwd, is_whole=False)
    if not report.findings:
        yield [("", "no race was seen")]
        return
    yield from text.rows(report)


def memory(failure: Failure, session: Session, again: Again) -> Iterator[Row]:
    """Which line damaged which block, and where that came from."""
    by_serial = {each.serial: each for each in failure.damages}
    yield [("red", f"FAILED: {failure.text}")]
    yield from _again(failure, session, again)
    for found in session.traveller.culprits(by_serial):
        damage = by_serial[found["serial"]]
        yield []
        if not found["kind"]:
            yield [("yellow", f"{damage}: not seen again; which line did it is not known")]
            continue
        by = f" in {found['callee']}" if found["callee"] else ""
        yield [("bold", f"{damage}, written by thread {found['thread']}{by}")]
        yield from _stack(session, found["written"])
        for name in ("allocated", "freed"):
            if found[name]:
                yield [("", f"  {name} here")]
                yield from _stack(session, found[name])


def _stack(session: Session, stack: list[list[object]]) -> Iterator[Row]:
    for file, line, function, *_ in stack:
        text = session.sources.line(str(file), int(str(line))).strip()
        yield [("", f"    {session.sources.shown(str(file))}:{line} in {function}: {text}")]
