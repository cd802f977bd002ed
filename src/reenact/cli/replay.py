"""`reenact replay`: do again exactly what a recording did."""

from __future__ import annotations

import argparse
import sys

from reenact.cli.exits import ends_well
from reenact.cli.wording import printable
from reenact.engine import convert, replay, report
from reenact.errors import UsageError
from reenact.recordings.reader import Recording

DESCRIPTION = """\
Run the recorded program again, thread by thread as it was recorded, races included. Every
operation is compared with the recorded one, and the run stops at the first that differs.
Exits with the program's own exit code, 120 if it diverged, 121 if the recording cannot be used.
"""
EXAMPLES = """\
examples:
  reenact replay app-20260101-120000-42.reenact
"""
DIVERGED = 120


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "replay",
        help="do again exactly what was recorded",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recording", metavar="RECORDING", help="file or directory")
    parser.add_argument(
        "--process",
        default="",
        metavar="ID",
        help="replay a Python program that the recorded one started (see reenact info)",
    )
    parser.add_argument(
        "--engine",
        choices=("serial", "parallel"),
        default="serial",
        help="parallel: threads run at once, as they did if the parallel engine has recorded them",
    )
    parser.set_defaults(run=run)


@ends_well
def run(args: argparse.Namespace) -> int:
    if args.engine == "parallel":
        recording = Recording.open(args.recording, process=args.process)
        _check_lanes(recording)
        return _replay(recording, in_parallel=True)
    with convert.opened(args.recording, args.process) as recording:
        return _replay(recording, in_parallel=False)


def _replay(recording: Recording, in_parallel: bool) -> int:
    replay.check_usable(recording)
    for path in replay.changed_sources(recording):
        _say(f"{path} has changed since it was recorded; the replay may diverge")
    result = replay.replay(recording, in_parallel=in_parallel)
    for line in report.replayed(recording, result):
        _say(line)
    if result.has_diverged:
        return DIVERGED
    if result.outcome is not None and result.outcome.reason == "end of recording":
        return recording.end.exit_code if recording.end is not None else 0
    return result.ended.exit_code


def _check_lanes(recording: Recording) -> None:
    """Whether threads can be told, while they run, what they have to wait for."""
    if recording.header.engine != "parallel":
        what = "it was recorded by the serial engine"
    elif recording.header.order == "light":
        what = "light's order is found when a recording is converted"
    else:
        return
    advice = "Leave out --engine parallel."
    raise UsageError(what, where=str(recording.path), advice=advice)


def _say(text: str) -> None:
    print(f"reenact: {printable(text)}", file=sys.stderr, flush=True)
