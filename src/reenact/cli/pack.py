"""`reenact pack`: a recording's directory becomes one file.

The directory is removed only after the file is complete, verified and on disk, and then only
the members of the recording: a directory that holds anything else stays.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from reenact.cli.exits import ends_well
from reenact.cli.progress import Progress
from reenact.cli.wording import Terminal, printable
from reenact.errors import UsageError
from reenact.recordings import format
from reenact.recordings.pack import pack
from reenact.recordings.reader import Recording

DESCRIPTION = """\
Pack a recording's directory into one file, which is smaller and easy to send, and remove the
directory. `reenact record` does this by itself when the program ends; this is for the directory
that is left behind when it could not.
"""
EXAMPLES = """\
examples:
  reenact pack run.reenact.d                      makes run.reenact
  reenact pack run.reenact.d -o /tmp/x.reenact    makes /tmp/x.reenact
  reenact pack run.reenact.d --keep               keeps the directory
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "pack",
        help="pack a recording's directory into one file",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recording", metavar="RECORDING", help="the directory")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file to make")
    parser.add_argument("--keep", action="store_true", help="do not remove the directory")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.set_defaults(run=run)


@ends_well
def run(args: argparse.Namespace) -> int:
    recording = Recording.open(args.recording)
    if recording.is_packed:
        raise UsageError("is packed already", where=args.recording, advice="Nothing to do.")
    target = Path(args.output) if args.output else default_target(recording.path)
    if target.exists() and not args.force:
        raise UsageError("is there already", where=str(target), advice="Use -o or --force.")
    require_ended(recording)
    terminal = Terminal()
    before = sum(size.stored for size in recording.sizes.values())
    progress = Progress("packing")
    pack(recording.path, target, progress)
    progress.close()
    terminal.line(f"{printable(str(target))}: {target.stat().st_size:,} bytes, were {before:,}")
    if not args.keep:
        remove(recording, terminal)
    return 0


def default_target(directory: Path) -> Path:
    """NAME.reenact.d becomes NAME.reenact; any other NAME becomes NAME.reenact."""
    whole = Path(os.path.abspath(directory))  # "." has no name of its own
    name = whole.name
    return whole.with_name(name[:-2] if name.endswith(".reenact.d") else f"{name}.reenact")


def remove(recording: Recording, terminal: Terminal) -> None:
    directory = recording.path
    try:
        for name in recording.members.names():
            (directory / name).unlink(missing_ok=True)
        for process in recording.processes:
            (directory / process).rmdir()
        directory.rmdir()
    except OSError as error:
        why = error.strerror or str(error)
        terminal.line(f"{printable(str(directory))} could not be removed: {why}")


def require_ended(recording: Recording) -> None:
    """Packing what is still being written would lose the rest of it."""
    if recording.end is not None or recording.state is None or recording.state.is_whole:
        return
    for process in _processes_mapping(recording.path / format.STATE):
        raise UsageError(
            f"process {process} is still recording into it",
            where=str(recording.path),
            advice="Pack it when the program has ended.",
        )


def _processes_mapping(path: Path) -> Iterator[int]:
    """Processes that have the file mapped, as far as we may see them."""
    wanted = os.fsencode(path.resolve())
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                maps = (entry / "maps").read_bytes()
            except OSError:
                continue
            if any(line.endswith(b" " + wanted) for line in maps.splitlines()):
                yield int(entry.name)
