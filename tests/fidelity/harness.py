"""Records a program, replays it, and says what was not the same.

Used by `test_programs.py` (a few recordings of every program) and `full.py` (many). What is
compared is seen from outside: exit code and both outputs, taken from the descriptors the program
was given, besides what the recording itself counts. A cycle runs in a process of its own pool
(`Pool`), since it moves descriptors and the current directory and turns address randomisation off.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

from reenact import strategies
from reenact.engine import launch, record, replay, report, tries
from reenact.engine.launch import Choices, Ended
from reenact.inputs import Inputs
from reenact.instrument.loader import marks_of
from reenact.recordings.reader import Recording

from ..children import kill_children

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
PATTERNS = PROGRAMS.parent / "detection" / "programs"
DEADLOCK = 122
LIMIT_S = 120  # for one run; a program that takes this long hangs
_HEADER = "# reenact-test: "


@dataclass(frozen=True)
class Program:
    """One of `tests/programs`, with what its header comments say; a pattern may end in any way."""

    name: str
    path: Path
    args: tuple[str, ...] = ()
    exit_code: int | None = 0
    boundary: tuple[str, ...] = ()
    stdin: bytes = b""


@dataclass(frozen=True)
class Variant:
    """How a recording chooses between threads."""

    strategy: str
    seed: int = 0
    slice: int = 0  # 0: the strategy's own
    order: str = ""  # of the parallel engine
    in_parallel: bool = False  # replayed so, too
    tries: int = 1  # at a replay of what the parallel engine recorded

    def choices(self) -> Choices:
        known = strategies.describe(self.strategy)
        choices = Choices(known.name, known.kind, self.seed, self.slice or known.slice)
        return replace(choices, engine="parallel", order=self.order) if self.order else choices

    def packages(self) -> tuple[str, ...]:
        return marks_of(self.order)

    def options(self) -> str:
        if self.order:
            return f"--engine parallel --order {self.order}"
        slice_option = f" --slice {self.slice}" if self.slice else ""
        return f"--strategy {self.strategy} --seed {self.seed}{slice_option}"


@dataclass(frozen=True)
class Run:
    """What could be seen of one run."""

    ended: Ended
    stdout: bytes
    stderr: bytes


@dataclass
class Cycle:
    """One recording and its replays: what went wrong, in words, and how often."""

    program: str
    variant: Variant
    replays: int = 0
    diverged: int = 0  # replays that diverged or differed in any way
    moved: int = 0  # replays with objects at other addresses than recorded
    tries: list[int] = field(default_factory=list)  # of each replay: more than 1 if it was searched
    complaints: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def programs() -> list[Program]:
    return [read_program(path) for path in sorted(PROGRAMS.glob("*.py"))]


def patterns() -> list[Program]:
    """The IBM patterns, with and without their bug."""
    runner = Path(__file__).resolve().with_name("pattern.py")
    return [
        Program(f"{path.stem}_{variant}", runner, (path.stem, variant), exit_code=None)
        for path in sorted(PATTERNS.glob("ibm_*.py"))
        for variant in ("buggy", "safe")
    ]


def read_program(path: Path) -> Program:
    program = Program(path.stem, path)
    for line in path.read_text("utf-8").splitlines()[:5]:
        key, _, value = line.removeprefix(_HEADER).partition("=")
        if not line.startswith(_HEADER):
            continue
        if key == "exit":
            program = replace(program, exit_code=int(value))
        elif key == "deadlock" and value == "yes":
            program = replace(program, exit_code=DEADLOCK)
        elif key == "args":
            program = replace(program, args=tuple(value.split()))
        elif key == "boundary":
            program = replace(program, boundary=(*program.boundary, value))
        elif key == "stdin":
            program = replace(program, stdin=value.replace("\\n", "\n").encode())
    return program


def ditto(threads: int, operations: int) -> Program:
    """The microbenchmark of the Ditto paper, at a size of one's own."""
    size = ("--threads", str(threads), "--operations", str(operations))
    path = PROGRAMS / "ditto_microbenchmark.py"
    return Program(f"ditto_microbenchmark_{threads}x{operations}", path, size)


class Pool(ProcessPoolExecutor):
    """Worker processes that may call `cycle`."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(workers or os.cpu_count(), get_context("spawn"))


def cycle(program: Program, variant: Variant, replays: int, keep: Path | None = None) -> Cycle:
    """Record once, replay `replays` times; never raises for what the program did. If something
    was not the same, the recording stays, in the directory `keep`."""
    result = Cycle(program.name, variant)
    with tempfile.TemporaryDirectory(prefix="reenact-fidelity-") as scratch:
        path = Path(scratch, "run.reenact")
        try:
            _cycle(program, variant, replays, path, result)
        except Exception as error:  # a recording that cannot be read is a finding, too
            result.complaints.append(f"{type(error).__name__}: {error}")
        if keep is not None and result.complaints and path.exists():
            shutil.copy(path, keep / f"{program.name}-{variant.order}-{variant.seed}.reenact")
    if result.complaints:
        result.complaints.append(f"to see it again:\n{_again(program, variant)}")
    return result


def _cycle(program: Program, variant: Variant, replays: int, path: Path, result: Cycle) -> None:
    recorded = _record(program, variant, path)
    result.complaints += _complaints_about_recording(program, recorded, path)
    if not path.exists():
        return
    recording = Recording.open(path)
    result.notes += [note.kind for note in recording.notes()]
    for number in range(1, replays + 1):
        complaints, moved, tried = _replay(recording, recorded, variant)
        result.replays += 1
        result.moved += moved
        result.tries.append(tried)
        result.diverged += bool(complaints)
        result.complaints += [f"replay {number}: {complaint}" for complaint in complaints]


def _record(program: Program, variant: Variant, path: Path) -> Run:
    inputs = Inputs(boundary=program.boundary)
    packages = variant.packages()
    target = launch.Program("script", str(program.path), program.args, packages, inputs)
    with captured(path.with_name("record"), program.stdin) as output:
        os.chdir(PROGRAMS)
        recorded = record.record(target, variant.choices(), path)
    return output.run(recorded.ended)


def _complaints_about_recording(program: Program, run: Run, path: Path) -> Iterator[str]:
    if program.exit_code is not None and run.ended.exit_code != program.exit_code:
        yield f"recorded exit code {_exit(run.ended)}, not {program.exit_code}{_tail(run.stderr)}"
    if not path.exists():
        yield "there is no packed recording"
        return
    recording = Recording.open(path)
    for descriptor, seen in ((1, run.stdout), (2, run.stderr)):
        kept = b"".join(recording.output(descriptor))
        if kept != seen:
            yield f"the recording has not what was written to descriptor {descriptor}"
    if recording.state is None or recording.state.log_errno:
        yield "the log stopped"


def _replay(recording: Recording, recorded: Run, variant: Variant) -> tuple[list[str], bool, int]:
    with captured(recording.path.with_name("replay")) as output:
        tried = _tried(recording, variant)
    replayed = tried.result
    run = output.run(replayed.ended)
    complaints = []
    if replayed.has_diverged:
        complaints.append("\n".join(tried.words))
    if run.ended != recorded.ended:
        complaints.append(f"exit code {_exit(run.ended)}, recorded {_exit(recorded.ended)}")
    for name in ("stdout", "stderr"):
        if getattr(run, name) != getattr(recorded, name):
            complaints.append(f"{name} is not the same{_tail(getattr(run, name))}")
    if recording.header.engine == "parallel":
        return complaints, False, tried.tries
    if replayed.last_step != recording.last_step:
        complaints.append(f"{replayed.last_step} steps, recorded {recording.last_step}")
    if replayed.operations != recording.operation_count:
        complaints.append(f"{replayed.operations} operations, recorded {recording.operation_count}")
    return complaints, replayed.moved, tried.tries


def _tried(recording: Recording, variant: Variant) -> tries.Tried:
    if recording.is_parallel:
        return tries.search(recording, variant.tries, variant.in_parallel)
    result = replay.replay(recording)
    return tries.Tried(result, 1, tuple(report.replayed(recording, result)))


def _exit(ended: Ended) -> str:
    hung = " (killed by the harness: it hung)" if ended.signal == signal.SIGKILL else ""
    return f"{ended.exit_code}{hung}"


def _tail(output: bytes) -> str:
    text = output[-800:].decode("utf-8", "backslashreplace").rstrip()
    return f"; its end:\n{text}" if text else ""


def _again(program: Program, variant: Variant) -> str:
    command = shlex.join([str(program.path), *program.args])
    options = variant.options() + "".join(f" --boundary '{each}'" for each in program.boundary)
    return (
        f"  cd {PROGRAMS}\n"
        f"  {sys.executable} -m reenact record {options} -o /tmp/x.reenact {command}\n"
        f"  {sys.executable} -m reenact replay /tmp/x.reenact"
    )


class _Output:
    """The files that descriptors 1 and 2 were sent to."""

    def __init__(self, prefix: Path) -> None:
        self.paths = [Path(f"{prefix}.{descriptor}") for descriptor in (1, 2)]

    def run(self, ended: Ended) -> Run:
        return Run(ended, *(path.read_bytes() for path in self.paths))


@contextmanager
def captured(prefix: Path, stdin: bytes = b"") -> Iterator[_Output]:
    """Descriptor 0 is a pipe with what the program may read; descriptors 1 and 2 go to files, and
    what we start is killed if it hangs.

    By an alarm, not by a timer: another thread here could take the launcher's SIGCHLD away.
    """
    output = _Output(prefix)
    saved = [os.dup(0), os.dup(1), os.dup(2)]
    signal.signal(signal.SIGALRM, lambda *_: kill_children(os.getpid()))
    for descriptor, path in zip((1, 2), output.paths, strict=True):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        os.dup2(file, descriptor)
        os.close(file)
    _feed(stdin)
    signal.alarm(LIMIT_S)
    try:
        yield output
    finally:
        signal.alarm(0)
        for descriptor, copy in enumerate(saved):
            os.dup2(copy, descriptor)
            os.close(copy)


def _feed(stdin: bytes) -> None:
    """A pipe holds it all: nobody needs to write while the program reads."""
    readable, writable = os.pipe()
    os.write(writable, stdin)
    os.close(writable)
    os.dup2(readable, 0)
    os.close(readable)
