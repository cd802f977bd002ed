"""`reenact info`: what a recording holds, in a page or as one JSON object."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from reenact.cli import inputs as taken
from reenact.cli.exits import ends_well
from reenact.cli.wording import Terminal, ending, note_text, printable
from reenact.events import Note
from reenact.inputs import RECORDED
from reenact.recordings.members import Part
from reenact.recordings.outcome import Outcome, ThreadReport
from reenact.recordings.reader import Recording, read_header
from reenact.recordings.sources import Sources

DESCRIPTION = """\
Say what a recording holds: what was run, when, on what, how it ended, how many threads,
operations and switches it has, what was not under control, and whether the source files are
still those that were recorded.
"""
EXAMPLES = """\
examples:
  reenact info run.reenact                    a page for people
  reenact info run.reenact --json | jq .end   for programs (docs/reference/json.md)
"""
SHOWN = 20
LISTED = 10_000


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "info",
        help="say what a recording holds",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recording", metavar="RECORDING", help="file or directory")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


@ends_well
def run(args: argparse.Namespace) -> int:
    recording = Recording.open(args.recording)
    terminal = Terminal()
    if args.json:
        terminal.line(json.dumps(as_json(recording), indent=2))
        return 0
    for label, text in rows(recording):
        terminal.line(f"{terminal.paint('cyan', f'{label:<12}')} {text}".rstrip())
    return 0


def rows(recording: Recording) -> Iterator[tuple[str, str]]:
    """Label and text; a label is left out where it is that of the row above."""
    yield from _what_ran(recording)
    yield "ended", ending(recording)
    yield from _block("incomplete", recording.problems, len(recording.problems))
    yield from _outcome(recording)
    yield from _counts(recording)
    yield from _processes(recording)
    yield from _sizes(recording)
    yield from _notes(recording)
    yield from _sources(recording)


def _what_ran(recording: Recording) -> Iterator[tuple[str, str]]:
    header = recording.header
    arguments = header.argv[1:] if header.argv[:1] == (header.target,) else header.argv
    command = shlex.join([header.target, *arguments])
    took = "" if recording.end is None else f", took {recording.end.seconds:.3f} s"
    yield "recording", printable(str(recording.path))
    yield "ran", printable(f"{header.mode} {command}")
    yield "in", printable(header.cwd)
    yield "started", printable(header.started) + took
    yield "Python", printable(f"{header.python} ({header.executable})")
    yield "on", printable(f"{header.platform}, {header.machine}, {header.libc}")
    yield "recorded by", printable(f"reenact {header.reenact}, format {header.format}")
    yield from _engine(recording)
    yield from _inputs(recording)


def _engine(recording: Recording) -> Iterator[tuple[str, str]]:
    """The serial engine is what it is as a rule, and needs no word."""
    header, strategy = recording.header, recording.header.strategy
    if header.engine != "serial":
        yield "engine", f"{header.engine}, order {header.order}"
    if not recording.is_parallel:  # where nobody chooses who runs
        words = f"{strategy.name}, seed {strategy.seed}, slice {strategy.slice}"
        yield "strategy", printable(words)


def _inputs(recording: Recording) -> Iterator[tuple[str, str]]:
    """Only what is not as ever."""
    inputs = recording.header.inputs
    chosen = [f"{name} {how}" for name, how in inputs.sources.items() if how != RECORDED]
    strict = ["strict"] if inputs.strict else []
    yield from _block("inputs", [", ".join(chosen + strict)] if chosen + strict else [], 0)
    yield from _block("boundary", inputs.boundary, len(inputs.boundary))


def _counts(recording: Recording) -> Iterator[tuple[str, str]]:
    ids = list(islice(recording.thread_paths(), SHOWN))
    more = ", ..." if recording.thread_count > SHOWN else ""
    yield "threads", f"{recording.thread_count:,}: {', '.join(ids)}{more}"
    yield "operations", f"{recording.operation_count:,}"
    if not recording.is_parallel:
        yield "switches", f"{recording.switch_count:,}"
    yield "collections", f"{recording.collection_count:,}"
    yield "points" if recording.is_parallel else "steps", f"{recording.last_step:,}"
    yield from _taken(recording)


def _taken(recording: Recording) -> Iterator[tuple[str, str]]:
    """By source, what came in from outside."""
    found = taken.totals(recording)
    texts = [_taken_text(total) for total in found]
    yield from _block("taken in", texts, len(texts))


def _taken_text(total: taken.Total) -> str:
    held = f", {total.bytes:,} bytes of data and text" if total.bytes else ""
    noun = "outcome" if total.count == 1 else "outcomes"
    return f"{total.source:<10} {total.count:>9,} {noun}{held}"


def _processes(recording: Recording) -> Iterator[tuple[str, str]]:
    """Those that the program started and that were recorded with it."""
    found = recording.processes
    texts = [f"{path} {_process(recording, path)}" for path in islice(found, SHOWN)]
    yield from _block("processes", texts, len(found))


def _process(recording: Recording, path: str) -> str:
    if recording.processes[path].is_forked:
        return "forked"
    header = read_header(Part(recording.members, path))
    return printable(shlex.join([header.mode, header.target, *header.argv])[:100])


def _sizes(recording: Recording) -> Iterator[tuple[str, str]]:
    sizes = recording.sizes
    raw = sum(size.raw for size in sizes.values())
    stored = sum(size.stored for size in sizes.values())
    yield "size", f"{stored:,} bytes on disk, {raw:,} in use"
    for name, size in sizes.items():
        yield "", f"  {name:<12} {size.stored:>14,} {size.raw:>14,}"


def _notes(recording: Recording) -> Iterator[tuple[str, str]]:
    notes, total = _first(recording.notes(), SHOWN)
    texts = [f"step {note.step}, thread {note.thread}: {note_text(note)}" for note in notes]
    yield from _block("uncontrolled", texts, total)


def _sources(recording: Recording) -> Iterator[tuple[str, str]]:
    listed = _source_list(recording)
    differing = [
        f"{each['now']}: {printable(each['path'])}" for each in listed if each["now"] != "same"
    ]
    total = len(recording.definitions.sources)
    words = f"{len(differing):,} not as recorded" if differing else "as recorded"
    yield "sources", f"{total:,}, {words}" if total else "none recorded"
    yield from _block("", differing[:SHOWN], len(differing))


def _outcome(recording: Recording) -> Iterator[tuple[str, str]]:
    outcome = recording.outcome()
    if outcome is None:
        return
    yield "report", printable(f"{outcome.reason} at step {outcome.step}")
    texts = [_waiting(recording, each) for each in outcome.threads[:SHOWN]]
    yield from _block("", texts, len(outcome.threads))


def _waiting(recording: Recording, report: ThreadReport) -> str:
    name = str(report.object)
    if report.object_kind == "thread":
        name = recording.thread_path(report.object)
    words = f"thread {recording.thread_path(report.index)} {report.status}: {report.operation}"
    if report.object_kind != "none":
        words += f" {report.object_kind} {name}"
    if report.owner is not None:
        words += f" of thread {recording.thread_path(report.owner)}"
    if report.frames:
        frame = report.frames[0]
        words += f", {frame.file}:{frame.line} in {frame.function}"
    return printable(words)


def _block(label: str, texts: list[str] | tuple[str, ...], total: int) -> Iterator[tuple[str, str]]:
    """A list under one label, cut short with a word about it."""
    for number, text in enumerate(texts):
        yield "" if number else label, text
    if total > len(texts):
        yield "", f"... and {total - len(texts):,} more"


def _first(notes: Iterator[Note], count: int) -> tuple[list[Note], int]:
    first = list(islice(notes, count))
    return first, len(first) + sum(1 for _ in notes)


def as_json(recording: Recording) -> dict[str, Any]:
    """The object that docs/reference/json.md describes."""
    notes, note_total = _first(recording.notes(), LISTED)
    state = recording.state
    return {
        "format": 1,
        "path": str(recording.path),
        "packed": recording.is_packed,
        "header": _header(recording),
        "end": None if recording.end is None else asdict(recording.end),
        "ending": ending(recording),
        "state": None if state is None else state.ended,
        "problems": recording.problems,
        "outcome": _outcome_json(recording.outcome()),
        "threads": recording.thread_count,
        "thread_ids": list(islice(recording.thread_paths(), LISTED)),
        "operations": recording.operation_count,
        "switches": recording.switch_count,
        "collections": recording.collection_count,
        "steps": recording.last_step,
        "inputs": [asdict(total) for total in taken.totals(recording)],
        "sizes": {name: asdict(size) for name, size in recording.sizes.items()},
        "notes": note_total,
        "note_list": [asdict(note) for note in notes],
        "sources": len(recording.definitions.sources),
        "source_list": _source_list(recording),
    }


def _header(recording: Recording) -> dict[str, Any]:
    """Without the values of the environment: reports are shared, and those are secrets."""
    fields = recording.header.as_dict()
    return fields | {"environment": sorted(fields["environment"])}


def _outcome_json(outcome: Outcome | None) -> dict[str, Any] | None:
    return None if outcome is None else asdict(outcome)


def _source_list(recording: Recording) -> list[dict[str, str]]:
    sources = Sources(recording.definitions.sources, recording.header.cwd)
    listed = islice(recording.definitions.sources.items(), LISTED)
    return [
        {"path": path, "sha256": digest, "now": sources.standing(path)} for path, digest in listed
    ]
