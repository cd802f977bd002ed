"""A Python program that a recorded one starts: makes its place in the recording, and becomes it.

Run by the command that `intercept/processes.py` put in the place of the child's own:
`python FLAGS -P -c ... DIRECTORY PROCESS (-c CODE | -m MODULE | SCRIPT) ARGS...`. Whatever goes
wrong, the child runs as it would have without us.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reenact import strategies
from reenact.engine import child, launch, record
from reenact.engine.launch import Choices, Program
from reenact.recordings import format
from reenact.recordings.header import Header


def main() -> None:
    place, process, *command = sys.argv[1:]
    flags = record.interpreter_flags()
    try:
        directory = Path(place, process)
        directory.mkdir(mode=0o700)
        parent = Header.from_json(Path(place, format.HEADER).read_bytes(), place)
        program = program_of(command, parent)
        name = parent.strategy.name
        kind = strategies.describe("queue" if name.startswith(child.FOLLOWS) else name)
        choices = Choices(kind.name, kind.kind, parent.strategy.seed, parent.strategy.slice)
        header = record.header(program, choices).to_json()
        (directory / format.HEADER).write_text(header, "utf-8")
        launch.become(record.to_record(program, choices, directory))
    except OSError:
        os.execv(sys.executable, [sys.executable, *flags, *command])


def program_of(command: list[str], parent: Header) -> Program:
    modes = {"-c": "command", "-m": "module"}
    mode = modes.get(command[0], "script")
    target, *argv = command if mode == "script" else command[1:]
    packages = parent.instrument.packages if parent.instrument.enabled else None
    return Program(mode, target, tuple(argv), packages, parent.inputs)
