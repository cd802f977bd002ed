"""`reenact convert`: a recording of the parallel engine becomes one of the serial engine."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from reenact.cli.exits import ends_well
from reenact.cli.pack import require_ended
from reenact.cli.progress import Progress
from reenact.cli.wording import Terminal, printable
from reenact.engine.convert import convert
from reenact.errors import UsageError
from reenact.recordings.pack import pack
from reenact.recordings.reader import Recording

DESCRIPTION = """\
Put what the threads of a parallel run did into one order, which is one that the recorded run
allows, and keep that as a recording of its own: as if one thread had run at a time. Replays, the
debugger, dumps and analyses do this by themselves each time; convert once what is looked at often.
"""
EXAMPLES = """\
examples:
  reenact convert run.reenact --to serial -o run-serial.reenact
  reenact convert killed.reenact.d --to serial -o killed.reenact    what a killed run left
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "convert",
        help="turn a parallel recording into a serial one",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recording", metavar="RECORDING", help="file or directory")
    parser.add_argument("--to", choices=("serial",), required=True, help="the engine to follow it")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the file to make")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.add_argument(
        "--process",
        default="",
        metavar="ID",
        help="a Python program that the recorded one started (see reenact info)",
    )
    parser.set_defaults(run=run)


@ends_well
def run(args: argparse.Namespace) -> int:
    recording = Recording.open(args.recording, process=args.process)
    _require_parallel(recording)
    target = Path(args.output)
    _require_free(target, args.force)
    require_ended(recording)
    with tempfile.TemporaryDirectory(prefix="reenact-") as scratch:
        made = convert(recording, Path(scratch, "serial"))
        progress = Progress("packing")
        pack(made, target, progress)
        progress.close()
    _describe(Recording.open(target))
    return 0


def _require_parallel(recording: Recording) -> None:
    if recording.header.engine == "parallel":
        return
    how = "converted" if recording.header.engine == "converted" else "serial"
    raise UsageError(
        f"is a {how} recording: there is nothing to convert",
        where=str(recording.path),
        advice="Replay, debug and dump it as it is.",
    )


def _require_free(target: Path, is_forced: bool) -> None:
    if target.is_dir():
        advice = "Give -o the name of a file."
        raise UsageError("is a directory", where=str(target), advice=advice)
    if target.exists() and not is_forced:
        advice = "Name another file, or say --force."
        raise UsageError("is there already", where=str(target), advice=advice)


def _describe(made: Recording) -> None:
    threads = "1 thread" if made.thread_count == 1 else f"{made.thread_count} threads"
    words = f"{made.last_step:,} steps of {threads}, {made.switch_count:,} switches"
    Terminal().line(f"{printable(str(made.path))}: {words}")
