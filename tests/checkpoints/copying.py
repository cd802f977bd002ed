"""What is done to a recorded program to see that its copies are what it was."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field

from reenact.debug.process import Interrupted, Process
from reenact.debug.traveller import Traveller

from .harness import (
    QUEUE,
    Program,
    State,
    Variant,
    at_step,
    copy_of,
    leftovers,
    recorded,
    seen_in,
    start,
    travelling,
)

PATIENCE_S = 100  # only for what would never come


@dataclass
class Outcome:
    """Of one program: how many copies were made, how many of them ran to the end, and what was
    wrong with them."""

    program: str
    copies: int = 0
    ran: int = 0
    notes: str = ""
    complaints: list[str] = field(default_factory=list)

    def compare(self, what: str, now: State, expected: State) -> None:
        differences = now.differences(expected)
        if differences and len(self.complaints) < 10:
            self.complaints.append(f"{self.program}, {what}: " + "; ".join(differences))


def check_copies(
    program: Program, variant: Variant, count: int, every: int = 1, generations: int = 1
) -> Outcome:
    """Copies at steps from the first start of a thread to the end; every n-th is run to the end,
    which must be the end that the process itself comes to. By turns it is a copy, a copy of a copy,
    and so on."""
    outcome = Outcome(program.name)
    with travelling(program, variant) as traveller:
        first, last = _first_start(traveller), traveller.recording.last_step
        beginning, runner = start(traveller), start(traveller)
        end = seen_in(at_step(beginning, -1))
        _look_at_end(traveller, end, outcome)
        beginning.close()
        root = copy_of(runner)
        own_end = seen_in(at_step(root, -1))
        root.close()
        outcome.compare("two replays", own_end.without_addresses(), end.without_addresses())
        for number in range(count):
            step = first + (last - first) * number // count
            if step > runner.step:
                runner.run(step)
            copied = copy_of(runner)
            outcome.copies += 1
            if number % every == 0:
                copied = _descend(copied, 1 + outcome.ran % generations)
                copied.run(-1)
                outcome.ran += 1
                outcome.compare(f"copied at {runner.step}", seen_in(copied), own_end)
            else:
                copied.close()
        runner.run(-1)
        outcome.compare("the process that was copied", seen_in(runner), own_end)
    _look_for_leftovers(outcome)
    return outcome


def _first_start(traveller: Traveller) -> int:
    """Before it, most programs import."""
    return next((each.step for each in traveller.recording.events() if each.thread != "0"), 0)


def _descend(process: Process, generations: int) -> Process:
    """A copy of a copy, frozen or running: between two of them it makes a step."""
    for number in range(1, generations):
        copied = copy_of(process)
        process.close()
        process = copied
        if number % 2 == 0:
            process.run(process.step + 1)
    return process


def check_copies_at_once(program: Program, count: int) -> Outcome:
    """A copy is sent on and copied again while its other threads begin to run; each must come to
    the same end. One that waits for ever is ended."""
    outcome = Outcome(program.name)
    try:
        with travelling(program) as traveller:
            timer = threading.Timer(PATIENCE_S, traveller.interruption.ask_all)
            timer.start()
            last, runner = traveller.recording.last_step, start(traveller)
            end = seen_in(at_step(runner, -1)).without_addresses()
            for number in range(1, count):
                runner.run(last * number // count)
                sent = copy_of(runner)
                sent.run(sent.step + 1)
                outcome.copies += 1
                copied = copy_of(sent)
                sent.close()
                copied.run(-1)
                outcome.compare(f"at {sent.step}", seen_in(copied).without_addresses(), end)
            timer.cancel()
            runner.close()
    except Interrupted:
        outcome.complaints.append(f"{program.name}: a copy waits for ever")
    return outcome


def check_copies_without_the_first_thread(program: Program, count: int) -> Outcome:
    """A copy's first thread is the one that copied, which ends before the program does."""
    outcome = Outcome(program.name)
    with travelling(program) as traveller:
        first, last = _first_start(traveller), traveller.recording.last_step
        runner = start(traveller)
        for number in range(1, count):
            runner.run(first + (last - first) * number // count)
            sent = copy_of(runner)
            sent.run(last - 1)
            copied = sent.copy()
            if copied is None:
                outcome.complaints.append(f"copied at {runner.step}, and not at {sent.step}")
            else:
                outcome.copies += 1
                copied.close()
            sent.close()
        runner.close()
    return outcome


def _look_at_end(traveller: Traveller, end: State, outcome: Outcome) -> None:
    """The end is the recorded one, and all that was recorded has happened."""
    recording = traveller.recording
    _, operations, _, *left = end.events
    # files are not read in order, and lanes are those of another engine
    if operations != recording.operation_count or any(left[:-2]):
        outcome.complaints.append(f"events {end.events}, recorded {recording.operation_count}")
    if end.step != recording.last_step:
        outcome.complaints.append(f"ended at {end.step}, recorded {recording.last_step}")
    for number in (1, 2):
        was = b"".join(recording.output(number))
        now = _printed(bytes.fromhex(end.output), number)
        if was != now:
            outcome.complaints.append(f"printed {now!r:.300}, recorded {was!r:.300}")


def _printed(stream: bytes, wanted: int) -> bytes:
    """What a stream of outputs has for a descriptor: number, size, bytes."""
    found, at = b"", 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = stream[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(stream):
        number, size = varint(), varint()
        if number == wanted:
            found += stream[at : at + size]
        at += size
    return found


def _look_for_leftovers(outcome: Outcome) -> None:
    left = leftovers()
    if left:
        outcome.complaints.append(f"processes {left} are still there")


def check_leaks(program: Program, copies: int, settled: int) -> Outcome:
    """Copies, some of them run on, some copied again: neither processes nor descriptors nor memory
    may grow, here or in the process that is copied, once the first few were made."""
    outcome = Outcome(program.name)
    with recorded(program, QUEUE) as recording, Traveller(recording) as traveller:
        runner = start(traveller)
        runner.run(recording.last_step // 2)
        before: tuple[int, ...] = ()
        for number in range(copies):
            if number == settled:
                before = _resources(runner, traveller)
            copied = copy_of(runner)
            outcome.copies += 1
            if number % 10 == 0:
                copied = _descend(copied, 3)
                copied.run(recording.last_step)
            copied.close()
        after = _resources(runner, traveller)
        outcome.notes = f"{before} and {after} {RESOURCES}"
        for name, was, now in zip(RESOURCES, before, after, strict=True):
            allowed = 64 if name.startswith("pages") else 0
            if now > was + allowed:
                outcome.complaints.append(f"{name}: {was} after {settled} copies, now {now}")
        runner.close()
    _look_for_leftovers(outcome)
    return outcome


RESOURCES = (
    "children",
    "descriptors",
    "descriptors of the process",
    "files",
    "pages",
    "pages of the process",
)


def _resources(process: Process, traveller: Traveller) -> tuple[int, ...]:
    return (
        len(leftovers()),
        len(os.listdir("/proc/self/fd")),
        len(os.listdir(f"/proc/{process.pid}/fd")),
        sum(1 for _ in traveller._write.rglob("*")),
        _pages("self"),
        _pages(str(process.pid)),
    )


def _pages(process: str) -> int:
    """Without those of files, which come and go as the system likes."""
    with open(f"/proc/{process}/statm") as file:
        _, resident, shared, *_ = map(int, file.read().split())
    return resident - shared
