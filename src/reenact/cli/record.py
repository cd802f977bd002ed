"""`reenact record`: run a program under the gate and keep its execution."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reenact import strategies
from reenact.cli.exits import ends_well
from reenact.cli.program import add_options, program_of, settings_of
from reenact.cli.progress import Progress
from reenact.cli.wording import printable
from reenact.config import Settings
from reenact.engine import record
from reenact.engine.launch import Choices, Program
from reenact.errors import ReenactError, UsageError
from reenact.instrument.loader import marks_of
from reenact.recordings.header import ORDERS
from reenact.strategies.interface import Builtin
from reenact.strategies.queue import QUEUE

if TYPE_CHECKING:
    from reenact.recordings.reader import Recording

DESCRIPTION = """\
Run a Python program and record its execution: which thread ran when, and what the clocks said.
The program does what it always does, and `reenact record` exits with the program's own exit code
(122 if the program deadlocked). Where the recording is, is said on standard error.
"""
EXAMPLES = """\
examples:
  reenact record app.py --workers 8
  reenact record -m pytest tests/test_pool.py       a module, as python -m runs it
  reenact record --strategy random --seed 7 app.py  other interleavings, the same for the same seed
  reenact record --instrument requests app.py       threads may switch inside requests, too
  reenact record --source files=passed app.py       files are read again in a replay
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "record",
        help="run a program and record its execution",
        usage="reenact record [options] [--] SCRIPT ARGS... | -m MODULE ARGS...",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_engine(parser)
    parser.add_argument("-o", dest="output", metavar="PATH", help="where to leave the recording")
    add_options(parser)
    parser.set_defaults(run=run)


@ends_well
def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    program = program_of(args, settings)
    choices = in_parallel(args, choices_of(settings))
    marks = marks_of(choices.order) if choices.engine == "parallel" else ()
    if marks and (program.packages is not None or choices.order != "sync"):
        program = replace(program, packages=(*(program.packages or ()), *marks))
    progress = Progress("reenact: packing")
    recorded = record.record(program, choices, _path(args, program), progress)
    progress.close()
    if recorded.problem:
        _say(recorded.problem)
    if recorded.path is not None:
        _try_to_describe(recorded.path)
    return recorded.ended.exit_code


def add_engine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=("serial", "parallel"),
        default="serial",
        help="one thread at a time (default), or threads as they come, with what orders them noted",
    )
    parser.add_argument(
        "--order",
        choices=ORDERS,
        help="what the parallel engine takes note of: synchronisation; or shared accesses, too",
    )


def in_parallel(args: argparse.Namespace, choices: Choices) -> Choices:
    if args.engine == "serial":
        if args.order is not None:
            raise UsageError(
                "an order is for the parallel engine",
                where="--order",
                advice="Say --engine parallel, too.",
            )
        return choices
    return replace(choices, engine="parallel", order=args.order or "sync")


def choices_of(settings: Settings, turns: int = QUEUE.slice) -> Choices:
    """Turns of the strategy `queue` are as long as is said here, unless the user says it."""
    strategy = _strategy(settings)
    seed = int.from_bytes(os.urandom(4), "little") if settings.seed is None else settings.seed
    usual = turns if strategy.name == QUEUE.name else strategy.slice
    slice = usual if settings.slice is None else settings.slice
    return Choices(strategy.name, strategy.kind, seed, slice)


def _strategy(settings: Settings) -> Builtin:
    try:
        return strategies.describe(settings.strategy)
    except UsageError as error:
        error.where = str(settings.origin("strategy"))
        raise


def _path(args: argparse.Namespace, program: Program) -> Path:
    if args.output is None:
        return record.default_path(program)
    path = Path(args.output)
    if path.is_dir():
        raise UsageError(f"{path} is a directory", advice="Give -o the name of a file.")
    if record.directory_of(path).exists():
        raise UsageError(
            f"{record.directory_of(path)} is there already",
            advice="It is a recording that was not packed: see reenact info, reenact pack.",
        )
    return path


def _try_to_describe(path: Path) -> None:
    """The program has ended by now, and its exit code is what counts."""
    from reenact.recordings.reader import Recording

    try:
        _describe(Recording.open(path), path)
    except ReenactError as error:
        _say(str(error))


def _describe(recording: Recording, path: Path) -> None:
    from reenact.engine import report

    outcome = recording.outcome()
    if outcome is not None and outcome.reason == "deadlock":
        for line in report.deadlock(recording, outcome):
            _say(line)
    threads = "1 thread" if recording.thread_count == 1 else f"{recording.thread_count} threads"
    count = f"{recording.last_step:,} steps"
    if recording.is_parallel:
        count = f"{recording.operation_count:,} operations"
    _say(f"recorded {count} of {threads} in {_shown(path)}")
    for note in recording.notes():
        if note.kind != "native module":
            _say(f"note: {note.kind} (see reenact info)")
            break


def _shown(path: Path) -> str:
    """Relative where that is shorter: people type it again."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)


def _say(text: str) -> None:
    print(f"reenact: {printable(text)}", file=sys.stderr, flush=True)
