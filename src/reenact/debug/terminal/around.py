"""Commands about the recording around here: what happened, and what races."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reenact.analysis import text
from reenact.analysis.findings import Finding, Race
from reenact.analysis.text import Row
from reenact.debug.terminal.session import Session
from reenact.debug.terminal.words import command, number_of
from reenact.findings import Line

_GROUP = "finding out"
_STEPS = 8  # before and after


@command("events [COUNT]", group=_GROUP)
def events(session: Session, argument: str) -> Iterator[Row]:
    """What happened around here. Operations of threads, switches from one to another, collections
    of garbage: COUNT steps before and after. `=>` is where you are."""
    count = number_of(argument, "steps") if argument else _STEPS
    step = session.traveller.stop.place.step
    has_come = False
    for at, row in session.given.events(max(0, step - count), step + count):
        if at >= step and not has_come:
            has_come = True
            yield [("green", f"=> {step:>8}  you are here")]
        yield [("", "   "), *row]
    if not has_come:
        yield [("green", f"=> {step:>8}  you are here")]


@command("races [all]", group=_GROUP)
def races(session: Session, argument: str) -> Iterator[Row]:
    """What `reenact races` finds in this recording. As far as it is about this line, or else about
    this file; with `all`, everything. The first time, the whole recording is replayed for it."""
    if session.report is None:
        session.report = session.given.races()
    report = session.report
    found = report.findings
    if argument != "all" and session.stack:
        frame = session.frame
        file = report.sources.shown(frame.file)
        in_file = [each for each in found if any(line.file == file for line in _lines(each))]
        in_line = [each for each in in_file if Line(file, frame.line, "") in _bare(each)]
        place = f"{file}:{frame.line}" if in_line or not in_file else file
        word = "about" if in_file else "nothing was found that is about"
        yield [("cyan", f"{word} {place}:" if in_file else f"{word} {place}, or its file")]
        found = tuple(in_line or in_file)
    if found or argument == "all" or not session.stack:
        yield from text.rows(replace(report, findings=found))
    elif report.findings:
        yield [("", f"{len(report.findings):,} elsewhere: `races all` shows them")]


def _lines(finding: Finding) -> tuple[Line, ...]:
    """Of both accesses, and of the calls that led to them."""
    if isinstance(finding, Race):
        stacks = (*finding.first.stack, *finding.second.stack)
        return (*finding.places, *stacks)
    return finding.places


def _bare(finding: Finding) -> list[Line]:
    return [Line(each.file, each.line, "") for each in _lines(finding)]
