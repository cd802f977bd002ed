"""A report as text for people.

Lines are lists of parts, each with a style; the command line paints them, and makes harmless what
the program's own names and sources might do to a terminal.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from reenact.analysis.findings import (
    Access,
    Finding,
    HeldWaiting,
    Lock,
    LockOrder,
    Race,
    Stack,
    Thread,
    Unreleased,
)
from reenact.analysis.report import Report
from reenact.analysis.sources import Sources
from reenact.analysis.suppress import How
from reenact.findings import Line

MOST = 30  # findings that are shown in full
_FRAMES = 8
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))).replace(os.sep, "/") + "/"

Style = str  # "", or one of the command line's
Part = tuple[Style, str]
Row = list[Part]

_DOES = {
    "read": "reads it",
    "write": "writes it",
    "item_read": "reads it",
    "item_write": "writes it",
    "item_update": "adds it",
    "item_test": "looks for it",
    "item_default": "sets it if it is missing",
    "update": "adds to it",
    "put": "puts something into it",
    "take": "takes something from it",
    "whole_read": "reads all of it",
    "whole_write": "changes all of it",
}
_NOUNS = {
    "race": ("race", "races"),
    "lock-order": ("cycle of locks", "cycles of locks"),
    "held-while-waiting": ("lock held while waiting", "locks held while waiting"),
    "never-released": ("lock never released", "locks never released"),
}
_BY: dict[How, str] = {
    "comment": "by comment",
    "configuration": "by configuration",
    "baseline": "by the baseline",
}


def rows(report: Report) -> Iterator[Row]:
    """Everything, the summary last."""
    for finding in report.findings[:MOST]:
        yield from _finding(finding, report.sources)
        yield []
    if len(report.findings) > MOST:
        yield [("", f"... and {len(report.findings) - MOST:,} more; --json has them all")]
        yield []
    yield from _summary(report)


def plain(report: Report) -> str:
    return "\n".join("".join(text for _, text in row) for row in rows(report))


def _finding(finding: Finding, sources: Sources) -> Iterator[Row]:
    style = "red" if finding.level == "error" else "yellow"
    yield [(style, finding.level), ("", f": {finding.title}")]
    if isinstance(finding, Race):
        yield from _race(finding, sources)
    elif isinstance(finding, LockOrder):
        yield from _order(finding, sources)
    elif isinstance(finding, HeldWaiting):
        for held in finding.held:
            yield from _step(f"it holds {_kind(held.lock)}, taken here", held.stack, sources)
        until = ", at most for a time" if finding.is_timed else ""
        yield from _step(f"it waits in {finding.what}{until}", finding.stack, sources)
    elif isinstance(finding, Unreleased):
        words = f"{_kind(finding.held.lock)}, taken here{_times(finding.count)}"
        yield from _step(words, finding.held.stack, sources)
    if finding.advice:
        yield [("green", "  -> "), ("", finding.advice)]


def _order(order: LockOrder, sources: Sources) -> Iterator[Row]:
    for each in order.takings:
        holds = f"{_who(each.thread)} holds {_kind(each.held.lock)}"
        yield from _step(holds, each.held.stack, sources)
        taken = f"and takes {_kind(each.taken.lock)}{_times(each.count)}"
        yield from _step(taken, each.taken.stack, sources)


def _who(thread: Thread) -> str:
    return f"{thread} ({thread.name})" if thread.name else str(thread)


# ---- races ----


def _race(race: Race, sources: Sources) -> Iterator[Row]:
    yield [("faint", f"  {race.label}{_times(race.count)}")]
    for access, also in ((race.first, ""), (race.second, "nothing orders it with this: ")):
        does = _DOES.get(access.mode, access.mode)
        yield [("", f"  {also}{_who(access.thread)} {does}, {_holding(access)}")]
        yield from _pointed(access, sources)
        yield from _stack((access.place, *access.stack[1:]), sources, has_source=False)


def _holding(access: Access) -> str:
    if not access.locks:
        return "holding no lock"
    return "holding " + " and ".join(_taken(each) for each in access.locks)


def _taken(lock: Lock) -> str:
    where = "" if lock.where is None else f" taken at {_at(lock.where)}"
    return f"{_kind(lock)}{where}"


def _kind(lock: Lock) -> str:
    return f"{'RLock' if lock.kind == 'rlock' else lock.kind} {lock.number}"


def _pointed(access: Access, sources: Sources) -> Iterator[Row]:
    """The line of the source, and where in it."""
    place = access.place
    text = sources.line(place.file, place.line)
    if not text.strip():
        return
    indent = len(text) - len(text.lstrip())
    column = len(text.encode()[: access.column].decode(errors="ignore"))
    yield [("", f"      {text.strip()}")]
    if indent <= column < len(text):
        yield [("cyan", f"      {' ' * (column - indent)}^")]


# ---- stacks ----


def _step(words: str, stack: Stack, sources: Sources) -> Iterator[Row]:
    yield [("", f"  {words}")]
    yield from _stack(stack, sources, has_source=True)


def _stack(stack: Stack, sources: Sources, has_source: bool) -> Iterator[Row]:
    theirs = their(stack)
    for number, line in enumerate(theirs[:_FRAMES]):
        source = "" if number == 0 and not has_source else _source(line, sources)
        yield [("faint", f"      {_at(line)} in {line.function}"), ("", source)]
    if len(theirs) > _FRAMES:
        yield [("faint", f"      ... and {len(theirs) - _FRAMES} more")]


def their(stack: Stack) -> Stack:
    """Without the lines that are in every stack: of reenact, and those that begin a thread."""
    kept = [each for each in stack if not each.file.startswith(_OURS) and each.file != "<string>"]
    while len(kept) > 1 and _begins_thread(kept[-1]):
        kept.pop()
    return tuple(kept)


def _begins_thread(line: Line) -> bool:
    is_library = line.file.endswith("threading.py")
    return is_library and line.function.startswith(("Thread._bootstrap", "Thread.run"))


def _source(line: Line, sources: Sources) -> str:
    text = sources.line(line.file, line.line).strip()
    return f": {text}" if text else ""


def _at(line: Line) -> str:
    return f"{line.file}:{line.line}"


def _times(count: int) -> str:
    return "" if count < 2 else f", seen {count:,} times"


# ---- the summary ----


def _forgotten(count: int) -> str:
    threads = _counted(count, "thread", "threads")
    return f"{threads} had ended so long before that races with them are not seen"


def _summary(report: Report) -> Iterator[Row]:
    counts = report.counts()
    texts = [_counted(counts[kind], *words) for kind, words in _NOUNS.items() if kind in counts]
    style = {"found": "red", "inconclusive": "yellow", "none": "green"}[report.verdict]
    yield [(style, ", ".join(texts) or "no races, no cycles of locks"), ("", _suppressed(report))]
    if report.sample < 1:
        part = f"{report.sample:.0%}" if report.sample >= 0.01 else f"{report.sample:g}"
        yield [("", f"only {part} of the variables were looked at: there may be more races")]
    if report.is_heuristic:
        yield [("", "looked at less, on trust (--heuristic): there may be more races")]
    if report.forgotten:
        yield [("", _forgotten(report.forgotten))]
    if report.exit_code:
        yield [("", f"the program ended with exit code {report.exit_code}")]
    if report.reasons:
        word = "INCONCLUSIVE" if report.verdict == "inconclusive" else "there may be more"
        yield [("yellow", word)]
        yield from ([("", f"  {each}")] for each in report.reasons)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _suppressed(report: Report) -> str:
    ways = Counter(each.how for each in report.suppressed)
    texts = [f"{ways[how]:,} {words}" for how, words in _BY.items() if how in ways]
    return f" ({len(report.suppressed):,} suppressed: {', '.join(texts)})" if texts else ""
