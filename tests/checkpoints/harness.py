"""Records a program, opens the recording with a traveller, and compares what it shows.

Used by the tests beside it and by `full.py`. Whatever runs a traveller is run in a process of its
own (`Pool`): travelling changes the directory and turns address randomisation off.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

from reenact.debug.process import Process
from reenact.debug.traveller import Frame, Place, Traveller
from reenact.engine import launch, record
from reenact.inputs import Inputs
from reenact.recordings.reader import Recording

from ..children import children_of
from ..fidelity.harness import PROGRAMS, Pool, Program, Variant, captured, programs, read_program

OWN = Path(__file__).resolve().parent / "programs"
QUEUE = Variant("queue", slice=50)
RANDOM = Variant("random", seed=1)
IS_FULL = os.environ.get("REENACT_FULL", "") not in ("", "0")

__all__ = ["Pool", "Program", "Variant", "programs"]


@dataclass(frozen=True)
class State:
    """What two visits of one place must agree in."""

    step: int
    line: int
    thread: int
    stack: tuple[Frame, ...]
    threads: str
    output: str
    events: tuple[int, ...]  # how many there were, and what is left of the recorded ones
    digest: str  # with addresses: the same for all copies of one process

    def differences(self, other: State) -> list[str]:
        return [
            f"{each.name}: {_beginnings_left_out(str(now), str(then))}"
            for each in fields(self)
            if (now := getattr(self, each.name)) != (then := getattr(other, each.name))
        ]

    def without_addresses(self) -> State:
        return replace(self, digest="")


def _beginnings_left_out(now: str, then: str) -> str:
    """What they have in common is left out, but for a few words."""
    both = enumerate(zip(now, then, strict=False))
    at = max(next((i for i, pair in both if pair[0] != pair[1]), 0) - 80, 0)
    return f"...{now[at : at + 240]} and not ...{then[at : at + 240]}"


def own(name: str, *args: str) -> Program:
    """One of the programs beside this file."""
    program = read_program(OWN / f"{name}.py")
    return replace(program, args=args or program.args)


@contextmanager
def recorded(program: Program, variant: Variant = QUEUE) -> Iterator[Recording]:
    """A recording of a program, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="reenact-checkpoints-") as scratch:
        path = Path(scratch, "run.reenact")
        inputs = Inputs(boundary=program.boundary)
        target = launch.Program("script", str(program.path), program.args, inputs=inputs)
        with captured(path.with_name("record"), program.stdin):
            os.chdir(PROGRAMS)
            record.record(target, variant.choices(), path)
        yield Recording.open(path)


@contextmanager
def travelling(program: Program, variant: Variant = QUEUE) -> Iterator[Traveller]:
    with recorded(program, variant) as recording, Traveller(recording) as traveller:
        yield traveller


def start(traveller: Traveller) -> Process:
    """A replay from the beginning that no copy was made of yet."""
    return traveller._start()


def seen_in(process: Process, place: Place | None = None) -> State:
    """What a stopped process looks like, there or at a line after it. It is ended."""
    try:
        said = process.talk()
        if place is not None and place.line > 0:
            process.say({"do": "hunt", "end": list(place)})
            said = process.hear()
        return look(process, Place(*said["place"]), said["thread"])
    finally:
        process.close()


def look(process: Process, place: Place, thread: int) -> State:
    """What a process that talks looks like. Tracing takes memory of the program's: addresses are
    others then, and there is no digest of a line."""
    process.say({"do": "state", "thread": thread, "digest": place.line == 0})
    said = process.hear()
    if "error" in said:
        raise AssertionError(said["error"])
    return State(
        *place,
        thread,
        tuple(Frame(**each) for each in said["frames"]),
        str(said["threads"]),
        said["output"],
        tuple(said["events"]),
        said.get("digest", ""),
    )


def at_step(beginning: Process, step: int) -> Process:
    """A copy of a process at its beginning that has run straight to a step; below 0: to the end."""
    copied = copy_of(beginning)
    if step != 0:
        copied.run(step)
    return copied


def copy_of(process: Process) -> Process:
    copied = process.copy()
    assert copied is not None, f"no copy at step {process.step}: {process.refusal}"
    return copied


def leftovers() -> list[int]:
    """Processes that this one has started and that are still there."""
    return children_of(os.getpid())
