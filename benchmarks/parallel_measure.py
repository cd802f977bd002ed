"""Runs programs stock and under recorders, by turns, and keeps what was seen; judges nothing.

Each round runs stock and all recorders one after the other, with one thread and with two, so that a
slow phase of the machine meets all of them; of several rounds the best time counts.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from measure import CommandFailed, Times, read_elapsed, read_info, run
from parallel_cases import CONTROL, NOT_ORDER, STOCK, Case, Point, Recorder

PROBE = Case("locks", "lock_counter")
# Lanes lie in chunks, whose ends are not used: those bytes are nobody's trace.
IN_USE = """
import sys
from reenact.recordings.lanes import split
from reenact.recordings.reader import Recording
lanes = split(Recording.open(sys.argv[1]).whole("lanes", 1 << 40))
print(sum(map(len, lanes.values())))
"""


@dataclass
class Sizes:
    """Bytes of what was recorded of the order of events."""

    unpacked: int
    packed: int


@dataclass
class Seen:
    """What was seen of one program under one recorder; `trouble` is why there is nothing more.

    Times are by number of threads. `differs` counts runs whose result was not stock's, where there
    can be only one; and replays whose result was not the recorded one. `idle` is what a point of
    the microbenchmark leaves whose threads make one access each: starts, locks, and so on.
    """

    times: dict[int, Times] = field(default_factory=dict)
    replay: Times = field(default_factory=Times)
    sizes: Sizes | None = None
    idle: Sizes | None = None
    differs: int = 0
    trouble: str | None = None


@dataclass
class Row:
    """All that was seen of one program or point, by recorder; `stock` is one of them."""

    case: Case | Point
    seen: dict[str, Seen]


@dataclass(frozen=True)
class Bench:
    """How to measure."""

    python: str
    recorders: list[Recorder]
    rounds: int
    scale: float
    with_replay: bool
    scratch: Path

    def measure(self, case: Case | Point) -> Row:
        """Everybody, `rounds` times by turns."""
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        row = Row(case, {recorder.name: Seen() for recorder in (STOCK, *self.recorders)})
        results: dict[int, str] = {}
        for number in range(self.rounds):
            for recorder in (STOCK, *self.recorders):
                seen = row.seen[recorder.name]
                if seen.trouble is None:
                    try:
                        self.one_round(case, recorder, seen, results, number)
                    except CommandFailed as failure:
                        seen.trouble = str(failure)
                        print(f"{recorder.name} FAILED: {failure}", file=sys.stderr)
        return row

    def one_round(
        self,
        case: Case | Point,
        recorder: Recorder,
        seen: Seen,
        results: dict[int, str],
        number: int,
    ) -> None:
        """Record with one thread and with two; replay and look at the latter."""
        is_program = isinstance(case, Case)
        record = recorder.record if is_program else recorder.micro or recorder.record
        replay = recorder.replay
        if not is_program and recorder.micro_replay is not None:
            replay = recorder.micro_replay
        for threads in (1, 2) if is_program else (2,):
            recording = self.scratch / "recording.reenact"
            remove(recording)
            words = case.words(threads, self.scale)
            whole_s, output = run(self.fill(record, words, recording), number)
            own_s = read_elapsed(output)
            if own_s is None:
                raise CommandFailed(words, "printed no line 'elapsed SECONDS'")
            seen.times.setdefault(threads, Times()).add(whole_s, own_s)
            expected = results.setdefault(threads, result_of(output))
            seen.differs += not case.is_racy and result_of(output) != expected
        if recorder is STOCK:
            return
        if seen.sizes is None:
            seen.sizes = self.sizes(recorder, recording)
            seen.idle = None if is_program else self.idle(case, recorder)
        if self.with_replay and replay:
            whole_s, replayed = run(self.fill(replay, words, recording), number)
            seen.replay.add(whole_s, None)
            is_recording = recorder.info is not None
            seen.differs += is_recording and result_of(replayed) != result_of(output)

    def idle(self, point: Case | Point, recorder: Recorder) -> Sizes | None:
        """How large the trace is if threads do next to nothing."""
        recording = self.scratch / "idle.reenact"
        remove(recording)
        words = self.fill(recorder.micro or recorder.record, point.words(2, 0.0), recording)
        run(words)
        return self.sizes(recorder, recording)

    def fill(self, template: str, words: list[str], recording: Path) -> list[str]:
        """The command line."""
        command = [self.python]
        for word in shlex.split(template):
            if word == "PROGRAM":
                command += words
            else:
                command.append(str(recording) if word == "RECORDING" else word)
        return command

    def sizes(self, recorder: Recorder, recording: Path) -> Sizes | None:
        """How large the trace is."""
        if recorder.info is not None:
            parts = read_info(self.fill(recorder.info, [], recording))["sizes"]
            order = {name: part for name, part in parts.items() if name not in NOT_ORDER}
            if "lanes" in order:
                _, output = run([self.python, "-c", IN_USE, str(recording)])
                order["lanes"]["raw"] = int(output)
            raw, stored = (sum(each[how] for each in order.values()) for how in ("raw", "stored"))
            return Sizes(raw, stored)
        if not recording.is_file():
            return None
        with recording.open("rb") as trace:
            packer, packed = zlib.compressobj(), 0
            while piece := trace.read(1 << 20):
                packed += len(packer.compress(piece))
            packed += len(packer.flush())
        return Sizes(recording.stat().st_size, packed)

    def control(self) -> float:
        """What two threads gain that share nothing: how much of this machine is free."""
        times = {threads: Times() for threads in (1, 2)}
        for number in range(self.rounds):
            for threads, kept in times.items():
                words = CONTROL.words(threads, self.scale)
                whole_s, output = run([self.python, *words], number)
                kept.add(whole_s, read_elapsed(output))
        return times[1].best / times[2].best

    def why_not(self, recorder: Recorder) -> str | None:
        """Why a recorder cannot be measured, tried on next to nothing; None if it can."""
        recording = self.scratch / "recording.reenact"
        remove(recording)
        try:
            run(self.fill(recorder.record, PROBE.words(2, 0.0001), recording))
        except CommandFailed as failure:
            return str(failure).splitlines()[-1]
        return None


def result_of(output: str) -> str:
    """What the program says it found out, without times."""
    told = ("checksum ", "loaded ")
    return "\n".join(line for line in output.splitlines() if line.startswith(told))


def remove(recording: Path) -> None:
    """Whatever an earlier run has left there."""
    for path in (recording, recording.with_name(recording.name + ".d")):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
