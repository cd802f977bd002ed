"""Replaying a recording from outside: checks before, the run, comparison after.

Called by `reenact replay` and by the API. The mirror of `record.py`. The program's sources and
the interpreter are this machine's; only the schedule, clocks and the settings come from the
recording.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from itertools import zip_longest
from pathlib import Path

from reenact import pyversion
from reenact.engine import convert, launch
from reenact.engine.launch import Choices, Ended, Launch, Printed, Program
from reenact.errors import RecordingError
from reenact.recordings.header import Header
from reenact.recordings.outcome import Outcome
from reenact.recordings.pack import unpack
from reenact.recordings.reader import Recording
from reenact.recordings.sources import Sources
from reenact.recordings.streams import Streams

# Variables that could make the loader or the interpreter run other code: never a stranger's.
_OURS = ("PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONHOME", "PYTHONBREAKPOINT", "PYTHONEXECUTABLE")
_STREAMS = {1: "standard output", 2: "standard error"}
_FLAG = re.compile("-(W.*|X.*|O+|[BIEsSu])", re.DOTALL)  # as record.interpreter_flags gives them
_AS_RECORDED = ("deadlock", "end of recording")
_NEEDED = ("schedule", "operations", "definitions", "clock", "inputs", "files")


@dataclass(frozen=True, slots=True)
class Difference:
    """Where what was printed differs; the lines are None past the end."""

    stream: str
    line: int
    recorded: str | None
    replayed: str | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay came to. `outcome` is the program's own report, if the gate ended it."""

    ended: Ended
    outcome: Outcome | None
    differences: tuple[Difference, ...]
    last_step: int
    operations: int
    agreed: int  # bytes of the output that are as recorded
    moved: bool  # objects were at other addresses than recorded

    @property
    def has_diverged(self) -> bool:
        hard = self.outcome is not None and self.outcome.reason not in _AS_RECORDED
        return hard or bool(self.differences)


def check_usable(recording: Recording) -> None:
    """Refuse what cannot be replayed here, with what to do about it."""
    header = recording.header
    recorded = pyversion.minor_of(header.python)
    if recorded != pyversion.RUNNING:
        raise RecordingError(
            recording.origin,
            "unfit",
            f"it was recorded by Python {header.python}, and this is {pyversion.RUNNING}",
            advice=f"Replay it with python{recorded} -m reenact replay.",
        )
    if header.mode in ("script", "block"):
        _check_program(recording)
    for flag in header.flags:
        if not _FLAG.fullmatch(flag):
            reason = f"{flag!r} is no option of the interpreter that a recording has"
            raise RecordingError(recording.origin, "damaged", reason)
    for name in _NEEDED:
        if name not in recording.extents or not recording.extents[name].is_written:
            raise RecordingError(
                recording.origin,
                "truncated",
                f"it has no {name}: the program ended before it began",
                advice="Record again.",
            )


def _check_program(recording: Recording) -> None:
    header = recording.header
    path = os.path.join(header.cwd, header.target)
    try:
        if header.target:
            os.stat(path)
            return
    except PermissionError as error:
        raise RecordingError(
            recording.origin,
            "unfit",
            f"its program {path} cannot be reached: {error.strerror}",
            advice="Get permission to read it, or replay as the user who recorded it.",
        ) from None
    except OSError:
        pass
    raise RecordingError(
        recording.origin,
        "unfit",
        f"its program {header.target or '(typed in)'} is not in {header.cwd}",
        advice="Put the sources where they were when it was recorded.",
    )


def check_modules(recording: Recording) -> None:
    """Installed packages that the program loaded must be here too."""
    theirs = recording.header.environment.get("PYTHONPATH", "").split(os.pathsep)
    for text in recording.definitions.modules:
        name, _, origin = text.partition(" ")
        if PathFinder.find_spec(name, [*theirs, *sys.path]) is None and not os.path.exists(origin):
            raise RecordingError(
                recording.origin,
                "unfit",
                f"its program needs the module {name}, which this Python does not have",
                advice=f"Install {name} for {sys.executable}, or replay with a Python that has it.",
            )


def changed_sources(recording: Recording) -> tuple[str, ...]:
    """Instrumented source files that are not what they were, as far as they are files."""
    cwd = recording.header.cwd
    sources = Sources(recording.definitions.sources, cwd)
    return tuple(
        path
        for path in recording.definitions.sources
        if sources.standing(path) != "same" and not _is_in_archive(Path(cwd, path))
    )


def _is_in_archive(path: Path) -> bool:
    return any(parent.is_file() for parent in path.parents)


def replay(
    recording: Recording,
    change: Callable[[Program], Program] = lambda program: program,
    look: Callable[[Path], None] = lambda directory: None,
    in_parallel: bool = False,
    printed: Printed | None = None,
) -> Replayed:
    """Run the recorded program again. `change` may have more done in its process, and `look` at
    what that left in the directory of the replay. What the parallel engine has recorded is replayed
    thread by thread, unless it is to be done `in_parallel`. What is printed goes where ours does,
    or where it is told."""
    with (convert.in_pieces if in_parallel else convert.serial)(recording) as prepared:
        return _replay(prepared, change, look, printed)


def _replay(
    recording: Recording,
    change: Callable[[Program], Program],
    look: Callable[[Path], None],
    printed: Printed | None,
) -> Replayed:
    check_usable(recording)
    check_modules(recording)
    header = recording.header
    with directories(recording) as (read, write):
        enter(header.cwd, recording)
        to_run = to_replay(recording, read, write)
        ended = launch.run(replace(to_run, program=change(to_run.program)), printed=printed)
        look(write)
        replayed = Recording.open(write)
        if replayed.state is None or replayed.state.threads == 0:
            reason = f"its replay ended with exit code {ended.exit_code} before it began"
            raise RecordingError(recording.origin, "damaged", reason)
        return _compare(recording, replayed, ended)


def to_replay(recording: Recording, read: Path, write: Path) -> Launch:
    """The process that replays it, as it lies open in a directory."""
    header, state = recording.header, recording.state
    return Launch(
        launch.REPLAY,
        program_of(header),
        choices_of(header),
        environment_of(header),
        header.flags,
        str(write),
        str(read),
        recording.last_step,
        is_cut=state is None or not state.is_whole,
    )


def choices_of(header: Header) -> Choices:
    """Nothing is chosen in a replay, but a strategy written in Python is loaded all the same: the
    modules it imports were there when the program was recorded."""
    strategy = header.strategy
    return Choices(strategy.name, 0, strategy.seed, strategy.slice, header.engine, header.order)


def program_of(header: Header) -> Program:
    packages = header.instrument.packages if header.instrument.enabled else None
    return Program(header.mode, header.target, header.argv, packages, header.inputs)


def enter(cwd: str, recording: Recording) -> None:
    try:
        os.chdir(cwd)
    except OSError as error:
        raise RecordingError(
            recording.origin,
            "unfit",
            f"its directory {cwd} cannot be entered: {error.strerror}",
            advice="Make the directory, or get permission to enter it.",
        ) from error


def environment_of(header: Header) -> dict[str, str]:
    def is_ours(name: str) -> bool:
        return name.startswith("LD_") or name in _OURS

    kept = {name: value for name, value in header.environment.items() if not is_ours(name)}
    kept.update((name, value) for name, value in os.environ.items() if is_ours(name))
    return kept


@contextmanager
def directories(recording: Recording) -> Iterator[tuple[Path, Path]]:
    """Where the recording lies open, and where the replay writes."""
    scratch = Path(tempfile.mkdtemp(prefix="reenact-"))
    try:
        write = scratch / "replay"
        write.mkdir()
        (write / "header.json").write_text(recording.header.to_json(), "utf-8")
        read = recording.path
        if recording.is_packed:
            read = unpack(recording.path, scratch / "recording")
        yield Path(os.path.abspath(read), recording.process), write
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _compare(recording: Recording, replayed: Recording, ended: Ended) -> Replayed:
    outcome = replayed.outcome()
    differences = list(_differences(recording, replayed, outcome, ""))
    for path, child in recording.processes.items():
        if not child.is_forked:
            continue
        now = replayed.processes.get(path)
        if now is None:
            differences.append(Difference(f"process {path}", 0, "it ran", None))
            continue
        theirs = now.outcome()
        differences.extend(_differences(child, now, theirs, f"process {path}: "))
        if outcome is None and theirs is not None and theirs.reason not in _AS_RECORDED:
            outcome = theirs
    if outcome is None and recording.header.engine != "serial":
        differences.extend(_another_end(recording, ended))
    could_be_same = recording.header.addresses == "fixed"
    moved = could_be_same and replayed.state is not None and replayed.state.moved_object != 0
    steps, operations = replayed.last_step, replayed.operation_count
    agreed = sum(_agreed(recording, replayed, each) for each in _STREAMS)
    return Replayed(ended, outcome, tuple(differences), steps, operations, agreed, moved)


def _another_end(recording: Recording, ended: Ended) -> Iterator[Difference]:
    """Of a race nothing else may be seen."""
    end = recording.end
    if end is not None and end.ended == "exited" and end.exit_code != ended.exit_code:
        yield Difference("exit code", 0, str(end.exit_code), str(ended.exit_code))


def _agreed(recording: Streams, replayed: Streams, descriptor: int) -> int:
    was = b"".join(recording.output(descriptor))
    now = b"".join(replayed.output(descriptor))
    differing = (at for at, (old, new) in enumerate(zip(was, now, strict=False)) if old != new)
    return len(was) if was == now else next(differing, min(len(was), len(now)))


def _differences(
    recording: Streams, replayed: Streams, outcome: Outcome | None, where: str
) -> Iterator[Difference]:
    is_whole = outcome is None or outcome.reason == "deadlock"
    for descriptor, name in _STREAMS.items():
        difference = _difference(recording, replayed, descriptor, where + name, is_whole)
        if difference is not None:
            yield difference


def _difference(
    recording: Streams, replayed: Streams, descriptor: int, name: str, is_whole: bool
) -> Difference | None:
    """The first line that differs; past the end of a cut recording anything may follow."""
    was = b"".join(recording.output(descriptor))
    now = b"".join(replayed.output(descriptor))
    if was == now or (not is_whole and (was.startswith(now) or now.startswith(was))):
        return None
    for number, (old, new) in enumerate(zip_longest(was.splitlines(), now.splitlines()), 1):
        if old != new:
            return Difference(name, number, _text(old), _text(new))
    return Difference(name, 0, None, None)


def _text(line: bytes | None) -> str | None:
    return None if line is None else line.decode("utf-8", "backslashreplace")
