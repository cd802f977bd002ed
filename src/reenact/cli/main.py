"""The command line: one file a command; this one only finds it.

`python -m reenact` and the `reenact` script both come here. Only the module of the command that
is run gets loaded: a program that is recorded should not wait for the others.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import Any

from reenact.version import VERSION

COMMANDS = {
    "record": "run a program and record its execution",
    "run": "run a program, and run its last moments again when something goes wrong",
    "sources": "say which inputs would be recorded, and why",
    "explore": "search a program's executions for one that fails",
    "races": "find races and lock orders of a program or a recording",
    "instrument": "show a source file with the accesses that are looked at",
    "replay": "do again exactly what was recorded",
    "debug": "travel through a recording, forwards and backwards",
    "info": "say what a recording holds",
    "dump": "show the events of a recording",
    "convert": "turn a parallel recording into a serial one",
    "pack": "pack a recording's directory into one file",
}
DESCRIPTION = "Record a threaded Python program's execution, replay it exactly, explore others."


def parser(loaded: tuple[str, ...]) -> argparse.ArgumentParser:
    """A parser that knows all commands by name, and in full those that are `loaded`."""
    made = argparse.ArgumentParser(prog="reenact", description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"reenact {VERSION}")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        if name in loaded:
            command: Any = import_module(f"reenact.cli.{name}")
            command.add_parser(commands)
        else:
            commands.add_parser(name, help=summary)
    return made


def arranged(given: list[str]) -> list[str]:
    """Where a command is followed by a program, the program's options are told from ours."""
    if given[:1] not in (["record"], ["run"], ["sources"], ["explore"], ["races"]):
        return given
    arrange = import_module("reenact.cli.program").arrange
    return [given[0], *arrange(given[1:])]


def main(argv: list[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else argv
    made = parser(tuple(given[:1]))
    args = made.parse_args(arranged(given))
    code: int = args.run(args)
    return code
