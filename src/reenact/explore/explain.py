"""A failure in words that a colleague understands.

Made of one more run of the shrunk schedule, with a trail: the lines of the threads in the order in
which they ran, as far as they touch what the preemptions are about, with the values read and
written; what another thread changed in between; and which lines should have been one step, or which
locks are taken in different order, or which notification came too early.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from reenact.explore import gil
from reenact.explore.checks import Checks
from reenact.explore.runs import Observable, Ran
from reenact.explore.trail import Event, Trail, events_of
from reenact.findings import Failure, Waiting
from reenact.strategies.searching import PREEMPTS, Plan, Switch

_MOST_LINES = 40
_MOST_CHANGES = 5
_WAKES = re.compile(r"\.(notify|notify_all|set|release|put|put_nowait|set_result)\(")
_FRAME = re.compile(r'File "(.+)", line (\d+), in \S+\n +(.*)')
_JOINS = ("Thread.join", "Thread._wait_for_tstate_lock")
_WAITED_IN = ("acquire", "get")


@dataclass(frozen=True, slots=True)
class Told:
    """One line of a thread: what it did there, "" if it came to it and could not go on."""

    thread: str
    file: str
    line: int
    source: str
    did: str
    is_preempted: bool = False  # right after this line


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is told of a failure; `label` says whether it can happen with the GIL."""

    what: str
    lines: tuple[Told, ...]
    changes: tuple[str, ...]
    advice: str
    label: gil.Label

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        parts = [self.what]
        if self.lines:
            parts += ["", "What happened, in this order:", *_table(self.lines)]
        if self.changes:
            parts += ["", *self.changes]
        if self.advice:
            parts += ["", self.advice]
        return "\n".join([*parts, "", f"This failure is {self.label}."])


def explain(
    runner: Observable, switches: tuple[Switch, ...], failure: Failure
) -> Explanation | None:
    """None if the run did not fail again under observation."""
    ran, said = runner.observed(Plan(switches=switches), Trail(checks=Checks()).begin)
    if ran.failure is None or not ran.failure.is_like(failure):
        return None
    return explanation_of(ran, ran.failure, switches, events_of(said))


def explanation_of(
    ran: Ran, failure: Failure, switches: Sequence[Switch], events: Sequence[Event]
) -> Explanation:
    preemptions = [each for each in switches if each.kind == PREEMPTS]
    _note_waits(failure, events)
    changes = [text for each in preemptions for text in _changes(each, events)]
    advice = _atomic(preemptions, events)
    if not preemptions and any(event.task for event in events):
        changes, advice = _between_awaits(events)
    if failure.kind == "deadlock":
        changes, advice = _deadlock(failure, events)
    return Explanation(
        what=_what(failure),
        lines=tuple(_shortened(_lines(preemptions, failure, events))),
        changes=tuple(dict.fromkeys(changes)),
        advice=advice,
        label=gil.label(switches, events),
    )


def _what(failure: Failure) -> str:
    if failure.kind in ("deadlock", "livelock"):
        return failure.summary
    frames = _FRAME.findall(failure.traceback)
    place = ""
    if frames:
        file, line, source = frames[-1]
        place = f" at {os.path.basename(file)}:{line}: {source.strip()}"
    return f"{failure.summary}, in thread {failure.thread}{place}"


def _note_waits(failure: Failure, events: Sequence[Event]) -> None:
    """What a thread waits in for ever it has not done, though it came as far as to wait."""
    last = {event.thread: event for event in events}
    for waiting in failure.waiting:
        event = last.get(waiting.thread)
        if event is not None and event.place.operation in _WAITED_IN:
            event.order = -1


# ---- the lines ----


def _lines(preemptions: Sequence[Switch], failure: Failure, events: Sequence[Event]) -> list[Told]:
    """From the first to the last operation on what the preemptions are about."""
    things = _things(preemptions, failure, events)
    chosen = [each for each in events if each.thing in things]
    chosen.sort(key=lambda each: each.order if each.order >= 0 else each.came)
    waiting = {each.thread for each in failure.waiting}
    stops = {id(before) for before in map(lambda each: _last_before(each, chosen), preemptions)}
    told: list[Told] = []
    for event in chosen:
        if event.order < 0 and event.thread not in waiting:
            continue
        line = _told(event, id(event) in stops)
        if told and event.called and line == replace(told[-1], is_preempted=line.is_preempted):
            told.pop()  # the library does more than one thing to the same end
        told.append(line)
    return told


def _things(preemptions: Sequence[Switch], failure: Failure, events: Sequence[Event]) -> set[int]:
    things = set()
    for switch in preemptions:
        others = gil.touched_by(gil.meanwhile(switch, events))
        own = (each for each in events if each.index == switch.thread)
        things |= {each.thing for each in own if gil.conflicts(each, others)}
    if failure.kind == "deadlock":
        things |= {each.thing for each in events if each.order < 0}
    return (things or _shared(events)) - {0}


def _shared(events: Iterable[Event]) -> set[int]:
    """Things that are written once more than one has touched them: not just built and read."""
    touched: dict[int, set[str]] = {}
    written = set()
    for event in events:
        touched.setdefault(event.thing, set()).add(event.who)
        if not event.reads and len(touched[event.thing]) > 1:
            written.add(event.thing)
    return written


def _last_before(switch: Switch, events: Sequence[Event]) -> Event | None:
    past = (
        each
        for each in events
        if each.index == switch.thread and each.position < switch.position and each.order >= 0
    )
    return max(past, key=lambda each: each.order, default=None)


def _told(event: Event, is_preempted: bool) -> Told:
    source = linecache.getline(event.file, event.line).strip()
    return Told(event.who, event.file, event.line, source, _did(event), is_preempted)


def _did(event: Event) -> str:
    if event.order < 0:
        return f"waits in {event.called}" if event.called else f"waits for {event.what}"
    if event.reads:
        return f"reads {event.what}: {event.before}"
    if event.writes:
        return f"writes {event.what}: {event.before} -> {event.after}"
    if event.called:
        return f"in {event.called}"
    return f"{event.place.operation} of {event.what}" if event.what else event.place.operation


def _shortened(lines: list[Told]) -> list[Told]:
    """The end is what matters; the beginning shows how it began."""
    if len(lines) <= _MOST_LINES:
        return lines
    left_out = len(lines) - _MOST_LINES
    gap = Told("", "", 0, f"({left_out} more)", "")
    return [*lines[: _MOST_LINES // 4], gap, *lines[left_out + _MOST_LINES // 4 :]]


def _table(lines: Sequence[Told]) -> list[str]:
    thread_width = max(len(each.thread) for each in lines)
    place_width = max(len(_short(each)) for each in lines)
    source_width = min(48, max(len(each.source) for each in lines))
    rows = []
    last = ""
    for each in lines:
        if last and each.thread and each.thread != last:
            rows.append("")
        last = each.thread or last
        row = f"  {each.thread:{thread_width}}  {_short(each):{place_width}}  "
        rows.append(f"{row}{each.source:{source_width}}  {each.did}".rstrip())
        if each.is_preempted:
            rows.append(f"  {'':{thread_width}}  -- thread {each.thread} is preempted here --")
    return rows


def _short(told: Told) -> str:
    return f"{os.path.basename(told.file)}:{told.line}" if told.file else ""


# ---- what came in between, and what should have been one step ----


def _changes(switch: Switch, events: Sequence[Event]) -> list[str]:
    """What others did to a variable between two accesses of the preempted thread."""
    others = gil.meanwhile(switch, events)
    texts = []
    for thing in dict.fromkeys(each.thing for each in others if each.thing):
        first, second = _pair(switch, thing, events)
        own = [each for each in (first, second) if each is not None]
        touched = [each for each in others if each.thing == thing and each.order >= 0]
        if len(own) == 2 and any(gil.conflicts(each, gil.touched_by(touched)) for each in own):
            text = _change(own[0], own[1], touched)
            texts += [text] if text else []
    return texts


def _change(first: Event, second: Event, touched: list[Event]) -> str:
    between = (
        f"between {_whose(first)} {first.place.operation} at {_at(first)} "
        f"and its {second.place.operation} at {_at(second)}"
    )
    writes = [each for each in touched if each.writes]
    if writes and writes[0].before == writes[-1].after:
        return ""  # it was put back, as far as can be seen
    if writes:
        values = f" from {writes[0].before} to {writes[-1].after}"
        return f"{_who(writes[-1])} changed {first.what}{values} {between}."
    reads = [each for each in touched if each.reads]
    if reads:
        return f"{_who(reads[0])} saw {first.what} as {reads[0].before} {between}."
    return ""


def _pair(switch: Switch, thing: int, events: Sequence[Event]) -> tuple[Event | None, Event | None]:
    """The accesses of the preempted thread to a thing, before and after it was preempted."""
    own = [each for each in events if each.index == switch.thread and each.thing == thing]
    past = [each for each in own if each.position < switch.position and each.order >= 0]
    coming = [each for each in own if each.position >= switch.position]
    return (past[-1] if past else None), (coming[0] if coming else None)


def _who(event: Event) -> str:
    return f"Task {event.task}" if event.task else f"Thread {event.thread}"


def _whose(event: Event) -> str:
    who = _who(event)
    return f"{who[0].lower()}{who[1:]}'s"


def _at(event: Event) -> str:
    return f"{os.path.basename(event.file)}:{event.line}"


def _atomic(preemptions: Sequence[Switch], events: Sequence[Event]) -> str:
    for switch in preemptions:
        first, second = _span(switch, events)
        if first is None or second is None:
            continue
        what = first.what if first.thing == second.thing else f"{first.what} and {second.what}"
        if (first.file, first.line) == (second.file, second.line):
            lines = f"{_at(first)} in {first.place.function} is not one step. It"
        else:
            lines = f"{_at(first)} to {_at(second)} are not one step. They"
        return (
            f"{lines} should be: hold one lock over the {first.place.operation} and the "
            f"{second.place.operation} of {what}, here and wherever else it is touched."
        )
    return ""


def _span(switch: Switch, events: Sequence[Event]) -> tuple[Event | None, Event | None]:
    """Two accesses of the preempted thread that should have been one: to one variable, if any."""
    others = gil.meanwhile(switch, events)
    for thing in dict.fromkeys(each.thing for each in others if each.thing):
        first, second = _pair(switch, thing, events)
        if first is None or second is None or not (first.reads or first.writes):
            continue
        touched = gil.touched_by(each for each in others if each.thing == thing)
        if gil.conflicts(first, touched) or gil.conflicts(second, touched):
            return first, second
    first, second = gil.window(switch, events)
    is_about_data = first is not None and second is not None and first.thing and second.thing
    return (first, second) if is_about_data else (None, None)


# ---- tasks ----


def _between_awaits(events: Sequence[Event]) -> tuple[list[str], str]:
    """What other tasks changed between two accesses of one, and where it let them."""
    texts = []
    advice = ""
    for number, event in enumerate(events):
        first, theirs = _overtaken(event, events[:number])
        text = "" if first is None else _change(first, event, theirs)
        if first is not None and text:
            texts.append(text)
            advice = advice or (
                f"{_at(first)} to {_at(event)} are not one step: other tasks run at the await in "
                f"between. Do it without an await, or hold one asyncio.Lock over both."
            )
    return texts[:_MOST_CHANGES], advice


def _overtaken(event: Event, past: Sequence[Event]) -> tuple[Event | None, list[Event]]:
    """For a write: the last access of its task before others wrote, and what those wrote."""
    if not event.writes or not event.task:
        return None, []
    same = [each for each in past if each.thing == event.thing]
    theirs = [each for each in same if each.who != event.who and each.writes]
    own = [each for each in same if each.who == event.who]
    if not theirs or any(each.writes and each.order > theirs[-1].order for each in own):
        return None, []
    first = next((each for each in reversed(own) if each.order < theirs[-1].order), None)
    if first is None:
        return None, []
    return first, [each for each in theirs if each.order > first.order]


# ---- deadlocks ----


def _deadlock(failure: Failure, events: Sequence[Event]) -> tuple[list[str], str]:
    texts = [_standing(each) for each in failure.waiting]
    if failure.cycle:
        texts += _orders(failure.cycle, events)
        return texts, "Take these locks in the same order everywhere."
    early = _too_early(failure, events)
    if early:
        advice = (
            "A notification that nobody waits for is lost: test the condition and begin to wait "
            "under one lock, in a loop, and change what is tested under the same lock."
        )
        return [*texts, *early], advice
    return texts, ""


def _standing(waiting: Waiting) -> str:
    place = next((each for each in waiting.stack if not _is_library(each.file)), None)
    at = f" at {os.path.basename(place.file)}:{place.line} in {place.function}" if place else ""
    owner = f", which thread {waiting.owner} holds" if waiting.owner else ""
    if any(each.function in _JOINS for each in waiting.stack):
        return f"Thread {waiting.thread} waits{at} for thread {waiting.owner} to end."
    return f"Thread {waiting.thread} waits{at} for a {waiting.what}{owner}."


def _is_library(file: str) -> bool:
    return os.path.basename(file) in ("threading.py", "queue.py", "thread.py", "_base.py")


def _orders(cycle: Sequence[str], events: Sequence[Event]) -> list[str]:
    """In which order each thread of a cycle takes the locks."""
    wanted = {each.thing for each in events if each.order < 0 and each.thread in cycle}
    texts = []
    for thread in cycle:
        taken = [
            f"{each.what} at {_at(each)}" for each in _held(events, thread) if each.thing in wanted
        ]
        if len(taken) > 1:
            texts.append(f"Thread {thread} takes {', then '.join(taken)}.")
    return texts


def _held(events: Iterable[Event], thread: str) -> list[Event]:
    """Locks that the thread holds at the end, and at last the one that it waits for."""
    held: list[Event] = []
    for event in events:
        if event.thread != thread:
            continue
        if event.place.operation == "release":
            held = [each for each in held if each.thing != event.thing]
        elif event.place.operation == "acquire":
            held.append(event)
    return held


def _too_early(failure: Failure, events: Sequence[Event]) -> list[str]:
    """Notifications that came before the wait that they were for."""
    texts = []
    waits = {each.thread: each for each in events if each.order < 0}
    for waiting in failure.waiting:
        wait = waits.get(waiting.thread)
        if wait is None or waiting.owner or "wait" not in wait.place.via:
            continue
        line = [each for each in events if (each.thread, each.line) == (wait.thread, wait.line)]
        things = {each.thing for each in line} - {0}  # the condition, and its lock
        for event in reversed(events):
            if event.thing not in things:
                continue
            source = linecache.getline(event.file, event.line)
            found = _WAKES.search(source)
            if found and event.thread != wait.thread and 0 <= event.order < wait.came:
                texts.append(
                    f"Thread {event.thread} called {found[1]} at {_at(event)} before thread "
                    f"{wait.thread} began to wait at {_at(wait)}."
                )
                break
    return texts
