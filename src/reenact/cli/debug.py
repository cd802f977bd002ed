"""`reenact debug`: travel through a recording, forwards and backwards, in a terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from reenact import config
from reenact.analysis.report import Report
from reenact.analysis.text import Row
from reenact.cli.dump import turn_text
from reenact.cli.exits import ends_well
from reenact.cli.timeline import Item, Turn, Window, timeline
from reenact.cli.wording import Terminal, ending, note_text, printable
from reenact.debug.terminal import loop, marks
from reenact.debug.terminal.session import Given, Session
from reenact.debug.traveller import LIMIT_MB, Traveller
from reenact.engine import convert, replay
from reenact.errors import UsageError
from reenact.events import Event
from reenact.instrument import cache
from reenact.recordings.reader import Recording

DESCRIPTION = """\
Look at a recorded run as a debugger does, and go backwards in it. Opens at the failure if there was
one, else at the end. Knows the words of pdb - step, next, return, until, continue, break, where,
up, down, list, print - and their reverse: reverse-step, reverse-next, reverse-return,
reverse-continue; last-write and why tell who wrote a value. `help` teaches them all.

Commands come from the terminal, or from standard input, or from --command. Exits with 0 when the
session is over, 121 if the recording cannot be used.
"""
INTERRUPTED = 130
EXAMPLES = """\
examples:
  reenact debug run.reenact
  reenact debug run.reenact -c why                      one command, and its answer
  reenact debug run.reenact -c 'last-write x' -c where
  reenact debug run.reenact < commands
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "debug",
        help="travel through a recording, forwards and backwards",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "recording",
        metavar="RECORDING",
        nargs="?",
        help="file or directory; with --dap the editor may name it instead",
    )
    parser.add_argument(
        "--dap",
        action="store_true",
        help="speak the Debug Adapter Protocol with an editor, on standard input and output",
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help="with --dap: on this port of this machine instead"
    )
    parser.add_argument(
        "-c",
        "--command",
        action="append",
        metavar="COMMAND",
        help="do this, and end; may be repeated",
    )
    parser.add_argument(
        "--process",
        default="",
        metavar="ID",
        help="a Python program that the recorded one started (see reenact info)",
    )
    parser.add_argument(
        "--memory",
        type=_megabytes,
        default=LIMIT_MB,
        metavar="MB",
        help=f"what checkpoints may take together; default {LIMIT_MB}",
    )
    parser.set_defaults(run=run)


def _megabytes(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


@ends_well
def run(args: argparse.Namespace) -> int:
    if args.dap:
        return _serve(args)
    if args.recording is None:
        raise UsageError("which RECORDING? Give a file that `reenact record` has left")
    if args.port is not None:
        raise UsageError("--port is for --dap")
    with convert.opened(args.recording, args.process) as recording:
        return _debug(recording, args)


def _debug(recording: Recording, args: argparse.Namespace) -> int:
    history = Path(cache.default_root(), "debug_history")
    given = given_by(recording, Path.cwd())
    with Traveller(recording, args.memory) as traveller:
        for path in replay.changed_sources(recording):
            _say(f"{path} has changed since it was recorded; the replay may diverge")
        session = Session(traveller, given)
        try:
            marks.place(session)
            traveller.open()
            marks.open_at_first(session)
        except KeyboardInterrupt:
            return INTERRUPTED
        show(session.opened())
        if args.command is not None:
            typed = loop.given(session, args.command, print)
        elif sys.stdin.isatty():
            typed = loop.asked(session, history)
        else:
            typed = loop.given(session, sys.stdin, print)
        loop.run(session, show, typed)
    return 0


def _serve(args: argparse.Namespace) -> int:
    from reenact.debug.dap import server

    if args.port is None:
        return server.serve_here(args.recording)
    return server.serve_port(args.recording, args.port)


def show(rows: Iterable[Row]) -> None:
    """Each as soon as it is there: the next may take long."""
    terminal = Terminal()
    for row in rows:
        parts = [(style, printable(words)) for style, words in row]
        terminal.line("".join(terminal.paint(style, w) if style else w for style, w in parts))
        sys.stdout.flush()


def given_by(recording: Recording, place: Path) -> Given:
    """`place` is where the session was started: settings are looked for from there."""
    return Given(
        lambda first, last: _events(recording, first, last),
        lambda: _races(recording, place),
        ending(recording),
    )


def _events(recording: Recording, first: int, last: int) -> Iterator[tuple[int, Row]]:
    """Threads have the numbers here that the session has for them."""
    numbers = {path: str(index) for index, path in enumerate(recording.thread_paths())}
    for item in timeline(recording, Window(None, first, last)):
        yield item.step, [("", f"{item.step:>8}  "), *_event(item, numbers)]


def _event(item: Item, numbers: dict[str, str]) -> Row:
    if isinstance(item, Turn):
        before, after = (numbers.get(each, each) for each in (item.before, item.after))
        text = turn_text(replace(item, before=before, after=after))
        return [("green" if item.entry.is_switch else "cyan", text)]
    who = f"{numbers.get(item.thread, item.thread):<4}"
    if isinstance(item, Event):
        site, thing = item.site, item.object
        name = f"thread {numbers.get(thing.path, thing.path)}" if thing.path else thing.name
        place = f"{os.path.basename(site.file)}:{site.line} in {site.function}" if site.file else ""
        return [("", f"{who}{item.operation} {name}".ljust(34)), ("faint", place)]
    return [("", who), ("yellow", f"note: {note_text(item)}")]


def _races(recording: Recording, place: Path) -> Report:
    from reenact.cli.races import over

    path = config.find(place)
    settings = config.settle({}, None if path is None else config.read(path))
    with _silence():
        return over(recording).report(settings, ())


@contextmanager
def _silence() -> Iterator[None]:
    """What the program prints was printed already."""
    sys.stdout.flush()
    sys.stderr.flush()
    ours = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, each in enumerate((*ours, nowhere), 1):
            if each != nowhere:
                os.dup2(each, number)
            os.close(each)


def _say(text: str) -> None:
    print(f"reenact: {printable(text)}", file=sys.stderr, flush=True)
