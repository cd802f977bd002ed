"""What a run came to, in words: deadlocks, divergences, ends of recordings.

Turns the facts that the core wrote down (`_core/outcome.c`) into the lines that `record` and
`replay` print on standard error.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator

from reenact.engine.replay import Difference, Replayed
from reenact.recordings.outcome import (
    ClockRead,
    Frame,
    InputTaken,
    Outcome,
    RecordedOperation,
    ReplayedOperation,
    Side,
    ThreadReport,
    Turn,
)
from reenact.recordings.reader import Recording

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_SHOWN_FRAMES = 8
_SWITCHES = {
    "preempt": "the baton passes to thread {}",
    "between": "the baton passes to thread {} before the next point",
    "yield": "this thread waits and thread {} goes on",
    "steal": "thread {} goes on while this one is stuck",
    "collect": "garbage collection of generation {}",
    "signal": "signal {} arrives",
    "interrupt": "signal {} interrupts the main thread",
    "end": "the program ends",
    "nothing": "the recording ends here",
    "wait": "the thread waits",
    "point": "the thread goes on past this point",
    "lost": "thread {} does not come back from a call that is not controlled",
}


def deadlock(recording: Recording, outcome: Outcome) -> Iterator[str]:
    waiting = [thread for thread in outcome.threads if thread.status == "waiting"]
    yield f"deadlock at step {outcome.step:,}: all {len(waiting)} threads wait for ever"
    cycle = _cycle(waiting)
    if len(cycle) > 1:
        names = " -> ".join(recording.thread_path(index) for index in (*cycle, cycle[0]))
        yield f"  each of these waits for the next: {names}"
    for thread in waiting:
        yield from _waiting(recording, thread)


def _cycle(waiting: list[ThreadReport]) -> list[int]:
    """Threads that wait for each other, in order; empty if nobody holds what is waited for."""
    owners = {thread.index: thread.owner for thread in waiting if thread.owner is not None}
    for start in owners:
        path = [start]
        while (following := owners.get(path[-1])) is not None and following not in path:
            path.append(following)
        if following == start:
            return path
    return []


def _waiting(recording: Recording, thread: ThreadReport) -> Iterator[str]:
    name = recording.thread_path(thread.index)
    if thread.object_kind == "thread":
        yield f"  thread {name} waits for thread {recording.thread_path(thread.object)} to end"
    else:
        held = "" if thread.owner is None else _held_by(recording, thread, thread.owner)
        yield f"  thread {name} waits for {thread.object_kind} {thread.object}{held}"
    yield from _stack(thread.frames)


def _held_by(recording: Recording, thread: ThreadReport, owner: int) -> str:
    if owner == thread.index:
        return ", which it holds itself"
    return f", held by thread {recording.thread_path(owner)}"


def _stack(frames: tuple[Frame, ...]) -> Iterator[str]:
    theirs = [frame for frame in frames if _is_theirs(frame)]
    while len(theirs) > 1 and _starts_a_thread(theirs[-1]):
        theirs.pop()
    for frame in theirs[:_SHOWN_FRAMES]:
        source = _source(frame.file, frame.line)
        yield f"      {frame.file}:{frame.line} in {frame.function}{source}"
    if len(theirs) > _SHOWN_FRAMES:
        yield f"      ... and {len(theirs) - _SHOWN_FRAMES} more"


def _starts_a_thread(frame: Frame) -> bool:
    return frame.file.endswith("threading.py") and frame.function.startswith(
        ("Thread._bootstrap", "Thread.run")
    )


def _is_theirs(frame: Frame) -> bool:
    return not frame.file.startswith(_OURS) and frame.file != "<string>"


def _source(file: str, line: int) -> str:
    text = linecache.getline(file, line).strip()
    return f": {text}" if text else ""


def divergence(recording: Recording, outcome: Outcome) -> Iterator[str]:
    thread = recording.thread_path(outcome.thread) if outcome.thread >= 0 else "none"
    yield f"diverged at step {outcome.step:,} in thread {thread}: the {_REASONS[outcome.reason]}"
    yield f"  recorded: {_side(recording, outcome.expected)}"
    yield f"  now:      {_side(recording, outcome.actual)}"
    running = [each for each in outcome.threads if each.index == outcome.thread]
    if running and not isinstance(outcome.actual, ReplayedOperation):
        yield from _stack(running[0].frames)


_REASONS = {
    "operation": "operation is another one",
    "object": "operation is on another object",
    "thread": "operation is another thread's",
    "step": "operation comes at another step",
    "schedule": "schedule cannot be followed",
    "clock": "clock that is read is another one",
    "end": "recording has no such operation",
    "input": "recording has no outcome for this call",
}


def _side(recording: Recording, side: Side | None) -> str:
    if isinstance(side, RecordedOperation):
        site = recording.definitions.site(side.site)
        return _operation(recording, site.operation, side, site.file, site.line, site.function)
    if isinstance(side, ReplayedOperation):
        return _operation(recording, side.operation, side, side.file, side.line, side.function)
    if isinstance(side, Turn):
        known = _SWITCHES.get(side.what, side.what)
        thread = side.what in ("preempt", "between", "yield", "steal", "lost")
        argument = recording.thread_path(side.argument) if thread else side.argument
        return f"{known.format(argument)} (step {side.step:,})"
    if isinstance(side, ClockRead):
        return f"clock {side.clock}"
    if isinstance(side, InputTaken):
        return side.call
    return "nothing"


def _operation(
    recording: Recording,
    name: str,
    side: RecordedOperation | ReplayedOperation,
    file: str,
    line: int,
    function: str,
) -> str:
    thread = recording.thread_path(side.thread)
    target = f" {side.object}" if side.object else ""
    place = f" at {file}:{line} in {function}{_source(file, line)}" if file else ""
    return f"{name}{target} by thread {thread} at step {side.step:,}{place}"


def difference(difference: Difference) -> Iterator[str]:
    where = f" at line {difference.line}" if difference.line else ""
    yield f"{difference.stream} differs from the recorded one{where}:"
    yield f"  recorded: {_line(difference.recorded)}"
    yield f"  now:      {_line(difference.replayed)}"


def _line(text: str | None) -> str:
    return "(nothing: it ended before)" if text is None else repr(text)


def replayed(recording: Recording, result: Replayed) -> Iterator[str]:
    """Everything there is to say at the end of a replay, the verdict last."""
    outcome = result.outcome
    if outcome is not None and outcome.reason == "deadlock":
        yield from deadlock(recording, outcome)
    elif outcome is not None and outcome.reason == "end of recording":
        yield f"the recording ends here, at step {outcome.step:,}: {_end_of(recording)}"
    elif outcome is not None:
        yield from divergence(recording, outcome)
    for each in result.differences:
        yield from difference(each)
    if result.has_diverged and result.moved:
        yield (
            "objects lie at other addresses than when this was recorded: what depends on id() or "
            "on the order of a set of objects may differ"
        )
    if not result.has_diverged:
        threads = "1 thread" if recording.thread_count == 1 else f"{recording.thread_count} threads"
        where = " (with objects at other addresses)" if result.moved else ""
        yield f"replayed {result.last_step:,} steps of {threads}, exactly as recorded{where}"


def _end_of(recording: Recording) -> str:
    end = recording.end
    if end is None:
        return "nobody saw how the program ended"
    if end.signal is not None:
        return f"the program was killed by signal {end.signal}"
    return f"the program ended with exit code {end.exit_code}"
