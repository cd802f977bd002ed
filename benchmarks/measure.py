"""Runs the commands and keeps the times. Called by record.py; judges nothing.

Each round runs stock, record and replay one after the other, so that a slow phase of the machine
meets all three; of several rounds the best time counts.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

from cases import Case

LIMIT_S = 600


class CommandFailed(Exception):
    """A measured command ended with an error, or printed no time."""

    def __init__(self, command: list[str], why: str) -> None:
        super().__init__(f"{' '.join(command)}\n{why}")


@dataclass(frozen=True)
class Commands:
    """How to run a program stock, recorded and replayed; see record.py for the templates."""

    python: str
    record: tuple[str, ...]
    replay: tuple[str, ...]
    info: tuple[str, ...] | None

    def fill(self, template: tuple[str, ...], case: Case, recording: Path) -> list[str]:
        """The command line; the word `PROGRAM` stands for the program and its arguments."""
        command = [self.python]
        for word in template:
            if word == "PROGRAM":
                command += [str(case.path), *case.args]
            else:
                command.append(str(recording) if word == "RECORDING" else word)
        return command


@dataclass
class Times:
    """Seconds of the runs of one kind: of the whole process, and by its own `elapsed` line."""

    whole: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)

    def add(self, whole_s: float, own_s: float | None) -> None:
        """Keep one run."""
        self.whole.append(whole_s)
        if own_s is not None:
            self.own.append(own_s)

    @property
    def best(self) -> float:
        """The shortest work part, or whole process where the program has no work part."""
        return min(self.own or self.whole)

    @property
    def spread(self) -> float:
        """The median to the best: how noisy the machine was."""
        runs = self.own or self.whole
        return statistics.median(runs) / min(runs)


@dataclass
class Measurement:
    """All that was seen of one case. `info` is what `reenact info --json` said, or empty."""

    case: Case
    stock: Times = field(default_factory=Times)
    record: Times = field(default_factory=Times)
    replay: Times = field(default_factory=Times)
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def record_ratio(self) -> float:
        """Recorded to stock, by the program's own time."""
        return self.record.best / self.stock.best

    @property
    def replay_ratio(self) -> float | None:
        """Replayed to recorded, by whole process: a replayed clock tells the recorded time."""
        return min(self.replay.whole) / min(self.record.whole) if self.replay.whole else None

    @property
    def startup_more_s(self) -> float:
        """What the recorded process takes more than the stock one."""
        return min(self.record.whole) - min(self.stock.whole)


def run(command: list[str], number: int = 0) -> tuple[float, str]:
    """Run to the end; the seconds it took and what it printed.

    Where the stack lies, modulo a page, can cost or save a third of the time. Stock Python gets
    another place in every run; a recorded one gets it by the size of its environment.
    """
    padding = "x" * (number * 272 % 4096)
    environment = dict(os.environ, PYTHONHASHSEED="0", REENACT_BENCHMARK_PADDING=padding)
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdout=PIPE, stderr=PIPE, text=True, env=environment, start_new_session=True
    ) as running:
        try:
            output, errors = running.communicate(timeout=LIMIT_S)
        except BaseException as late:  # what a recorder has started would disturb all that comes
            os.killpg(running.pid, signal.SIGKILL)
            if isinstance(late, subprocess.TimeoutExpired):
                raise CommandFailed(command, f"not done after {LIMIT_S} s") from late
            raise
    whole_s = time.perf_counter() - start
    if running.returncode != 0:
        raise CommandFailed(command, f"exit code {running.returncode}\n{errors[-2000:]}")
    return whole_s, output


def read_elapsed(output: str) -> float | None:
    """The seconds of the last `elapsed SECONDS` line; the recorder may print after it."""
    for line in reversed(output.splitlines()):
        if line.startswith("elapsed "):
            return float(line.split()[1])
    return None


def timed(command: list[str], times: Times, has_own: bool, number: int) -> None:
    """Run and keep the times."""
    whole_s, output = run(command, number)
    own_s = read_elapsed(output) if has_own else None
    if has_own and own_s is None:
        raise CommandFailed(command, "printed no line 'elapsed SECONDS'")
    times.add(whole_s, own_s)


def measure(
    case: Case, commands: Commands, rounds: int, with_replay: bool, scratch: Path
) -> Measurement:
    """Run all kinds in turn, `rounds` times."""
    result = Measurement(case)
    has_own = case.group != "startup"
    for number in range(rounds):
        recording = scratch / f"{case.name.replace(' ', '-')}-{number}.reenact"
        timed(commands.fill(("PROGRAM",), case, recording), result.stock, has_own, number)
        timed(commands.fill(commands.record, case, recording), result.record, has_own, number)
        if with_replay:
            replay = commands.fill(commands.replay, case, recording)
            timed(replay, result.replay, False, number)
        if commands.info and not result.info:
            result.info = read_info(commands.fill(commands.info, case, recording))
            if recording.is_file():
                result.info["packed_bytes"] = recording.stat().st_size
    return result


def read_info(command: list[str]) -> dict[str, Any]:
    """What the tool says of a recording."""
    output = run(command)[1]
    try:
        info = json.loads(output)
    except ValueError as error:
        raise CommandFailed(command, f"no JSON: {error}") from error
    return dict(info)
