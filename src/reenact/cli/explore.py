"""`reenact explore`: search a program's executions for one that fails."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from reenact import strategies
from reenact.cli.exits import ends_well
from reenact.cli.wording import printable
from reenact.engine import record
from reenact.engine.launch import Program
from reenact.errors import UsageError
from reenact.explore import keep
from reenact.explore.api import judge
from reenact.explore.command import Task, explore
from reenact.explore.result import Result
from reenact.explore.runs import PATIENCE_S, STEP_LIMIT, Settings
from reenact.explore.script import HANG_S
from reenact.explore.search import RUNS, Coverage, Limits
from reenact.inputs import Inputs

PASSED, FAILED, INCONCLUSIVE = 0, 1, 3
_EXITS = {"passed": PASSED, "failed": FAILED, "inconclusive": INCONCLUSIVE}
_SHOWN_AFTER_S = 1.0

DESCRIPTION = """\
Run a Python program again and again, each time with other choices of which thread runs when, until
it fails: an uncaught exception in any thread, a non-zero exit, a deadlock, a livelock; with --find
races also accesses to the same thing that nothing orders. The failing execution is shrunk,
explained and recorded. Sleeps and time-outs cost no time.

Exit code 0: every run passed and nothing was out of control. 1: a failure was found.
3: inconclusive, with the reason.
"""
EXAMPLES = """\
examples:
  reenact explore app.py --workers 2
  reenact explore --runs 5000 -j 2 -m myapp          a module, as python -m runs it; on two cores
  reenact explore --strategy dpor app.py             every execution, up to independent operations
  reenact explore --instrument redis app.py          look into a package as well as your own code
  reenact explore --find races app.py                a race is a failure, whatever comes of it
  reenact explore --write-test test_race.py app.py   leave a regression test
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "explore",
        help="search a program's executions for one that fails",
        usage="reenact explore [options] [--] SCRIPT ARGS... | -m MODULE ARGS...",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_search(parser)
    _add_find(parser)
    _add_runs(parser)
    parser.add_argument("-o", dest="output", metavar="PATH", help="where to leave the recording")
    parser.add_argument(
        "--write-test", metavar="PATH", help="write a regression test for what was found"
    )
    parser.add_argument("--json", action="store_true", help="the result as JSON on standard output")
    parser.add_argument("-m", dest="module", metavar="MODULE", help=argparse.SUPPRESS)
    parser.add_argument("program", nargs="*", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strategy",
        default="auto",
        help=f"{', '.join(strategies.SEARCHERS)}. Default: auto, a portfolio of them",
    )
    parser.add_argument(
        "--runs", type=_positive, default=RUNS, metavar="N", help=f"at most N. Default: {RUNS}"
    )
    parser.add_argument(
        "--seconds", type=_seconds, metavar="T", help="at most so long. Default: no limit"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="what chance starts from")
    parser.add_argument(
        "-j", "--jobs", type=_positive, default=1, metavar="J", help="processes that search at once"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on where the same search was stopped"
    )
    parser.add_argument(
        "--shrink",
        type=int,
        default=300,
        metavar="N",
        help="runs that shrinking a failure may take. Default: 300",
    )


def _add_find(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--find",
        action="append",
        choices=("races",),
        default=[],
        help="what else is a failure: races, unless they are suppressed as for reenact races",
    )
    parser.add_argument(
        "--baseline", metavar="PATH", help="races that stand in this file are no failures"
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--points",
        choices=("sync", "ticks", "accesses"),
        default="accesses",
        help="where threads may switch: at synchronisation; at loop heads and function entries, "
        "too; or at shared accesses, too (default)",
    )
    parser.add_argument(
        "--instrument",
        action="append",
        default=[],
        metavar="PKG",
        help="a package to put points into, besides your own code",
    )
    parser.add_argument("--real-clock", action="store_true", help="sleeps and time-outs take time")
    parser.add_argument(
        "--patience",
        type=_seconds,
        default=PATIENCE_S,
        metavar="T",
        help="delays of T seconds and more come last; shorter ones may be overtaken by other "
        f"threads, or overtake them. Default: {PATIENCE_S:g}",
    )
    parser.add_argument(
        "--step-limit",
        type=_positive,
        default=STEP_LIMIT,
        metavar="N",
        help=f"choices in a run before it is held to be a livelock. Default: {STEP_LIMIT:,}",
    )
    parser.add_argument(
        "--hang",
        type=_seconds,
        default=HANG_S,
        metavar="T",
        help=f"real seconds before a run is given up. Default: {HANG_S:g}",
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError("must be a number of seconds")
    return value


@ends_well
def run(args: argparse.Namespace) -> int:
    task = _task(args)
    strategies.searcher(task.strategy, 0)  # an unknown one is said before anything is run
    progress = Progress(task.limits)
    result = explore(task, _path(args, task.program), progress, args.resume)
    progress.close()
    if args.write_test is not None and result.failure is not None:
        _write_test(args.write_test, task, result)
    if args.json:
        print(json.dumps(result.as_dict(), indent=2))
    else:
        tell(result)
    return _EXITS[result.verdict]


def _task(args: argparse.Namespace) -> Task:
    settings = Settings(
        args.points,
        tuple(args.instrument),
        args.step_limit,
        args.patience,
        args.real_clock,
        races=judge(args.find, args.points, args.baseline),
    )
    return Task(
        _program(args, settings),
        settings,
        args.strategy,
        args.seed,
        Limits(args.runs, args.seconds),
        args.jobs,
        args.shrink,
        args.hang,
    )


def _program(args: argparse.Namespace, settings: Settings) -> Program:
    packages = keep.packages(settings)
    rest = args.program
    if args.module is not None:
        return Program("module", args.module, tuple(rest), packages, Inputs())
    if not rest:
        raise UsageError("no program given", advice="Try: reenact explore app.py")
    if not os.path.exists(rest[0]):
        raise UsageError(f"there is no file {rest[0]}", advice="Name the script to run.")
    return Program("script", rest[0], tuple(rest[1:]), packages, Inputs())


def _path(args: argparse.Namespace, program: Program) -> Path:
    return record.default_path(program) if args.output is None else Path(args.output)


def _write_test(path: str, task: Task, result: Result) -> None:
    from reenact.explore import regression

    regression.write(Path(path), task, result)
    print(f"reenact: wrote {path}", file=sys.stderr)


def tell(result: Result) -> None:
    coverage = result.coverage
    rate = f", {coverage.runs / coverage.seconds:,.0f} a second" if coverage.seconds > 0.2 else ""
    print(
        f"{_count(coverage.runs, 'run')} in {coverage.seconds:.1f} s{rate}; "
        f"{_count(coverage.behaviours, 'behaviour')}; at most {_count(coverage.threads, 'thread')}"
    )
    failure = result.failure
    if failure is not None:
        label = f" ({result.label})" if result.label else ""
        print(f"FAILED{label}: {printable(failure.summary)}")
        print()
        print(result.explanation.rstrip() or failure.traceback.rstrip())
        if result.schedule:
            print()
            print(result.schedule.rstrip())
        print()
        _tell_recording(result)
    elif result.verdict == "passed":
        seen = f": {coverage.exhausted} was seen" if coverage.exhausted else ""
        print(f"passed{seen}")
    else:
        print("INCONCLUSIVE")
    for reason in result.reasons:
        print(f"  {printable(reason)}")


def _tell_recording(result: Result) -> None:
    if result.recording is not None:
        shown = os.path.relpath(result.recording)
        looks = result.failure is not None and result.failure.is_found_by_looking
        command = f"reenact {'races' if looks else 'replay'}"
        print(f"recorded in {shown}; see it again with: {command} {shown}")
    else:
        print(f"no recording: {result.recording_problem}")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


class Progress:
    """A line on the terminal while the search goes on."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.started = time.monotonic()
        self.is_shown = False

    def __call__(self, coverage: Coverage) -> None:
        spent = time.monotonic() - self.started
        if spent < _SHOWN_AFTER_S or not sys.stderr.isatty():
            return
        self.is_shown = True
        rate = coverage.runs / spent
        sys.stderr.write(
            f"\r\x1b[Kreenact: {coverage.runs:,} of {self.limits.runs:,} runs, "
            f"{rate:,.0f} a second, {coverage.behaviours:,} behaviours"
            f"{self._left(coverage.runs, spent, rate)}"
        )
        sys.stderr.flush()

    def _left(self, runs: int, spent: float, rate: float) -> str:
        left = [(self.limits.runs - runs) / rate] if rate else []
        if self.limits.seconds is not None:
            left.append(self.limits.seconds - spent)
        return f", at most {max(0.0, min(left)):.0f} s left" if left else ""

    def close(self) -> None:
        if self.is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
