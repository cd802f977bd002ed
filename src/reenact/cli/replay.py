"""`reenact replay`: do again exactly what a recording did."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from reenact.cli.apart import apart
from reenact.cli.exits import ends_well
from reenact.cli.wording import printable
from reenact.engine import replay, tries
from reenact.engine.tries import Tried
from reenact.errors import UsageError
from reenact.recordings.reader import Recording

DESCRIPTION = """\
Run the recorded program again, thread by thread as it was recorded, races included. Every
operation is compared with the recorded one, and the run stops at the first that differs. What
the parallel engine recorded is then tried again with threads held elsewhere, if need be.
Exits with the program's own exit code, 120 if it diverged, 121 if the recording cannot be used.
"""
EXAMPLES = """\
examples:
  reenact replay app-20260101-120000-42.reenact
  reenact replay --tries 100 app-20260101-120000-42.reenact
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
    parser.add_argument(
        "--tries",
        type=_at_least_one,
        default=tries.TRIES,
        metavar="N",
        help="how often what the parallel engine recorded is replayed at most, until a replay is "
        f"as recorded; default {tries.TRIES}",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="what came of it as JSON on standard output; the program's goes to standard error",
    )
    parser.set_defaults(run=run)


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least one try is made")
    return number


@ends_well
def run(args: argparse.Namespace) -> int:
    recording = Recording.open(args.recording, process=args.process)
    if args.engine == "parallel":
        _check_lanes(recording)
    replay.check_usable(recording)
    for path in replay.changed_sources(recording):
        _say(f"{path} has changed since it was recorded; the replay may diverge")
    with apart(args.json):
        tried = tries.replayed(recording, args.tries, args.engine == "parallel")
    for line in tried.words:
        _say(line)
    if recording.is_parallel and (tried.tries > 1 or tried.result.has_diverged):
        _say(_tries(tried))
    code = _exit_code(recording, tried)
    if args.json:
        print(json.dumps(_as_json(recording, tried, code), indent=2))
    return code


def _tries(tried: Tried) -> str:
    if tried.result.has_diverged:
        noun = "try" if tried.tries == 1 else "tries"
        return f"not found in {tried.tries} {noun}; --tries allows more"
    return f"found at try {tried.tries}"


def _exit_code(recording: Recording, tried: Tried) -> int:
    result = tried.result
    if result.has_diverged:
        return DIVERGED
    if result.outcome is not None and result.outcome.reason == "end of recording":
        return recording.end.exit_code if recording.end is not None else 0
    return result.ended.exit_code


def _as_json(recording: Recording, tried: Tried, code: int) -> dict[str, Any]:
    """The object that docs/reference/json.md describes."""
    result = tried.result
    return {
        "format": 1,
        "path": str(recording.path),
        "engine": recording.header.engine,
        "order": recording.header.order,
        "diverged": result.has_diverged,
        "exit_code": code,
        "tries": tried.tries,
        "threads": recording.thread_count,
        "steps": result.last_step,
        "operations": result.operations,
        "moved": result.moved,
        "outcome": None if result.outcome is None else asdict(result.outcome),
        "differences": [asdict(each) for each in result.differences],
        "report": list(tried.words),
    }


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
