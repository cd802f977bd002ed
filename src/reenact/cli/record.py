"""`reenact record`: run a program under the gate and keep its execution."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path

from reenact import strategies
from reenact.cli.exits import ends_well
from reenact.cli.wording import printable
from reenact.engine import record, report
from reenact.engine.launch import Choices, Program
from reenact.errors import ReenactError, UsageError
from reenact.recordings.reader import Recording
from reenact.strategies.interface import Builtin

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
"""

_VALUED = ("-o", "--strategy", "--seed", "--slice", "--instrument")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "record",
        help="run a program and record its execution",
        usage="reenact record [options] [--] SCRIPT ARGS... | -m MODULE ARGS...",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", dest="output", metavar="PATH", help="where to leave the recording")
    known = "; ".join(f"{each.name}: {each.summary}" for each in strategies.BUILTIN.values())
    parser.add_argument(
        "--strategy",
        default="queue",
        help=f"who runs next ({known}; or module:Class of your own). Default: queue",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="what random starts from")
    parser.add_argument(
        "--slice", type=int, metavar="N", help="ticks between two choices of the strategy"
    )
    parser.add_argument(
        "--instrument",
        action="append",
        default=[],
        metavar="PKG",
        help="a package to put preemption points into, besides your own code",
    )
    parser.add_argument(
        "--no-instrument", action="store_true", help="points at synchronisation only"
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help=argparse.SUPPRESS)
    parser.add_argument("program", nargs="*", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def arrange(argv: list[str]) -> list[str]:
    """Our own options end where the program begins: what follows is the program's."""
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("--", "-m"):
        at += 2 if argv[at] in _VALUED else 1
    if argv[at : at + 1] == ["-m"]:
        at += 2
    program = argv[at + 1 :] if argv[at : at + 1] == ["--"] else argv[at:]
    return [*argv[:at], "--", *program]


@ends_well
def run(args: argparse.Namespace) -> int:
    program = program_of(args)
    recorded = record.record(program, choices_of(args), _path(args, program))
    if recorded.problem:
        _say(recorded.problem)
    if recorded.path is not None:
        _try_to_describe(recorded.path)
    return recorded.ended.exit_code


def program_of(args: argparse.Namespace) -> Program:
    rest = args.program
    packages = None if args.no_instrument else tuple(args.instrument)
    if args.no_instrument and args.instrument:
        raise UsageError("--instrument and --no-instrument contradict each other")
    if args.module is not None:
        return Program("module", args.module, tuple(rest), packages)
    if not rest:
        raise UsageError("no program given", advice="Try: reenact record app.py")
    if not os.path.exists(rest[0]):
        raise UsageError(f"there is no file {rest[0]}", advice="Name the script to run.")
    return Program("script", rest[0], tuple(rest[1:]), packages)


def choices_of(args: argparse.Namespace) -> Choices:
    strategy: Builtin = strategies.describe(args.strategy)
    seed = secrets.randbits(32) if args.seed is None else args.seed
    if not 0 <= seed < 1 << 64:
        raise UsageError(f"--seed must be from 0 to {(1 << 64) - 1}")
    if args.slice is not None and not 1 <= args.slice < 1 << 62:
        raise UsageError(f"--slice must be from 1 to {(1 << 62) - 1}")
    return Choices(strategy.name, strategy.kind, seed, args.slice or strategy.slice)


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
    try:
        _describe(Recording.open(path), path)
    except ReenactError as error:
        _say(str(error))


def _describe(recording: Recording, path: Path) -> None:
    outcome = recording.outcome()
    if outcome is not None and outcome.reason == "deadlock":
        for line in report.deadlock(recording, outcome):
            _say(line)
    threads = "1 thread" if recording.thread_count == 1 else f"{recording.thread_count} threads"
    _say(f"recorded {recording.last_step:,} steps of {threads} in {_shown(path)}")
    for note in recording.notes():
        _say(f"note: {note.kind} (see reenact info)")
        break


def _shown(path: Path) -> str:
    """Relative where that is shorter: people type it again."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)


def _say(text: str) -> None:
    print(f"reenact: {printable(text)}", file=sys.stderr, flush=True)
