"""`reenact dump`: a recording's events, as people or programs read them."""

from __future__ import annotations

import argparse
import json
import os
import re
from typing import Any

from reenact.cli import inputs
from reenact.cli.exits import ends_well
from reenact.cli.timeline import Item, Turn, Window, timeline
from reenact.cli.wording import (
    Terminal,
    ending,
    note_text,
    printable,
    require_range,
    signal_name,
)
from reenact.engine import convert
from reenact.errors import UsageError
from reenact.events import DEATHS, GENERATIONS, Event, Note, Site, name_of
from reenact.recordings.reader import Recording
from reenact.recordings.sources import Sources

DESCRIPTION = """\
Show what a recorded program did, in order: each operation with its step, thread, object and
source line, the switches between threads (->), garbage collections, and what was not under
control. A source line is shown only if its file is still the recorded one. With --inputs, show
what calls to the outside returned instead: they have no steps.
"""
EXAMPLES = """\
examples:
  reenact dump run.reenact                         everything
  reenact dump run.reenact --thread 0.2            one thread, and the switches to and from it
  reenact dump run.reenact --from 1000 --to 1200   a range of steps
  reenact dump run.reenact --inputs                what came from outside
  reenact dump run.reenact --json | jq .operation  for programs (docs/reference/json.md)
"""
LONGEST_LINE = 100
_LIBRARY = re.compile(r"^/.*/(?:lib/python3\.\d+t?|site-packages|dist-packages)/(?=.)")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "dump",
        help="show the events of a recording",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recording", metavar="RECORDING", help="file or directory")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--thread", metavar="ID", help="only this thread, for example 0.1")
    parser.add_argument("--from", dest="first", type=int, metavar="N", help="first step to show")
    parser.add_argument("--to", dest="last", type=int, metavar="N", help="last step to show")
    parser.add_argument("--inputs", action="store_true", help="what came in from outside instead")
    parser.set_defaults(run=run)


@ends_well
def run(args: argparse.Namespace) -> int:
    require_range(args.first, args.last)
    with convert.opened(args.recording) as recording:
        return show(recording, args)


def show(recording: Recording, args: argparse.Namespace) -> int:
    if args.inputs:
        return show_inputs(recording, args)
    if args.thread is not None:
        recording.thread_index(args.thread)  # before anything is printed
    window = Window(args.thread, args.first, args.last)
    view: Text | Lines = Lines(recording) if args.json else Text(recording)
    view.begin()
    for item in timeline(recording, window):
        view.item(item)
    if not window.is_past(recording.last_step):
        view.end()
    return 0


def show_inputs(recording: Recording, args: argparse.Namespace) -> int:
    if args.thread is not None or args.first is not None or args.last is not None:
        what = "--inputs has no threads and no steps to choose from"
        raise UsageError(what, advice="Leave out --thread, --from and --to.")
    terminal = Terminal()
    if not args.json:
        for line in inputs.lines(recording):
            terminal.line(line)
        return 0
    Lines(recording).begin()
    for number, each in enumerate(recording.inputs(inputs.KEPT), 1):
        terminal.line(json.dumps(inputs.as_json(number, each)))
    return 0


class Text:
    """For people: one line an item."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._terminal = Terminal()
        self._sources = Sources(recording.definitions.sources, recording.header.cwd)
        self._places: dict[int, str] = {}

    def begin(self) -> None:
        pass

    def item(self, item: Item) -> None:
        if isinstance(item, Event):
            what = f"{item.operation} {item.object.name}".rstrip()
            self._row(item.step, item.thread, f"{what:<24} {self._place(item.site)}".rstrip())
        elif isinstance(item, Turn):
            self._turn(item)
        else:
            text = self._terminal.paint("yellow", f"note: {note_text(item)}")
            self._row(item.step, item.thread, text)

    def end(self) -> None:
        self._row(self._recording.last_step, "", f"end: {ending(self._recording)}")
        for problem in self._recording.problems:
            self._row(self._recording.last_step, "", f"incomplete: {problem}")

    def _row(self, step: int, thread: str, text: str) -> None:
        self._terminal.line(f"{step:>9}  {thread:<9} {text}")

    def _turn(self, turn: Turn) -> None:
        style = "green" if turn.entry.is_switch else "cyan"
        self._row(turn.step, "", self._terminal.paint(style, turn_text(turn)))

    def _place(self, site: Site) -> str:
        """Where, and the line's text; made once for a site."""
        if site.number not in self._places:
            if len(self._places) > 1 << 16:
                self._places.clear()
            self._places[site.number] = self._describe(site)
        return self._places[site.number]

    def _describe(self, site: Site) -> str:
        if not site.file:
            return ""
        name = printable(_shortened(site.file, self._recording.header.cwd))
        place = f"{name}:{site.line} in {printable(site.function)}"
        if self._sources.standing(site.file) == "changed":
            return f"{place}  {self._terminal.paint('faint', '(source changed)')}"
        line = printable(self._sources.line(site.file, site.line) or "")[:LONGEST_LINE]
        return f"{place}  {self._terminal.paint('faint', '| ' + line)}" if line else place


def turn_text(turn: Turn) -> str:
    kind, argument = turn.entry.kind, turn.entry.argument
    if turn.entry.is_switch:
        reasons = {"preempt": "preempted", "yield": "waits or ended", "steal": "is stuck"}
        reasons["between"] = reasons["preempt"]
        came_back = turn.before == turn.after
        reason = "came back" if came_back else f"{turn.before} {reasons[kind]}"
        return f"-> thread {turn.after} ({reason})"
    if kind == "collect" and argument >= GENERATIONS:
        return f"weak references: an object {name_of(argument - GENERATIONS, DEATHS, 'death')}"
    if kind == "collect":
        return f"garbage collection, generation {argument}"
    if kind in ("signal", "interrupt"):
        return f"{signal_name(argument)} for the main thread"
    if kind == "end":
        return "deadlock" if argument == 1 else "the program closed its log"
    return f"schedule {kind}, argument {argument}"


def _shortened(file: str, cwd: str) -> str:
    """Relative to where the program ran or a library lies; JSON has the whole path."""
    root = cwd.rstrip(os.sep) + os.sep
    return file[len(root) :] if file.startswith(root) else _LIBRARY.sub("", file)


class Lines:
    """For programs: one JSON object a line; docs/reference/json.md describes them."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._terminal = Terminal()

    def begin(self) -> None:
        self._write(type="recording", format=1, path=str(self._recording.origin))

    def item(self, item: Item) -> None:
        if isinstance(item, Event):
            self._event(item)
        elif isinstance(item, Turn):
            self._turn(item)
        else:
            self._note(item)

    def end(self) -> None:
        self._write(
            type="end",
            step=self._recording.last_step,
            ending=ending(self._recording),
            problems=self._recording.problems,
        )

    def _event(self, event: Event) -> None:
        thing = {"kind": event.object.kind, "number": event.object.number}
        self._write(
            type="event",
            step=event.step,
            thread=event.thread,
            operation=event.operation,
            object=thing | {"name": event.object.name} if event.object.name else None,
            file=event.site.file,
            line=event.site.line,
            function=event.site.function,
        )

    def _turn(self, turn: Turn) -> None:
        kind, argument = turn.entry.kind, turn.entry.argument
        if turn.entry.is_switch:
            ends = {"from": turn.before, "to": turn.after}
            self._write(type="switch", step=turn.step, kind=kind, **ends)
        elif kind == "collect" and argument >= GENERATIONS:
            death = name_of(argument - GENERATIONS, DEATHS, "death")
            self._write(type="death", step=turn.step, death=death)
        elif kind == "collect":
            self._write(type="collect", step=turn.step, generation=argument)
        elif kind in ("signal", "interrupt"):
            self._write(type="signal", step=turn.step, number=argument)
        elif kind == "end":
            self._write(type="close", step=turn.step, deadlock=argument == 1)
        else:
            self._write(type="unknown", step=turn.step, kind=kind, argument=argument)

    def _note(self, note: Note) -> None:
        self._write(
            type="note",
            step=note.step,
            thread=note.thread,
            kind=note.kind,
            value=note.value,
            text=note.text,
        )

    def _write(self, **fields: Any) -> None:
        self._terminal.line(json.dumps(fields))
