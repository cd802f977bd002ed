"""`reenact sources`: which inputs of a program would be recorded, and who chose so."""

from __future__ import annotations

import argparse
import json
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from reenact.cli.exits import ends_well
from reenact.cli.program import add_options, program_of, settings_of
from reenact.cli.wording import Terminal, printable
from reenact.config import Settings
from reenact.engine.launch import Program
from reenact.inputs import SOURCES
from reenact.intercept.boundary import SHIPPED
from reenact.intercept.table import TABLE, Row

DESCRIPTION = """\
Say what `reenact record` would do with the same options, without running anything: for every
source of outside inputs its treatment, where that was chosen (by default, by a line of
pyproject.toml, by an option), and the calls it covers; then boundaries and instrumented packages.
"""
EXAMPLES = """\
examples:
  reenact sources                              what is in force in this directory
  reenact sources --source clock=passed app.py what would be, with an option
  reenact sources --json | jq .sources         for programs (docs/reference/json.md)
"""
WIDTH = 64
OWN_CODE = "all but the standard library and site-packages"

Line = tuple[str, str, str, str]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "sources",
        help="say which inputs would be recorded, and why",
        usage="reenact sources [options] [--] [SCRIPT ARGS... | -m MODULE ARGS...]",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_options(parser)
    parser.set_defaults(run=run)


@ends_well
def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    is_given = args.module is not None or bool(args.program)
    program = program_of(args, settings) if is_given else None
    terminal = Terminal()
    if args.json:
        terminal.line(json.dumps(as_json(settings, program), indent=2))
        return 0
    for text in page(settings, program):
        terminal.line(printable(text))
    return 0


def page(settings: Settings, program: Program | None) -> Iterator[str]:
    if program is not None:
        yield f"program   {shlex.join([program.target, *program.argv])}"
    yield f"settings  {settings.file or 'no file has any'}"
    yield ""
    yield from aligned([("input", "treatment", "chosen by", "covers"), *lines(settings)])


def aligned(table: list[Line]) -> Iterator[str]:
    widths = [max(len(line[column]) for line in table) for column in range(3)]
    for line in table:
        cells = [f"{cell:<{width}}" for cell, width in zip(line, widths, strict=False)]
        yield "  ".join((*cells, line[3])).rstrip()


def lines(settings: Settings) -> Iterator[Line]:
    for source in SOURCES:
        how, origin = settings.inputs.sources[source], settings.origin("sources", source)
        yield from _spread((source, how, str(origin)), _texts(rows_of(source)))
    yield from _spread(("always", "controlled", "design"), _texts(rows_of(None)))
    yield "boundary", "recorded", "design", ", ".join(SHIPPED)
    for boundary in settings.inputs.boundary:
        yield "boundary", "recorded", str(settings.origin("boundary", boundary)), boundary
    yield from _instrumented(settings)
    strict = "yes" if settings.inputs.strict else "no"
    yield "strict", strict, str(settings.origin("strict")), ""


def _instrumented(settings: Settings) -> Iterator[Line]:
    if settings.packages is None:
        yield "ticks", "none", str(settings.origin("no-instrument")), ""
        return
    yield "ticks", "own code", "default", OWN_CODE
    for package in settings.packages:
        yield "ticks", "package", str(settings.origin("instrument", package)), package


def _spread(head: tuple[str, str, str], texts: list[str]) -> Iterator[Line]:
    """The head stands before the first text only."""
    yield (*head, texts[0] if texts else "")
    for text in texts[1:]:
        yield "", "", "", text


def _texts(rows: list[Row]) -> list[str]:
    whole = [f"{row.owner}: {', '.join(row.names)} ({row.treatment})" for row in rows]
    return [part for text in whole for part in textwrap.wrap(text, WIDTH, subsequent_indent="  ")]


def rows_of(source: str | None) -> list[Row]:
    """The calls of a source; None for those that belong to none and are always controlled."""
    return [row for row in TABLE if (row.source if row.source in SOURCES else None) == source]


def as_json(settings: Settings, program: Program | None) -> dict[str, Any]:
    """The object that docs/reference/json.md describes."""
    return {
        "format": 1,
        "program": None if program is None else _program_json(program),
        "file": settings.file or None,
        "sources": [_source_json(settings, source) for source in SOURCES],
        "always": _calls_json(None),
        "shipped_boundaries": list(SHIPPED),
        "boundary": _entries_json(settings, "boundary", settings.inputs.boundary),
        "instrument": _instrument_json(settings),
        "strict": {
            "value": settings.inputs.strict,
            "origin": _origin_json(settings, "strict"),
        },
    }


def _program_json(program: Program) -> dict[str, Any]:
    return {"mode": program.mode, "target": program.target, "argv": list(program.argv)}


def _instrument_json(settings: Settings) -> dict[str, Any]:
    if settings.packages is None:
        origin = _origin_json(settings, "no-instrument")
        return {"enabled": False, "origin": origin, "packages": []}
    packages = _entries_json(settings, "instrument", settings.packages)
    return {"enabled": True, "origin": {"kind": "default"}, "packages": packages}


def _source_json(settings: Settings, source: str) -> dict[str, Any]:
    return {
        "name": source,
        "treatment": settings.inputs.sources[source],
        "origin": _origin_json(settings, "sources", source),
        "calls": _calls_json(source),
    }


def _calls_json(source: str | None) -> list[dict[str, Any]]:
    return [
        {"of": row.owner, "names": list(row.names), "treatment": row.treatment}
        for row in rows_of(source)
    ]


def _entries_json(settings: Settings, name: str, entries: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{"name": each, "origin": _origin_json(settings, name, each)} for each in entries]


def _origin_json(settings: Settings, *path: str) -> dict[str, Any]:
    """`kind` says which of the other fields are there."""
    origin = settings.origin(*path)
    kind = "option" if origin.option else "file" if origin.file else "default"
    return {"kind": kind} | {name: value for name, value in asdict(origin).items() if value}
